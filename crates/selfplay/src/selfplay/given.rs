//! Runs whose games somebody else described: to play them, or to play them again.

use dataset::{Book, Digest, Entrant, Header};
use engine::{Evaluation, bench};

use super::{Opponent, Run, net_of};
use crate::openings::Openings;

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
    /// If this engine, the nets or the book are others than the header's.
    pub fn from_header(
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
            settings: *settings,
            openings: Openings { rules: *rules, book, plies: openings.plies, filter: openings.filter },
            seed: *seed,
            first: *first_game,
            games: 1,
            threads: 1,
        })
    }
}
