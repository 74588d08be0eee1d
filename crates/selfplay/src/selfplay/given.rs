//! Runs whose games somebody else described: to play them, or to play them again.

use std::sync::Arc;

use dataset::{Book, Digest, Entrant, Header};
use engine::{Evaluation, bench};

use super::{Opponent, Run, net_of};
use crate::{
    openings::Openings,
    timing::{Timed, Timer},
};

/// What is given is not what a header asks for: the games would be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Mismatch {
    #[error("the games are of engines with the bench signature {expected}; that of this one is {found}")]
    Engine { expected: u64, found: u64 },
    #[error("{} should play as {entrant:?}, and {} is given", net(*expected), net(*found))]
    Net { entrant: Entrant, expected: Option<Digest>, found: Option<Digest> },
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
    /// The run that a header describes, from its first game on: one game on one thread, unless told otherwise.
    ///
    /// # Errors
    ///
    /// If this engine, the nets or the book are others than the header's, or it has a clock.
    pub fn from_header(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
    ) -> Result<Self, Mismatch> {
        if header.clock.is_some() {
            return Err(Mismatch::Timed);
        }
        Self::described(header, evaluation, opponent, book)
    }

    /// [`from_header`](Self::from_header) for games that need not be the same anywhere else: where the header has a clock,
    /// `timer` measures the time.
    ///
    /// # Errors
    ///
    /// If this engine, the nets or the book are others than the header's.
    pub fn under_timer(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
        timer: Arc<dyn Timer>,
    ) -> Result<Self, Mismatch> {
        let timed = header.clock.map(|clock| Timed { clock, timer });
        Ok(Self { timed, ..Self::described(header, evaluation, opponent, book)? })
    }

    fn described(
        header: &Header,
        evaluation: Evaluation,
        opponent: Option<Evaluation>,
        book: Option<Book>,
    ) -> Result<Self, Mismatch> {
        if header.bench_signature != bench::SIGNATURE {
            return Err(Mismatch::Engine { expected: header.bench_signature, found: bench::SIGNATURE });
        }
        let same = |entrant, expected, evaluation: &Evaluation| {
            let found = net_of(evaluation);
            if found == expected { Ok(()) } else { Err(Mismatch::Net { entrant, expected, found }) }
        };
        same(Entrant::A, header.net, &evaluation)?;
        let opponent = match (header.opponent, opponent) {
            (None, None) => None,
            (None, Some(_)) => return Err(Mismatch::SelfPlay),
            (Some(_), None) => return Err(Mismatch::NoOpponent),
            (Some(expected), Some(evaluation)) => {
                same(Entrant::B, expected.net, &evaluation)?;
                let dataset::Opponent { soft_nodes, hard_nodes, .. } = expected;
                Some(Opponent { evaluation, soft_nodes, hard_nodes })
            }
        };
        let (expected, found) = (header.openings.book, book.as_ref().map(Book::hash));
        if expected != found {
            return Err(Mismatch::Book { expected, found });
        }
        let Header { rules, settings, openings, seed, first_game, .. } = header;
        Ok(Self {
            evaluation,
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
