//! Refusals: reasons for which a request is not carried out.

use std::fmt;

use protocol::api::{
    problem::{Code, Problem},
    work::Role,
};

use serde::Serialize;
use serde_json::Value;

use super::{AccountState, CampaignState, CampaignStep, JobId, JobState, Reason, TokenId, WorkerId};

/// Defines refusals by name, parameters, code and English text.
macro_rules! refusals {
    ($($name:ident $({ $($field:ident: $type:ty),* })? $code:ident $text:literal,)*) => {
        /// A refusal with its parameters. Its text is English; pages render it in each language.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(tag = "refusal", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "the texts say what each is")]
        pub enum Refusal {
            $($name $({ $($field: $type),* })?,)*
            /// One for programs, which has no translation.
            #[serde(skip)]
            Other(Problem),
        }

        /// Each refusal: its name, its code and its parameters.
        #[cfg(test)]
        const ALL: &[(&str, Code, &[&str])] =
            &[$((stringify!($name), Code::$code, &[$($(stringify!($field)),*)?])),*];

        impl Refusal {
            /// The stable code.
            #[must_use]
            pub const fn code(&self) -> Code {
                match self {
                    $(Self::$name $({ $($field: _),* })? => Code::$code,)*
                    Self::Other(problem) => problem.code,
                }
            }
        }

        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name $({ $($field),* })? => write!(f, $text),)*
                    Self::Other(problem) => problem.fmt(f),
                }
            }
        }
    };
}

refusals! {
    AboveRole { own: Role, theirs: Role } Forbidden "the account is a {theirs}; a {own} cannot change it",
    AccountBlocked { reason: Reason } Blocked "{reason}",
    AccountDeleted Conflict "the account was deleted",
    AccountInactive { state: AccountState } Blocked "the account is {state}",
    AccountInQuarantine Conflict "the account is in quarantine: that must be lifted first",
    AccountPending Blocked "the account waits for approval",
    AccountTaken { name: String } Conflict "there is an account {name} already",
    BadAuditPercent Invalid "audit_percent is a whole number from 0 to 100",
    BadInvitation Forbidden "the invitation is not valid, or was used",
    BadKeepDays Invalid "keep_days is a whole number from 0 to 36500",
    BadName { name: String } Invalid
        "{name:?} is no name: 1 to 64 letters, digits, `.`, `_` or `-`, first a letter or digit",
    BadPassword { min: usize, max: usize } Invalid "a password has {min} to {max} characters",
    BadRating Invalid "nets play 1 to 100,000 pairs, of 1 to 1,000,000,000 nodes a move",
    BadRegistration Invalid "registration is open_to_all, by_approval or by_invitation",
    BeingCounted Busy "the match's games are being counted: ask again in a moment",
    CampaignChanged PreconditionFailed "the campaign has changed meanwhile: look again",
    CampaignInStep { state: CampaignState, step: CampaignStep } Conflict
        "the campaign is {state} and {step}: it cannot do that now",
    CampaignOver { state: CampaignState } Conflict "the campaign is {state} for good: create another",
    CampaignTaken { name: String } Conflict "there is a campaign {name} already",
    ChampionChanged PreconditionFailed "the campaign has another champion meanwhile: look again",
    CoordinatorFailed Internal "the coordinator failed: its log says why",
    DatabaseBusy Busy "the database is busy: ask again later",
    DiskFull DiskFull "the coordinator's disk is full: ask again later",
    FixedKey { key: String } Invalid "`{key}` cannot be changed: begin another campaign",
    ForeignForm Forbidden "the form came from another site",
    GateInUse Conflict "`gate` cannot be changed while its match is played",
    GamesReceived { first: i64, last: i64 } Conflict "the games {first} to {last} of the lease were received already",
    LacksRole { needed: Role, own: Role } Forbidden "that takes a {needed}; the token is a {own}'s",
    LeaseRejected { uploads: usize } LeaseLost
        "{uploads} uploads of the lease were rejected: others play its games now",
    LongForm TooLarge "the form is too long",
    MatchClosed { job: JobId, state: JobState } Conflict "match {job} is {state}",
    NeedsOwnRole { role: Role, own: Role } Forbidden
        "that takes a {role}'s token of the account, or its session; this token is a {own}'s",
    NoAccount { account: String } NotFound "there is no account {account}",
    NoAction Invalid "there is no such action",
    NoAddress NotFound "there is nothing at this address",
    NoBook { book: String } NotFound "there is no book {book}",
    NoCampaign { campaign: String } NotFound "there is no campaign {campaign}",
    NoCandidate Conflict "the campaign has no candidate",
    NoGames Conflict "there are no games to learn from yet",
    NoMatch { job: JobId } NotFound "there is no match {job}",
    NoMessage Invalid "write a message for the worker",
    NoNet { net: String } NotFound "there is no net {net}",
    NoPromotion Conflict "the campaign has no promotion to take back",
    NoReason Invalid "say why, in a few words",
    NoRole Invalid "there is no such role",
    NoSetting NotFound "there is no such setting",
    NoShard NotFound "there is no such shard, or its games are still being checked",
    NoToken { token: TokenId } NotFound "there is no token {token} to revoke",
    NoWorker { worker: WorkerId } NotFound "there is no worker {worker}",
    NotFound NotFound "there is no such thing",
    NotSignedIn NoToken "sign in first",
    ObjectsBusy Busy "the store of objects does not answer: ask again later",
    OtherToken { worker: WorkerId } Forbidden
        "worker {worker} is trusted, with the token that it had then: this is another one",
    OwnQuarantine Forbidden "another maintainer lifts the quarantine of an account",
    PairLeased { pair: i64, next: i64 } Conflict "pair {pair} was handed out already: the next is {next}",
    RecipeInUse Conflict "`recipe` cannot be changed while a net is trained",
    ReportSlow Busy "this takes too long to read at the moment: ask again later",
    ReportsBusy Busy "too many pages are being read: ask again in a moment",
    RightsOutlive Forbidden "a token that expires gives no lasting rights",
    StaleForm Forbidden "the form is out of date, or cookies are switched off: load its page again",
    TokenOutlives Forbidden "a token makes none that is valid longer than itself",
    UnreadableAddress { error: String } BadRequest "the address cannot be read: {error}",
    UnreadableForm BadRequest "a field of the form is missing or cannot be read: load its page again",
    UploadsReviewed Busy "uploads are being reviewed after a quarantine: ask again in a moment",
    UploadsWaiting { uploads: i64 } TooMany
        "{uploads} uploads of the account wait for validation: send the next one later",
}

