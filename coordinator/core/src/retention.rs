//! Retention: games that published nets were trained on are kept for ever, all others for the
//! configured time.
//!
//! Objects expire, and the rows of segments and leases of self-play. A shard's row stays with its
//! hash, counts and verdict, so no count changes.
//! [`ExpireShards`](crate::ops::retention::ExpireShards) marks rows in a transaction; the sweep
//! ([`driver`](crate::driver::sweep)) deletes the unreferenced objects.

use std::collections::BTreeSet;

use dataset::{Digest, manifest::Manifest};
use serde_json::Value;

use crate::store::{Connection, Nets, Retention, StoreError};

/// Returns the hashes of all shards in manifests of nets that are published, in training or in
/// their gate.
pub async fn pinned(mut connection: Connection<'_>) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for manifests in Retention::on(connection.reborrow()).training_sets().await? {
        let list: Vec<Value> = serde_json::from_str(&manifests)
            .map_err(|error| StoreError::Corrupt(format!("a training's manifests that are none: {error}")))?;
        names.extend(list.iter().filter_map(|named| named["sha256"].as_str()?.parse::<Digest>().ok()));
    }
    let mut shards = BTreeSet::new();
    for name in names {
        let text = Nets::on(connection.reborrow()).training_manifest(name).await?.unwrap_or_default();
        let manifest = Manifest::from_text(&text)
            .map_err(|error| StoreError::Corrupt(format!("a manifest {name} that is none: {error}")))?;
        shards.extend(manifest.shards.into_iter().map(|entry| entry.sha256));
    }
    Ok(shards)
}
