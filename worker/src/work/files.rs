//! Cache of nets and books: fetched once, verified by hash, evicted when unused.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use client::{Backoff, Client, Clock, Error};
use dataset::Digest;
use engine::Evaluation;
use nnue::{Kernel, Net};
use protocol::api::{MAX_NET_BYTES, path, work::Lease};
use selfplay::Book;
use xiangqi::rules::RuleSet;

use super::state::{Work, WorkState};
use crate::{
    sentence::sentence,
    state::{self, Folder},
};

/// Number of unneeded nets, and of unneeded books, that are kept: the next lease may use one.
const MAX_UNNEEDED_FILES: usize = 4;

/// Reasons not to play a lease.
pub(super) enum Unplayable {
    /// This worker never can.
    Permanent(String),
    /// The worker is shutting down.
    Shutdown,
}

/// The nets and books of the state folder.
pub(crate) struct Files {
    pub(crate) work: Arc<Work>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<Folder>,
    pub(crate) kernel: Kernel,
    pub(crate) backoff: Backoff,
    /// Address of a mirror of nets and books.
    pub(crate) mirror: Option<String>,
}

impl Files {
    pub(super) fn evaluation(&mut self, net: Option<Digest>) -> Result<Evaluation, Unplayable> {
        let Some(hash) = net else { return Ok(Evaluation::Plain) };
        let own = engine::published::net();
        if Digest::from(*own.hash().as_bytes()) == hash {
            return Ok(Evaluation::Net(own, self.kernel));
        }
        let file = self.folder.net(hash);
        let net = self.load_verified(&path::net(hash), hash, &file, || {
            let net = Net::from_file(&file).map_err(|error| error.to_string())?;
            let found = Digest::from(*net.hash().as_bytes());
            if found == hash { Ok(net) } else { Err(format!("the net {hash} is another one on this disk")) }
        })?;
        Ok(Evaluation::Net(Arc::new(net), self.kernel))
    }

    pub(super) fn book(&mut self, hash: Digest, rules: RuleSet) -> Result<Book, Unplayable> {
        let file = self.folder.book(hash);
        self.load_verified(&path::book(hash), hash, &file, || {
            let book = Book::from_file(&file, rules).map_err(|error| error.to_string())?;
            if book.hash() == hash { Ok(book) } else { Err(format!("the book {hash} is another one on this disk")) }
        })
    }

    /// Fetches and loads a file. If a cached one fails to load, the disk has damaged it: it is
    /// fetched again, once.
    fn load_verified<T>(
        &mut self,
        path: &str,
        hash: Digest,
        file: &Path,
        read: impl Fn() -> Result<T, String>,
    ) -> Result<T, Unplayable> {
        let was_here = file.exists();
        self.fetch(path, hash, file)?;
        let mut found = read();
        if found.is_err() && was_here {
            let _ = state::remove(file);
            self.fetch(path, hash, file)?;
            found = read();
        }
        match &found {
            Ok(_) => touch(file, &**self.work.clock()),
            Err(_) => drop(state::remove(file)),
        }
        found.map_err(Unplayable::Permanent)
    }

    /// Retries until the file is here or the error is permanent.
    fn fetch(&mut self, path: &str, hash: Digest, file: &Path) -> Result<(), Unplayable> {
        while !file.exists() {
            if self.work.read(WorkState::is_shutting_down) {
                return Err(Unplayable::Shutdown);
            }
            match self.client.fetch(path, hash, MAX_NET_BYTES, file, self.mirror.as_deref()) {
                Ok(()) => self.backoff.reset(),
                Err(error) if error.is_transient() || matches!(error, Error::Storage { .. }) => {
                    let why = sentence(format!("A file is missing: {error}"));
                    self.work.update(|state| state.wait_reason = Some(why));
                    let wait = self.backoff.after_failure(error.retry_after());
                    self.work.wait(wait, WorkState::is_shutting_down);
                }
                Err(error) => return Err(Unplayable::Permanent(error.to_string())),
            }
        }
        Ok(())
    }

    /// Returns the size of a net's file in MiB; 0 if it is not on disk.
    pub(super) fn mebibytes_of(&self, net: Digest) -> u64 {
        fs::metadata(self.folder.net(net)).map_or(0, |file| file.len().div_ceil(1 << 20))
    }

    /// Evicts nets and books that no lease needs.
    pub(super) fn prune(&self) {
        let needed: BTreeSet<String> = self.work.read(|state| {
            let files = state.jobs.iter().flat_map(|job| files_of(&job.lease));
            files.map(|hash| hash.to_string()).collect()
        });
        for folder in ["nets", "books"] {
            // Retried after the next lease.
            let _ = evict_unneeded(&self.folder.join(folder), &needed, MAX_UNNEEDED_FILES);
        }
    }
}

fn files_of(lease: &Lease) -> impl Iterator<Item = Digest> {
    lease.nets().chain(lease.terms.openings.book)
}

/// Updates a file's time of last use.
fn touch(file: &Path, clock: &dyn Clock) {
    let now = SystemTime::UNIX_EPOCH + clock.since_1970();
    let _ = File::options().write(true).open(file).and_then(|file| file.set_modified(now));
}

/// LRU eviction: keeps the needed files and the most recently used others. Also deletes partial
/// downloads of unneeded files.
fn evict_unneeded(folder: &Path, needed: &BTreeSet<String>, max_unneeded: usize) -> io::Result<()> {
    let mut others = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")) {
            Some(whole) if needed.contains(whole) => {}
            Some(_) => fs::remove_file(entry.path())?,
            None if needed.contains(&name) => {}
            None => others.push((entry.metadata()?.modified()?, entry.path())),
        }
    }
    others.sort();
    others.iter().rev().skip(max_unneeded).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn needed_and_newest_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (age, name) in ["a", "b", "c", "d", "e", ".a.part", ".f.part"].into_iter().enumerate() {
            fs::write(path(name), name).unwrap();
            let when = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age as u64);
            File::options().write(true).open(path(name)).unwrap().set_modified(when).unwrap();
        }
        let needed = ["d", "f"].map(str::to_owned).into();
        evict_unneeded(folder.path(), &needed, 2).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".f.part", "a", "b", "d"]);
    }
}
