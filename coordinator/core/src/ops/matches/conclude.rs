//! Decisions of matches outside of campaigns.

use stats::Decision;

use crate::{
    matches::{self, Standing},
    model::{JobId, JobKind, JobState},
    store::{Database, Jobs, Match, Operation, Store as _, StoreError, Tx},
};

/// Decides and closes these matches outside of campaigns if they are finished; returns how many.
pub struct ConcludeMatches {
    /// The jobs of the matches.
    pub jobs: Vec<JobId>,
}

impl ConcludeMatches {
    /// Finds the finished matches, whose pairs take a while to read.
    pub async fn prepare(store: &Database) -> Result<Self, StoreError> {
        let jobs = store.read(|mut connection| {
            Box::pin(async move {
                let mut finished = Vec::new();
                for job in Jobs::on(connection.reborrow()).undecided().await? {
                    let found = Jobs::on(connection.reborrow()).get_match(job).await?;
                    if is_finished(&found, &matches::standing_of(&mut connection, &found).await?.0) {
                        finished.push(job);
                    }
                }
                Ok(finished)
            })
        });
        Ok(Self { jobs: jobs.await? })
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
        for &job in &self.jobs {
            tx.jobs().lock(job).await?;
            let found = tx.jobs().get_match(job).await?;
            if found.state != JobState::Open || found.decision.is_some() {
                continue;
            }
            let (standing, _) = matches::standing_of(&mut tx.connection(), &found).await?;
            if is_finished(&found, &standing) {
                tx.jobs().decide(job, Some(&standing.decided())).await?;
                tx.jobs().set_state(now, job, JobState::Closed).await?;
                concluded += 1;
            }
        }
        Ok(concluded)
    }
}
