//! Operations on matches.

mod conclude;
mod create;
mod rate;
mod recheck;

pub use conclude::ConcludeMatches;
pub use create::{BeginTimedMatch, CreateMatch};
pub use rate::BeginRatings;
pub use recheck::RecheckMatches;

use crate::{
    gate::Verdict,
    model::JobId,
    store::{StoreError, Tx, counting},
};

/// Returns how many games of a passed gate still need an audit; requests more audits if none are
/// under way.
pub(super) async fn missing_audits(
    tx: &mut Tx<'_>,
    job: JobId,
    verdict: &Verdict,
    percent: u32,
) -> Result<Option<i64>, StoreError> {
    let below = verdict.pairs as i64 * 2;
    let audited = counting::audited(&mut tx.connection(), job, below).await?;
    let missing = (audited.games * i64::from(percent) + 99) / 100 - audited.clean;
    let open = tx.comparisons().open_below(job, below).await?;
    if missing <= 0 && open == 0 {
        return Ok(None);
    }
    if audited.waiting < missing && open == 0 {
        tx.shards().want_audit(job, below).await?;
    }
    Ok(Some(missing.max(open)))
}
