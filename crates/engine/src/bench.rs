//! The bench: fixed positions searched to a fixed depth. The nodes it takes are the engine's signature.
//!
//! With one thread the count is the same on every machine, in every build and on every instruction set; it changes
//! when search or evaluation change, and then on purpose. Games are made the same by engines with the same signature
//! ("a game is a function"), so that records carry it.

use xiangqi::{
    Fen,
    rules::{Game, RuleSet},
};

use crate::{
    engine::{Engine, Settings},
    evaluation::Evaluation,
    limits::Limits,
};

/// How deep [`signature`] searches.
pub const DEPTH: u32 = 13;

/// The size of the table under which the count is taken.
pub const HASH_MEBIBYTES: usize = 16;

/// The [`signature`] with the plain evaluation, which names this engine in the records of games: with the same search
/// and the same net the same games are played.
pub const SIGNATURE: u64 = 6_523_233;

/// The positions, in their order.
///
/// # Panics
///
/// Never: the list was read in tests.
#[must_use]
pub fn positions() -> impl ExactSizeIterator<Item = Fen> {
    let lines = include_str!("bench/positions.fen").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().expect("a position of the bench")).collect::<Vec<_>>().into_iter()
}

/// Searches each position in a new game to a depth; calls `each` with every position and its nodes. All nodes come
/// back: with one thread always as many.
pub fn run(evaluation: &Evaluation, threads: usize, depth: u32, each: &mut dyn FnMut(&Fen, u64)) -> u64 {
    let settings = Settings { hash_mebibytes: HASH_MEBIBYTES, threads, evaluation: evaluation.clone() };
    let mut engine = Engine::new(&settings);
    let mut sum = 0;
    for fen in positions() {
        engine.new_game();
        let nodes = engine.search(&Game::new(fen.clone(), RuleSet::Cxr), &Limits::depth(depth)).nodes;
        each(&fen, nodes);
        sum += nodes;
    }
    sum
}

/// The signature of the engine with an evaluation.
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
    fn positions_are_sound_different_and_go_on() {
        let texts: BTreeSet<_> = positions().map(|fen| fen.to_string()).collect();
        assert_eq!(texts.len(), positions().len());
        assert!(texts.len() >= 30);
        for fen in positions() {
            assert!(Game::new(fen.clone(), RuleSet::Cxr).status().ending().is_none(), "{fen}");
        }
        assert!(positions().filter(|fen| fen.position.in_check()).count() >= 4);
    }

    /// The same in debug and release, everywhere. A change of search or evaluation changes it on purpose: put the new
    /// count here.
    #[test]
    fn the_small_bench_has_one_count_everywhere() {
        assert_eq!(run(&Evaluation::Plain, 1, 5, &mut |_, _| {}), 65_635);
    }

    /// With a net too, on whatever instruction set the processor has and without one.
    #[test]
    fn the_small_bench_of_a_net_has_one_count_everywhere() {
        let net = Arc::new(Net::from_piece_values(Sizes::new(128, 16, 32, 8).unwrap(), 1));
        for kernel in Kernel::available() {
            let evaluation = Evaluation::Net(Arc::clone(&net), kernel);
            assert_eq!(run(&evaluation, 1, 4, &mut |_, _| {}), 31_404, "{}", kernel.name());
        }
    }

    #[test]
    fn the_signature_is_the_benchs() {
        assert_eq!(signature(&Evaluation::Plain), SIGNATURE);
    }
}
