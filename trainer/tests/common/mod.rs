//! Nets and batches of the tests.

use dataset::random::{Stream, Use};
use nnue::architecture::{Inputs, Sizes};
use protocol::recipe::Activation;
use trainer::{
    batch::{Batch, MAX_ACTIVE},
    model::Shape,
};

/// A small net.
pub(crate) fn small() -> Shape {
    Shape { factorised: true, ..Shape::new(Sizes::new(128, 8, 16, 3).unwrap()) }
}

/// The small net with attackers among its inputs.
#[allow(dead_code, reason = "not every test uses it")]
pub(crate) fn with_attackers() -> Shape {
    let sizes = small().sizes.with_inputs(Inputs::KingsAttackers);
    Shape { sizes, ..small() }
}

/// The small net with the activation of Fairy-Stockfish.
#[allow(dead_code, reason = "not every test uses it")]
pub(crate) fn clipped() -> Shape {
    Shape { activation: Activation::Clipped, ..small() }
}

/// A batch of random inputs.
pub(crate) fn batch(shape: &Shape, seed: u64, length: usize) -> Batch {
    let inputs = shape.sizes.inputs().count() as u64;
    let mut stream = Stream::new(Use::BookOrder, seed, 0);
    let mut batch = Batch::default();
    for _ in 0..length {
        let count = 3 + stream.below(30) as u8;
        // A piece stands on a point once.
        let mut side = || {
            let mut active = [u16::MAX; MAX_ACTIVE];
            for place in 0..active.len() {
                while active[..=place].iter().filter(|input| **input == active[place]).count() != 1
                    || active[place] == u16::MAX
                {
                    active[place] = stream.below(inputs) as u16;
                }
            }
            active
        };
        let active = [side(), side()];
        batch.active.push(active);
        batch.counts.push(count);
        batch.stacks.push(stream.below(shape.sizes.stacks() as u64) as u8);
        batch.score_targets.push(stream.below(1000) as f32 / 1000.0);
        batch.results.push(stream.below(3) as f32 / 2.0);
    }
    batch
}
