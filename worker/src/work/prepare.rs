//! Preparation of a lease: its checks, its memory budget, and its player.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use client::Clock;
use dataset::Header;
use protocol::api::work::{Lease, Machine};
use selfplay::{Timer, selfplay::Run};

use super::files::{Files, Unplayable};

const MAX_GAMES_PER_LEASE: u64 = 1 << 20;
/// Memory of a thread beside its tables: search, evaluator and records, as measured in
/// docs/BENCHMARKS.md.
const MEBIBYTES_PER_THREAD: u64 = 24;
/// Memory of the process without games: the program, its own net, and submissions in transit.
const MEBIBYTES_PER_PROCESS: u64 = 32;
/// Memory of the smallest lease: one thread, a table of one mebibyte, and no net but the program's.
pub(crate) const MIN_MEBIBYTES: u64 = MEBIBYTES_PER_PROCESS + MEBIBYTES_PER_THREAD + 1;

/// The worker's clock for games under time control.
struct ClockTimer(Arc<dyn Clock>);

impl Timer for ClockTimer {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

/// Memory budget of a lease: threads, MiB per thread, and MiB for the process.
pub(super) struct ThreadSlots {
    pub(super) count: usize,
    mebibytes_per_thread: u64,
    process_mebibytes: u64,
}

impl ThreadSlots {
    /// Returns why other threads are idle.
    pub(super) fn idle_reason(&self, machine: &Machine) -> Option<String> {
        let Machine { threads, memory_mebibytes, .. } = machine;
        let idle = (*threads as usize).checked_sub(self.count).filter(|idle| *idle > 0)?;
        Some(format!(
            "{idle} of {threads} threads rest: these games need {} MiB a thread and {} MiB beside, and \
             {memory_mebibytes} MiB are allowed (`--memory`).",
            self.mebibytes_per_thread, self.process_mebibytes
        ))
    }
}

/// Prepares leases for this machine.
pub(crate) struct Preparer {
    pub(crate) files: Files,
    pub(crate) machine: Machine,
}

impl Preparer {
    /// Builds the player of a lease and its memory budget.
    pub(super) fn prepare(&mut self, lease: &Lease) -> Result<(Run, ThreadSlots), Unplayable> {
        let permanent = |error: anyhow::Error| Unplayable::Permanent(format!("{error:#}"));
        // Checks the tables alone before nets are fetched.
        self.slots_for(lease).map_err(permanent)?;
        let terms = &lease.terms;
        let evaluation = self.files.evaluation(terms.net)?;
        let opponent = terms.opponent.map(|opponent| self.files.evaluation(opponent.net)).transpose()?;
        let book = terms.openings.book.map(|hash| self.files.book(hash, terms.rules)).transpose()?;
        let timer = Arc::new(ClockTimer(Arc::clone(self.files.work.clock())));
        let run = Run::from_header_with_timer(terms, evaluation, opponent, book, timer)
            .map_err(|error| Unplayable::Permanent(error.to_string()))?;
        Ok((run, self.slots_for(lease).map_err(permanent)?))
    }

    /// Validates a lease and computes its memory budget, including its
    /// nets on disk.
    fn slots_for(&self, lease: &Lease) -> Result<ThreadSlots> {
        let terms = &lease.terms;
        let reencoded = Header::from_bytes(&terms.to_bytes()).context("its terms are not allowed")?;
        ensure!(reencoded == *terms, "its terms are not allowed");
        ensure!((1..=MAX_GAMES_PER_LEASE).contains(&lease.games), "it has {} games", lease.games);
        ensure!(terms.first_game.checked_add(lease.games).is_some(), "its games have no numbers");
        if terms.opponent.is_some() {
            ensure!(
                terms.first_game.is_multiple_of(2) && lease.games.is_multiple_of(2),
                "it holds half a pair of a match"
            );
        }
        let tables = terms.settings.hash_mebibytes as u64;
        let per_thread = match terms.opponent {
            None => tables + MEBIBYTES_PER_THREAD,
            Some(_) => 2 * tables + 16 + 2 * MEBIBYTES_PER_THREAD,
        };
        let per_process = MEBIBYTES_PER_PROCESS + lease.nets().map(|net| self.files.mebibytes_of(net)).sum::<u64>();
        let allowed = self.machine.memory_mebibytes;
        let slots = (allowed.saturating_sub(per_process) / per_thread).min(u64::from(self.machine.threads));
        ensure!(
            slots > 0,
            "it needs {per_thread} MiB a thread and {per_process} MiB beside, and {allowed} MiB are allowed (`--memory`)"
        );
        Ok(ThreadSlots { count: slots as usize, mebibytes_per_thread: per_thread, process_mebibytes: per_process })
    }
}
