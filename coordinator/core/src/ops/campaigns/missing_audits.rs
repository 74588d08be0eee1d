//! Audits and checks that the verdict of a gate waits for.

use crate::{
    clock::Time,
    gate::Verdict,
    model::JobId,
    rules::readiness::{self, MissingAudits},
    store::{Comparisons, Connection, Rulings, StoreError, counting},
};

/// Reads what the verdict of a gate still needs; nothing, if it needs no more.
pub(super) async fn read(
    connection: &mut Connection<'_>,
    job: JobId,
    verdict: &Verdict,
    percent: u32,
    draw: u64,
    now: Time,
) -> Result<Option<MissingAudits>, StoreError> {
    let below = verdict.pairs as i64 * 2;
    let shards = counting::gate_shards(connection, job, below).await?;
    let compared = Comparisons::on(connection.reborrow()).open_below(job, below).await?;
    let since = Rulings::on(connection.reborrow()).checks_since(job, now).await?;
    Ok(readiness::missing_audits(&shards, percent, compared, since, draw))
}
