//! Heartbeats and files of trainers.

use dataset::Digest;
use protocol::api::{training::Progress, work::Renewed};

use super::lock;
use crate::{
    model::AccountId,
    rules::trainings::{LEASE_SECONDS, Uploaded},
    store::{Operation, StoreError, Tx},
};

/// Renews the lease of a training that makes progress.
pub struct RenewTraining {
    /// The trainer's account.
    pub account: AccountId,
    /// The token of the lease.
    pub token: String,
    /// The progress.
    pub progress: Progress,
}

impl Operation for RenewTraining {
    const NAME: &'static str = "renew_training";
    type Output = Renewed;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Renewed, StoreError> {
        let now = tx.now();
        let mut training = lock(tx, self.account, &self.token).await?;
        training.renew(now, &self.progress)?;
        tx.trainings().save(&training).await?;
        Ok(Renewed { seconds: LEASE_SECONDS, heartbeat_seconds: None })
    }
}

/// Records an uploaded net or plot of losses, which is stored as an object.
pub struct RecordTrainingFile {
    /// The trainer's account.
    pub account: AccountId,
    /// The token of the lease.
    pub token: String,
    /// The kind of file.
    pub file: Uploaded,
    /// Its hash.
    pub hash: Digest,
}

impl Operation for RecordTrainingFile {
    const NAME: &'static str = "record_training_file";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut training = lock(tx, self.account, &self.token).await?;
        training.upload(now, self.file, self.hash.to_string());
        tx.trainings().save(&training).await
    }
}
