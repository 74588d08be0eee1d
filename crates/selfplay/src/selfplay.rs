//! Self-play, and match games kept as records: deterministic functions of settings and seed.
//!
//! A game depends only on the nets, the parameters of the search, the rule set, the settings, the
//! opening policy and its seed.
//! The engines are cleared before it, no clock is read, one thread searches. Its seed is derived
//! from the run's seed and its number. So games can be played in any order on any machine; they are
//! handed over in the order of their numbers.
//!
//! With an opponent a run is a match. Games 2p and 2p+1 form pair p, from one opening. The run's
//! own net, A, is Red in even games, the opponent, B, in odd ones. Each has its own engine.
//! Openings are filtered by the plain evaluation, so that they do not depend on the players.
//!
//! If a run is [`Timed`], its games are under a clock and not deterministic; their shards are
//! alike.

mod from_header;
mod game;

use std::ops::ControlFlow;

pub use dataset::GameSettings;
use dataset::{Book, Digest, Header, OpeningPolicy, Overrides, Record};
use engine::{Engine, Evaluation, Parameters};

use crate::{
    control::{CancelToken, Control},
    matches::JUDGE_SETTINGS,
    openings::{NoOpening, Openings},
    ordered::in_order,
    timing::Timed,
};

pub use from_header::HeaderMismatch;
pub use game::GameSnapshot;

/// A finished game and its node count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The game, ready to be stored.
    pub record: Record,
    /// The nodes of its moves, without those of the opening filter.
    pub nodes: u64,
}

/// The opponent of a run's net.
#[derive(Clone, Debug)]
pub struct Opponent {
    /// The evaluation of the opponent's engine.
    pub evaluation: Evaluation,
    /// The parameters of its search.
    pub parameters: Parameters,
    /// The soft node limit of a search.
    pub soft_nodes: Option<u64>,
    /// The hard node limit of a search.
    pub hard_nodes: u64,
}

/// A run of games.
#[derive(Clone, Debug)]
pub struct Run {
    /// The evaluation of the run's own engine.
    pub evaluation: Evaluation,
    /// The parameters of its search.
    pub parameters: Parameters,
    /// The opponent; none for self-play.
    pub opponent: Option<Opponent>,
    /// The clock of a match, instead of node limits; none for deterministic games.
    pub timed: Option<Timed>,
    /// The settings. The opponent has its own node limits.
    pub settings: GameSettings,
    /// The policy of openings.
    pub openings: Openings,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the first game.
    pub first: u64,
    /// The number of games.
    pub games: u64,
    /// The number of concurrent games.
    pub threads: usize,
}

/// The engines of a run on one thread. They carry no state from game to game.
pub struct Players {
    a: Engine,
    /// Only in a match.
    match_engines: Option<MatchEngines>,
}

struct MatchEngines {
    b: Engine,
    judge: Engine,
}

/// An aborted run.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// A game has no opening.
    #[error("game {number}: {source}")]
    NoOpening {
        /// The number of the game.
        number: u64,
        /// The cause.
        source: NoOpening,
    },
    /// The receiver of the games failed.
    #[error(transparent)]
    Receiver(E),
}

impl Run {
    /// Plays all games; `receive` gets them in order.
    ///
    /// # Errors
    ///
    /// If a game has no opening, or `receive` fails.
    pub fn play<E: Send>(&self, receive: impl FnMut(u64, Finished) -> Result<(), E>) -> Result<(), RunError<E>> {
        self.play_with_control(&Control::default(), receive).map(|_| ())
    }

    /// [`play`](Self::play), paused or ended by `control`. Returns the number of games handed over,
    /// without gaps.
    ///
    /// # Errors
    ///
    /// As [`play`](Self::play).
    pub fn play_with_control<E: Send>(
        &self,
        control: &Control,
        mut receive: impl FnMut(u64, Finished) -> Result<(), E>,
    ) -> Result<u64, RunError<E>> {
        let mut received = 0;
        let work = |players: &mut Players, index: u64, token: &CancelToken<'_>| {
            let number = self.first.wrapping_add(index);
            let game = self.game_while(players, number, &mut || token.should_continue());
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

    /// Plays the game with this number, even beyond the run's range. `players` must be this run's.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: the game is not cancelled.
    pub fn game(&self, players: &mut Players, number: u64) -> Result<Finished, NoOpening> {
        let game = self.game_while(players, number, &mut || true)?;
        Ok(game.expect("the game is not cancelled"))
    }

    /// The shard header of this run's games.
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
            parameters: overrides(&self.parameters),
            opponent_parameters: self
                .opponent
                .as_ref()
                .map(|opponent| overrides(&opponent.parameters))
                .unwrap_or_default(),
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

    /// Creates the engines for one thread.
    #[must_use]
    pub fn players(&self) -> Players {
        let engine = |evaluation: &Evaluation, parameters: &Parameters| {
            Engine::new(&engine::Settings {
                hash_mebibytes: self.settings.hash_mebibytes,
                threads: 1,
                evaluation: evaluation.clone(),
                parameters: parameters.clone(),
            })
        };
        let match_engines = |opponent: &Opponent| MatchEngines {
            b: engine(&opponent.evaluation, &opponent.parameters),
            judge: Engine::new(&JUDGE_SETTINGS),
        };
        let a = engine(&self.evaluation, &self.parameters);
        Players { a, match_engines: self.opponent.as_ref().map(match_engines) }
    }
}

/// The parameters as a header carries them.
fn overrides(parameters: &Parameters) -> Overrides {
    parameters.to_string().parse().expect("the engine writes the canonical form")
}

pub(crate) fn net_of(evaluation: &Evaluation) -> Option<Digest> {
    match evaluation {
        Evaluation::Plain => None,
        Evaluation::Net(net, _) => Some(Digest::from(*net.hash().as_bytes())),
        #[cfg(feature = "experiments")]
        Evaluation::Experiment(_) => unreachable!("experiments play only matches"),
    }
}
