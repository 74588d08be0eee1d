//! Why an agent does not go on with what it does.

use client::Error;
use protocol::api::problem::Code;

/// Why it does not go on.
#[derive(Debug)]
pub(super) enum Halt {
    /// Somebody wants it to end.
    Stopped,
    /// The training is no longer its own.
    Lost(String),
    /// Nobody can do it.
    Impossible(String),
    /// The coordinator will have nothing to do with it.
    Denied(Error),
    /// Something is wrong with this machine.
    Broken(anyhow::Error),
}

impl Halt {
    /// What an answer means that will not change by asking again.
    pub(super) fn of(error: Error) -> Self {
        match error.code() {
            Some(Code::LeaseLost | Code::Foreign) => Self::Lost(error.to_string()),
            Some(Code::NoToken | Code::BadToken | Code::Forbidden | Code::Blocked | Code::TooOld) => {
                Self::Denied(error)
            }
            None if matches!(error, Error::Storage { .. }) => Self::Broken(error.into()),
            _ => Self::Impossible(error.to_string()),
        }
    }

    pub(super) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Denied(error) => error.into(),
            Self::Broken(error) => error,
            Self::Impossible(text) | Self::Lost(text) => anyhow::Error::msg(text),
            Self::Stopped => anyhow::Error::msg("it was stopped"),
        }
    }
}

impl From<anyhow::Error> for Halt {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}
