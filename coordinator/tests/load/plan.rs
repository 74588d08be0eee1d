//! The requests and their times.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// The arrival pattern of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Constant rate: every worker holds a lease, renews it once, uploads, and leases again.
    Steady,
    /// All workers lease in the first half of the time and upload in the second.
    Storm,
}

/// The size and duration of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) kind: Kind,
    pub(crate) workers: u32,
    pub(crate) accounts: u32,
    /// From a lease to its upload.
    pub(crate) job: Duration,
    /// The time in which all workers get their first leases, not measured.
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
    pub(crate) shard_bytes: usize,
}

impl Load {
    /// This many leases, and as many uploads, within a time.
    pub(crate) fn storm(workers: u32, time: Duration, shard_bytes: usize) -> Self {
        let accounts = (workers / 100).max(1);
        Self {
            kind: Kind::Storm,
            workers,
            accounts,
            job: time / 2,
            warm_up: Duration::ZERO,
            measured: time,
            shard_bytes,
        }
    }
}

/// The plan of a client process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) load: Load,
    pub(crate) server: SocketAddr,
    /// Its source addresses.
    pub(crate) from: Vec<SocketAddr>,
    /// Its workers with their tokens.
    pub(crate) workers: Vec<(i64, String)>,
    /// The file for its report.
    pub(crate) report: PathBuf,
    /// The seed of its random times.
    pub(crate) seed: u64,
}

/// A pseudorandom number below one.
pub(crate) fn draw(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_add(0x632b_e59b_d9b4_e019);
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^= z >> 31;
    }
    (z >> 11) as f64 / (1_u64 << 53) as f64
}
