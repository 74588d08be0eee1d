//! What is asked, and when.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// How those who ask come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// All the time, at the same rate: every worker has a lease, renews it once, delivers, and asks for the next.
    Steady,
    /// All of them want a lease in the first half of the time, and deliver in the second.
    Storm,
}

/// How many, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) kind: Kind,
    pub(crate) workers: u32,
    pub(crate) accounts: u32,
    /// From a lease to its delivery.
    pub(crate) job: Duration,
    /// In which all workers get their first leases; nothing is measured.
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
    pub(crate) shard_bytes: usize,
}

impl Load {
    /// So many leases, and as many deliveries, in so much time.
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

/// What a process of those who ask is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) load: Load,
    pub(crate) server: SocketAddr,
    /// The addresses that it asks from.
    pub(crate) from: Vec<SocketAddr>,
    /// Its workers, each with its token.
    pub(crate) workers: Vec<(i64, String)>,
    /// Where its report goes.
    pub(crate) report: PathBuf,
    /// What its moments are drawn from.
    pub(crate) seed: u64,
}

/// Something drawn from two numbers, below one.
pub(crate) fn draw(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_add(0x632b_e59b_d9b4_e019);
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^= z >> 31;
    }
    (z >> 11) as f64 / (1_u64 << 53) as f64
}
