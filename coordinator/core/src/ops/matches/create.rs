//! New matches outside of campaigns.

use dataset::Header;
use protocol::{api::problem::Code, campaign::Gate};

use crate::{
    model::{AccountId, Event, JobId, JobKind},
    ops::campaigns::add_job,
    store::{Operation, StoreError, Tx},
    timed::Plan,
};

/// Creates a match between two nets outside all campaigns. A `match` ends with its test; other
/// kinds (`rating`, `timed`) play all pairs.
pub struct CreateMatch {
    /// Its kind.
    pub kind: JobKind,
    /// The header of its games.
    pub header: Header,
    /// The parameters of its test.
    pub gate: Gate,
}

impl Operation for CreateMatch {
    const NAME: &'static str = "create_match";
    type Output = JobId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<JobId, StoreError> {
        add_job(tx, self.kind, &self.header, None, Some(&self.gate)).await
    }
}

/// Creates a timed match.
pub struct BeginTimedMatch {
    /// Its parameters.
    pub plan: Plan,
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for BeginTimedMatch {
    const NAME: &'static str = "begin_timed_match";
    type Output = JobId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<JobId, StoreError> {
        let plan = &self.plan;
        let header = plan.header(self.bench_signature);
        plan.check(&header).map_err(|detail| StoreError::rejected(Code::Invalid, detail))?;
        for net in [plan.a, plan.b].into_iter().flatten() {
            tx.nets().must_exist(net).await?;
        }
        if let Some(book) = plan.openings.book {
            tx.nets().book_must_exist(book).await?;
        }
        let job = CreateMatch { kind: JobKind::Timed, header, gate: plan.gate() }.run(tx).await?;
        let (pairs, clock) = (plan.pairs, plan.clock.to_string());
        tx.record_event(self.by, Event::Timed { job, pairs, clock }).await?;
        Ok(job)
    }
}
