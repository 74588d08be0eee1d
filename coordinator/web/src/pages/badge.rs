//! The colours of states.

use coordinator_core::model::{AccountState, CampaignState, ComparisonState, JobState, NetState, ShardState};

/// States shown as coloured badges.
pub(super) trait Badge {
    /// The CSS class: good, bad, wait, or none.
    fn class(&self) -> &'static str;
}

macro_rules! badges {
    ($($state:ident { $($class:literal: $($value:ident)|+;)* })*) => {$(
        impl Badge for $state {
            fn class(&self) -> &'static str {
                match self { $($(Self::$value)|+ => $class,)* }
            }
        }
    )*};
}

badges! {
    AccountState { "good": Active; "wait": Pending; "bad": Blocked | Quarantined; "": Deleted; }
    CampaignState { "good": Running; "wait": Paused; "bad": Stuck; "": Stopped | Complete; }
    ComparisonState { "good": Equal; "wait": Waiting; "bad": Different; "": Settled | Void; }
    JobState { "good": Open; "wait": Paused; "": Closed; }
    NetState { "good": Promoted; "wait": Candidate | RolledBack; "bad": Rejected | Disputed; "": Base; }
    ShardState { "good": Validated; "wait": Received; "bad": Rejected | Disputed | Quarantined; }
}
