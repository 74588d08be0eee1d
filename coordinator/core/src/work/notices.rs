//! Notices to workers of rejected shards, repeated until acknowledged.

use dataset::Digest;
use protocol::api::work::Notice;

use crate::{
    model::Reason,
    store::{Connection, StoreError},
};

/// Acknowledges the notices of these shards.
pub(super) async fn acknowledge(
    connection: &mut Connection<'_>,
    worker: i64,
    shards: &[Digest],
) -> Result<(), StoreError> {
    for shard in shards {
        let query = "UPDATE shards SET told = 1 WHERE worker = $1 AND hash = $2 AND state = 'rejected' AND told = 0";
        sqlx::query(query).bind(worker).bind(shard.to_string()).execute(connection.raw()).await?;
    }
    Ok(())
}

/// Returns the unacknowledged notices of a worker.
pub async fn unacknowledged(connection: &mut Connection<'_>, worker: i64) -> Result<Vec<Notice>, StoreError> {
    let query = "SELECT hash, code, detail FROM shards
                 WHERE worker = $1 AND state = 'rejected' AND told = 0 ORDER BY id LIMIT 20";
    type Row = (String, Option<String>, Option<Reason>);
    let rows: Vec<Row> = sqlx::query_as(query).bind(worker).fetch_all(connection.raw()).await?;
    let notice = |(hash, code, detail): Row| {
        let text = detail.map_or_else(|| "it was rejected".to_owned(), |detail| detail.to_string());
        Notice { kind: "rejected".to_owned(), shard: hash.parse::<Digest>().ok(), code, text }
    };
    Ok(rows.into_iter().map(notice).collect())
}
