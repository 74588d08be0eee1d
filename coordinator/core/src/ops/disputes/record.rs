//! The result of a comparison.

use super::conclude::{Cause, conclude};
use crate::{
    model::{ComparisonId, ComparisonState, Event, Reason},
    rules::case::Case,
    store::{Operation, StoreError, Tx},
};

/// Records a comparison, and what follows from it.
pub struct RecordComparison {
    /// The comparison.
    pub comparison: ComparisonId,
    /// The game that differs: the first one, or one whose result is known.
    pub differs: Option<u64>,
}

impl Operation for RecordComparison {
    const NAME: &'static str = "record_comparison";
    /// Whether uploads are to be reviewed.
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let row = tx.comparisons().get(self.comparison).await?;
        tx.jobs().lock(row.job).await?;
        let mut case = Case::default();
        case.extend(tx.comparisons().evidence(&row).await?);
        case.compared(self.comparison, self.differs.map(|game| game as i64));
        let (game, job) = (self.differs.unwrap_or_default(), row.job);
        let reason = Reason::GameDiffered { game, job };
        let was_waiting = case.comparison(self.comparison).state == ComparisonState::Waiting;
        let is_review_due = conclude(tx, &mut case, Some(&Cause { by: None, reason })).await?;
        if was_waiting && self.differs.is_some() && case.outvoted(&row, game as i64).is_none() {
            tx.record_event(None, Event::Dispute { job, game }).await?;
        }
        Ok(is_review_due)
    }
}
