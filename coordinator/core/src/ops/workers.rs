//! Operations on workers.

mod block;
mod register;
mod report_failure;
mod trust;

pub use block::BlockWorker;
pub use register::{MAX_THREADS, RegisterWorker};
pub use report_failure::ReportFailure;
pub use trust::TrustWorker;

use crate::{
    model::{Authority, WorkerId},
    store::{StoreError, Tx},
};

/// Checks that these rights suffice to change a worker: those over its account.
async fn check_owner(tx: &mut Tx<'_>, worker: WorkerId, by: Option<&Authority>) -> Result<(), StoreError> {
    let owner = tx.workers().owner(worker).await?;
    let account = tx.accounts().get(&owner.into()).await?;
    Ok(by.map_or(Ok(()), |by| account.check_authority(by))?)
}
