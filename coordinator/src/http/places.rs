//! How many requests there are at the same time, and how much of their bodies: of all, of an address, of a token.
//!
//! Who is slow to say what he wants keeps nobody out: as long as a body comes, its request has no place inside.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies in memory may be so long together, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// An address has no more than this part of all there is, a token no more than a part of that.
const ADDRESSES: u64 = 4;

/// The part of an address that a token may have.
const TOKENS: u64 = 4;

/// Whoever has sent all of a body waits so long for a place.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many there are, and how many there may be.
#[derive(Debug)]
pub(crate) struct Places {
    most: u64,
    inside: Arc<Semaphore>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    bytes: u64,
    senders: HashMap<String, Share>,
}

/// What one sender has.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    requests: u64,
    bytes: u64,
}

/// A request that is under way.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    /// The address, and the token if there is one; each with what it may have of all.
    senders: Vec<(String, u64)>,
    inside: Mutex<Option<OwnedSemaphorePermit>>,
    bytes: AtomicU64,
    is_uncounted: AtomicBool,
}

impl Places {
    /// So many requests are let in at the same time.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most as u64, inside: Arc::new(Semaphore::new(most)), taken: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nobody panics with it.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests are inside, and how many bytes of bodies are in memory.
    pub(super) fn in_use(&self) -> (u64, u64) {
        (self.most.saturating_sub(self.inside.available_permits() as u64), self.taken().bytes)
    }

    /// A request comes; none if its address or its token has too many under way.
    pub(super) fn come(self: &Arc<Self>, address: &str, token: Option<&str>) -> Option<Place> {
        let mut senders = vec![(format!("address {address}"), ADDRESSES)];
        senders.extend(token.map(|token| (format!("token {token}"), ADDRESSES * TOKENS)));
        let mut taken = self.taken();
        let is_full = |(name, part): &(String, u64)| {
            taken.senders.get(name).is_some_and(|share| share.requests >= (self.most / part).max(1))
        };
        if senders.iter().any(is_full) {
            return None;
        }
        for (name, _) in &senders {
            taken.senders.entry(name.clone()).or_default().requests += 1;
        }
        drop(taken);
        let places = Arc::clone(self);
        Some(Place {
            places,
            senders,
            inside: Mutex::default(),
            bytes: AtomicU64::new(0),
            is_uncounted: AtomicBool::new(false),
        })
    }
}

impl Place {
    /// Goes in, if there is room.
    pub(super) fn enter(&self) -> bool {
        let permit = Arc::clone(&self.places.inside).try_acquire_owned().ok();
        self.set(permit)
    }

    /// Goes out while its body comes.
    pub(super) fn leave(&self) {
        self.set(None);
    }

    /// Goes in again, as soon as there is room; whether there was any soon.
    pub(super) async fn enter_again(&self) -> bool {
        let permit = tokio::time::timeout(PATIENCE, Arc::clone(&self.places.inside).acquire_owned()).await;
        self.set(permit.ok().and_then(Result::ok))
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) -> bool {
        let is_inside = permit.is_some();
        *self.inside.lock().unwrap_or_else(PoisonError::into_inner) = permit;
        is_inside
    }

    /// It is a trainer's, of whom there are few: a net may be as long as nets are.
    pub(super) fn is_trainers(&self) {
        self.is_uncounted.store(true, Relaxed);
    }

    /// Whether so many bytes more of its body may be kept until it is over.
    pub(crate) fn hold(&self, bytes: usize) -> bool {
        if self.is_uncounted.load(Relaxed) {
            return true;
        }
        let (bytes, mut taken) = (bytes as u64, self.places.taken());
        let is_full = |(name, part): &(String, u64)| {
            taken.senders.get(name).map_or(0, |share| share.bytes) + bytes > MOST_BYTES / part
        };
        if taken.bytes + bytes > MOST_BYTES || self.senders.iter().any(is_full) {
            return false;
        }
        taken.bytes += bytes;
        for (name, _) in &self.senders {
            taken.senders.entry(name.clone()).or_default().bytes += bytes;
        }
        self.bytes.fetch_add(bytes, Relaxed);
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (bytes, mut taken) = (self.bytes.load(Relaxed), self.places.taken());
        taken.bytes -= bytes;
        for (name, _) in &self.senders {
            let Some(share) = taken.senders.get_mut(name) else { continue };
            *share = Share { requests: share.requests - 1, bytes: share.bytes - bytes };
            if share.requests == 0 {
                taken.senders.remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_let_in_than_there_are_places() {
        let places = Places::new(1);
        let (ann, bob) = (places.come("a", None).unwrap(), places.come("b", Some("t")).unwrap());
        assert!(ann.enter() && !bob.enter());
        ann.leave();
        assert!(bob.enter() && !ann.enter());
        drop(ann);
        drop(bob);
        assert_eq!(places.in_use(), (0, 0));
        assert!(places.taken().senders.is_empty());
    }

    #[test]
    fn nobody_takes_all() {
        let places = Places::new(64);
        let of_token: Vec<_> = std::iter::from_fn(|| places.come("a", Some("t"))).collect();
        assert_eq!(of_token.len(), 4);
        let of_address: Vec<_> = std::iter::from_fn(|| places.come("a", None)).collect();
        assert_eq!(of_address.len(), 12);
        assert!(places.come("a", Some("u")).is_none() && places.come("b", Some("u")).is_some());
        drop(of_token);
        assert!(places.come("a", Some("u")).is_some());
    }

    #[test]
    fn what_is_in_memory_is_counted() {
        let places = Places::new(1_000);
        let half = usize::try_from(MOST_BYTES / ADDRESSES / TOKENS / 2).unwrap();
        let (one, other) = (places.come("a", Some("t")).unwrap(), places.come("a", Some("t")).unwrap());
        assert!(one.hold(half) && other.hold(half) && !one.hold(1));
        drop(other);
        assert!(one.hold(1));
        // Many tokens have no more than their address, and many addresses no more than there is.
        let tokens: Vec<_> = (0..100).map(|token| places.come("a", Some(&format!("t{token}"))).unwrap()).collect();
        assert_eq!(tokens.iter().filter(|place| place.hold(half)).count(), 6);
        let addresses: Vec<_> = (0..100).map(|other| places.come(&format!("b{other}"), None).unwrap()).collect();
        assert_eq!(addresses.iter().filter(|place| place.hold(2 * half)).count(), 12);
        drop((one, tokens, addresses));
        assert_eq!(places.in_use(), (0, 0));
    }
}
