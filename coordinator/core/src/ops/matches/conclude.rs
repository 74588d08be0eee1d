//! Decisions of matches outside of campaigns.

use stats::Decision;

use crate::{
    matches::{self, Standing},
    model::{JobKind, JobState},
    query,
    store::{Database, Jobs, Match, Operation, StoreError, Tx},
};

/// Decides and closes finished matches outside of campaigns; returns how many. A match whose
/// counted games were withdrawn after it was read stays open.
pub struct ConcludeMatches {
    finished: Vec<(Match, Standing)>,
}

impl ConcludeMatches {
    /// Finds the finished matches, whose pairs take a while to read.
    pub async fn prepare(store: &Database) -> Result<Self, StoreError> {
        let finished = store.read(query!(|connection| {
            let mut finished = Vec::new();
            for job in Jobs::on(connection.reborrow()).undecided().await? {
                let found = Jobs::on(connection.reborrow()).get_match(job).await?;
                let (standing, _) = matches::standing_of(&mut connection, &found).await?;
                if is_finished(&found, &standing) {
                    finished.push((found, standing));
                }
            }
            Ok(finished)
        }));
        Ok(Self { finished: finished.await? })
    }
}

/// Whether a match is decided, or all its pairs are counted.
fn is_finished(found: &Match, standing: &Standing) -> bool {
    let is_decided = found.kind == JobKind::Match && standing.verdict.decision != Decision::Continue;
    is_decided || matches::is_out(found, standing)
}

impl Operation for ConcludeMatches {
    const NAME: &'static str = "conclude_matches";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let (now, mut concluded) = (tx.now(), 0);
        if self.finished.is_empty() || tx.reviews().any().await? {
            return Ok(0);
        }
        for (read, standing) in &self.finished {
            let job = read.job;
            tx.jobs().lock(job).await?;
            let found = tx.jobs().get_match(job).await?;
            if found.state == JobState::Open && found.decision.is_none() && found.withdrawals == read.withdrawals {
                tx.jobs().decide(job, Some(&standing.decided())).await?;
                tx.jobs().set_state(now, job, JobState::Closed).await?;
                concluded += 1;
            }
        }
        Ok(concluded)
    }
}
