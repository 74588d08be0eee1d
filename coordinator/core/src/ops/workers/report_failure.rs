//! Failure reports of workers.

use protocol::api::{problem::Code, work::Failure};

use crate::{
    model::AccountId,
    store::{Operation, StoreError, Tx},
};

/// Maximum failure reports kept per account; older ones are deleted.
const MAX_FAILURE_REPORTS: i64 = 100;

/// Maximum length of a report's detail, in characters.
const MAX_DETAIL_CHARS: usize = 4_000;

/// Records a worker's failure report.
pub struct ReportFailure {
    /// The account.
    pub account: AccountId,
    /// The report.
    pub report: Failure,
}

impl Operation for ReportFailure {
    const NAME: &'static str = "report_failure";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, mut report) = (tx.now(), self.report.clone());
        if let Some(worker) = report.worker
            && !tx.workers().is_of(worker, self.account).await?
        {
            return Err(StoreError::rejected(Code::NotFound, format!("the account has no worker {worker}")));
        }
        report.detail = report.detail.chars().take(MAX_DETAIL_CHARS).collect();
        report.version = report.version.chars().take(40).collect();
        tx.workers().add_failure(now, self.account, &report, MAX_FAILURE_REPORTS).await
    }
}
