//! States and kinds, with their words on the wire and in the database. `store::convert` binds and
//! reads them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The error of an unknown word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no {of}")]
pub struct UnknownWord {
    /// The name of the type.
    pub of: &'static str,
    /// The word.
    pub word: String,
}

/// Defines enums whose values have words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($value:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the words say what each is")]
        pub enum $name { $(#[serde(rename = $word)] $value,)* }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];

            /// The word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                let unknown = || UnknownWord { of: stringify!($name), word: word.to_owned() };
                Self::ALL.iter().copied().find(|value| value.name() == word).ok_or_else(unknown)
            }
        }
    )*};
}

words! {
    /// An account.
    AccountState {
        Pending = "pending",
        Active = "active",
        Blocked = "blocked",
        Quarantined = "quarantined",
        Deleted = "deleted",
    }

    /// A command to a campaign.
    CampaignCommand {
        Pause = "pause",
        Resume = "resume",
        Stop = "stop",
        Train = "train",
        Reject = "reject",
        Promote = "promote",
    }

    /// A setting that administrators change at run time.
    Setting {
        Registration = "registration",
        AuditPercent = "audit_percent",
        KeepDays = "keep_days",
    }

    /// The conditions under which people may create accounts: anyone, anyone subject to a
    /// maintainer's approval unless invited, or only invited people.
    Registration {
        Open = "open_to_all",
        Approval = "by_approval",
        Invitation = "by_invitation",
    }

    /// A net.
    NetState {
        Base = "base",
        Candidate = "candidate",
        Promoted = "promoted",
        Rejected = "rejected",
        Disputed = "disputed",
        RolledBack = "rolled_back",
    }

    /// A campaign.
    CampaignState {
        Running = "running",
        Paused = "paused",
        Stuck = "stuck",
        Stopped = "stopped",
        Complete = "complete",
    }

    /// The phase of a campaign.
    CampaignStep {
        Collecting = "collecting",
        Training = "training",
        Gating = "gating",
    }

    /// The kind of a job.
    JobKind {
        Selfplay = "selfplay",
        Match = "match",
        Rating = "rating",
        Timed = "timed",
    }

    /// A job.
    JobState {
        Open = "open",
        Paused = "paused",
        Closed = "closed",
    }

    /// The kind of a lease.
    LeaseKind {
        Fresh = "fresh",
        Audit = "audit",
        Settle = "settle",
    }

    /// A lease.
    LeaseState {
        Active = "active",
        Done = "done",
        Expired = "expired",
        Returned = "returned",
    }

    /// A range of games.
    SegmentState {
        Open = "open",
        Leased = "leased",
        Held = "held",
    }

    /// A shard.
    ShardState {
        Received = "received",
        Validated = "validated",
        Rejected = "rejected",
        Disputed = "disputed",
        Quarantined = "quarantined",
    }

    /// The audit of a shard.
    AuditState {
        None = "none",
        Wanted = "wanted",
        Leased = "leased",
        Clean = "clean",
    }

    /// The bytes of a shard.
    ObjectState {
        Present = "present",
        Expired = "expired",
    }

    /// A comparison.
    ComparisonState {
        Waiting = "waiting",
        Equal = "equal",
        Different = "different",
        Settled = "settled",
        Void = "void",
    }

    /// A training.
    TrainingState {
        Open = "open",
        Leased = "leased",
        Done = "done",
        Failed = "failed",
    }

    /// The kind of a promotion.
    PromotionKind {
        Gate = "gate",
        Hand = "hand",
        Rollback = "rollback",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back() {
        for state in NetState::ALL {
            assert_eq!(state.name().parse(), Ok(*state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        assert_eq!(NetState::RolledBack.name(), "rolled_back");
        let unknown = "strange".parse::<LeaseState>().unwrap_err();
        assert_eq!(unknown.to_string(), "`strange` is no LeaseState");
    }
}
