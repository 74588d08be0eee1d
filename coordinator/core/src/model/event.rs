//! Events of the log: administrative actions, promotions, rejections, quarantines, failures.

use std::fmt;

use protocol::api::{problem::Code, work::Role};
use serde::{Deserialize, Serialize};
use xiangqi::text::counted;

use super::{
    AccountId, AccountState, CampaignCommand, CampaignId, JobId, Reason, RulingId, Setting, TokenId, WebhookId,
    WorkerId,
};

/// An event with its parameters. `kind` and `data` are its columns; its text is English, and pages
/// render it in each language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the texts say what each is")]
pub enum Event {
    AccountChanged {
        account: AccountId,
        change: AccountChange,
        message: Option<String>,
    },
    AccountCreated {
        account: AccountId,
        name: String,
        role: Role,
        state: AccountState,
    },
    AccountDeleted {
        account: AccountId,
    },
    CampaignCommand {
        campaign: String,
        command: CampaignCommand,
    },
    CampaignCreated {
        campaign: String,
    },
    CampaignEdited {
        campaign: String,
    },
    Candidate {
        net: String,
        name: String,
    },
    Disk {
        is_low: bool,
        free_mebibytes: u64,
    },
    Dispute {
        job: JobId,
        game: u64,
    },
    Disputed {
        net: String,
        name: String,
        job: JobId,
        pairs: u64,
    },
    GateReversed {
        net: String,
        name: String,
        job: JobId,
        pairs: u64,
    },
    Gating {
        campaign: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
    },
    Invited {
        account: AccountId,
        role: Role,
    },
    LiveBegan {
        job: JobId,
    },
    LiveEnded {
        job: JobId,
    },
    PasswordSet {
        account: AccountId,
    },
    Promoted {
        net: String,
        name: String,
        job: JobId,
    },
    Promotion {
        campaign: String,
        net: String,
        name: String,
        generation: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
    },
    Quarantine {
        account: AccountId,
        reason: Reason,
        uploads: u64,
    },
    QuarantineLifted {
        account: AccountId,
        reason: Reason,
        uploads: u64,
    },
    Rating {
        campaign: String,
        matches: u64,
    },
    Rejected {
        worker: WorkerId,
        job: JobId,
        first: i64,
        last: i64,
        code: Code,
        detail: Reason,
    },
    Rejection {
        campaign: String,
        net: String,
        name: String,
        reason: Reason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
    },
    Rollback {
        campaign: String,
        net: String,
        name: String,
        champion: Option<String>,
        reason: Reason,
    },
    Ruling {
        ruling: RulingId,
        job: JobId,
        game: u64,
    },
    SettingsChanged {
        setting: Setting,
        value: String,
        before: String,
    },
    Stall(Stall),
    Timed {
        job: JobId,
        pairs: u32,
        clock: String,
    },
    TokenCreated {
        account: AccountId,
        begins: String,
        name: String,
        role: Role,
    },
    TokenRevoked {
        token: TokenId,
    },
    Training {
        campaign: String,
        generation: i64,
        name: String,
    },
    TrainingAbandoned {
        campaign: CampaignId,
        reason: Reason,
    },
    WebhookAdded {
        webhook: WebhookId,
        address: String,
        kinds: Vec<String>,
    },
    WebhookRemoved {
        webhook: WebhookId,
    },
    WorkerBlocked {
        worker: WorkerId,
        message: Option<String>,
    },
    WorkerTrusted {
        worker: WorkerId,
        is_trusted: bool,
    },
}

/// A change of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say what each is")]
pub enum AccountChange {
    Role(Role),
    State(AccountState),
}

/// A standstill that needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the texts say what each is")]
pub enum Stall {
    Campaign { campaign: String, reason: Reason },
    Games { job: JobId, first: i64, last: i64, attempts: i64 },
}

impl Event {
    /// The text of events about an account that was deleted since. Their parameters are gone.
    pub const ERASED: &'static str = "of an account that was deleted";

