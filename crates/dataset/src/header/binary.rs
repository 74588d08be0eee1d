//! The binary form of the header. Every value is checked against its bounds, so that its users need
//! not. A match's header ends with the opponent, and under a clock with the time control after it;
//! one of self-play ends before. Overridden parameters come last, if there are any.

use xiangqi::rules::RuleSet;

use super::{Header, Opponent};
use crate::{
    adjudication::{Adjudication, DrawRule, WinRule},
    bytes::Cursor,
    clock::{Clock, Time},
    digest::Digest,
    overrides::Overrides,
    record::{MAX_SCORE, Score},
    settings::{EvaluationFilter, GameSettings, OpeningPolicy},
};

/// The bound on the plies of a game.
const MAX_PLIES: u32 = 100_000;

/// The bound on the plies of an opening.
const MAX_OPENING_PLIES: u32 = 1_000;

/// The largest transposition table, in mebibytes.
const MAX_HASH_MEBIBYTES: u32 = 1 << 20;

/// The longest thinking time, in milliseconds: a day.
const MAX_TIME_MILLISECONDS: u32 = 86_400_000;

/// The longest grace, in milliseconds.
const MAX_GRACE_MILLISECONDS: u32 = 60_000;

/// The reason why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Bytes are missing or left over.
    #[error("it has not the length of its fields")]
    Length,
    /// A field is out of its bounds.
    #[error("its field `{0}` holds a value that no header has")]
    Field(&'static str),
}

impl Header {
    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        let Self { bench_signature, net, opponent, clock, rules, settings, openings, seed, first_game, .. } = self;
        out.extend(bench_signature.to_le_bytes());
        option(&mut out, net.as_ref().map(|net| *net.as_bytes()));
        out.push(RuleSet::ALL.iter().position(|it| it == rules).map_or(u8::MAX, |place| place as u8));
        out.extend((settings.hash_mebibytes as u32).to_le_bytes());
        option(&mut out, settings.soft_nodes.map(u64::to_le_bytes));
        out.extend(settings.hard_nodes.to_le_bytes());
        let win = settings.adjudication.win.map(|rule| [rule.score, rule.plies as i32]);
        option(&mut out, win.map(|rule| rule.map(i32::to_le_bytes).concat()));
        let draw = settings.adjudication.draw.map(|rule| [rule.score, rule.plies as i32, rule.from_ply as i32]);
        option(&mut out, draw.map(|rule| rule.map(i32::to_le_bytes).concat()));
        out.extend(settings.ply_cap.to_le_bytes());
        option(&mut out, openings.book.as_ref().map(|book| *book.as_bytes()));
        out.extend(openings.plies.to_le_bytes());
        let filter = openings.filter.map(|filter| (filter.nodes.to_le_bytes(), filter.bound.to_le_bytes()));
        option(&mut out, filter.map(|(nodes, bound)| [&nodes[..], &bound[..]].concat()));
        out.extend(seed.to_le_bytes());
        out.extend(first_game.to_le_bytes());
        if let Some(Opponent { net, soft_nodes, hard_nodes }) = opponent {
            option(&mut out, net.as_ref().map(|net| *net.as_bytes()));
            option(&mut out, soft_nodes.map(u64::to_le_bytes));
            out.extend(hard_nodes.to_le_bytes());
        }
        if let Some(Clock { time, grace_milliseconds }) = clock {
            match time {
                Time::Move { milliseconds } => {
                    out.push(TIME_OF_A_MOVE);
                    out.extend(milliseconds.to_le_bytes());
                }
                Time::Game { base_milliseconds, increment_milliseconds } => {
                    out.push(TIME_OF_A_GAME);
                    out.extend(base_milliseconds.to_le_bytes());
                    out.extend(increment_milliseconds.to_le_bytes());
                }
            }
            out.extend(grace_milliseconds.to_le_bytes());
        }
        if self.has_parameters() {
            out.push(PARAMETERS);
            for text in [&self.parameters, &self.opponent_parameters] {
                out.extend((text.as_str().len() as u16).to_le_bytes());
                out.extend(text.as_str().as_bytes());
            }
        }
        out
    }

    /// Whether parameters of a search are overridden.
    pub(crate) fn has_parameters(&self) -> bool {
        !(self.parameters.is_empty() && self.opponent_parameters.is_empty())
    }

    /// Decodes a header.
    ///
    /// # Errors
    ///
    /// If its length is wrong, or a value is out of its bounds.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut fields = Fields(Cursor::new(bytes));
        let mut header = Self {
            bench_signature: fields.u64()?,
            net: fields.option("net", Fields::digest)?,
            opponent: None,
            clock: None,
            parameters: Overrides::default(),
            opponent_parameters: Overrides::default(),
            rules: fields.rules()?,
            settings: fields.settings()?,
            openings: fields.openings()?,
            seed: fields.u64()?,
            first_game: fields.u64()?,
        };
        if fields.has_more() {
            header.opponent = Some(fields.opponent()?);
        }
        // Self-play has no clock: after its fields comes an opponent or nothing.
        if fields.has_more() {
            header.clock = Some(fields.clock()?);
            header.counts_no_nodes()?;
        }
        if !fields.0.is_empty() {
            header.parameters = fields.parameters()?;
            header.opponent_parameters = fields.parameters_text()?;
            if !header.has_parameters() || header.opponent.is_none() && !header.opponent_parameters.is_empty() {
                return Err(HeaderError::Field("parameters"));
            }
        }
        if !fields.0.is_empty() {
            return Err(HeaderError::Length);
        }
        Ok(header)
    }

    /// Checks that a game under a clock has no node limits.
    fn counts_no_nodes(&self) -> Result<(), HeaderError> {
        let limits = [
            Some((self.settings.soft_nodes, self.settings.hard_nodes)),
            self.opponent.map(|opponent| (opponent.soft_nodes, opponent.hard_nodes)),
        ];
        if limits.into_iter().flatten().all(|limits| limits == (None, 0)) {
            return Ok(());
        }
        Err(HeaderError::Field("hard_nodes"))
    }
}

