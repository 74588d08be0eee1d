//! Nets and books: fetched once, held against their hashes, and thrown away when others have come.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use client::{Clock, Error};
use dataset::Digest;
use engine::Evaluation;
use nnue::Net;
use protocol::api::{MOST_NET_BYTES, path, work::Lease};
use selfplay::Book;
use xiangqi::rules::RuleSet;

use super::{Provider, Unfit};
use crate::{job::Saved, sentence::sentence, state};

/// So many nets, and so many books, are kept that no lease needs: the next may want one of the last.
const KEPT: usize = 4;

impl Provider {
    pub(super) fn evaluation(&mut self, net: Option<Digest>) -> Result<Evaluation, Unfit> {
        let Some(hash) = net else { return Ok(Evaluation::Plain) };
        let own = engine::published::net();
        if Digest::from(*own.hash().as_bytes()) == hash {
            return Ok(Evaluation::Net(own, self.kernel));
        }
        let file = self.folder.net(hash);
        let net = self.sound(&path::net(hash), hash, &file, || {
            let net = Net::from_file(&file).map_err(|error| error.to_string())?;
            let found = Digest::from(*net.hash().as_bytes());
            if found == hash { Ok(net) } else { Err(format!("the net {hash} is another one on this disk")) }
        })?;
        Ok(Evaluation::Net(Arc::new(net), self.kernel))
    }

    pub(super) fn book(&mut self, hash: Digest, rules: RuleSet) -> Result<Book, Unfit> {
        let file = self.folder.book(hash);
        self.sound(&path::book(hash), hash, &file, || {
            let book = Book::from_file(&file, rules).map_err(|error| error.to_string())?;
            if book.hash() == hash { Ok(book) } else { Err(format!("the book {hash} is another one on this disk")) }
        })
    }

    /// Brings a file and reads it. One that was sound when it came and is not now is the disk's work: it is fetched again,
    /// once.
    fn sound<T>(
        &mut self,
        path: &str,
        hash: Digest,
        file: &Path,
        read: impl Fn() -> Result<T, String>,
    ) -> Result<T, Unfit> {
        let was_here = file.exists();
        self.fetch(path, hash, file)?;
        let mut found = read();
        if found.is_err() && was_here {
            let _ = state::remove(file);
            self.fetch(path, hash, file)?;
            found = read();
        }
        match &found {
            Ok(_) => touch(file, &*self.desk.clock),
            Err(_) => drop(state::remove(file)),
        }
        found.map_err(Unfit::Here)
    }

    /// Brings a file, however often it takes.
    fn fetch(&mut self, path: &str, hash: Digest, file: &Path) -> Result<(), Unfit> {
        while !file.exists() {
            if self.is_over() {
                return Err(Unfit::Ending);
            }
            match self.client.fetch(path, hash, MOST_NET_BYTES, file, self.mirror.as_deref()) {
                Ok(()) => self.backoff.reset(),
                Err(error) if error.may_pass() || matches!(error, Error::Storage { .. }) => {
                    let why = sentence(format!("A file is missing: {error}"));
                    self.desk.change(|state| state.waiting = Some(why));
                    let wait = self.backoff.after_failure(error.again_after());
                    self.sleep(wait);
                }
                Err(error) => return Err(Unfit::Here(error.to_string())),
            }
        }
        Ok(())
    }

    /// Throws away nets and books that no lease here needs, but for the last.
    pub(super) fn prune(&self) {
        let leases = state::names(&self.folder.join("leases"), ".lease").unwrap_or_default();
        let mut needed = BTreeSet::new();
        for name in leases {
            let saved = fs::read(self.folder.lease(&name)).ok();
            let saved: Option<Saved> = saved.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            needed.extend(saved.iter().flat_map(|saved| files_of(&saved.lease)).map(|hash| hash.to_string()));
        }
        for folder in ["nets", "books"] {
            // What cannot be thrown away now can be later.
            let _ = keep_newest(&self.folder.join(folder), &needed, KEPT);
        }
    }
}

fn files_of(lease: &Lease) -> impl Iterator<Item = Digest> {
    lease.nets().chain(lease.terms.openings.book)
}

/// Notes that a file was used.
fn touch(file: &Path, clock: &dyn Clock) {
    let now = SystemTime::UNIX_EPOCH + clock.since_1970();
    let _ = File::options().write(true).open(file).and_then(|file| file.set_modified(now));
}

/// Keeps what is needed and so many of the others, by when they were last used. What came of a file that never came whole
/// and is not needed goes too.
fn keep_newest(folder: &Path, needed: &BTreeSet<String>, most: usize) -> io::Result<()> {
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
    others.iter().rev().skip(most).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_needed_and_the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (age, name) in ["a", "b", "c", "d", "e", ".a.part", ".f.part"].into_iter().enumerate() {
            fs::write(path(name), name).unwrap();
            let when = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age as u64);
            File::options().write(true).open(path(name)).unwrap().set_modified(when).unwrap();
        }
        let needed = ["d", "f"].map(str::to_owned).into();
        keep_newest(folder.path(), &needed, 2).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".f.part", "a", "b", "d"]);
    }
}
