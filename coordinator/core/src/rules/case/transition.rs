//! The transitions that a case demands.

use crate::model::{AccountId, ComparisonId, ShardId};

/// A change that evidence demands, in the order of application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// Records the result of a comparison.
    Conclude(ComparisonId),
    /// Records that a shard has this game wrong.
    Convict(ShardId, i64),
    /// Recomputes the verified games of a shard.
    Verify(ShardId),
    /// Recomputes the clean games of an account.
    Recount(AccountId),
    /// Withholds the games of a shard until its dispute is settled.
    Dispute(ShardId),
    /// Quarantines an account, and voids its confirmations.
    Distrust(AccountId),
    /// Lifts a quarantine.
    Trust(AccountId),
    /// Withdraws a shard from the pool.
    Withdraw(ShardId),
    /// Returns a shard to the pool, when a quarantine is lifted.
    Restore(ShardId),
    /// Voids a comparison with a shard that is out.
    Void(ComparisonId),
    /// Queues a void comparison again.
    Requeue(ComparisonId),
    /// Passes the games of a withdrawn shard to others.
    Pass(ShardId),
    /// Gives a restored shard the games without a holder, and compares it with other holders.
    Reclaim(ShardId),
    /// Compares a disputed game with a trusted worker's existing result, because no worker is asked
    /// to play a game twice.
    Consult(ShardId, i64),
    /// Settles a dispute that is judged.
    Settle(ComparisonId),
    /// Ends the dispute of a shard.
    Release(ShardId),
    /// Gives a released shard the games without a holder.
    Hold(ShardId),
}

impl Transition {
    /// The shard that it concerns.
    #[must_use]
    pub const fn shard(self) -> Option<ShardId> {
        match self {
            Self::Convict(shard, _)
            | Self::Verify(shard)
            | Self::Dispute(shard)
            | Self::Withdraw(shard)
            | Self::Restore(shard)
            | Self::Pass(shard)
            | Self::Reclaim(shard)
            | Self::Consult(shard, _)
            | Self::Release(shard)
            | Self::Hold(shard) => Some(shard),
            _ => None,
        }
    }
}
