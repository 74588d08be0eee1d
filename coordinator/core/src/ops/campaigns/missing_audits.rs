//! Audits and checks that the verdict of a gate waits for.

use crate::{
    clock::Time,
    gate::Verdict,
    model::{JobId, ShardId},
    rules::audits,
    store::{Comparisons, Connection, Rulings, Shards, StoreError, Tx, counting},
};

/// Audits and checks that the verdict of a gate still needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingAudits {
    /// Number of games.
    pub(super) games: i64,
    /// Another shard to audit, if the audits under way are too few.
    next: Option<ShardId>,
}

impl MissingAudits {
    /// Reads which audits and checks the verdict of a gate still needs; none if it needs none. The
    /// next audit is drawn, so that no account foresees or steers it.
    pub(super) async fn read(
        connection: &mut Connection<'_>,
        job: JobId,
        verdict: &Verdict,
        percent: u32,
        draw: u64,
        now: Time,
    ) -> Result<Option<Self>, StoreError> {
        let below = verdict.pairs as i64 * 2;
        let audited = counting::audited(connection, job, below).await?;
        let missing = (audited.games * i64::from(percent) + 99) / 100 - audited.clean;
        let drawn = if percent > 0 { audited.drawn } else { 0 };
        let open = Comparisons::on(connection.reborrow()).open_below(job, below).await?.max(drawn);
        let since = Rulings::on(connection.reborrow()).checks_since(job, now).await?;
        let unchecked = if percent > 0 { counting::unchecked(connection, job, below, since).await? } else { 0 };
        if missing <= 0 && open == 0 && unchecked == 0 {
            return Ok(None);
        }
        let wants_another = audited.waiting < missing && open == 0;
        let next = if wants_another {
            audits::draw(&Shards::on(connection.reborrow()).auditable(job, below).await?, draw)
        } else {
            None
        };
        Ok(Some(Self { games: missing.max(open).max(unchecked), next }))
    }

    /// Requests another audit, if those under way are too few.
    pub(super) async fn request(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self.next {
            Some(shard) => tx.shards().want_audit(shard).await,
            None => Ok(()),
        }
    }
}
