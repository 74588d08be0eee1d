//! Who asks too often, and how many are let in at the same time (`places`). All of it is in memory:
//! what a coordinator forgets when it stops does no harm, and addresses are nowhere else.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use super::{
    answer::{Answer, Refusal},
    places::Places,
};
use crate::{
    clock::{HOUR, SECOND, Time},
    service::Service,
};
use axum::{extract::Request, http::HeaderMap};
use protocol::api::problem::{Code, Problem};

/// An address may ask so many times as often as a token: many may stand behind one.
const TOKENS_PER_ADDRESS: u32 = 50;

/// So many senders are remembered; beyond, those who were quiet longest are forgotten.
const MOST_SENDERS: usize = 100_000;

/// So many accounts may be made from an address within an hour: an account is trusted little, but many of them are many.
const MOST_REGISTRATIONS: u32 = 20;

/// The limits of a coordinator, and what it counted.
pub struct Limits {
    pub(crate) places: Arc<Places>,
    per_second: u32,
    burst: u32,
    senders: Mutex<HashMap<String, Bucket>>,
    /// Who registered, how often, since when.
    registered: Mutex<HashMap<String, (u32, Time)>>,
    /// Answers by hundreds of their status.
    answers: [AtomicU64; 6],
    /// Answers by how long they took: up to these many milliseconds.
    took: [AtomicU64; BOUNDS.len() + 1],
    /// How long they took together, in microseconds.
    microseconds: AtomicU64,
}

/// The bounds of the histogram of answers, in milliseconds.
pub(super) const BOUNDS: [u64; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];

/// What a sender may still ask, in thousandths of requests.
#[derive(Clone, Copy)]
struct Bucket {
    left: i64,
    at: Time,
}

impl Limits {
    /// Limits that let in so many at once, and so many a second of each sender.
    #[must_use]
    pub fn new(at_once: usize, per_second: u32, burst: u32) -> Self {
        Self {
            places: Places::new(at_once),
            per_second,
            burst,
            senders: Mutex::default(),
            registered: Mutex::default(),
            answers: Default::default(),
            took: Default::default(),
            microseconds: AtomicU64::new(0),
        }
    }

    /// Takes a request from what an address and a token may ask.
    ///
    /// # Errors
    ///
    /// With the seconds to wait, if nothing is left.
    pub fn take(&self, address: &str, token: Option<&str>, now: Time) -> Result<(), u64> {
        let Ok(mut senders) = self.senders.lock() else { return Ok(()) };
        if senders.len() > MOST_SENDERS {
            let old = now.0 - 60 * SECOND;
            senders.retain(|_, bucket| bucket.at.0 > old);
            if senders.len() > MOST_SENDERS {
                senders.clear();
            }
        }
        let mut of = |name: String, factor: u32| {
            let (rate, most) = (i64::from(self.per_second * factor), i64::from(self.burst * factor) * 1_000);
            let bucket = senders.entry(name).or_insert(Bucket { left: most, at: now });
            let since = (now.0 - bucket.at.0).clamp(0, 3_600 * SECOND);
            *bucket = Bucket { left: (bucket.left + since * rate).min(most), at: now };
            if bucket.left < 1_000 {
                return Err((1_000 - bucket.left).max(1).unsigned_abs().div_ceil(rate.max(1).unsigned_abs() * 1_000));
            }
            bucket.left -= 1_000;
            Ok(())
        };
        of(format!("address {address}"), TOKENS_PER_ADDRESS)?;
        // Whoever has no token asks for itself alone, as far as can be known: what it may is the address's.
        token.map_or(Ok(()), |token| of(format!("token {token}"), 1))
    }

    /// Counts a registration of an address, of which there are few in an hour.
    ///
    /// # Errors
    ///
    /// With the seconds to wait, if there were as many as there may be.
    pub fn register(&self, address: &str, now: Time) -> Result<(), u64> {
        let Ok(mut registered) = self.registered.lock() else { return Ok(()) };
        if registered.len() > MOST_SENDERS {
            registered.retain(|_, (_, since)| now.0 - since.0 < HOUR);
        }
        let entry = registered.entry(address.to_owned()).or_insert((0, now));
        let left = entry.1.0 + HOUR - now.0;
        if left <= 0 {
            *entry = (0, now);
        } else if entry.0 >= MOST_REGISTRATIONS {
            return Err((left / SECOND).max(1).unsigned_abs());
        }
        entry.0 += 1;
        Ok(())
    }

    /// Counts an answer.
    pub fn count(&self, status: u16, took: Duration) {
        self.answers[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
        let milliseconds = took.as_millis() as u64;
        let bin = BOUNDS.iter().position(|&bound| milliseconds < bound).unwrap_or(BOUNDS.len());
        self.took[bin].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Relaxed);
    }

    /// Answers by hundreds of their status.
    #[must_use]
    pub fn answers(&self) -> [u64; 6] {
        std::array::from_fn(|class| self.answers[class].load(Relaxed))
    }

