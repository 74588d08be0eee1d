//! Self-test: does this machine reproduce the reference results?
//!
//! The bench's node count and the digests of three games are equal on every machine and instruction
//! set. A machine with other results would submit games that cannot be replayed.

use std::{fs, path::Path, sync::Arc};

use anyhow::{Context as _, Result, ensure};
use dataset::{AtomicFile, Digest, Record};
use engine::{Evaluation, Parameters, bench};
use nnue::{Kernel, Net, architecture::Sizes};
use selfplay::{
    Adjudication, GameSettings, Openings,
    selfplay::{Opponent, Run},
};
use serde::{Deserialize, Serialize};
use xiangqi::rules::RuleSet;

/// The bench's node count.
pub use engine::bench::SIGNATURE;

/// Result of a passed self-test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelftestRecord {
    /// SHA-256 of the program's file.
    pub program: Digest,
    /// Instruction set of the net's evaluation.
    pub instruction_set: String,
    /// The bench's node count.
    pub bench_signature: u64,
}

/// Reference games: names and digests.
pub const GAMES: [(&str, &str); 3] = [
    ("plain", "7ce3cef46e68ba21c4f29f21d1bb68937978f0a4047eb1c58e0933014bc35d28"),
    ("net", "c169373ea3e8f2a01bb32b311ceaacedb285fb7b6484dc620bad700d74506ee4"),
    ("match", "4f3091bf2ba558bf276e54e0c4f93974069e29439bdca1b35dd8197b5ae2e66e"),
];

/// Runs all tests and returns the bench's node count. `progress` is called with each step.
///
/// # Errors
///
/// If a result differs from the reference.
pub fn run(kernel: Kernel, mut progress: impl FnMut(&str)) -> Result<u64> {
    for (name, expected) in GAMES {
        progress(&format!("game `{name}`"));
        let found = play(name, kernel)?.digest().to_string();
        ensure!(found == expected, "the game `{name}` went otherwise than everywhere: {found}, not {expected}");
    }
    progress("bench");
    let nodes = bench::signature(&Evaluation::Plain);
    ensure!(nodes == SIGNATURE, "the bench took {nodes} nodes, not {SIGNATURE} as everywhere");
    Ok(nodes)
}

/// Plays a reference game.
///
/// # Errors
///
/// If it cannot be played.
pub fn play(name: &str, kernel: Kernel) -> Result<Record> {
    let sizes = Sizes::new(128, 16, 32, 8)?;
    let net = |seed| Evaluation::Net(Arc::new(Net::from_piece_values(sizes, seed)), kernel);
    let (evaluation, opponent) = match name {
        "plain" => (Evaluation::Plain, None),
        "net" => (net(1), None),
        _ => (
            net(2),
            Some(Opponent {
                evaluation: Evaluation::Plain,
                parameters: Parameters::default(),
                soft_nodes: Some(400),
                hard_nodes: 900,
            }),
        ),
    };
    let run = Run {
        evaluation,
        opponent,
        parameters: Parameters::default(),
        timed: None,
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: 1000,
            adjudication: Adjudication::default(),
            ply_cap: 300,
        },
        openings: Openings { rules: RuleSet::Cxr, book: None, plies: 8, filter: None },
        seed: 7,
        first: 0,
        games: 1,
        threads: 1,
    };
    Ok(run.game(&mut run.players(), 1)?.record)
}

/// Runs the self-test, unless this very program has passed on this machine before.
///
/// # Errors
///
/// If a result differs from the reference, or the program cannot be read.
pub fn run_once(root: &Path, kernel: Kernel, progress: impl FnMut(&str)) -> Result<u64> {
    let path = root.join("selftest.json");
    let program = std::env::current_exe().and_then(fs::read).context("this program's own file")?;
    let (program, instruction_set) = (Digest::of(&program), kernel.name().to_owned());
    let before: Option<SelftestRecord> = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(found) = before.filter(|found| found.program == program && found.instruction_set == instruction_set) {
        return Ok(found.bench_signature);
    }
    let bench_signature = run(kernel, progress)?;
    let found = serde_json::to_vec(&SelftestRecord { program, instruction_set, bench_signature })?;
    // A failed write only means that the next start repeats the test.
    drop(AtomicFile::replace(&path, &found));
    Ok(bench_signature)
}