impl std::error::Error for Refusal {}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Other(problem)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Other(problem) => problem,
            known => {
                let parameters = match serde_json::to_value(&known) {
                    Ok(Value::Object(parameters)) => parameters,
                    _ => serde_json::Map::new(),
                };
                Self { parameters, ..Self::new(known.code(), known.to_string()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_problem_on_the_wire() {
        let problem = Problem::from(Refusal::PairLeased { pair: 3, next: 5 });
        let json = serde_json::json!({
            "type": "about:blank", "status": 409, "title": "It contradicts what is there", "code": "conflict",
            "detail": "pair 3 was handed out already: the next is 5", "refusal": "pair_leased", "pair": 3, "next": 5,
        });
        assert_eq!(serde_json::to_value(&problem).unwrap(), json);
        assert_eq!(serde_json::from_value::<Problem>(json).unwrap(), problem);
        let other = Problem::new(Code::Truncated, "cut off");
        assert_eq!(Problem::from(Refusal::from(other.clone())), other);
        assert_eq!(
            Refusal::BadName { name: "a b".to_owned() }.to_string().split(':').next(),
            Some("\"a b\" is no name")
        );
    }

    #[test]
    fn the_protocol_lists_each_refusal_with_its_parameters() {
        let text = include_str!("../../../../docs/PROTOCOL.md");
        let section = text.split("### Refusals\n").nth(1).expect("it has such a section");
        let table = section.split("\n#").next().expect("it has a table");
        let listed: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
        let expected: Vec<String> = ALL
            .iter()
            .map(|(name, code, fields)| {
                let mut word = String::new();
                for letter in name.chars() {
                    if letter.is_uppercase() && !word.is_empty() {
                        word.push('_');
                    }
                    word.push(letter.to_ascii_lowercase());
                }
                let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
                format!("| `{word}` | `{code}` | {} |", fields.join(", ")).replace("|  |", "| |")
            })
            .collect();
        assert_eq!(listed, expected);
    }

    #[test]
    fn no_parameter_has_the_name_of_a_standard_key() {
        for (name, _, fields) in ALL {
            for field in *fields {
                assert!(
                    !["type", "status", "title", "detail", "instance", "code", "refusal"].contains(field),
                    "{name}"
                );
            }
        }
    }
}
