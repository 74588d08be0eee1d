//! Operations on nets and books.

use std::collections::BTreeSet;

use dataset::Digest;

use crate::{
    model::{ChangedJob, NewNet},
    query,
    store::{Database, Nets, Operation, StoreError, Tx},
};

/// Counts the games in quarantine of each training set whose games left the pool or came back. Jobs
/// whose games changed after they were read are left to the next call.
pub struct CountFallen {
    jobs: Vec<ChangedJob>,
    sets: Vec<(Digest, i64)>,
}

impl CountFallen {
    /// Reads the training sets, which takes a while.
    pub async fn prepare(store: &Database) -> Result<Self, StoreError> {
        let counted = store.read(query!(|connection| {
            let mut nets = Nets::on(connection);
            let jobs = nets.changed_jobs().await?;
            let mut changed = BTreeSet::new();
            for job in &jobs {
                changed.extend(nets.sets_with(job).await?);
            }
            let mut sets = Vec::new();
            for set in changed {
                sets.push((set, nets.fallen_games(set).await?));
            }
            Ok(Self { jobs, sets })
        }));
        counted.await
    }
}

impl Operation for CountFallen {
    const NAME: &'static str = "count_fallen";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        for (set, games) in &self.sets {
            tx.nets().save_fallen(*set, *games).await?;
        }
        for job in &self.jobs {
            tx.jobs().end_recheck(job).await?;
        }
        Ok(())
    }
}

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
