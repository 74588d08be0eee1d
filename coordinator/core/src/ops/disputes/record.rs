//! The result of a comparison.

use super::conclude::{Reason, conclude};
use crate::{
    events::{Event, record_event},
    model::{ComparisonId, ComparisonState},
    rules::case::Case,
    store::{Operation, StoreError, Tx},
};

/// Records a comparison, and what follows from it.
pub struct RecordComparison {
    /// The comparison.
    pub comparison: ComparisonId,
    /// The first game that differs.
    pub differs: Option<u64>,
}

impl Operation for RecordComparison {
    const NAME: &'static str = "record_comparison";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let row = tx.comparisons().get(self.comparison).await?;
        tx.jobs().lock(row.job).await?;
        let mut case = Case::default();
        case.extend(tx.comparisons().evidence(&row).await?);
        case.compared(self.comparison, self.differs.map(|game| game as i64));
        let (game, job) = (self.differs.unwrap_or_default(), row.job);
        let text = format!("game {game} of job {job} came out otherwise when a trusted worker played it");
        let was_waiting = case.comparison(self.comparison).state == ComparisonState::Waiting;
        conclude(tx, &mut case, &Reason { by: None, text }).await?;
        if was_waiting && self.differs.is_some() && case.outvoted(&row).is_none() {
            let (text, subject) = (format!("two workers played game {game} differently"), format!("job:{job}"));
            record_event(&mut tx.connection(), now, Event { kind: "dispute", account: None, subject, text }).await?;
        }
        Ok(())
    }
}
