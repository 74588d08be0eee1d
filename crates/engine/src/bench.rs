//! The bench: fixed positions searched to a fixed depth. The node count is the engine's signature.
//!
//! With one thread the count is equal on every machine, build and instruction set. It changes only
//! when search or evaluation change. Engines with equal signatures play equal games, so game
//! records carry it.

use xiangqi::{
    Fen,
    rules::{Game, RuleSet},
};

use crate::{
    engine::{Engine, Settings},
    evaluation::Evaluation,
    limits::Limits,
};

/// The depth of [`signature`].
pub const DEPTH: u32 = 13;

/// The table size of [`signature`].
pub const HASH_MEBIBYTES: usize = 16;

/// The [`signature`] with the plain evaluation, which identifies this search in game records.
pub const SIGNATURE: u64 = 6_583_914;

/// Returns the positions in order.
///
/// # Panics
///
/// Never: tests parse the list.
#[must_use]
pub fn positions() -> impl ExactSizeIterator<Item = Fen> {
    let lines = include_str!("bench/positions.fen").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().expect("tests parse the bench positions")).collect::<Vec<_>>().into_iter()
}

/// Searches each position in a new game to `depth`; calls `each` with its nodes. Returns the sum,
/// which is deterministic with one thread.
pub fn run(evaluation: &Evaluation, threads: usize, depth: u32, each: &mut dyn FnMut(&Fen, u64)) -> u64 {
    let evaluation = evaluation.clone();
    let settings = Settings { hash_mebibytes: HASH_MEBIBYTES, threads, evaluation, ..Settings::default() };
    run_with(&settings, depth, each)
}

/// [`run`] with these settings.
pub fn run_with(settings: &Settings, depth: u32, each: &mut dyn FnMut(&Fen, u64)) -> u64 {
    let mut engine = Engine::new(settings);
    let mut sum = 0;
    for fen in positions() {
        engine.new_game();
        let nodes = engine.search(&Game::new(fen.clone(), RuleSet::Cxr), &Limits::depth(depth)).nodes;
        each(&fen, nodes);
        sum += nodes;
    }
    sum
}

/// Returns the signature of the engine with an evaluation.
#[must_use]
pub fn signature(evaluation: &Evaluation) -> u64 {
    run(evaluation, 1, DEPTH, &mut |_, _| {})
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use nnue::{Kernel, Net, architecture::Sizes};

    use super::*;

    #[test]
    fn positions_are_valid_distinct_and_ongoing() {
        let texts: BTreeSet<_> = positions().map(|fen| fen.to_string()).collect();
        assert_eq!(texts.len(), positions().len());
        assert!(texts.len() >= 30);
        for fen in positions() {
            assert!(Game::new(fen.clone(), RuleSet::Cxr).status().ending().is_none(), "{fen}");
        }
        assert!(positions().filter(|fen| fen.position.in_check()).count() >= 4);
    }

    /// Equal in debug and release builds. After a deliberate change of search or evaluation, put
    /// the new count here.
    #[test]
    fn the_small_bench_has_one_count_everywhere() {
        assert_eq!(run(&Evaluation::Plain, 1, 5, &mut |_, _| {}), 51_123);
    }

    /// Equal for a net, on every kernel of this processor.
    #[test]
    fn the_small_bench_of_a_net_has_one_count_everywhere() {
        let net = Arc::new(Net::from_piece_values(Sizes::new(128, 16, 32, 8).unwrap(), 1));
        for kernel in Kernel::available() {
            let evaluation = Evaluation::Net(Arc::clone(&net), kernel);
            assert_eq!(run(&evaluation, 1, 4, &mut |_, _| {}), 29_215, "{}", kernel.name());
        }
    }

    #[test]
    fn the_signature_is_the_bench_count() {
        assert_eq!(signature(&Evaluation::Plain), SIGNATURE);
    }
}
