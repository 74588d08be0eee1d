//! Rate limits (token buckets), and the limit of simultaneous requests (`permits`). All state is in
//! memory: losing it does no harm, and addresses are stored nowhere else.

pub(crate) mod permits;

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{extract::Request, http::HeaderMap};
use coordinator_core::clock::{HOUR, SECOND, Time};

use permits::RequestLimiter;

/// Rate of an address, in rates of a token: many tokens may share one address.
const TOKENS_PER_ADDRESS: u32 = 50;

/// Capacity of the table of senders; beyond it, the longest silent are dropped.
const MAX_SENDERS: usize = 100_000;

/// Accounts per address and hour: a new account has little trust, but many have much.
const MAX_REGISTRATIONS_PER_HOUR: u32 = 20;

/// The limits of a coordinator, and its counters.
pub struct Limits {
    pub(crate) requests: Arc<RequestLimiter>,
    per_second: u32,
    burst: u32,
    senders: Mutex<HashMap<String, Bucket>>,
    /// Registrations by address: their number and the window's start.
    registered: Mutex<HashMap<String, (u32, Time)>>,
    /// Responses by class of status.
    responses: [AtomicU64; 6],
    /// Histogram of response times, with the bounds `BOUNDS`.
    took: [AtomicU64; BOUNDS.len() + 1],
    /// Total response time, in microseconds.
    microseconds: AtomicU64,
}

/// Bounds of the response time histogram, in milliseconds.
pub(crate) const BOUNDS: [u64; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];

/// Token bucket of a sender, in thousandths of requests.
#[derive(Clone, Copy)]
struct Bucket {
    left: i64,
    at: Time,
}

impl Limits {
    /// Limits for `at_once` simultaneous requests and `per_second` requests of each sender.
    #[must_use]
    pub fn new(at_once: usize, per_second: u32, burst: u32) -> Self {
        Self {
            requests: RequestLimiter::new(at_once),
            per_second,
            burst,
            senders: Mutex::default(),
            registered: Mutex::default(),
            responses: Default::default(),
            took: Default::default(),
            microseconds: AtomicU64::new(0),
        }
    }

