//! The ruling of a referee.

use std::sync::Arc;

use super::conclude::{Cause, conclude};
use crate::{
    model::{ComparisonId, Event, Reason, ShardId},
    rules::case::Case,
    store::{Operation, StoreError, Tx},
};

/// The games that a referee ruled on.
#[derive(Clone, Copy, Debug)]
pub enum Ruled {
    /// A disputed game, and whether each of its two versions is right.
    Dispute(ComparisonId, [bool; 2]),
    /// A wrong game of one shard, which a check found.
    Check(ShardId),
}

/// Records a ruling with its certificate, and what follows from it. A wrong shard leaves the pool,
/// and its account is quarantined, as are those that confirmed the game.
pub struct RecordRuling {
    /// The games.
    pub ruled: Ruled,
    /// The number of the game.
    pub game: u64,
    /// The certificate, as JSON.
    pub certificate: Arc<str>,
}

impl Operation for RecordRuling {
    const NAME: &'static str = "record_ruling";
    /// Whether uploads are to be reviewed.
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let (now, game) = (tx.now(), self.game);
        let mut case = Case::default();
        let job = match self.ruled {
            Ruled::Dispute(comparison, is_right) => {
                let job = tx.comparisons().get(comparison).await?.job;
                tx.jobs().lock(job).await?;
                let row = tx.comparisons().get(comparison).await?;
                case.extend(tx.comparisons().evidence(&row).await?);
                if !case.ruled(comparison, is_right) {
                    // Another referee, or a trusted worker, was faster.
                    return Ok(false);
                }
                job
            }
            Ruled::Check(shard) => {
                let job = tx.shards().job_of(shard).await?;
                tx.jobs().lock(job).await?;
                case.extend(tx.comparisons().evidence_of(shard).await?);
                tx.shards().mark_checked(shard, None).await?;
                if !case.found_wrong(shard, game as i64) {
                    return Ok(false);
                }
                job
            }
        };
        let ruling = tx.rulings().add(now, job, game, &self.certificate).await?;
        tx.record_event(None, Event::Ruling { ruling, job, game }).await?;
        let reason = Reason::RuledWrong { game, job };
        conclude(tx, &mut case, Some(&Cause { by: None, reason })).await
    }
}
