//! Simulation: random sequences of operations on the real database, with a manual clock.
//!
//! A sequence is a list of steps made from a seed. Machines lease, play, upload, crash and cheat.
//! Responses are lost. Two coordinators on one database validate out of order, restart and work
//! concurrently. The clock jumps. The effect of a step depends on the step and the state only, so a
//! failing list can be shortened. All invariants (`invariants`) are checked every few steps, and
//! again after the storm, when all honest machines have uploaded their games.
//!
//! * `CHUHE_SIMULATIONS`: number of sequences per database; default: about a minute's worth.
//! * `CHUHE_SIMULATION_SEED`: one sequence, as named by a failure.

mod calls;
mod calm;
mod invariants;
mod machines;
mod steps;
mod world;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use crate::common::{block_on, folder, lab::Lab, postgres::Server};

use steps::Step;
use world::World;

/// Occurrences of states and events at the end.
type Seen = BTreeMap<String, i64>;

/// Steps of a sequence.
const STEPS: usize = 240;

/// Steps between checks of all invariants.
const STRIDE: usize = 10;

/// The number of sequences from which every kind of event must occur.
const MIN_SEQUENCES: u64 = 50;

/// Maximum attempts to shorten a failing sequence.
const MAX_TRIALS: usize = 60;

/// The databases of sequences: each begins as a copy of an empty one.
enum Place {
    Folder(tempfile::TempDir),
    Server { server: Server, like: String },
}

impl Place {
    async fn in_folder() -> Self {
        let place = Self::Folder(folder());
        place.prepare(&place.address("empty")).await;
        place
    }

    async fn on(server: Server) -> Self {
        let like = server.database(None).await;
        let place = Self::Server { server, like: like.clone() };
        place.prepare(&place.address(&like)).await;
        place
    }

    async fn prepare(&self, address: &str) {
        Lab::open(address).await.store.close().await;
    }

    fn address(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => format!("sqlite:{}", file(folder.path(), name).display()),
            Self::Server { server, .. } => server.address(name),
        }
    }

    /// Creates a database and returns its name.
    async fn fresh(&self) -> String {
        match self {
            Self::Folder(folder) => {
                let name = format!("{}", next_number());
                std::fs::copy(file(folder.path(), "empty"), file(folder.path(), &name)).unwrap();
                name
            }
            Self::Server { server, like } => server.database(Some(like)).await,
        }
    }

    async fn remove(&self, name: &str) {
        match self {
            Self::Folder(folder) => {
                for end in ["", "-wal", "-shm"] {
                    drop(std::fs::remove_file(file(folder.path(), &format!("{name}{end}"))));
                }
            }
            Self::Server { server, .. } => server.remove(name).await,
        }
    }
}

/// Returns a unique number.
fn next_number() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

fn file(folder: &Path, name: &str) -> std::path::PathBuf {
    folder.join(format!("{name}.db"))
}

/// Runs these steps; returns the occurrences or the failure.
fn run(place: &Place, seed: u64, steps: &[Step], stride: usize) -> Result<Seen, String> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        block_on(async {
            let name = place.fresh().await;
            let mut world = World::new(&place.address(&name), seed).await;
            let done = AssertUnwindSafe(world.live(steps, stride));
            let done = futures_util::FutureExt::catch_unwind(done).await.map_err(|panic| said(&*panic));
            let seen = if done.is_ok() { world.seen().await } else { Seen::default() };
            world.end().await;
            place.remove(&name).await;
            done.map(|()| seen)
        })
    }));
    result.unwrap_or_else(|panic| Err(said(&*panic)))
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_else(|| "it broke off".to_owned())
}

/// Runs a sequence; shortens one that fails (delta debugging) and panics with it.
fn show(place: &Place, seed: u64) -> Seen {
    let mut steps = steps::from_seed(seed, STEPS);
    let mut why = match run(place, seed, &steps, STRIDE) {
        Ok(seen) => return seen,
        Err(why) => why,
    };
    let (mut trials, mut size) = (0, steps.len() / 2);
    while size > 0 && trials < MAX_TRIALS {
        let mut from = 0;
        while from < steps.len() && trials < MAX_TRIALS {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + size).min(steps.len()));
            trials += 1;
            match run(place, seed, &fewer, 1) {
                Err(still) => (steps, why) = (fewer, still),
                Ok(_) => from += size,
            }
        }
        size /= 2;
    }
    let shown: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
    panic!("the sequence {seed} (CHUHE_SIMULATION_SEED={seed}) fails: {why}\nafter these steps:\n{}", shown.join("\n"));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

fn show_all(place: &Place, usual: u64) {
    if let Some(seed) = number("CHUHE_SIMULATION_SEED") {
        println!("{:?}", show(place, seed));
        return;
    }
    let count = number("CHUHE_SIMULATIONS").unwrap_or(usual);
    let mut seen = Seen::default();
    for seed in 0..count {
        for (what, times) in show(place, seed) {
            *seen.entry(what).or_default() += times;
        }
    }
    println!("{count} sequences of {STEPS} steps: {seen:?}");
    // A simulation without events would prove nothing.
    let must_happen = [
        "account quarantined",
        "comparison equal",
        "comparison settled",
        "decision AcceptH0",
        "decision AcceptH1",
        "decision Continue",
        "event dispute",
        "event promotion",
        "event rejection",
        "lease audit",
        "lease expired",
        "lease returned",
        "lease settle",
        "shard quarantined",
        "shard rejected",
        "shard validated",
        "shard without games",
    ];
    for what in must_happen {
        assert!(count < MIN_SEQUENCES || seen.contains_key(what), "nowhere in {count} sequences was there: {what}");
    }
}

#[test]
fn anything_may_happen_on_sqlite() {
    show_all(&block_on(Place::in_folder()), 200);
}

#[test]
fn anything_may_happen_on_postgres() {
    let Some(server) = Server::start() else { return };
    show_all(&block_on(Place::on(server)), 50);
}
