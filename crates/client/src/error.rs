//! What can go wrong in an exchange.

use std::{error::Error as _, fmt, io, path::PathBuf, time::Duration};

use dataset::Digest;
use protocol::api::problem::{Code, Problem};

/// Why there is no answer, or none that is of use. Each names what was asked, never the address: that may hold a secret.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Error {
    /// The coordinator refused, and said why.
    #[error("{asked}: {problem}")]
    Refused { asked: Asked, problem: Box<Problem>, again_after: Option<Duration> },
    /// Somebody else answered: what is in between, as a rule.
    #[error("{asked}: the answer was {status}{}, not the coordinator's", said(.text))]
    Status { asked: Asked, status: u16, text: String, again_after: Option<Duration> },
    /// There was no answer.
    #[error("{asked}: {cause}")]
    Network { asked: Asked, cause: String },
    /// The answer is not one of the coordinator's.
    #[error("{asked}: the answer cannot be read: {cause}")]
    Answer { asked: Asked, cause: String },
    /// The answer is one of the coordinator's, as it seems, and says something that this program knows nothing of.
    #[error("{asked}: the answer cannot be understood: {cause}")]
    Strange { asked: Asked, cause: String },
    /// A file came that is another one.
    #[error("{asked}: the file that came has the SHA-256 {found}, not {expected}")]
    WrongBytes { asked: Asked, expected: Digest, found: Digest },
    /// The disk failed.
    #[error("{}: {source}", path.display())]
    Storage { path: PathBuf, source: io::Error },
}

/// What was asked, and of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub(crate) what: &'static str,
    pub(crate) server: String,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.server)
    }
}

impl Error {
    /// The coordinator's word for its refusal, if it was the coordinator that refused.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { problem, .. } => Some(problem.code),
            _ => None,
        }
    }

    /// How long the other side asked to wait.
    #[must_use]
    pub const fn again_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { again_after, .. } | Self::Status { again_after, .. } => *again_after,
            _ => None,
        }
    }

    /// Whether the same question may have more luck later. What is no refusal of the coordinator's may always: a proxy's
    /// page says nothing of what was asked.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Refused { problem, .. } => matches!(problem.status, 408 | 429 | 500..),
            Self::Storage { .. } => false,
            _ => true,
        }
    }

    pub(crate) fn network(asked: &Asked, error: reqwest::Error) -> Self {
        Self::Network { asked: asked.clone(), cause: causes(&error.without_url()) }
    }

    pub(crate) fn answer(asked: &Asked, cause: impl fmt::Display) -> Self {
        Self::Answer { asked: asked.clone(), cause: cause.to_string() }
    }
}

/// An error and what is behind it, in one line.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

/// The beginning of a page in one line.
fn said(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).take(80).collect();
    if line.is_empty() { line } else { format!(" (`{line}`)") }
}
