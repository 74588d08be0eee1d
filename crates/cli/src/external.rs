//! Outside engines: programs that speak UCI or UCCI. Only this room starts any.
//!
//! They are not trusted. Before every move an engine is asked what position it holds, where it can say so; its moves
//! are looked at; its silence has an end. Whatever it does wrong is a fault that costs it the game, and it is started
//! anew.

mod connection;
mod dialect;
mod info;
mod process;
mod specification;

use std::time::{Duration, Instant};

use selfplay::{Allowance, Choice, FaultKind, Player, Trouble};
use xiangqi::rules::Game;

use connection::Connection;
use dialect::Dialect;
use info::Info;
use process::{Process, Silence};
pub(crate) use specification::{Protocol, Specification};

/// How long engines may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// What may be used beyond the time a move has.
    pub(crate) grace: Duration,
    /// How long an engine may be silent when it should long have answered.
    pub(crate) watchdog: Duration,
}

/// How an engine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// How it calls itself.
    pub(crate) name: String,
    /// What it said to people while it got ready.
    pub(crate) remarks: Vec<String>,
    /// Whether it tells the position it holds.
    pub(crate) shows_position: bool,
}

/// An outside engine as a player.
pub(crate) struct ExternalPlayer {
    specification: Specification,
    patience: Patience,
    hash_mebibytes: usize,
    /// None after a fault that it may not survive.
    connection: Option<Connection>,
}

impl ExternalPlayer {
    /// Starts the engine only to see how it is.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub(crate) fn introduce(specification: &Specification, hash_mebibytes: usize) -> Result<Introduction, String> {
        let Connection { name, remarks, shows_position, .. } = Connection::open(specification, hash_mebibytes)?;
        Ok(Introduction { name, remarks, shows_position })
    }

    /// Starts the engine.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or does not say what engines say then.
    pub(crate) fn start(
        specification: &Specification,
        hash_mebibytes: usize,
        patience: Patience,
    ) -> Result<Self, String> {
        let connection = Connection::open(specification, hash_mebibytes)?;
        Ok(Self { specification: specification.clone(), patience, hash_mebibytes, connection: Some(connection) })
    }

    /// Does something with the engine; after a fault it is ended.
    fn with<T>(&mut self, act: impl FnOnce(&mut Connection, Patience) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let Some(connection) = &mut self.connection else {
            return Err(Trouble::fault(FaultKind::Crash, "the engine is gone"));
        };
        let result = act(connection, self.patience);
        if result.is_err() {
            self.connection = None;
        }
        result
    }
}

impl Player for ExternalPlayer {
    fn new_game(&mut self) -> Result<(), Trouble> {
        if self.connection.is_none() {
            let connection = Connection::open(&self.specification, self.hash_mebibytes);
            self.connection = Some(connection.map_err(Trouble::Gone)?);
        }
        self.with(|connection, patience| connection.new_game(patience.watchdog))
    }

    fn prepare(&mut self, game: &Game) -> Result<(), Trouble> {
        self.with(|connection, patience| connection.set_position(game, patience.watchdog))
    }

    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble> {
        self.with(|connection, patience| {
            let time = allowance.time().map_or(Duration::ZERO, |time| time + patience.grace);
            connection.go(game, allowance, time + patience.watchdog)
        })
    }
}

/// When to stop waiting.
#[derive(Clone, Copy)]
struct Deadline(Instant);

#[allow(clippy::disallowed_methods, reason = "this is the edge: an engine's silence is measured by the clock")]
impl Deadline {
    fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
