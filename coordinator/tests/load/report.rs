//! The combined report of the client processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use crate::{
    client::Seen,
    plan::{Kind, Load},
};

/// The state of the database afterwards.
pub(crate) struct Kept {
    /// Lease and hash of each shard.
    pub(crate) shards: Vec<(String, String)>,
    pub(crate) waiting: i64,
    /// Number of overlapping segments.
    pub(crate) twice: i64,
    pub(crate) objects: PathBuf,
}

/// Resources used by processes.
pub(crate) struct Usage {
    pub(crate) cpu: f64,
    pub(crate) memory: u64,
    pub(crate) database_cpu: f64,
    pub(crate) database_memory: u64,
}

impl Usage {
    pub(crate) fn since(self, before: &Self) -> Self {
        Self { cpu: self.cpu - before.cpu, database_cpu: self.database_cpu - before.database_cpu, ..self }
    }
}

/// The result of a load.
pub(crate) struct Outcome {
    load: Load,
    took: Duration,
    times: BTreeMap<String, Vec<u32>>,
    rejected: BTreeMap<String, u64>,
    wrong: BTreeMap<String, u64>,
    acknowledged: usize,
    /// Acknowledged uploads that are missing.
    lost: Vec<(String, String)>,
    twice: i64,
    waiting: i64,
    clients_cpu: f64,
    usage: Usage,
    has_server: bool,
}

impl Outcome {
    pub(crate) fn new(
        load: &Load,
        took: Duration,
        seen: Vec<Seen>,
        kept: &Kept,
        usage: Usage,
        has_server: bool,
    ) -> Self {
        let mut outcome = Self {
            load: load.clone(),
            took,
            times: BTreeMap::new(),
            rejected: BTreeMap::new(),
            wrong: BTreeMap::new(),
            acknowledged: 0,
            lost: Vec::new(),
            twice: kept.twice,
            waiting: kept.waiting,
            clients_cpu: 0.0,
            usage,
            has_server,
        };
        let there: BTreeSet<&(String, String)> = kept.shards.iter().collect();
        if there.len() != kept.shards.len() {
            outcome.twice += 1;
        }
        for client in seen {
            for (what, times) in client.took {
                outcome.times.entry(what).or_default().extend(times);
            }
            for (from, to) in [(client.rejected, &mut outcome.rejected), (client.wrong, &mut outcome.wrong)] {
                for (what, count) in from {
                    *to.entry(what).or_default() += count;
                }
            }
            outcome.acknowledged += client.acknowledged.len();
            outcome.clients_cpu += client.cpu;
            let is_lost = |acknowledged: &(String, String)| {
                !there.contains(acknowledged)
                    || !kept.objects.join(&acknowledged.1[..2]).join(&acknowledged.1).is_file()
            };
            outcome.lost.extend(client.acknowledged.into_iter().filter(is_lost));
        }
        outcome.times.values_mut().for_each(|times| times.sort_unstable());
        outcome
    }

    pub(crate) const fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// Asserts that every acknowledged upload exists, once, and every rejection had a time to
    /// retry.
    pub(crate) fn assert_nothing_is_lost(&self) {
        assert!(self.lost.is_empty(), "acknowledged and lost: {:?}", self.lost);
        assert_eq!(self.twice, 0, "counted twice");
        assert!(self.wrong.is_empty(), "neither answered nor rejected with a time to retry: {:?}", self.wrong);
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = if self.has_server { "PostgreSQL" } else { "SQLite" };
        let seconds = self.load.measured.as_secs_f64();
        let kind = if self.load.kind == Kind::Storm { "a storm" } else { "steady" };
        writeln!(f, "{database}, {kind}: {} workers, {seconds} s", self.load.workers)?;
        writeln!(
            f,
            "| call | answered | a second | p50 ms | p90 ms | p99 ms | longest ms |\n|---|---|---|---|---|---|---|"
        )?;
        for (what, times) in &self.times {
            let at = |share: f64| f64::from(times[((times.len() - 1) as f64 * share) as usize]) / 1e3;
            writeln!(
                f,
                "| {what} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                times.len(),
                times.len() as f64 / seconds,
                at(0.5),
                at(0.9),
                at(0.99),
                at(1.0)
            )?;
        }
        writeln!(f, "rejected with a time to retry: {:?}; else: {:?}", self.rejected, self.wrong)?;
        writeln!(
            f,
            "acknowledged {}, lost {}, waiting for validation {}; coordinator {:.0} MiB at most, {:.2} of a core",
            self.acknowledged,
            self.lost.len(),
            self.waiting,
            self.usage.memory as f64 / f64::from(1 << 20),
            self.usage.cpu / seconds
        )?;
        if self.has_server {
            let memory = self.usage.database_memory as f64 / f64::from(1 << 20);
            writeln!(f, "database {memory:.0} MiB of its own, {:.2} of a core", self.usage.database_cpu / seconds)?;
        }
        write!(
            f,
            "clients {:.2} of a core, over {:.0} s",
            self.clients_cpu / self.took.as_secs_f64(),
            self.took.as_secs_f64()
        )
    }
}
