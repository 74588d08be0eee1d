//! Leases, for functions that are no operations yet.

use super::{JobRow, lock_job, segments};
use crate::{
    model::{AccountId, Lease, LeaseId, LeaseState, LeaseToken},
    store::{Connection, Leases, StoreError},
};

/// Reads a lease of this account by its token, and locks its job.
pub(super) async fn lock(
    connection: &mut Connection<'_>,
    account: i64,
    token: &str,
) -> Result<(Lease, JobRow), StoreError> {
    let token = LeaseToken(token.to_owned());
    let job = Leases::on(connection.reborrow()).job_of(&token).await?;
    let job = lock_job(connection, job.0).await?;
    let lease = Leases::on(connection.reborrow()).get(&token).await?.owned_by(AccountId(account))?;
    Ok((lease, job))
}

/// Ends a lease and reopens its games. The caller has locked the job.
pub(crate) async fn end(connection: &mut Connection<'_>, job: i64, lease: i64, first: i64) -> Result<(), StoreError> {
    segments::release(connection, job, lease, first, false).await?;
    Leases::on(connection.reborrow()).close(LeaseId(lease), LeaseState::Expired).await
}

/// Returns the worker of a lease.
pub async fn worker_of_lease(connection: &mut Connection<'_>, token: &str) -> Result<i64, StoreError> {
    Ok(Leases::on(connection.reborrow()).worker_of(&LeaseToken(token.to_owned())).await?.0)
}
