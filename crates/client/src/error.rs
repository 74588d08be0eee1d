//! Errors of an exchange.

use std::{error, fmt, io, path::PathBuf, time::Duration};

use dataset::Digest;
use protocol::api::problem::{Code, Problem};

use crate::network;

/// The reason why there is no response, or no usable one. Each names the server, never the whole
/// URL, which may hold a secret.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Error {
    /// The coordinator rejected the request, with its reason.
    #[error("{context}: {problem}")]
    Rejected { context: RequestContext, problem: Box<Problem>, retry_after: Option<Duration> },
    /// The response is not the coordinator's; usually it is a proxy's.
    #[error("{context}: the answer was {status}{}, not the coordinator's", quoted(.text))]
    Status { context: RequestContext, status: u16, text: String, retry_after: Option<Duration> },
    /// There was no response.
    #[error("{cause}")]
    Network { context: RequestContext, cause: String, lookup: HostLookup },
    /// The response cannot be parsed.
    #[error("{context}: the answer cannot be read: {cause}")]
    Malformed { context: RequestContext, cause: String },
    /// The response is valid JSON with content that this program does not know.
    #[error("{context}: the answer cannot be understood: {cause}")]
    Unexpected { context: RequestContext, cause: String },
    /// The downloaded file has another hash.
    #[error("{context}: the file that came has the SHA-256 {found}, not {expected}")]
    WrongBytes { context: RequestContext, expected: Digest, found: Digest },
    /// The disk failed.
    #[error("{}: {source}", path.display())]
    Storage { path: PathBuf, source: io::Error },
}

/// The outcome of looking up the host of a server that did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLookup {
    /// It has an address.
    Found,
    /// No name server could be asked.
    Unavailable,
    /// No host has this name.
    NoSuchHost,
}

/// The request that failed: its purpose and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext {
    pub(crate) action: &'static str,
    pub(crate) server: String,
}

impl fmt::Display for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.action, self.server)
    }
}

impl Error {
    /// The coordinator's problem code, if the coordinator rejected the request.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Rejected { problem, .. } => Some(problem.code),
            _ => None,
        }
    }

    /// The name of the coordinator's refusal, if it has one.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Rejected { problem, .. } => problem.parameters.get("refusal")?.as_str(),
            _ => None,
        }
    }

    /// Returns the outcome of looking up the server's host.
    #[must_use]
    pub const fn host_lookup(&self) -> HostLookup {
        match self {
            Self::Network { lookup, .. } => *lookup,
            _ => HostLookup::Found,
        }
    }

    /// The delay that the server asks for.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rejected { retry_after, .. } | Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether a retry may succeed. A response that is not the coordinator's is always transient: a
    /// proxy's page says nothing about the request.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Rejected { problem, .. } => matches!(problem.status, 408 | 429 | 500..),
            Self::Storage { .. } => false,
            _ => true,
        }
    }

    pub(crate) fn network(context: &RequestContext, error: &(dyn error::Error + 'static)) -> Self {
        let (cause, lookup) = (network::describe(error, &context.server), network::host_lookup(error));
        Self::Network { context: context.clone(), cause, lookup }
    }

    pub(crate) fn malformed(context: &RequestContext, cause: impl fmt::Display) -> Self {
        Self::Malformed { context: context.clone(), cause: cause.to_string() }
    }
}

/// The beginning of a page in one line, in parentheses.
fn quoted(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).take(80).collect();
    if line.is_empty() { line } else { format!(" (`{line}`)") }
}
