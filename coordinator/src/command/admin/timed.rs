//! `chuhe-coordinator admin timed`.

use anyhow::Result;
use coordinator_core::{
    clock::Clock,
    ops::matches::BeginTimedMatch,
    store::Database,
    timed::{Plan, defaults},
};
use dataset::{Clock as GameClock, Digest, OpeningPolicy, Time};
use serde_json::{Value, json};
use xiangqi::rules::RuleSet;

#[derive(clap::Args)]
pub(in crate::command) struct Arguments {
    /// Net A, by its hash [default: the plain evaluation]
    #[arg(long, value_name = "HASH")]
    a: Option<Digest>,
    /// Net B, by its hash [default: the plain evaluation]
    #[arg(long, value_name = "HASH")]
    b: Option<Digest>,
    #[command(flatten)]
    time: TimeGiven,
    /// Milliseconds over the time before a player loses: for each move, or with --tc for the game
    #[arg(long, value_name = "MS", default_value_t = 50)]
    grace: u32,
    /// Number of game pairs
    #[arg(long, value_name = "N", default_value_t = defaults::pairs())]
    pairs: u32,
    /// Size of each engine's transposition table, in mebibytes
    #[arg(long, value_name = "MIB", default_value_t = defaults::hash())]
    hash: u32,
    /// Random moves at the start of a game
    #[arg(long, value_name = "N", default_value_t = defaults::openings().plies)]
    random_plies: u32,
    /// Opening book, by its hash
    #[arg(long, value_name = "HASH")]
    book: Option<Digest>,
    /// Ply cap: longer games are draws
    #[arg(long, value_name = "PLIES", default_value_t = defaults::ply_cap())]
    ply_cap: u32,
    /// Seed of the openings
    #[arg(long, default_value_t = defaults::seed())]
    seed: u64,
    /// Rulebook that decides repetitions
    #[arg(long, default_value_t)]
    rules: RuleSet,
}

/// The time control: exactly one of the two options.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct TimeGiven {
    /// Time of a move, in milliseconds
    #[arg(long, value_name = "MS")]
    movetime: Option<u32>,
    /// Seconds for all moves and increment per move, as 10+0.1
    #[arg(long, value_name = "S+S")]
    tc: Option<Time>,
}

impl Arguments {
    fn plan(&self) -> Plan {
        let time = match (self.time.movetime, self.time.tc) {
            (Some(milliseconds), _) => Time::Move { milliseconds },
            (None, Some(time)) => time,
            (None, None) => unreachable!("one of the two is required"),
        };
        Plan {
            a: self.a,
            b: self.b,
            clock: GameClock { time, grace_milliseconds: self.grace },
            pairs: self.pairs,
            rules: self.rules,
            hash_mebibytes: self.hash,
            openings: OpeningPolicy { book: self.book, plies: self.random_plies, ..defaults::openings() },
            ply_cap: self.ply_cap,
            seed: self.seed,
        }
    }
}

pub(super) async fn create(store: &Database, clock: &Clock, arguments: Arguments) -> Result<Value> {
    let (plan, bench_signature) = (arguments.plan(), protocol::BENCH_SIGNATURE);
    Ok(json!({ "job": store.run(clock.now(), BeginTimedMatch { plan, bench_signature, by: None }).await? }))
}
