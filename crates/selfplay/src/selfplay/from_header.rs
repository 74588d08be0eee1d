//! Runs from shard headers: to play the described games, or to replay them.

use std::sync::Arc;

use dataset::{Book, Digest, Entrant, Header, Overrides};
use engine::{Evaluation, Parameters, bench, tune::ParameterError};

use super::{Opponent, Run, net_of};
use crate::{
    openings::Openings,
    timing::{Timed, Timer},
};

/// The given parts do not match the header, so the games would differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum HeaderMismatch {
    #[error("the games are of engines with the bench signature {expected}; that of this one is {found}")]
    Engine { expected: u64, found: u64 },
    #[error("{} should play as {entrant:?}, and {} is given", net(*expected), net(*found))]
    Net { entrant: Entrant, expected: Option<Digest>, found: Option<Digest> },
    #[error("{entrant:?} plays with parameters that this engine does not have: {source}")]
    Parameters { entrant: Entrant, source: ParameterError },
    #[error("the games are of self-play, and an opponent is given")]
    SelfPlay,
    #[error("the games are of a match, and no opponent is given")]
    NoOpponent,
    #[error("the games are played under a clock: they are no function of anything, and cannot be played again")]
    Timed,
    #[error("the book should be {}, and is {}", book(*expected), book(*found))]
    Book { expected: Option<Digest>, found: Option<Digest> },
}

fn net(net: Option<Digest>) -> String {
    net.map_or("the plain evaluation".to_owned(), |hash| format!("the net {hash}"))
}

fn book(book: Option<Digest>) -> String {
    book.map_or("none".to_owned(), |hash| hash.to_string())
}

impl Run {
    /// Creates the run of a header, from its first game: one game on one thread, until changed.
    ///
    /// # Errors
    ///
    /// If engine, nets or book differ from the header's, or it has a clock.
    pub fn from_header(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
    ) -> Result<Self, HeaderMismatch> {
        if header.clock.is_some() {
            return Err(HeaderMismatch::Timed);
        }
        Self::matching(header, evaluation, opponent, book)
    }

    /// [`from_header`](Self::from_header) for games that need not be reproducible: `timer` measures
    /// the time if the header has a clock.
    ///
    /// # Errors
    ///
    /// If engine, nets or book differ from the header's.
    pub fn from_header_with_timer(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
        timer: Arc<dyn Timer>,
    ) -> Result<Self, HeaderMismatch> {
        let timed = header.clock.map(|clock| Timed { clock, timer });
        Ok(Self { timed, ..Self::matching(header, evaluation, opponent, book)? })
    }

    fn matching(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
    ) -> Result<Self, HeaderMismatch> {
        if header.bench_signature != bench::SIGNATURE {
            return Err(HeaderMismatch::Engine { expected: header.bench_signature, found: bench::SIGNATURE });
        }
        let check_net = |entrant, expected, evaluation: &Evaluation| {
            let found = net_of(evaluation);
            if found == expected { Ok(()) } else { Err(HeaderMismatch::Net { entrant, expected, found }) }
        };
        check_net(Entrant::A, header.net, &evaluation)?;
        let parameters = |entrant, text: &Overrides| {
            let parsed = text.as_str().parse::<Parameters>();
            parsed.map_err(|source| HeaderMismatch::Parameters { entrant, source })
        };
        let opponent = match (header.opponent, opponent) {
            (None, None) => None,
            (None, Some(_)) => return Err(HeaderMismatch::SelfPlay),
            (Some(_), None) => return Err(HeaderMismatch::NoOpponent),
            (Some(expected), Some(evaluation)) => {
                check_net(Entrant::B, expected.net, &evaluation)?;
                let dataset::Opponent { soft_nodes, hard_nodes, .. } = expected;
                let parameters = parameters(Entrant::B, &header.opponent_parameters)?;
                Some(Opponent { evaluation, parameters, soft_nodes, hard_nodes })
            }
        };
        let (expected, found) = (header.openings.book, book.as_ref().map(Book::hash));
        if expected != found {
            return Err(HeaderMismatch::Book { expected, found });
        }
        let Header { rules, settings, openings, seed, first_game, .. } = header;
        Ok(Self {
            evaluation,
            parameters: parameters(Entrant::A, &header.parameters)?,
            opponent,
            timed: None,
            settings: *settings,
            openings: Openings { rules: *rules, book, plies: openings.plies, filter: openings.filter },
            seed: *seed,
            first: *first_game,
            games: 1,
            threads: 1,
        })
    }
}