/// Begins the overridden parameters.
const PARAMETERS: u8 = b'P';
const TIME_OF_A_MOVE: u8 = 1;
const TIME_OF_A_GAME: u8 = 2;

fn option(out: &mut Vec<u8>, bytes: Option<impl AsRef<[u8]>>) {
    out.push(u8::from(bytes.is_some()));
    if let Some(bytes) = bytes {
        out.extend_from_slice(bytes.as_ref());
    }
}

struct Fields<'a>(Cursor<'a>);

impl Fields<'_> {
    fn u64(&mut self) -> Result<u64, HeaderError> {
        self.0.u64().ok_or(HeaderError::Length)
    }

    fn u32(&mut self, name: &'static str, max: u32) -> Result<u32, HeaderError> {
        let number = self.0.u32().ok_or(HeaderError::Length)?;
        if number <= max { Ok(number) } else { Err(HeaderError::Field(name)) }
    }

    fn score(&mut self, name: &'static str) -> Result<Score, HeaderError> {
        let score = self.0.i32().ok_or(HeaderError::Length)?;
        if (0..=MAX_SCORE).contains(&score) { Ok(score) } else { Err(HeaderError::Field(name)) }
    }

    fn digest(&mut self) -> Result<Digest, HeaderError> {
        self.0.array::<32>().map(Digest::from).ok_or(HeaderError::Length)
    }

    fn option<T>(
        &mut self,
        name: &'static str,
        value: impl FnOnce(&mut Self) -> Result<T, HeaderError>,
    ) -> Result<Option<T>, HeaderError> {
        match self.0.u8() {
            Some(0) => Ok(None),
            Some(1) => value(self).map(Some),
            Some(_) => Err(HeaderError::Field(name)),
            None => Err(HeaderError::Length),
        }
    }

    /// Whether there are more fields before the parameters.
    fn has_more(&self) -> bool {
        self.0.peek().is_some_and(|byte| byte != PARAMETERS)
    }

    fn parameters(&mut self) -> Result<Overrides, HeaderError> {
        // A header without parameters ends here; nothing else can follow.
        if self.0.u8() != Some(PARAMETERS) {
            return Err(HeaderError::Length);
        }
        self.parameters_text()
    }

    fn parameters_text(&mut self) -> Result<Overrides, HeaderError> {
        let length = self.0.u16().ok_or(HeaderError::Length)?;
        let bytes = self.0.take(length.into()).ok_or(HeaderError::Length)?;
        let text = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
        text.ok_or(HeaderError::Field("parameters"))
    }

    fn opponent(&mut self) -> Result<Opponent, HeaderError> {
        Ok(Opponent {
            net: self.option("opponent_net", Self::digest)?,
            soft_nodes: self.option("opponent_soft_nodes", Self::u64)?,
            hard_nodes: self.u64()?,
        })
    }

    fn clock(&mut self) -> Result<Clock, HeaderError> {
        let time = match self.0.u8() {
            Some(TIME_OF_A_MOVE) => Time::Move { milliseconds: self.time()? },
            Some(TIME_OF_A_GAME) => Time::Game {
                base_milliseconds: self.time()?,
                increment_milliseconds: self.u32("clock", MAX_TIME_MILLISECONDS)?,
            },
            // A header without a clock ends here; nothing else can follow.
            Some(_) | None => return Err(HeaderError::Length),
        };
        Ok(Clock { time, grace_milliseconds: self.u32("grace", MAX_GRACE_MILLISECONDS)? })
    }

    /// A thinking time above zero.
    fn time(&mut self) -> Result<u32, HeaderError> {
        match self.u32("clock", MAX_TIME_MILLISECONDS)? {
            0 => Err(HeaderError::Field("clock")),
            some => Ok(some),
        }
    }

    fn rules(&mut self) -> Result<RuleSet, HeaderError> {
        let place = self.0.u8().ok_or(HeaderError::Length)?;
        RuleSet::ALL.get(usize::from(place)).copied().ok_or(HeaderError::Field("rules"))
    }

    fn settings(&mut self) -> Result<GameSettings, HeaderError> {
        let settings = GameSettings {
            hash_mebibytes: self.u32("hash_mebibytes", MAX_HASH_MEBIBYTES)? as usize,
            soft_nodes: self.option("soft_nodes", Self::u64)?,
            hard_nodes: self.u64()?,
            adjudication: Adjudication {
                win: self.option("adjudicate_win", |fields| {
                    let score = fields.score("adjudicate_win")?;
                    Ok(WinRule { score, plies: fields.u32("adjudicate_win", MAX_PLIES)? })
                })?,
                draw: self.option("adjudicate_draw", |fields| {
                    let score = fields.score("adjudicate_draw")?;
                    let plies = fields.u32("adjudicate_draw", MAX_PLIES)?;
                    Ok(DrawRule { score, plies, from_ply: fields.u32("adjudicate_draw", MAX_PLIES)? })
                })?,
            },
            ply_cap: self.u32("ply_cap", MAX_PLIES)?,
        };
        Ok(settings)
    }

    fn openings(&mut self) -> Result<OpeningPolicy, HeaderError> {
        Ok(OpeningPolicy {
            book: self.option("book", Self::digest)?,
            plies: self.u32("random_plies", MAX_OPENING_PLIES)?,
            filter: self.option("opening_filter", |fields| {
                Ok(EvaluationFilter { nodes: fields.u64()?, bound: fields.score("opening_filter")? })
            })?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn full() -> Header {
        Header {
            bench_signature: 123_456_789,
            net: Some(Digest::of(b"net")),
            opponent: None,
            clock: None,
            parameters: Overrides::default(),
            opponent_parameters: Overrides::default(),
            rules: RuleSet::Wikibook,
            settings: GameSettings {
                hash_mebibytes: 16,
                soft_nodes: Some(1_500),
                hard_nodes: 2_000,
                adjudication: Adjudication {
                    win: Some(WinRule { score: 1_000, plies: 6 }),
                    draw: Some(DrawRule { score: 5, plies: 8, from_ply: 60 }),
                },
                ply_cap: 500,
            },
            openings: OpeningPolicy {
                book: Some(Digest::of(b"book")),
                plies: 8,
                filter: Some(EvaluationFilter { nodes: 1_000, bound: 300 }),
            },
            seed: u64::MAX,
            first_game: 77,
        }
    }

    #[test]
    fn headers_round_trip_and_nothing_else_is_read() {
        let mut bare = full();
        bare.net = None;
        bare.settings.soft_nodes = None;
        bare.settings.adjudication = Adjudication::default();
        bare.openings = OpeningPolicy { book: None, plies: 0, filter: None };
        for header in [full(), bare] {
            let bytes = header.to_bytes();
            assert_eq!(Header::from_bytes(&bytes), Ok(header.clone()));
            for length in 0..bytes.len() {
                assert_eq!(Header::from_bytes(&bytes[..length]), Err(HeaderError::Length), "{length}");
            }
            assert_eq!(Header::from_bytes(&[&bytes[..], &[0]].concat()), Err(HeaderError::Length));
            match_headers_round_trip(&header);
        }
    }

    fn match_headers_round_trip(header: &Header) {
        let plain = Opponent { net: None, soft_nodes: None, hard_nodes: 7 };
        let net = Opponent { net: Some(Digest::of(b"other")), soft_nodes: Some(3), hard_nodes: 7 };
        for opponent in [plain, net] {
            let own = header.to_bytes();
            let with = Header { opponent: Some(opponent), ..header.clone() };
            let bytes = with.to_bytes();
            // The bytes of a self-play header are the beginning of a match's.
            assert_eq!(bytes[..own.len()], own);
            assert_eq!(Header::from_bytes(&bytes), Ok(with.clone()));
            assert_eq!(with.differences(header), ["opponent"]);
            for length in own.len() + 1..bytes.len() {
                assert_eq!(Header::from_bytes(&bytes[..length]), Err(HeaderError::Length), "{length}");
            }
            assert_eq!(Header::from_bytes(&[&bytes[..], &[0]].concat()), Err(HeaderError::Length));
        }
    }

    fn timed(time: Time) -> Header {
        let opponent = Opponent { net: None, soft_nodes: None, hard_nodes: 0 };
        let clock = Clock { time, grace_milliseconds: 50 };
        let mut header = Header { opponent: Some(opponent), clock: Some(clock), ..full() };
        (header.settings.soft_nodes, header.settings.hard_nodes) = (None, 0);
        header
    }

    #[test]
    fn timed_headers_round_trip_and_nothing_else_is_read() {
        let game = Time::Game { base_milliseconds: 10_000, increment_milliseconds: 0 };
        for time in [Time::Move { milliseconds: 1 }, game] {
            let header = timed(time);
            let without = Header { clock: None, ..header.clone() };
            let (bytes, own) = (header.to_bytes(), without.to_bytes());
            // The bytes of a match header are the beginning of a timed one's.
            assert_eq!(bytes[..own.len()], own);
            assert_eq!(Header::from_bytes(&bytes), Ok(header.clone()));
            assert_eq!(header.differences(&without), ["clock"]);
            for length in own.len() + 1..bytes.len() {
                assert_eq!(Header::from_bytes(&bytes[..length]), Err(HeaderError::Length), "{length}");
            }
            assert_eq!(Header::from_bytes(&[&bytes[..], &[0]].concat()), Err(HeaderError::Length));
            let text = serde_json::to_string(&header).unwrap();
            assert_eq!(serde_json::from_str::<Header>(&text).unwrap(), header);
            assert!(!serde_json::to_string(&without).unwrap().contains("clock"));
        }
    }

    #[test]
    fn headers_with_parameters_round_trip_and_nothing_else_is_read() {
        let a: Overrides = "lmr_base=500 rfp_slope=80".parse().unwrap();
        let b: Overrides = "lmr_base=400".parse().unwrap();
        let alone = Header { parameters: a.clone(), ..full() };
        let timed = Header { opponent_parameters: b, parameters: a, ..timed(Time::Move { milliseconds: 100 }) };
        let played = Header { clock: None, ..timed.clone() };
        for header in [alone, timed, played] {
            let defaults = Overrides::default();
            let without =
                Header { parameters: defaults.clone(), opponent_parameters: defaults.clone(), ..header.clone() };
            let (bytes, own) = (header.to_bytes(), without.to_bytes());
            assert_eq!(bytes[..own.len()], own);
            assert_eq!(Header::from_bytes(&bytes), Ok(header.clone()));
            assert_eq!(header.differences(&without)[0], "parameters");
            for length in own.len() + 1..bytes.len() {
                assert_eq!(Header::from_bytes(&bytes[..length]), Err(HeaderError::Length), "{length}");
            }
            assert_eq!(Header::from_bytes(&[&bytes[..], &[0]].concat()), Err(HeaderError::Length));
            let text = serde_json::to_string(&header).unwrap();
            assert_eq!(serde_json::from_str::<Header>(&text).unwrap(), header);
            assert!(!serde_json::to_string(&without).unwrap().contains("parameters"));
            // Two empty texts would be a second form of the defaults.
            let empty = [&own[..], &[PARAMETERS, 0, 0, 0, 0]].concat();
            assert_eq!(Header::from_bytes(&empty), Err(HeaderError::Field("parameters")));
            let unsorted = [&own[..], &[PARAMETERS, 7, 0], b"b=1 a=1", &[0, 0]].concat();
            assert_eq!(Header::from_bytes(&unsorted), Err(HeaderError::Field("parameters")));
        }
        let unopposed = Header { opponent_parameters: "a=1".parse().unwrap(), ..full() };
        assert_eq!(Header::from_bytes(&unopposed.to_bytes()), Err(HeaderError::Field("parameters")));
    }

    #[test]
    fn clocks_out_of_bounds_are_refused() {
        let refused = |header: &Header| Header::from_bytes(&header.to_bytes()).unwrap_err();
        for time in [
            Time::Move { milliseconds: 0 },
            Time::Move { milliseconds: MAX_TIME_MILLISECONDS + 1 },
            Time::Game { base_milliseconds: 0, increment_milliseconds: 1 },
            Time::Game { base_milliseconds: 1, increment_milliseconds: u32::MAX },
        ] {
            assert_eq!(refused(&timed(time)), HeaderError::Field("clock"), "{time:?}");
        }
        let good = timed(Time::Move { milliseconds: 100 });
        let mut header = good.clone();
        header.clock = good.clock.map(|clock| Clock { grace_milliseconds: MAX_GRACE_MILLISECONDS + 1, ..clock });
        assert_eq!(refused(&header), HeaderError::Field("grace"));
        // Time and nodes are not both limits, on either side.
        let mut header = good.clone();
        header.settings.hard_nodes = 1;
        assert_eq!(refused(&header), HeaderError::Field("hard_nodes"));
        let mut header = good.clone();
        header.opponent = Some(Opponent { net: None, soft_nodes: Some(1), hard_nodes: 0 });
        assert_eq!(refused(&header), HeaderError::Field("hard_nodes"));
        // Self-play has no clock: after its fields comes an opponent or nothing.
        let alone = Header { opponent: None, ..good.clone() };
        assert!(Header::from_bytes(&alone.to_bytes()).is_err());
        let mut bytes = good.to_bytes();
        let kind = bytes.len() - 9;
        bytes[kind] = 3;
        assert_eq!(Header::from_bytes(&bytes), Err(HeaderError::Length));
    }

    #[test]
    fn values_beyond_bounds_are_named() {
        let mut header = full();
        header.settings.ply_cap = MAX_PLIES + 1;
        assert_eq!(Header::from_bytes(&header.to_bytes()), Err(HeaderError::Field("ply_cap")));
        let mut header = full();
        header.settings.adjudication.win = Some(WinRule { score: -1, plies: 1 });
        assert_eq!(Header::from_bytes(&header.to_bytes()), Err(HeaderError::Field("adjudicate_win")));
        let mut bytes = full().to_bytes();
        bytes[8] = 2;
        assert_eq!(Header::from_bytes(&bytes), Err(HeaderError::Field("net")));
        bytes[8] = 1;
        bytes[41] = 5;
        assert_eq!(Header::from_bytes(&bytes), Err(HeaderError::Field("rules")));
        let other = [&full().to_bytes()[..], &[2]].concat();
        assert_eq!(Header::from_bytes(&other), Err(HeaderError::Field("opponent_net")));
    }
}
