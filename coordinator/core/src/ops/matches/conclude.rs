//! Decisions of matches outside of campaigns.

use stats::Decision;

use crate::{
    matches,
    model::JobState,
    store::{Operation, StoreError, Tx},
};

/// Decides and closes finished matches outside of campaigns; returns their number.
pub struct ConcludeMatches;

impl Operation for ConcludeMatches {
    const NAME: &'static str = "conclude_matches";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let (now, mut concluded) = (tx.now(), 0);
        for job in tx.jobs().undecided().await? {
            tx.jobs().lock(job).await?;
            let found = tx.jobs().get_match(job).await?;
            if found.state != JobState::Open {
                continue;
            }
            let (standing, _) = matches::standing_of(&mut tx.connection(), &found).await?;
            if standing.verdict.decision != Decision::Continue || matches::is_out(&found, &standing) {
                tx.jobs().decide(job, Some(&standing.decided())).await?;
                tx.jobs().set_state(now, job, JobState::Closed).await?;
                concluded += 1;
            }
        }
        Ok(concluded)
    }
}
