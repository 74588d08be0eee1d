//! Settings from the command line.

use std::time::Duration;

use crate::rules::granting;

/// Settings from the command line.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct Settings {
    /// The server's name, for people.
    pub name: String,
    /// The oldest accepted version of a worker.
    pub least_worker: String,
    /// The bench node count of the engine that new games need.
    pub bench_signature: u64,
    /// Whether accounts are by invitation only.
    pub invitation_only: bool,
    /// Whether new accounts wait for approval.
    pub approval: bool,
    /// Where `git clone` finds the source of the programs, for volunteers.
    pub source: Option<String>,
    /// Another address of nets, books and shards.
    pub mirror: Option<String>,
    /// Minimum of free bytes; below it, no new self-play is handed out.
    pub least_free_bytes: u64,
    /// Maximum of uploads waiting for validation; above it, no new self-play is handed out.
    pub most_waiting: i64,
    /// Days until games expire, unless a published net learned from them; none: never.
    pub keep_days: Option<u32>,
    /// Bytes of games that an account may keep here; none: unlimited.
    pub quota_bytes: Option<u64>,
    /// Maximum of simultaneous requests.
    pub most_requests: usize,
    /// Rate limit: requests per second of a token, on average.
    pub requests_per_second: u32,
    /// Rate limit: burst of requests.
    pub burst: u32,
    /// Timeout of a request with its body.
    pub request_timeout: Duration,
    /// Whether a proxy stands in front: addresses are then read from `X-Forwarded-For`.
    pub behind_proxy: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "Chuhe".to_owned(),
            least_worker: env!("CARGO_PKG_VERSION").to_owned(),
            bench_signature: protocol::BENCH_SIGNATURE,
            invitation_only: false,
            approval: false,
            source: None,
            mirror: None,
            least_free_bytes: 2 << 30,
            most_waiting: granting::MAX_VALIDATION_BACKLOG,
            keep_days: None,
            quota_bytes: None,
            most_requests: 512,
            requests_per_second: 20,
            burst: 200,
            request_timeout: Duration::from_mins(1),
            behind_proxy: false,
        }
    }
}
