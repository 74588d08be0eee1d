//! Modes of the work: shutdown and pause.

/// State machine of the shutdown: `Running`, `Finish`, `Stop`, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shutdown {
    /// Running.
    #[default]
    Running,
    /// Graceful: the games at hand are finished and submitted.
    Finish,
    /// Immediate: games at hand are dropped, finished ones are saved and submitted.
    Stop,
}

/// Reason for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseReason {
    /// The owner paused it.
    Requested,
    /// Outside the allowed hours.
    Hours,
    /// The machine runs on battery.
    Battery,
}

impl PauseReason {
    /// Returns the reason as one sentence.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Requested => "Paused; `chuhe-worker status --resume` resumes.",
            Self::Hours => "Resting: it is not among the hours in which this machine may play.",
            Self::Battery => "Resting: the machine runs on its battery.",
        }
    }
}
