//! Ids of rows, one type for each table. `store::convert` binds and reads them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines ids.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// An account.
    AccountId;
    /// A worker, one machine of an account.
    WorkerId;
    /// An access token.
    TokenId;
    /// A campaign.
    CampaignId;
    /// A job, a series of numbered games.
    JobId;
    /// A lease, a range of games for one worker.
    LeaseId;
    /// An uploaded shard.
    ShardId;
    /// A comparison of two shards.
    ComparisonId;
    /// A ruling of a referee on a game.
    RulingId;
    /// A training.
    TrainingId;
    /// An event.
    EventId;
    /// A webhook.
    WebhookId;
    /// A delivery of an event to a webhook.
    DeliveryId;
}

/// The secret token of a lease, by which its worker names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseToken(pub String);