    /// Answers by how long they took, and how long all together.
    #[must_use]
    pub fn times(&self) -> ([u64; BOUNDS.len() + 1], Duration) {
        let bins = std::array::from_fn(|bin| self.took[bin].load(Relaxed));
        (bins, Duration::from_micros(self.microseconds.load(Relaxed)))
    }
}

/// From where a request comes. Behind a proxy, the last address that it added is believed, and no other.
pub(crate) fn address_of(request: &Request, peer: SocketAddr, behind_proxy: bool) -> String {
    address_in(request.headers(), peer, behind_proxy)
}

/// The same, by the request's headers.
pub(crate) fn address_in(headers: &HeaderMap, peer: SocketAddr, behind_proxy: bool) -> String {
    // A proxy may add a line of its own to those that came.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| behind_proxy);
    let forwarded = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse::<IpAddr>().ok());
    sender(forwarded.unwrap_or(peer.ip()))
}

/// Whom an address stands for.
pub(super) fn sender(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        // A customer has a /64 and can use every address in it.
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
    }
}

/// Refuses an account more to an address that has made many.
pub(crate) fn may_register(service: &Service, headers: &HeaderMap, peer: SocketAddr) -> Answer<()> {
    let address = address_in(headers, peer, service.settings.behind_proxy);
    service.limits.register(&address, service.clock.now()).map_err(|wait| {
        let detail = "many accounts were made from this address: try again later, or ask whoever runs this for one";
        Refusal(Problem::new(Code::TooMany, detail), Some(wait))
    })
}

/// A token's place in the table, without the token.
pub(super) fn short(token: &str) -> String {
    crate::people::hash_of(token)[..16].to_owned()
}

/// An address as it may stand in a log: what names a lease or training is a secret.
pub(super) fn without_secrets(path: &str) -> String {
    let mut parts = path.split('/').collect::<Vec<_>>();
    if let Some(secret) = parts.iter().position(|part| matches!(*part, "leases" | "trainings"))
        && let Some(part) = parts.get_mut(secret + 1)
    {
        *part = "…";
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_gets_its_burst_and_then_its_rate() {
        let limits = Limits::new(1, 2, 5);
        let now = Time(1_000_000);
        for _ in 0..5 {
            assert_eq!(limits.take("a", Some("t"), now), Ok(()));
        }
        assert_eq!(limits.take("a", Some("t"), now), Err(1));
        assert_eq!(limits.take("a", Some("u"), now), Ok(()), "another token of the address");
        assert_eq!(limits.take("a", Some("t"), now.after(500)), Ok(()));
        assert_eq!(limits.take("a", Some("t"), now.after(500)), Err(1));
        assert_eq!(limits.take("a", Some("t"), Time(0)), Err(1), "clocks that go back give nothing");
    }

    #[test]
    fn nobody_makes_many_accounts() {
        let limits = Limits::new(1, 1, 1);
        let now = Time(1_000_000);
        let made = (0..50).filter(|second| limits.register("a", now.after(second * SECOND)).is_ok());
        assert_eq!(made.count(), 20);
        assert_eq!(limits.register("a", now.after(HOUR - 10 * SECOND)), Err(10));
        assert_eq!(limits.register("b", now), Ok(()));
        assert_eq!(limits.register("a", now.after(HOUR)), Ok(()));
    }

    #[test]
    fn addresses_are_those_of_whoever_asks() {
        let found = |peer: &str, lines: &[&'static str], behind_proxy| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", axum::http::HeaderValue::from_static(line));
            }
            address_in(&headers, SocketAddr::new(peer.parse().unwrap(), 7), behind_proxy)
        };
        assert_eq!(found("203.0.113.7", &[], false), "203.0.113.7");
        assert_eq!(found("::ffff:203.0.113.7", &[], false), "203.0.113.7", "as a socket for both kinds says it");
        assert_eq!(found("2001:db8:1:2:3:4:5:6", &[], false), "2001:db8:1:2::");
        assert_eq!(found("127.0.0.1", &["198.51.100.1"], false), "127.0.0.1", "anybody can say that");
        assert_eq!(found("127.0.0.1", &["198.51.100.1, 203.0.113.7"], true), "203.0.113.7");
        assert_eq!(found("127.0.0.1", &["198.51.100.1", "203.0.113.7"], true), "203.0.113.7");
        assert_eq!(found("127.0.0.1", &["nonsense"], true), "127.0.0.1");
    }

    #[test]
    fn secrets_do_not_reach_the_log() {
        assert_eq!(without_secrets("/api/v1/trainings/abc/net"), "/api/v1/trainings/…/net");
        assert_eq!(without_secrets("/api/v1/leases/abc/games/7"), "/api/v1/leases/…/games/7");
        assert_eq!(without_secrets("/healthz"), "/healthz");
    }
}
