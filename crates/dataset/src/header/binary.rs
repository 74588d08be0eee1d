//! The header as bytes. Every value is held to what a header may say, so that nothing behind it needs second thoughts.
//! A match's header ends with the opponent; one of self-play ends before.

use xiangqi::rules::RuleSet;

use super::{Header, Opponent};
use crate::{
    adjudication::{Adjudication, DrawRule, WinRule},
    bytes::Cursor,
    digest::Digest,
    record::{MOST_SCORE, Score},
    settings::{EvaluationFilter, GameSettings, OpeningPolicy},
};

/// No game is longer, whatever a header says.
const MOST_PLIES: u32 = 100_000;

/// No opening is longer.
const MOST_OPENING_PLIES: u32 = 1_000;

/// No table is larger, in mebibytes.
const MOST_HASH: u32 = 1 << 20;

/// A header that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Bytes are missing, or there are more than it has.
    #[error("it has not the length of its fields")]
    Length,
    /// A field says what none can.
    #[error("its field `{0}` holds a value that no header has")]
    Field(&'static str),
}

impl Header {
    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160);
        let Self { bench_signature, net, opponent, rules, settings, openings, seed, first_game } = self;
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
        out
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// If it has another length or a value that no header has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut fields = Fields(Cursor::new(bytes));
        let mut header = Self {
            bench_signature: fields.u64()?,
            net: fields.option("net", Fields::digest)?,
            opponent: None,
            rules: fields.rules()?,
            settings: fields.settings()?,
            openings: fields.openings()?,
            seed: fields.u64()?,
            first_game: fields.u64()?,
        };
        if !fields.0.is_empty() {
            header.opponent = Some(fields.opponent()?);
        }
        if !fields.0.is_empty() {
            return Err(HeaderError::Length);
        }
        Ok(header)
    }
}

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

    fn u32(&mut self, name: &'static str, most: u32) -> Result<u32, HeaderError> {
        let number = self.0.u32().ok_or(HeaderError::Length)?;
        if number <= most { Ok(number) } else { Err(HeaderError::Field(name)) }
    }

    fn score(&mut self, name: &'static str) -> Result<Score, HeaderError> {
        let score = self.0.i32().ok_or(HeaderError::Length)?;
        if (0..=MOST_SCORE).contains(&score) { Ok(score) } else { Err(HeaderError::Field(name)) }
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

    fn opponent(&mut self) -> Result<Opponent, HeaderError> {
        Ok(Opponent {
            net: self.option("opponent_net", Self::digest)?,
            soft_nodes: self.option("opponent_soft_nodes", Self::u64)?,
            hard_nodes: self.u64()?,
        })
    }

    fn rules(&mut self) -> Result<RuleSet, HeaderError> {
        let place = self.0.u8().ok_or(HeaderError::Length)?;
        RuleSet::ALL.get(usize::from(place)).copied().ok_or(HeaderError::Field("rules"))
    }

    fn settings(&mut self) -> Result<GameSettings, HeaderError> {
        let settings = GameSettings {
            hash_mebibytes: self.u32("hash_mebibytes", MOST_HASH)? as usize,
            soft_nodes: self.option("soft_nodes", Self::u64)?,
            hard_nodes: self.u64()?,
            adjudication: Adjudication {
                win: self.option("adjudicate_win", |fields| {
                    let score = fields.score("adjudicate_win")?;
                    Ok(WinRule { score, plies: fields.u32("adjudicate_win", MOST_PLIES)? })
                })?,
                draw: self.option("adjudicate_draw", |fields| {
                    let score = fields.score("adjudicate_draw")?;
                    let plies = fields.u32("adjudicate_draw", MOST_PLIES)?;
                    Ok(DrawRule { score, plies, from_ply: fields.u32("adjudicate_draw", MOST_PLIES)? })
                })?,
            },
            ply_cap: self.u32("ply_cap", MOST_PLIES)?,
        };
        Ok(settings)
    }

    fn openings(&mut self) -> Result<OpeningPolicy, HeaderError> {
        Ok(OpeningPolicy {
            book: self.option("book", Self::digest)?,
            plies: self.u32("random_plies", MOST_OPENING_PLIES)?,
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
            // Nothing of self-play is said otherwise because there are matches.
            assert_eq!(bytes[..own.len()], own);
            assert_eq!(Header::from_bytes(&bytes), Ok(with.clone()));
            assert_eq!(with.differences(header), ["opponent"]);
            for length in own.len() + 1..bytes.len() {
                assert_eq!(Header::from_bytes(&bytes[..length]), Err(HeaderError::Length), "{length}");
            }
            assert_eq!(Header::from_bytes(&[&bytes[..], &[0]].concat()), Err(HeaderError::Length));
        }
    }

    #[test]
    fn values_beyond_bounds_are_named() {
        let mut header = full();
        header.settings.ply_cap = MOST_PLIES + 1;
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
