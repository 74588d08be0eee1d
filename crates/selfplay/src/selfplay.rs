//! Self-play, and match games that are kept like those of self-play: functions of their settings and seed.
//!
//! A game depends on the nets, the rule set, the settings, the opening policy and its seed, and on nothing else: the
//! engines forget everything before it, no clock is read, one thread searches. The seed of a game comes from that of
//! its run and its number, so that games can be played in any order on any machine; they are handed over in the order
//! of their numbers.
//!
//! With an opponent a run is a match. Games 2p and 2p+1 are the two of pair p, from one opening; the run's own net, A,
//! is Red in even games, the opponent, B, in odd ones. Each has an engine of its own. Openings are judged by neither of
//! them, but by the plain evaluation, so that they do not depend on who plays.
//!
//! Where a run is [`Timed`] its games are under a clock, in the same shards, and functions of nothing: no others are.

mod game;
mod given;

use std::ops::ControlFlow;

pub use dataset::GameSettings;
use dataset::{Book, Digest, Header, OpeningPolicy, Record};
use engine::{Engine, Evaluation};

use crate::{
    control::{Control, Leave},
    matches::JUDGE,
    openings::{NoOpening, Openings},
    ordered::in_order,
    timing::Timed,
};

pub use game::Sight;
pub use given::Mismatch;

/// A game, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The game.
    pub record: Record,
    /// How many nodes its moves took, without the search for its opening.
    pub nodes: u64,
}

/// Against whom a run's net plays.
#[derive(Clone, Debug)]
pub struct Opponent {
    /// What it evaluates with.
    pub evaluation: Evaluation,
    /// It begins no new iteration of a search after so many nodes.
    pub soft_nodes: Option<u64>,
    /// No search of it has more nodes.
    pub hard_nodes: u64,
}

/// Games of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What plays.
    pub evaluation: Evaluation,
    /// Against whom; against itself, if there is none.
    pub opponent: Option<Opponent>,
    /// The time that is measured in a match, instead of nodes; none, if games are to be what they are everywhere.
    pub timed: Option<Timed>,
    /// How it plays. The limits of nodes are not the opponent's.
    pub settings: GameSettings,
    /// From where.
    pub openings: Openings,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the first game.
    pub first: u64,
    /// How many games.
    pub games: u64,
    /// How many are played at the same time.
    pub threads: usize,
}

/// Who plays the games of a run on one thread, and who judges their openings. What they knew before a game changes
/// nothing in it.
pub struct Players {
    a: Engine,
    /// In a match.
    others: Option<Others>,
}

struct Others {
    b: Engine,
    judge: Engine,
}

/// Why a run ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// A game has no opening.
    #[error("game {number}: {source}")]
    NoOpening {
        /// Its number.
        number: u64,
        /// Why.
        source: NoOpening,
    },
    /// Whoever received the games failed.
    #[error(transparent)]
    Receiver(E),
}

impl Run {
    /// Plays all games; `receive` gets them in the order of their numbers.
    ///
    /// # Errors
    ///
    /// If a game has no opening, or `receive` fails.
    pub fn play<E: Send>(&self, receive: impl FnMut(u64, Finished) -> Result<(), E>) -> Result<(), RunError<E>> {
        self.play_under(&Control::default(), receive).map(|_| ())
    }

    /// [`play`](Self::play), held up or ended by `control`: how many games were handed over. There are no gaps between
    /// them.
    ///
    /// # Errors
    ///
    /// As [`play`](Self::play).
    pub fn play_under<E: Send>(
        &self,
        control: &Control,
        mut receive: impl FnMut(u64, Finished) -> Result<(), E>,
    ) -> Result<u64, RunError<E>> {
        let mut received = 0;
        let work = |players: &mut Players, index: u64, leave: &Leave<'_>| {
            let number = self.first.wrapping_add(index);
            let game = self.game_while(players, number, &mut || leave.goes_on());
            game.map_err(|source| RunError::NoOpening { number, source })
        };
        in_order(
            self.games,
            self.threads,
            control,
            || self.players(),
            work,
            |index, finished| {
                receive(self.first.wrapping_add(index), finished).map_err(RunError::Receiver)?;
                received = index + 1;
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(received)
    }

    /// Plays the game with this number, whether it is one of the run's or not. `players` are those of this run.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: nobody asks it to give up.
    pub fn game(&self, players: &mut Players, number: u64) -> Result<Finished, NoOpening> {
        let game = self.game_while(players, number, &mut || true)?;
        Ok(game.expect("a game goes on until its end"))
    }

    /// What a shard of this run's games says of them.
    #[must_use]
    pub fn header(&self) -> Header {
        Header {
            bench_signature: engine::bench::SIGNATURE,
            net: net_of(&self.evaluation),
            opponent: self.opponent.as_ref().map(|opponent| dataset::Opponent {
                net: net_of(&opponent.evaluation),
                soft_nodes: opponent.soft_nodes,
                hard_nodes: opponent.hard_nodes,
            }),
            clock: self.timed.as_ref().map(|timed| timed.clock),
            rules: self.openings.rules,
            settings: self.settings,
            openings: OpeningPolicy {
                book: self.openings.book.as_ref().map(Book::hash),
                plies: self.openings.plies,
                filter: self.openings.filter,
            },
            seed: self.seed,
            first_game: self.first,
        }
    }

    /// Players for one thread.
    #[must_use]
    pub fn players(&self) -> Players {
        let engine = |evaluation: &Evaluation| {
            Engine::new(&engine::Settings {
                hash_mebibytes: self.settings.hash_mebibytes,
                threads: 1,
                evaluation: evaluation.clone(),
            })
        };
        let others = |opponent: &Opponent| Others { b: engine(&opponent.evaluation), judge: Engine::new(&JUDGE) };
        Players { a: engine(&self.evaluation), others: self.opponent.as_ref().map(others) }
    }
}

fn net_of(evaluation: &Evaluation) -> Option<Digest> {
    match evaluation {
        Evaluation::Plain => None,
        Evaluation::Net(net, _) => Some(Digest::from(*net.hash().as_bytes())),
        #[cfg(feature = "experiments")]
        Evaluation::Experiment(_) => unreachable!("experiments play matches alone"),
    }
}
