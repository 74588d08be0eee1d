//! Operations on trainings.

mod claim;
mod end;
mod renew;

pub use claim::ClaimTraining;
pub use end::{AbandonTraining, CompleteTraining};
pub use renew::{RecordTrainingFile, RenewTraining};

use crate::{
    model::{AccountId, Training},
    people::hash_of,
    store::{StoreError, Tx},
};

/// Locks the leased training of a token.
async fn lock(tx: &mut Tx<'_>, account: AccountId, token: &str) -> Result<Training, StoreError> {
    Ok(tx.trainings().lock_by_token(hash_of(token)).await?.owned_by(account)?.leased()?)
}
