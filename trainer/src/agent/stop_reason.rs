//! Why an agent stops its current work.

use client::Error;
use protocol::api::problem::Code;

/// Why an agent stops its current work.
#[derive(Debug)]
pub(super) enum StopReason {
    /// A stop was requested.
    Requested,
    /// The training's lease is lost.
    LeaseLost(String),
    /// No trainer can complete the training.
    Impossible(String),
    /// The coordinator rejects this agent.
    Denied(Error),
    /// This machine failed.
    LocalFailure(anyhow::Error),
}

impl StopReason {
    /// Classifies an error that a retry will not change.
    pub(super) fn from_error(error: Error) -> Self {
        match error.code() {
            Some(Code::LeaseLost | Code::NotOwner) => Self::LeaseLost(error.to_string()),
            Some(Code::NoToken | Code::BadToken | Code::Forbidden | Code::Blocked | Code::TooOld) => {
                Self::Denied(error)
            }
            None if matches!(error, Error::Storage { .. }) => Self::LocalFailure(error.into()),
            _ => Self::Impossible(error.to_string()),
        }
    }

    pub(super) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Denied(error) => error.into(),
            Self::LocalFailure(error) => error,
            Self::Impossible(text) | Self::LeaseLost(text) => anyhow::Error::msg(text),
            Self::Requested => anyhow::Error::msg("it was stopped"),
        }
    }
}

impl From<anyhow::Error> for StopReason {
    fn from(error: anyhow::Error) -> Self {
        Self::LocalFailure(error)
    }
}
