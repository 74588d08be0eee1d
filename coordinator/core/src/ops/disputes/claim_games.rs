//! Hands games to a referee.

use crate::{
    clock::Time,
    model::{ComparisonId, DisputedGame, ShardId, ToValidate},
    store::{Operation, StoreError, Tx},
};

/// Claims disputes over games of an engine until a time. If this referee crashes, others claim them
/// after it. Uploads wait for their checks from now on.
pub struct ClaimDisputes {
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// Maximum number of disputes.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimDisputes {
    const NAME: &'static str = "claim_disputes";
    type Output = Vec<DisputedGame>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<DisputedGame>, StoreError> {
        let now = tx.now();
        tx.rulings().record_claim(self.bench_signature as i64, now).await?;
        tx.comparisons().claim_disputes(now, self.bench_signature as i64, self.limit, self.until).await
    }
}

/// Claims shards of an engine that no referee has checked, until a time: of accounts drawn at
/// random the newest ones. So small uploads of one account do not keep a referee from the others.
pub struct ClaimUnchecked {
    /// A random number, which decides on the accounts.
    pub draw: u64,
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// Maximum number of shards.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimUnchecked {
    const NAME: &'static str = "claim_unchecked";
    type Output = Vec<ToValidate>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<ToValidate>, StoreError> {
        let now = tx.now();
        tx.shards().claim_unchecked(now, self.bench_signature as i64, self.limit, self.until, self.draw).await
    }
}

/// A game that a referee has claimed.
#[derive(Clone, Copy, Debug)]
pub enum ClaimedGame {
    /// Of a dispute.
    Disputed(ComparisonId),
    /// Of a shard that is checked.
    OfShard(ShardId),
}

/// Leaves a game that cannot be played until a later time.
pub struct PostponeGame {
    /// The game.
    pub game: ClaimedGame,
    /// The time at which a referee may claim it again.
    pub until: Time,
}

impl Operation for PostponeGame {
    const NAME: &'static str = "postpone_game";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self.game {
            ClaimedGame::Disputed(comparison) => tx.comparisons().postpone(comparison, self.until).await,
            ClaimedGame::OfShard(shard) => tx.shards().postpone(shard, self.until).await,
        }
    }
}

/// Records that a game of a shard was played again, to the same moves. Its result is known from
/// now on: an audit with this game is a ringer.
pub struct PassCheck {
    /// The shard.
    pub shard: ShardId,
    /// The number of the game.
    pub game: u64,
}

impl Operation for PassCheck {
    const NAME: &'static str = "pass_check";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.shards().mark_checked(self.shard, Some(self.game as i64)).await
    }
}
