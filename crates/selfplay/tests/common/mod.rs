//! Small runs for tests.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::{convert::Infallible, sync::Arc};

use engine::{Evaluation, Parameters};
use nnue::{Kernel, Net, architecture::Sizes};
use selfplay::{
    Adjudication, Filter, Openings, Record,
    selfplay::{GameSettings, Opponent, Run},
};
use xiangqi::rules::RuleSet;

/// Returns a self-play run with few nodes.
pub(crate) fn run(games: u64, threads: usize) -> Run {
    Run {
        evaluation: Evaluation::Plain,
        opponent: None,
        parameters: Parameters::default(),
        timed: None,
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: 60,
            adjudication: Adjudication::default(),
            ply_cap: 120,
        },
        openings: Openings {
            rules: RuleSet::Cxr,
            book: None,
            plies: 8,
            filter: Some(Filter { nodes: 100, bound: 200 }),
        },
        seed: 7,
        first: 0,
        games,
        threads,
    }
}

/// Returns a net that mainly counts material.
pub(crate) fn net() -> Evaluation {
    let sizes = Sizes::new(128, 16, 32, 8).expect("the sizes are valid");
    let kernel = Kernel::available().last().expect("the scalar kernel is always available");
    Evaluation::Net(Arc::new(Net::from_piece_values(sizes, 3)), kernel)
}

/// Returns a match of the plain evaluation against that net.
pub(crate) fn match_run(games: u64, threads: usize) -> Run {
    let opponent =
        Opponent { evaluation: net(), parameters: Parameters::default(), soft_nodes: Some(20), hard_nodes: 40 };
    Run { opponent: Some(opponent), ..run(games, threads) }
}

/// Plays a run, and returns its games in order.
pub(crate) fn play(run: &Run) -> Vec<Record> {
    let mut records = Vec::new();
    run.play(|number, finished| {
        assert_eq!(number, run.first + records.len() as u64);
        records.push(finished.record);
        Ok::<_, Infallible>(())
    })
    .expect("nothing fails");
    records
}
