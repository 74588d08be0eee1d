//! The host of a session: where its searches run, and the clock.

use std::time::{Duration, Instant};

use crate::limits::Clock;

/// Where the searches of a session run.
#[derive(Clone, Copy, Debug, Default)]
pub enum Host {
    /// On threads of their own, by the system's clock.
    #[default]
    System,
    /// Within [`execute_line`](super::Session::execute_line), where there are neither threads nor a
    /// clock, as in WebAssembly. A `bestmove` is withheld for nothing.
    Caller {
        /// The time since any fixed moment.
        now: fn() -> Duration,
        /// Whether the search is to stop; asked some thousand times a second.
        stop: fn() -> bool,
    },
}

/// A clock that runs from its creation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stopwatch {
    System(Instant),
    Caller { now: fn() -> Duration, began: Duration },
}

impl Host {
    #[allow(clippy::disallowed_methods, reason = "the program's edge: time controls need the clock")]
    pub(super) fn stopwatch(self) -> Stopwatch {
        match self {
            Self::System => Stopwatch::System(Instant::now()),
            Self::Caller { now, .. } => Stopwatch::Caller { now, began: now() },
        }
    }
}

impl Clock for Stopwatch {
    fn elapsed(&self) -> Duration {
        match self {
            Self::System(began) => began.elapsed(),
            Self::Caller { now, began } => now().saturating_sub(*began),
        }
    }
}
