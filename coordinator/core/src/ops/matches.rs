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
    store::{Comparisons, Connection, StoreError, Tx, counting},
};

/// Audits that a passed gate still needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingAudits {
    /// Number of games.
    pub(super) games: i64,
    /// Whether the audits under way are too few.
    pub(super) wants_another: bool,
    /// The games of the decision are below this number.
    below: i64,
}

impl MissingAudits {
    /// Reads which audits a passed gate still needs; none if it needs none.
    pub(super) async fn read(
        connection: &mut Connection<'_>,
        job: JobId,
        verdict: &Verdict,
        percent: u32,
    ) -> Result<Option<Self>, StoreError> {
        let below = verdict.pairs as i64 * 2;
        let audited = counting::audited(connection, job, below).await?;
        let missing = (audited.games * i64::from(percent) + 99) / 100 - audited.clean;
        let open = Comparisons::on(connection.reborrow()).open_below(job, below).await?;
        let wants_another = audited.waiting < missing && open == 0;
        Ok((missing > 0 || open > 0).then_some(Self { games: missing.max(open), wants_another, below }))
    }

    /// Requests another audit, if those under way are too few.
    pub(super) async fn request(self, tx: &mut Tx<'_>, job: JobId) -> Result<(), StoreError> {
        if self.wants_another { tx.shards().want_audit(job, self.below).await } else { Ok(()) }
    }
}
