//! The state of the disk.

use crate::{
    model::Event,
    store::{Operation, StoreError, Tx},
};

/// Records a change of the disk's state; once, even with several coordinators.
pub struct RecordDisk {
    /// Whether it has too little room.
    pub is_low: bool,
    /// Its free mebibytes.
    pub free_mebibytes: u64,
}

impl RecordDisk {
    /// The setting that holds the last state of the disk.
    pub const SETTING: &'static str = "disk";

    /// The stored word.
    #[must_use]
    pub const fn word(is_low: bool) -> &'static str {
        if is_low { "low" } else { "well" }
    }
}

impl Operation for RecordDisk {
    const NAME: &'static str = "record_disk";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Self { is_low, free_mebibytes } = *self;
        if tx.settings().replace(Self::SETTING, Self::word(is_low)).await? {
            tx.record_event(None, Event::Disk { is_low, free_mebibytes }).await?;
        }
        Ok(())
    }
}
