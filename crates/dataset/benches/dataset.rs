//! `cargo bench -p chuhe-dataset`: the cost of reading and writing, per position. Figures:
//! docs/BENCHMARKS.md.
//!
//! The data are 64 games of self-play at 2,000 nodes (`tests/data/selfplay-64.chuhe`).

use std::num::NonZeroUsize;

use dataset::{
    Record,
    shard::{Shard, ShardWriter},
    training::{Filter, Games, Plan, Reader, ReaderPosition, WeightedSet},
    verify::verify_shard,
};
use divan::{Bencher, black_box, counter::ItemsCount};

const GAMES: &[u8] = include_bytes!("../tests/data/selfplay-64.chuhe");

fn main() {
    divan::main();
}

fn shard() -> Shard<&'static [u8]> {
    Shard::new(GAMES).expect("the file of the tests")
}

fn records() -> Vec<Record> {
    shard().records().map(|game| game.expect("the file of the tests").1).collect()
}

#[divan::bench]
fn decode(bencher: Bencher<'_, '_>) {
    let shard = shard();
    bencher.counter(ItemsCount::new(shard.positions())).bench_local(|| {
        for block in 0..shard.index().len() {
            let read = shard.block(block).and_then(|block| block.read(|_, record| drop(black_box(record))));
            read.expect("the file of the tests");
        }
    });
}

#[divan::bench]
fn verify(bencher: Bencher<'_, '_>) {
    let shard = shard();
    bencher.counter(ItemsCount::new(shard.positions())).bench_local(|| {
        assert!(verify_shard(&shard, None, NonZeroUsize::MIN).expect("the file of the tests").faults.is_empty());
    });
}

#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let (shard, records) = (shard(), records());
    bencher.counter(ItemsCount::new(shard.positions())).bench_local(|| {
        let mut writer = ShardWriter::new(Vec::new(), shard.header().clone()).expect("memory");
        for record in &records {
            writer.add(record).expect("a game of the file");
        }
        writer.finish().expect("memory").0
    });
}

/// Many shards, mixed: some pools are handed out while the threads read ahead.
#[divan::bench(args = [1, 2], sample_count = 10, sample_size = 1)]
fn training_reader(bencher: Bencher<'_, '_>, threads: usize) {
    const SAMPLES: usize = 4 * 32 * 9_836;
    let shards = (0..256).map(|_| shard()).collect();
    let plan = Plan {
        seed: 1,
        blocks_in_pool: 32,
        games: Games::All,
        filter: Filter::default(),
        shares: Vec::new(),
        cache_bytes: 0,
        threads,
    };
    let sets = vec![WeightedSet { shards, weight: 1 }];
    let mut reader = Reader::new(sets, &plan, ReaderPosition::default()).expect("there are games");
    let mut samples = Vec::new();
    bencher.counter(ItemsCount::new(SAMPLES)).bench_local(|| {
        reader.read(&mut samples, SAMPLES).expect("the file of the tests");
        black_box(&samples);
    });
}