    /// Takes one request from the token buckets of the address and the token.
    ///
    /// # Errors
    ///
    /// Returns the seconds to wait, if a bucket is empty.
    pub fn take(&self, address: &str, token: Option<&str>, now: Time) -> Result<(), u64> {
        let Ok(mut senders) = self.senders.lock() else { return Ok(()) };
        if senders.len() > MAX_SENDERS {
            let old = now.0 - 60 * SECOND;
            senders.retain(|_, bucket| bucket.at.0 > old);
            if senders.len() > MAX_SENDERS {
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
        // Requests without a token have the address's bucket alone.
        token.map_or(Ok(()), |token| of(format!("token {token}"), 1))
    }

    /// Counts a registration of an address in its hour.
    ///
    /// # Errors
    ///
    /// Returns the seconds to wait, if the hour's registrations are used up.
    pub fn register(&self, address: &str, now: Time) -> Result<(), u64> {
        let Ok(mut registered) = self.registered.lock() else { return Ok(()) };
        if registered.len() > MAX_SENDERS {
            registered.retain(|_, (_, since)| now.0 - since.0 < HOUR);
        }
        let entry = registered.entry(address.to_owned()).or_insert((0, now));
        let left = entry.1.0 + HOUR - now.0;
        if left <= 0 {
            *entry = (0, now);
        } else if entry.0 >= MAX_REGISTRATIONS_PER_HOUR {
            return Err((left / SECOND).max(1).unsigned_abs());
        }
        entry.0 += 1;
        Ok(())
    }

    /// Counts a response.
    pub fn count(&self, status: u16, took: Duration) {
        self.responses[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
        let milliseconds = took.as_millis() as u64;
        let bin = BOUNDS.iter().position(|&bound| milliseconds < bound).unwrap_or(BOUNDS.len());
        self.took[bin].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Relaxed);
    }

    /// Responses by class of status.
    #[must_use]
    pub fn responses(&self) -> [u64; 6] {
        std::array::from_fn(|class| self.responses[class].load(Relaxed))
    }

    /// The response time histogram and the total time.
    #[must_use]
    pub fn times(&self) -> ([u64; BOUNDS.len() + 1], Duration) {
        let bins = std::array::from_fn(|bin| self.took[bin].load(Relaxed));
        (bins, Duration::from_micros(self.microseconds.load(Relaxed)))
    }
}

/// The client's address. Behind a proxy, only the last address of `X-Forwarded-For` is trusted.
pub(crate) fn address_of(request: &Request, peer: SocketAddr, behind_proxy: bool) -> String {
    address_in(request.headers(), peer, behind_proxy)
}

/// The client's address, from the headers.
pub(crate) fn address_in(headers: &HeaderMap, peer: SocketAddr, behind_proxy: bool) -> String {
    sender(ip_in(headers, peer, behind_proxy))
}

/// A hash of the block of addresses that a client is in.
pub(crate) fn network_in(headers: &HeaderMap, peer: SocketAddr, behind_proxy: bool) -> String {
    short(&network(ip_in(headers, peer, behind_proxy)))
}

fn ip_in(headers: &HeaderMap, peer: SocketAddr, behind_proxy: bool) -> IpAddr {
    // The proxy may append a header line of its own.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| behind_proxy);
    let forwarded = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse::<IpAddr>().ok());
    forwarded.unwrap_or(peer.ip())
}

/// The source of a registration: an IPv4 address, or an IPv6 /48, of which a customer may have all.
pub(crate) fn registrant_in(headers: &HeaderMap, peer: SocketAddr, behind_proxy: bool) -> String {
    match ip_in(headers, peer, behind_proxy).to_canonical() {
        address @ IpAddr::V4(_) => sender(address),
        address @ IpAddr::V6(_) => network(address),
    }
}

/// The block of addresses that one customer or one house may have: 256 of IPv4, a /48 of IPv6.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & !0xff).to_string(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).to_string(),
    }
}

/// The sender behind an address: an IPv4 address or an IPv6 /64.
pub(crate) fn sender(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        // A customer has a /64 and can use every address in it.
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
    }
}

/// A token's key in the table: a hash, never the token itself.
pub(crate) fn short(token: &str) -> String {
    coordinator_core::people::hash_of(token)[..16].to_owned()
}

/// A path for the log: the secret tokens of leases and trainings are masked.
pub(crate) fn without_secrets(path: &str) -> String {
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
        assert_eq!(limits.take("a", Some("t"), Time(0)), Err(1), "a clock that runs backwards adds nothing");
    }

    #[test]
    fn a_house_has_one_network() {
        let of = |address: &str| network(address.parse().unwrap());
        assert_eq!((of("192.0.2.7"), of("::ffff:192.0.2.200")), ("192.0.2.0".to_owned(), "192.0.2.0".to_owned()));
        assert_ne!(of("192.0.3.7"), of("192.0.2.7"));
        assert_eq!(of("2001:db8:1:2::7"), "2001:db8:1::");
        assert_eq!(of("2001:db8:1:ffff::9"), of("2001:db8:1:2::7"));
    }

    #[test]
    fn an_address_makes_few_accounts() {
        let limits = Limits::new(1, 1, 1);
        let now = Time(1_000_000);
        let made = (0..50).filter(|second| limits.register("a", now.after(second * SECOND)).is_ok());
        assert_eq!(made.count(), 20);
        assert_eq!(limits.register("a", now.after(HOUR - 10 * SECOND)), Err(10));
        assert_eq!(limits.register("b", now), Ok(()));
        assert_eq!(limits.register("a", now.after(HOUR)), Ok(()));
    }

    #[test]
    fn addresses_are_those_of_the_client() {
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
        assert_eq!(found("127.0.0.1", &["198.51.100.1"], false), "127.0.0.1", "any client can send that header");
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
