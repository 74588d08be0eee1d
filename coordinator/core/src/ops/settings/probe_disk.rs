//! A write that proves that the database can be written.

use crate::store::{Operation, StoreError, Tx};

/// Writes a value, which fails while the disk of the database is full.
pub struct ProbeDisk;

impl Operation for ProbeDisk {
    const NAME: &'static str = "probe_disk";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now().0.to_string();
        tx.settings().set("disk_probed", &now).await
    }
}
