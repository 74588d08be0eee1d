//! Admission control: limits of simultaneous requests and of their bodies' bytes, in all, per
//! address and per token.
//!
//! A slow upload blocks no one: while its body arrives, a request holds no permit.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of bodies in memory.
const MAX_BODY_BYTES: u64 = 256 << 20;

/// An address may use 1/4 of all.
const ADDRESS_DIVISOR: u64 = 4;

/// A token may use 1/4 of its address's part.
const TOKEN_DIVISOR: u64 = 4;

/// Wait for a permit after a body has arrived.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits simultaneous requests, and counts them.
#[derive(Debug)]
pub(crate) struct RequestLimiter {
    max: u64,
    active: Arc<Semaphore>,
    usage: Mutex<Usage>,
}

#[derive(Debug, Default)]
struct Usage {
    bytes: u64,
    senders: HashMap<String, Share>,
}

/// The usage of one sender.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    requests: u64,
    bytes: u64,
}

/// A request under way. Dropping it releases everything.
#[derive(Debug)]
pub(crate) struct Permit {
    limiter: Arc<RequestLimiter>,
    /// The address, and the token if there is one; each with the divisor of its limits.
    senders: Vec<(String, u64)>,
    active: Mutex<Option<OwnedSemaphorePermit>>,
    bytes: AtomicU64,
    is_exempt: AtomicBool,
}

impl RequestLimiter {
    /// A limiter of `max` simultaneous requests.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max: max as u64, active: Arc::new(Semaphore::new(max)), usage: Mutex::default() })
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        // No code panics while it holds the lock.
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Active requests, and bytes of bodies in memory.
    pub(crate) fn in_use(&self) -> (u64, u64) {
        (self.max.saturating_sub(self.active.available_permits() as u64), self.usage().bytes)
    }

    /// Admits a request; none if its address or its token has too many under way.
    pub(crate) fn admit(self: &Arc<Self>, address: &str, token: Option<&str>) -> Option<Permit> {
        let mut senders = vec![(format!("address {address}"), ADDRESS_DIVISOR)];
        senders.extend(token.map(|token| (format!("token {token}"), ADDRESS_DIVISOR * TOKEN_DIVISOR)));
        let mut usage = self.usage();
        let is_full = |(name, part): &(String, u64)| {
            usage.senders.get(name).is_some_and(|share| share.requests >= (self.max / part).max(1))
        };
        if senders.iter().any(is_full) {
            return None;
        }
        for (name, _) in &senders {
            usage.senders.entry(name.clone()).or_default().requests += 1;
        }
        drop(usage);
        let limiter = Arc::clone(self);
        Some(Permit {
            limiter,
            senders,
            active: Mutex::default(),
            bytes: AtomicU64::new(0),
            is_exempt: AtomicBool::new(false),
        })
    }
}

impl Permit {
    /// Tries to acquire a permit.
    pub(crate) fn try_acquire(&self) -> bool {
        let permit = Arc::clone(&self.limiter.active).try_acquire_owned().ok();
        self.set(permit)
    }

    /// Releases the permit while the body arrives.
    pub(crate) fn release(&self) {
        self.set(None);
    }

    /// Acquires a permit again after the body; false after a timeout.
    pub(crate) async fn reacquire(&self) -> bool {
        let permit = tokio::time::timeout(PERMIT_TIMEOUT, Arc::clone(&self.limiter.active).acquire_owned()).await;
        self.set(permit.ok().and_then(Result::ok))
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) -> bool {
        let is_active = permit.is_some();
        *self.active.lock().unwrap_or_else(PoisonError::into_inner) = permit;
        is_active
    }

    /// Exempts a trainer's upload from the byte limits: trainers are few, and nets are long.
    pub(crate) fn exempt_from_byte_limits(&self) {
        self.is_exempt.store(true, Relaxed);
    }

    /// Reserves bytes of the body until the request ends; false beyond a limit.
    pub(crate) fn reserve(&self, bytes: usize) -> bool {
        if self.is_exempt.load(Relaxed) {
            return true;
        }
        let (bytes, mut usage) = (bytes as u64, self.limiter.usage());
        let is_full = |(name, part): &(String, u64)| {
            usage.senders.get(name).map_or(0, |share| share.bytes) + bytes > MAX_BODY_BYTES / part
        };
        if usage.bytes + bytes > MAX_BODY_BYTES || self.senders.iter().any(is_full) {
            return false;
        }
        usage.bytes += bytes;
        for (name, _) in &self.senders {
            usage.senders.entry(name.clone()).or_default().bytes += bytes;
        }
        self.bytes.fetch_add(bytes, Relaxed);
        true
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let (bytes, mut usage) = (self.bytes.load(Relaxed), self.limiter.usage());
        usage.bytes -= bytes;
        for (name, _) in &self.senders {
            let Some(share) = usage.senders.get_mut(name) else { continue };
            *share = Share { requests: share.requests - 1, bytes: share.bytes - bytes };
            if share.requests == 0 {
                usage.senders.remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_requests_are_active_than_permitted() {
        let limiter = RequestLimiter::new(1);
        let (ann, bob) = (limiter.admit("a", None).unwrap(), limiter.admit("b", Some("t")).unwrap());
        assert!(ann.try_acquire() && !bob.try_acquire());
        ann.release();
        assert!(bob.try_acquire() && !ann.try_acquire());
        drop(ann);
        drop(bob);
        assert_eq!(limiter.in_use(), (0, 0));
        assert!(limiter.usage().senders.is_empty());
    }

    #[test]
    fn no_sender_takes_all() {
        let limiter = RequestLimiter::new(64);
        let of_token: Vec<_> = std::iter::from_fn(|| limiter.admit("a", Some("t"))).collect();
        assert_eq!(of_token.len(), 4);
        let of_address: Vec<_> = std::iter::from_fn(|| limiter.admit("a", None)).collect();
        assert_eq!(of_address.len(), 12);
        assert!(limiter.admit("a", Some("u")).is_none() && limiter.admit("b", Some("u")).is_some());
        drop(of_token);
        assert!(limiter.admit("a", Some("u")).is_some());
    }

    #[test]
    fn bytes_in_memory_are_counted() {
        let limiter = RequestLimiter::new(1_000);
        let half = usize::try_from(MAX_BODY_BYTES / ADDRESS_DIVISOR / TOKEN_DIVISOR / 2).unwrap();
        let (one, other) = (limiter.admit("a", Some("t")).unwrap(), limiter.admit("a", Some("t")).unwrap());
        assert!(one.reserve(half) && other.reserve(half) && !one.reserve(1));
        drop(other);
        assert!(one.reserve(1));
        // The tokens together stay within their address's limit, the addresses within the total.
        let tokens: Vec<_> = (0..100).map(|token| limiter.admit("a", Some(&format!("t{token}"))).unwrap()).collect();
        assert_eq!(tokens.iter().filter(|permit| permit.reserve(half)).count(), 6);
        let addresses: Vec<_> = (0..100).map(|other| limiter.admit(&format!("b{other}"), None).unwrap()).collect();
        assert_eq!(addresses.iter().filter(|permit| permit.reserve(2 * half)).count(), 12);
        drop((one, tokens, addresses));
        assert_eq!(limiter.in_use(), (0, 0));
    }
}
