//! Errors of the API: `application/problem+json` (RFC 9457) with a stable code for programs.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The media type of an error.
pub const PROBLEM_TYPE: &str = "application/problem+json";

/// The body of an error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// The problem type: always `about:blank`, because `code` identifies it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The HTTP status.
    pub status: u16,
    /// A short description of the code.
    pub title: String,
    /// The stable code, for programs.
    pub code: Code,
    /// One sentence for people.
    pub detail: String,
    /// Further keys: the name of the refusal and its parameters.
    #[serde(flatten)]
    pub parameters: Map<String, Value>,
}

impl Problem {
    /// Creates a problem with the code's status and title.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let (status, title) = (code.status(), code.title().to_owned());
        Self { kind: "about:blank".to_owned(), status, title, code, detail: detail.into(), parameters: Map::new() }
    }
}

macro_rules! codes {
    ($($name:ident $word:literal $status:literal $title:literal,)*) => {
        /// The code of a problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the titles say what each is")]
        pub enum Code {
            $(#[serde(rename = $word)] $name,)*
            /// A code that this version does not know.
            #[serde(other, rename = "unknown")]
            Unknown,
        }

        impl Code {
            /// Every code in use.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* Self::Unknown => "unknown" }
            }

            /// Returns the code of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                Self::ALL.iter().copied().find(|code| code.name() == name).unwrap_or(Self::Unknown)
            }

            /// The HTTP status of the code.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* Self::Unknown => 500 }
            }

            /// A short description of the code.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* Self::Unknown => "Unknown refusal" }
            }
        }
    };
}

codes! {
    BadRequest "bad_request" 400 "The request cannot be read",
    NoToken "no_token" 401 "No token was given",
    BadToken "bad_token" 401 "The token is not valid",
    Forbidden "forbidden" 403 "The token's owner may not do this",
    Blocked "blocked" 403 "The worker or account is blocked",
    NotOwner "foreign" 403 "The lease belongs to another worker or account",
    NotFound "not_found" 404 "There is no such thing",
    MethodNotAllowed "method_not_allowed" 405 "The address has no such method",
    Timeout "timeout" 408 "The request took too long",
    Conflict "conflict" 409 "It contradicts what is there",
    LeaseLost "lease_lost" 409 "The lease is over",
    NoProgress "no_progress" 409 "No game was finished since the last renewal",
    PreconditionFailed "precondition_failed" 412 "It was changed by another request",
    TooLarge "too_large" 413 "The body is too large",
    WrongType "wrong_type" 415 "The body is of another type",
    BadRange "bad_range" 416 "The thing has no such bytes",
    Invalid "invalid" 422 "A value is not allowed",
    TooOld "too_old" 426 "The program is too old",
    Truncated "truncated" 422 "The games are cut off",
    Corrupt "corrupt" 422 "The games are damaged",
    Bomb "bomb" 422 "The games would not fit into memory",
    NotAShard "not_a_shard" 422 "The bytes are no games",
    WrongNet "wrong_net" 422 "The games were played by another net",
    WrongSettings "wrong_settings" 422 "The games were played with other settings",
    WrongOpenings "wrong_openings" 422 "The games were opened by another policy",
    WrongRules "wrong_rules" 422 "The games were played by another rulebook",
    WrongEngine "wrong_engine" 422 "The games were played by another engine",
    WrongSeed "wrong_seed" 422 "The games have another seed",
    WrongGames "wrong_games" 422 "The games are not those of the lease",
    IllegalMove "illegal_move" 422 "A move is not legal",
    FalseLabel "false_label" 422 "A game ended otherwise",
    WrongOpening "wrong_opening" 422 "An opening is not the one of its seed",
    DuplicateGame "duplicate_game" 422 "The same game came twice",
    BadScore "bad_score" 422 "A score is none",
    Replayed "replayed" 409 "The games were uploaded for another lease",
    BadHash "bad_hash" 422 "The bytes have another SHA-256",
    BadNet "bad_net" 422 "The bytes are no net",
    TooMany "too_many" 429 "Too many requests",
    Quota "quota" 429 "The account has used up its storage",
    Internal "internal" 500 "The coordinator failed",
    Busy "busy" 503 "The coordinator is busy",
    Stopping "stopping" 503 "The coordinator is stopping",
    DiskFull "disk_full" 503 "The coordinator has no room",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
