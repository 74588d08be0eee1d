//! Collects forced mates from games of self-play, with their proofs, and prints them as
//! `crates/selfplay/tests/data/mates.txt`:
//!
//! ```text
//! cargo run --release -p chuhe-selfplay --example collect_mates -- NET COUNT SHARD… > mates.txt
//! ```
//!
//! Mates of 5 to 25 plies are wanted, an equal number of each length, one of a game at most. A mate
//! is looked for before the game's own scores announce it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for one's own terminal")]

use std::{collections::BTreeMap, env, error::Error, sync::Arc};

use dataset::{Record, shard};
use engine::{Control, Engine, Evaluation, Limits, NoClock, Settings, score};
use nnue::{Kernel, Net};
use selfplay::mates::Prover;
use xiangqi::{Fen, rules::Game};

/// Nodes of the search that looks for a mate, and of each step of its proof.
const NODES: u64 = 100_000;

/// Searches of a proof.
const SEARCHES: u32 = 1_500;

/// Plies before the first announced mate at which the search looks for it.
const PLIES_BEFORE: [usize; 5] = [8, 6, 4, 2, 0];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [net, count, shards @ ..] = arguments.as_slice() else {
        return Err("usage: collect_mates NET COUNT SHARD…".into());
    };
    let evaluation = Evaluation::Net(Arc::new(Net::from_file(net)?), Kernel::best());
    let settings = Settings { evaluation, ..Settings::DEFAULT };
    let mut collector = Collector {
        engine: Engine::new(&settings),
        prover: Prover::new(&settings, NODES),
        each: count.parse::<u32>()?.div_ceil(11),
        found: (5..=25).step_by(2).map(|plies| (plies, 0)).collect(),
    };
    for path in shards {
        for record in shard::open(path)?.records() {
            collector.look_into(&record?.1);
            if collector.found.values().all(|found| *found >= collector.each) {
                return Ok(());
            }
        }
        eprintln!("{path}: {:?}", collector.found);
    }
    Ok(())
}

struct Collector {
    engine: Engine,
    prover: Prover,
    /// Mates wanted of each length.
    each: u32,
    found: BTreeMap<u32, u32>,
}

impl Collector {
    fn look_into(&mut self, record: &Record) {
        let announced = |index: &usize| record.moves[*index].score.is_some_and(|score| score >= score::MIN_MATE);
        let Some(first) = (0..record.moves.len()).find(announced) else { return };
        for back in PLIES_BEFORE.into_iter().filter(|back| *back <= first) {
            let mut game = record.opening.game();
            for mv in &record.moves[..first - back] {
                game.push_legal(mv.mv);
            }
            let fen = without_history(&game.fen());
            let Some(plies) = self.announced(&fen).filter(|plies| self.is_wanted(*plies)) else { continue };
            let Some(line) = self.prover.prove(&fen, plies, SEARCHES) else { continue };
            let plies = line.len() as u32;
            if self.is_wanted(plies) {
                self.found.entry(plies).and_modify(|found| *found += 1);
                let moves: Vec<_> = line.iter().map(ToString::to_string).collect();
                println!("{fen};{}", moves.join(" "));
                return;
            }
        }
    }

    fn is_wanted(&self, plies: u32) -> bool {
        self.found.get(&plies).is_some_and(|found| *found < self.each)
    }

    /// The plies of the mate that the engine announces.
    fn announced(&mut self, fen: &Fen) -> Option<u32> {
        self.engine.new_game();
        let game = Game::new(fen.clone(), xiangqi::rules::RuleSet::Cxr);
        let control = Control::default();
        let report = self.engine.search_with(&game, &Limits::nodes(NODES), &NoClock, &control, &mut |report| {
            if report.score() >= Some(score::MIN_MATE) {
                control.stop();
            }
        });
        report.score().filter(|score| *score >= score::MIN_MATE).map(|score| (score::MATE - score) as u32)
    }
}

/// The position with its counters at zero: neither the limit nor a repetition ends the mate.
fn without_history(fen: &Fen) -> Fen {
    let text = fen.to_string();
    let mut words = text.split(' ');
    let (board, side) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    format!("{board} {side} - - 0 1").parse().unwrap_or_else(|_| fen.clone())
}
