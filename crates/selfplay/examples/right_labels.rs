//! Labels the games of a shard again, as the Chinese rules judge them (`docs/TRAINING.md`, "Games
//! that were played blind"):
//!
//! ```text
//! cargo run --release -p chuhe-selfplay --example right_labels -- NET SHARD OUT [SOFT HARD]
//! ```
//!
//! The moves stay. Each gets the score of NET's search under `cxr`, with the shard's node limits or
//! with these. A game ends where `cxr` ends it, and keeps its recorded outcome if that does not
//! happen.

#![allow(clippy::print_stdout, reason = "a program for one's own terminal")]

use std::{env, error::Error, fs::File, io::BufWriter, sync::Arc, thread};

use dataset::{
    Header, Reason, Record, ScoredMove,
    shard::{self, ShardWriter},
};
use engine::{Engine, Evaluation, Limits, Settings, bench, score::MATE};
use nnue::{Kernel, Net};
use xiangqi::rules::RuleSet;

const USAGE: &str = "usage: right_labels NET SHARD OUT [SOFT HARD]";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [net, shard, out, nodes @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let evaluation = Evaluation::Net(Arc::new(Net::from_file(net)?), Kernel::best());
    let shard = shard::open(shard)?;
    let mut records: Vec<_> = shard.records().map(|record| Ok(record?.1)).collect::<Result<_, Box<dyn Error>>>()?;
    let mut header = Header { bench_signature: bench::SIGNATURE, rules: RuleSet::Cxr, ..shard.header().clone() };
    match nodes {
        [] => {}
        [soft, hard] => {
            (header.settings.soft_nodes, header.settings.hard_nodes) = (Some(soft.parse()?), hard.parse()?);
        }
        _ => return Err(USAGE.into()),
    }
    let before: Vec<_> = records.iter().map(|record| (record.outcome, record.reason, record.moves.len())).collect();
    let part = records.len().div_ceil(thread::available_parallelism()?.get()).max(1);
    thread::scope(|scope| {
        for records in records.chunks_mut(part) {
            let mut engine = Engine::new(&Settings {
                evaluation: evaluation.clone(),
                hash_mebibytes: header.settings.hash_mebibytes,
                ..Settings::DEFAULT
            });
            let limits = Limits {
                soft_nodes: header.settings.soft_nodes,
                hard_nodes: Some(header.settings.hard_nodes),
                ..Limits::default()
            };
            scope.spawn(move || records.iter_mut().for_each(|record| label(&mut engine, &limits, record)));
        }
    });
    let mut writer = ShardWriter::new(BufWriter::new(File::create_new(out)?), header)?;
    for record in &records {
        writer.add(record)?;
    }
    let (_, totals) = writer.finish()?;
    let pairs = || records.iter().zip(&before);
    let shorter = pairs().filter(|(record, before)| record.moves.len() < before.2).count();
    let other = pairs().filter(|(record, before)| record.outcome != before.0).count();
    println!("{totals:?}; {shorter} games end earlier, {other} with another outcome");
    Ok(())
}

/// Searches all positions of a game again, and ends it where the rules do.
fn label(engine: &mut Engine, limits: &Limits, record: &mut Record) {
    engine.new_game();
    record.opening.rules = RuleSet::Cxr;
    let mut game = record.opening.game();
    for (index, ScoredMove { mv, score }) in record.moves.iter_mut().enumerate() {
        *score = engine.search(&game, limits).score().filter(|score| score.abs() <= MATE);
        if let Some(ending) = game.push_legal(*mv).ending() {
            (record.outcome, record.reason) = (ending.outcome, Reason::Rules(ending.reason));
            record.moves.truncate(index + 1);
            return;
        }
    }
}