    /// Its subject, as `net:<hash>` or `campaign:<name>`.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::AccountChanged { account, .. }
            | Self::AccountCreated { account, .. }
            | Self::AccountDeleted { account }
            | Self::Invited { account, .. }
            | Self::PasswordSet { account }
            | Self::Quarantine { account, .. }
            | Self::QuarantineLifted { account, .. }
            | Self::TokenCreated { account, .. } => format!("account:{account}"),
            Self::CampaignCommand { campaign, .. }
            | Self::CampaignCreated { campaign }
            | Self::CampaignEdited { campaign }
            | Self::Gating { campaign, .. }
            | Self::Promotion { campaign, .. }
            | Self::Rating { campaign, .. }
            | Self::Rejection { campaign, .. }
            | Self::Rollback { campaign, .. }
            | Self::Stall(Stall::Campaign { campaign, .. })
            | Self::Training { campaign, .. } => format!("campaign:{campaign}"),
            Self::TrainingAbandoned { campaign, .. } => format!("campaign:{campaign}"),
            Self::Candidate { net, .. }
            | Self::Disputed { net, .. }
            | Self::GateReversed { net, .. }
            | Self::Promoted { net, .. } => format!("net:{net}"),
            Self::Dispute { job, .. }
            | Self::Ruling { job, .. }
            | Self::Stall(Stall::Games { job, .. })
            | Self::Timed { job, .. } => format!("job:{job}"),
            Self::LiveBegan { job } | Self::LiveEnded { job } => format!("match:{job}"),
            Self::Rejected { worker, .. } | Self::WorkerBlocked { worker, .. } | Self::WorkerTrusted { worker, .. } => {
                format!("worker:{worker}")
            }
            Self::SettingsChanged { setting, .. } => format!("setting:{setting}"),
            Self::TokenRevoked { token } => format!("token:{token}"),
            Self::WebhookAdded { webhook, .. } | Self::WebhookRemoved { webhook } => format!("webhook:{webhook}"),
            Self::Disk { .. } => "coordinator".to_owned(),
        }
    }

    /// The match that it is about, if there is one.
    #[must_use]
    pub const fn job_of_match(&self) -> Option<JobId> {
        match self {
            Self::Gating { job, .. } | Self::Promotion { job, .. } | Self::Rejection { job, .. } => *job,
            Self::Disputed { job, .. }
            | Self::GateReversed { job, .. }
            | Self::LiveBegan { job }
            | Self::LiveEnded { job }
            | Self::Promoted { job, .. }
            | Self::Timed { job, .. } => Some(*job),
            _ => None,
        }
    }

    /// The net that it is about, if there is one.
    #[must_use]
    pub fn net(&self) -> Option<&str> {
        match self {
            Self::Candidate { net, .. } | Self::Rollback { net, .. } => Some(net),
            _ => None,
        }
    }

    /// Its kind and its parameters as JSON.
    pub fn to_columns(&self) -> Result<(String, String), serde_json::Error> {
        let value = serde_json::to_value(self)?;
        Ok((value["kind"].as_str().unwrap_or_default().to_owned(), value["data"].to_string()))
    }

    /// Reads its columns; none for an event of an older version, which has only a text.
    #[must_use]
    pub fn from_columns(kind: &str, data: Option<&str>) -> Option<Self> {
        let data: serde_json::Value = serde_json::from_str(data?).ok()?;
        serde_json::from_value(serde_json::json!({ "kind": kind, "data": data })).ok()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AccountChanged { change, message, .. } => {
                match change {
                    AccountChange::Role(role) => write!(f, "role is now {role}")?,
                    AccountChange::State(state) => write!(f, "state is now {state}")?,
                }
                message.as_ref().map_or(Ok(()), |message| write!(f, ": {message}"))
            }
            Self::AccountCreated { name, role, state, .. } => write!(f, "account {name} ({role}, {state})"),
            Self::AccountDeleted { .. } => f.write_str("deleted"),
            Self::CampaignCommand { command, .. } => f.write_str(match command {
                CampaignCommand::Pause => "was paused",
                CampaignCommand::Resume => "was resumed",
                CampaignCommand::Stop => "was stopped for good",
                CampaignCommand::Train => "trains now, with the games that it has",
                CampaignCommand::Reject => "its candidate was rejected by hand",
                CampaignCommand::Promote => "its candidate was promoted by hand",
            }),
            Self::CampaignCreated { campaign } => write!(f, "campaign {campaign} began"),
            Self::CampaignEdited { .. } => f.write_str("its text was changed"),
            Self::Candidate { name, .. } => write!(f, "{name} was trained"),
            Self::Disk { is_low: true, free_mebibytes } => {
                write!(f, "the disk is nearly full: {free_mebibytes} MiB are left, and no new games are handed out")
            }
            Self::Disk { free_mebibytes, .. } => write!(f, "the disk has room again: {free_mebibytes} MiB are free"),
            Self::Dispute { game, .. } => write!(f, "two workers played game {game} differently"),
            Self::Disputed { name, pairs, .. } => write!(f, "{name}: {}", Reason::GateUnproven { pairs: *pairs }),
            Self::GateReversed { name, pairs, .. } => {
                let pairs = counted(*pairs as usize, "pair");
                write!(f, "{name} was not promoted, but is proved stronger now, in {pairs} of its gate")
            }
            Self::Gating { name, .. } => write!(f, "{name} plays against the champion"),
            Self::Invited { role, .. } => write!(f, "an invitation for a {role}"),
            Self::LiveBegan { job } => write!(f, "match {job} is shown live"),
            Self::LiveEnded { job } => write!(f, "match {job} is shown no more"),
            Self::PasswordSet { .. } => f.write_str("has a new password"),
            Self::Promoted { name, .. } => write!(f, "{name}: its gate stands again"),
            Self::Promotion { name, generation, .. } => write!(f, "{name} is the champion of generation {generation}"),
            Self::Quarantine { reason, uploads, .. } => {
                write!(f, "{reason}; {} of the account left the pool", counted(*uploads as usize, "upload"))
            }
            Self::QuarantineLifted { reason, uploads, .. } => {
                write!(f, "{reason}; {} of the account returned to the pool", counted(*uploads as usize, "upload"))
            }
            Self::Rating { matches, .. } => write!(f, "matches between its champions: {matches}"),
            Self::Rejected { job, first, last, detail, .. } => {
                write!(f, "games {first} to {last} of job {job}: {detail}")
            }
            // A gate without a verdict has rejected nothing.
            Self::Rejection { name, reason: Reason::Inconclusive, .. } => {
                write!(f, "{name} is undecided after all pairs of its gate, and not promoted")
            }
            Self::Rejection { name, reason, .. } => write!(f, "{name} was rejected: {reason}"),
            Self::Rollback { name, reason, .. } => write!(f, "{name} was rolled back: {reason}"),
            Self::Ruling { ruling, game, .. } => {
                write!(f, "the referee ruled on game {game}: certificate {ruling}, at /api/v1/rulings/{ruling}")
            }
            Self::SettingsChanged { setting, value, before } => {
                write!(f, "{setting} is now {value}, before {before}")
            }
            Self::Stall(Stall::Campaign { reason, .. }) => write!(f, "it waits for a maintainer: {reason}"),
            Self::Stall(Stall::Games { job, first, last, attempts }) => {
                write!(f, "games from {first} to {last} of job {job} are handed out once more: {attempts} times by now")
            }
            Self::Timed { pairs, clock, .. } => {
                let pairs = counted(*pairs as usize, "pair");
                write!(f, "{pairs} under the clock {clock}: no proof for others, and no promotion")
            }
            Self::TokenCreated { begins, name, role, .. } => write!(f, "token {begins}… ({name}, {role})"),
            Self::TokenRevoked { .. } => f.write_str("revoked"),
            Self::Training { generation, name, .. } => {
                write!(f, "generation {generation} is full: {name} is to be trained")
            }
            Self::TrainingAbandoned { reason, .. } => reason.fmt(f),
            Self::WebhookAdded { address, kinds, .. } => write!(f, "{address} is subscribed to {}", kinds.join(", ")),
            Self::WebhookRemoved { .. } => f.write_str("its subscription has ended"),
            Self::WorkerBlocked { message: Some(message), .. } => write!(f, "blocked: {message}"),
            Self::WorkerBlocked { .. } => f.write_str("may play again"),
            Self::WorkerTrusted { is_trusted: true, .. } => f.write_str("is trusted"),
            Self::WorkerTrusted { .. } => f.write_str("is not trusted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_back_from_its_columns() {
        let stall = Event::Stall(Stall::Campaign {
            campaign: "yangtze".to_owned(),
            reason: Reason::CandidatesRejected { candidates: 3, generation: 2 },
        });
        let games = Event::Stall(Stall::Games { job: JobId(7), first: 40, last: 79, attempts: 3 });
        for event in [stall, games, Event::TokenRevoked { token: TokenId(4) }] {
            let (kind, data) = event.to_columns().unwrap();
            assert_eq!(Event::from_columns(&kind, Some(&data)), Some(event));
        }
    }

    #[test]
    fn an_event_of_an_older_version_has_only_its_text() {
        assert_eq!(Event::from_columns("stall", None), None);
        assert_eq!(Event::from_columns("promotion", Some(r#"{"net":"00","campaign":"x","generation":3}"#)), None);
        assert_eq!(Event::from_columns("new_kind", Some("{}")), None);
    }

    #[test]
    fn receivers_of_webhooks_find_their_keys() {
        let (net, name, campaign) = ("00".to_owned(), "x-1".to_owned(), "x".to_owned());
        let (kind, data) = Event::Promotion { campaign, net, name, generation: 3, job: None }.to_columns().unwrap();
        assert_eq!(
            (kind.as_str(), data.as_str()),
            ("promotion", r#"{"campaign":"x","generation":3,"name":"x-1","net":"00"}"#)
        );
    }
}
