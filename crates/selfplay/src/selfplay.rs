//! Self-play: games that are functions of their settings and seed.
//!
//! A game depends on the net, the rule set, the settings, the opening policy and its seed, and on nothing else: the
//! engine forgets everything before it, no clock is read, one thread searches. The seed of a game comes from that of
//! its run and its number, so that games can be played in any order on any machine; they are handed over in the order
//! of their numbers.

use std::ops::ControlFlow;

pub use dataset::GameSettings;
use dataset::{Digest, Header, OpeningPolicy, Reason, Record, ScoredMove, random::game_seed};
use engine::{Engine, Evaluation, Limits, score::MATE};
use xiangqi::rules::{Outcome, Status};

use crate::{
    book::Book,
    openings::{NoOpening, Openings},
    ordered::in_order,
};

/// A game, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The game.
    pub record: Record,
    /// How many nodes its moves took, without the search for its opening.
    pub nodes: u64,
}

/// Games of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What plays.
    pub evaluation: Evaluation,
    /// How it plays.
    pub settings: GameSettings,
    /// From where.
    pub openings: Openings,
    /// The seed of the run.
    pub seed: u64,
    /// How many games.
    pub games: u64,
    /// How many are played at the same time.
    pub threads: usize,
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
    /// Plays all games; `receive` gets them in the order of their numbers, from 0.
    ///
    /// # Errors
    ///
    /// If a game has no opening, or `receive` fails.
    pub fn play<E: Send>(&self, mut receive: impl FnMut(u64, Finished) -> Result<(), E>) -> Result<(), RunError<E>> {
        let work = |engine: &mut Engine, number, _: &_| {
            let seed = game_seed(self.seed, number);
            let game = play_game(engine, &self.settings, &self.openings, seed);
            game.map(Some).map_err(|source| RunError::NoOpening { number, source })
        };
        in_order(
            self.games,
            self.threads,
            || self.engine(),
            work,
            |number, finished| {
                receive(number, finished).map_err(RunError::Receiver)?;
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    /// What a shard of this run's games says of them.
    #[must_use]
    pub fn header(&self) -> Header {
        let net = match &self.evaluation {
            Evaluation::Plain => None,
            Evaluation::Net(net, _) => Some(Digest::from(*net.hash().as_bytes())),
        };
        Header {
            bench_signature: engine::bench::SIGNATURE,
            net,
            opponent: None,
            rules: self.openings.rules,
            settings: self.settings,
            openings: OpeningPolicy {
                book: self.openings.book.as_ref().map(Book::hash),
                plies: self.openings.plies,
                filter: self.openings.filter,
            },
            seed: self.seed,
            first_game: 0,
        }
    }

    /// An engine that plays the games of this run.
    #[must_use]
    pub fn engine(&self) -> Engine {
        Engine::new(&engine::Settings {
            hash_mebibytes: self.settings.hash_mebibytes,
            threads: 1,
            evaluation: self.evaluation.clone(),
        })
    }
}

/// Plays the game with this seed. `engine` has one thread and a table as large as the settings say; what it knew before
/// changes nothing.
///
/// # Errors
///
/// If the game has no opening.
///
/// # Panics
///
/// Never: while a game goes on there is a move.
pub fn play_game(
    engine: &mut Engine,
    settings: &GameSettings,
    openings: &Openings,
    seed: u64,
) -> Result<Finished, NoOpening> {
    let opening = openings.choose(seed, engine)?;
    let mut game = opening.game();
    engine.new_game();
    let limits = Limits { soft_nodes: settings.soft_nodes, hard_nodes: Some(settings.hard_nodes), ..Limits::default() };
    let mut moves: Vec<ScoredMove> = Vec::new();
    let mut nodes = 0;
    let (outcome, reason) = loop {
        if let Status::Over(ending) = game.status() {
            break (ending.outcome, Reason::Rules(ending.reason));
        }
        let scores = moves.iter().map(|scored| scored.score);
        let verdict = settings.adjudication.verdict(scores, opening.moves.len(), !game.position().turn());
        if let Some(verdict) = verdict {
            break verdict;
        }
        if game.len() >= settings.ply_cap as usize {
            break (Outcome::Draw, Reason::PlyCap);
        }
        let report = engine.search(&game, &limits);
        nodes += report.nodes;
        let mv = report.best_move().expect("there is a legal move while the game goes on");
        // A search that was stopped before it had a score says so by one that is beyond all.
        moves.push(ScoredMove { mv, score: report.score().filter(|score| score.abs() <= MATE) });
        game.push_legal(mv);
    };
    Ok(Finished { record: Record { opening, moves, outcome, reason }, nodes })
}
