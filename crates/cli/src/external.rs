//! External engines: programs that speak UCI or UCCI. Only this module starts any.
//!
//! They are not trusted. Before every move an engine is asked for its position, where it can tell.
//! Its moves are checked, and its silence times out. A fault costs the engine its game, and it is
//! restarted.

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
use process::{Process, ReceiveError};
pub(crate) use specification::{Protocol, Specification};

/// Time limits of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Grace beyond the time of a move.
    pub(crate) grace: Duration,
    /// Silence beyond time and grace after which an engine is taken for stalled.
    pub(crate) watchdog: Duration,
}

/// The properties of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineProfile {
    /// The name that the engine gives itself.
    pub(crate) name: String,
    /// Messages for people during start-up.
    pub(crate) remarks: Vec<String>,
    /// Whether the engine shows its position.
    pub(crate) shows_position: bool,
}

/// An external engine as a player.
pub(crate) struct ExternalPlayer {
    specification: Specification,
    timeouts: Timeouts,
    hash_mebibytes: usize,
    /// None after a fault, until the engine is restarted.
    connection: Option<Connection>,
}

impl ExternalPlayer {
    /// Starts the engine once to learn its properties.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub(crate) fn probe(specification: &Specification, hash_mebibytes: usize) -> Result<EngineProfile, String> {
        let Connection { name, remarks, shows_position, .. } = Connection::open(specification, hash_mebibytes)?;
        Ok(EngineProfile { name, remarks, shows_position })
    }

    /// Starts the engine.
    ///
    /// # Errors
    ///
    /// If the engine cannot be started, or fails the handshake.
    pub(crate) fn start(
        specification: &Specification,
        hash_mebibytes: usize,
        timeouts: Timeouts,
    ) -> Result<Self, String> {
        let connection = Connection::open(specification, hash_mebibytes)?;
        Ok(Self { specification: specification.clone(), timeouts, hash_mebibytes, connection: Some(connection) })
    }

    /// Runs `act` on the connection; a fault closes it.
    fn with<T>(&mut self, act: impl FnOnce(&mut Connection, Timeouts) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let Some(connection) = &mut self.connection else {
            return Err(Trouble::fault(FaultKind::Crash, "the engine is gone"));
        };
        let result = act(connection, self.timeouts);
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
        self.with(|connection, timeouts| connection.new_game(timeouts.watchdog))
    }

    fn prepare(&mut self, game: &Game) -> Result<(), Trouble> {
        self.with(|connection, timeouts| connection.set_position(game, timeouts.watchdog))
    }

    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble> {
        self.with(|connection, timeouts| {
            let time = allowance.time().map_or(Duration::ZERO, |time| time + timeouts.grace);
            connection.go(game, allowance, time + timeouts.watchdog)
        })
    }
}

/// A deadline of waiting for an engine.
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
