//! Operations on nets and books.

use dataset::Digest;

use crate::{
    model::NewNet,
    store::{Operation, StoreError, Tx},
};

/// Adds a net; an existing one stays as it is.
pub struct AddNet {
    /// The net.
    pub net: NewNet,
}

impl Operation for AddNet {
    const NAME: &'static str = "add_net";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        tx.nets().add(now, &self.net).await
    }
}

/// Adds a book whose file is stored as an object.
pub struct AddBook {
    /// SHA-256 of its file.
    pub hash: Digest,
    /// Its display name.
    pub name: String,
    /// Size of its file.
    pub bytes: u64,
    /// Number of its positions.
    pub positions: u64,
}

impl Operation for AddBook {
    const NAME: &'static str = "add_book";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        tx.nets().add_book(now, self.hash, &self.name, self.bytes, self.positions).await
    }
}
