//! A fake coordinator, and workers to test with it.
#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod coordinator;
pub(crate) mod in_process;
pub(crate) mod process;
pub(crate) mod state_folder;

use std::{sync::Arc, thread, time::Duration};

use client::Clock;
use dataset::{Adjudication, Digest, GameSettings, Header, OpeningPolicy, RunDigest};
use engine::{Evaluation, bench::SIGNATURE};
use selfplay::selfplay::Run;
use xiangqi::rules::RuleSet;

/// Terms of short games.
pub(crate) fn header(nodes: u64) -> Header {
    Header {
        bench_signature: SIGNATURE,
        net: None,
        opponent: None,
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: RuleSet::Cxr,
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: nodes,
            adjudication: Adjudication::default(),
            ply_cap: 60,
        },
        openings: OpeningPolicy { book: None, plies: 8, filter: None },
        seed: 5,
        first_game: 0,
    }
}

/// Reference digest of these games.
pub(crate) fn digest_of(header: &Header, evaluation: Evaluation, opponent: Option<Evaluation>, games: u64) -> Digest {
    let run = Run { games, ..Run::from_header(header, evaluation, opponent, None).unwrap() };
    let mut digest = RunDigest::default();
    run.play(|_, finished| {
        digest.add(&finished.record);
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    digest.digest()
}

/// Waits for a state, for as long as a busy machine may need.
#[track_caller]
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not happen");
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(client::SystemClock::default())
}
