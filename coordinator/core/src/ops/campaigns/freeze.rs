//! The manifest of a training set, stored in parts before the training is created.
//!
//! A part is stored after the one before it, so the last one stands for all. The parts of a set
//! that was never used are dropped from the last one on.

use std::sync::Arc;

use dataset::Digest;

use crate::{
    clock::Time,
    store::{Database, Operation, StoreError, TrainingSet, Tx},
};

/// Parts that one operation drops.
const MAX_DROPPED: i64 = 16;

/// Stores a part of a manifest, unless it is there.
struct StorePart {
    manifest: Digest,
    part: i64,
    text: Arc<str>,
}

impl Operation for StorePart {
    const NAME: &'static str = "store_part";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.nets().add_part(self.manifest, self.part, &self.text).await
    }
}

/// Stores the manifest of a training set.
pub(super) async fn store_manifest(store: &Database, set: &TrainingSet) -> Result<(), StoreError> {
    for (part, text) in (0..).zip(set.parts()) {
        store.run(Time::default(), StorePart { manifest: set.hash, part, text: text.into() }).await?;
    }
    Ok(())
}

/// Drops the last parts of a manifest that no training has.
pub struct DropUnusedParts;

impl Operation for DropUnusedParts {
    const NAME: &'static str = "drop_unused_parts";
    /// Whether there were any.
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        tx.nets().drop_unused_parts(MAX_DROPPED).await
    }
}
