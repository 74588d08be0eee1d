//! Errors of reading stored games.

use crate::{objects::ObjectError, store::StoreError};

/// An error of reading stored games.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operation failed, or there is no such game.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The object store failed.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl ReadError {
    /// There is no such game.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::Store(StoreError::rejected(protocol::api::problem::Code::NotFound, detail))
    }
}
