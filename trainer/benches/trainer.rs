//! `scripts/bench-trainer`: positions per second, ours beside libtorch's in the same run. Figures:
//! docs/BENCHMARKS.md.
//!
//! * *The shape*: 512 per side from 32 active of 20,000 inputs, joined 1,024, then 32, then 1,
//!   clipped, `AdamW`, batch 16,384. Once in plain tch (`embedding_bag`, autograd, its own
//!   optimiser), once with our input layer under tch's dense layers. Inputs are drawn uniformly,
//!   unlike those of real positions.
//! * *Our net* on the games of the recipe in `CHUHE_RECIPE`, with the reader and without. The
//!   shards lie beside their manifests, or in the folder `CHUHE_SHARDS`.
//!
//! Rounds alternate, so that other load of the machine affects both.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and panics on failure")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    time::Instant,
};

use dataset::training::ReaderPosition;
use trainer::{
    backend::{Backend, State},
    cpu::Cpu,
    data::TrainingData,
    loss::Loss,
    model::{Arrays, Head},
    run::Plan,
};

fn main() {
    let number = |name: &str, default: usize| env::var(name).map_or(default, |text| text.parse().unwrap());
    let (threads, rounds, steps) = (number("THREADS", 2), number("ROUNDS", 3), number("STEPS", 8));
    println!("{threads} threads, {rounds} rounds of {steps} steps");
    #[cfg(feature = "torch")]
    shape::compare(threads, rounds, steps);
    #[cfg(not(feature = "torch"))]
    println!("the shape beside libtorch: skipped, it needs the feature `torch`");
    match env::var("CHUHE_RECIPE") {
        Ok(recipe) => own_net(Path::new(&recipe), threads, rounds, 8 * steps),
        Err(_) => println!("our net on real games: skipped, CHUHE_RECIPE names no recipe"),
    }
}

fn report(what: &str, rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    println!("{what}: median {median:.0} positions/s, from {:.0} to {:.0}", rates[0], rates[rates.len() - 1]);
    median
}

fn timed(positions: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    positions as f64 / start.elapsed().as_secs_f64()
}

fn own_net(path: &Path, threads: usize, rounds: usize, steps: usize) {
    let recipe = protocol::recipe::Recipe::from_text(&std::fs::read_to_string(path).unwrap()).unwrap();
    let shards = env::var_os("CHUHE_SHARDS").map(PathBuf::from);
    let data = TrainingData::open(&recipe, path.parent().unwrap(), shards.as_deref(), &BTreeSet::new()).unwrap();
    let plan = Plan::new(&recipe, &data).unwrap();
    let batch = recipe.schedule.batch as usize;
    let state = State::new(&plan.shape, Arrays::initial(&plan.shape, Head::PieceValues, 1), &plan.optimizer);
    let mut cpu = Cpu::new(plan.shape, plan.optimizer, &state, threads).unwrap();
    let loss = Loss { exponent: 2.5, lambda: 0.8, scale: 0.75 };
    let mut loader = data.load(batch, ReaderPosition::default(), 1, 4 << 30).unwrap();
    let held: Vec<_> = (0..16).map(|_| loader.next().unwrap().drawn).collect();
    // One pass over all games fills the cache, as in all epochs but the first.
    let positions: u64 = data.summary().iter().map(|source| source.positions).sum();
    for _ in 0..positions / batch as u64 {
        let used = loader.next().unwrap().drawn;
        loader.recycle(used);
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.push(timed(steps * batch, || {
            for step in 0..steps {
                cpu.step(held[step % held.len()].batch().unwrap(), loss, 1e-3);
            }
        }));
        with.push(timed(steps * batch, || {
            for _ in 0..steps {
                let ready = loader.next().unwrap();
                cpu.step(ready.drawn.batch().unwrap(), loss, 1e-3);
                loader.recycle(ready.drawn);
            }
        }));
    }
    let sizes = plan.shape.sizes;
    let without = report(&format!("our net, {sizes}, batches in memory"), &mut without);
    let with = report("the same, read from shards", &mut with);
    println!("with the reader {:.1} % of without", 100.0 * with / without);
}

#[cfg(feature = "torch")]
mod shape {
    //! The shape by which trainers are compared.

    use dataset::random::{Stream, Use};
    use rayon::prelude::*;
    use tch::{
        Device, Kind, Reduction, Tensor,
        nn::{self, OptimizerConfig as _},
    };
    use trainer::{
        batch::Active,
        cpu::{Gradients, LANES, Limits, Sums, Table, Transformer},
        optimizer::Optimizer,
        sharing::Sharing,
    };

    use super::{report, timed};

    const ROWS: usize = 20_000;
    const WIDTH: usize = 512;
    const ACTIVE: usize = 32;
    const BATCH: usize = 16_384;
    const HIDDEN: i64 = 32;
    const RATE: f64 = 1e-3;
    const BIAS: f64 = 0.3;
    /// Number of batches that are drawn beforehand and reused in turn.
    const BATCHES: usize = 4;

    pub(super) fn compare(threads: usize, rounds: usize, steps: usize) {
        tch::set_num_threads(threads as i32);
        let mut ours = Ours::new(threads);
        let mut plain = Plain::like(&ours);
        // Both train equally: the losses of three steps on one batch agree.
        for _ in 0..3 {
            let (one, other) = (ours.step(0), plain.step(0));
            assert!(
                (one - other).abs() < 1e-5 * other,
                "the losses are {one} and {other}: one of the two trains differently"
            );
        }
        let (mut plain_rates, mut our_rates) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            plain_rates.push(timed(steps * BATCH, || (0..steps).for_each(|step| _ = plain.step(step))));
            our_rates.push(timed(steps * BATCH, || (0..steps).for_each(|step| _ = ours.step(step))));
        }
        let plain = report("plain tch, embedding_bag", &mut plain_rates);
        let ours = report("our input layer under tch", &mut our_rates);
        println!("ours {:.2} times plain", ours / plain);
    }

    /// The dense layers above the joined sides.
    struct Dense {
        hidden: nn::Linear,
        output: nn::Linear,
    }

    impl Dense {
        fn new(path: &nn::Path<'_>) -> Self {
            Self {
                hidden: nn::linear(path / "hidden", 2 * WIDTH as i64, HIDDEN, nn::LinearConfig::default()),
                output: nn::linear(path / "output", HIDDEN, 1, nn::LinearConfig::default()),
            }
        }

        fn loss(&self, hidden: &Tensor, targets: &Tensor) -> Tensor {
            let value = hidden.clamp(0.0, 1.0).apply(&self.output);
            value.sigmoid().mse_loss(targets, Reduction::Mean)
        }

        /// The same hidden layer for inputs laid out block by block.
        fn hidden(&self, blocks: &[Tensor]) -> Tensor {
            let (lanes, blocks_there) = (LANES as i64, blocks.len() as i64);
            let weights = self.hidden.ws.view([HIDDEN, 2, blocks_there, lanes]).permute([2, 1, 3, 0]);
            let weights = weights.reshape([blocks_there, 2 * lanes, HIDDEN]).unbind(0);
            let bias = self.hidden.bs.as_ref().unwrap().expand([BATCH as i64, HIDDEN], false);
            blocks.iter().zip(&weights).fold(bias, |sum, (block, weights)| sum.addmm(block, weights))
        }
    }

    fn targets() -> Tensor {
        Tensor::rand([BATCH as i64, 1], (Kind::Float, Device::Cpu))
    }

    struct Plain {
        table: Tensor,
        bias: Tensor,
        dense: Dense,
        optimizer: nn::Optimizer,
        offsets: Tensor,
        batches: Vec<([Tensor; 2], Tensor)>,
        _store: nn::VarStore,
    }

    impl Plain {
        /// The same net and batches, before the first step.
        fn like(ours: &Ours) -> Self {
            let store = nn::VarStore::new(Device::Cpu);
            let root = store.root();
            let rows = Tensor::from_slice(&ours.begun).view([ROWS as i64, WIDTH as i64]);
            let table = root.var_copy("table", &rows);
            let bias = root.var("bias", &[WIDTH as i64], nn::Init::Const(BIAS));
            let mut dense = Dense::new(&root);
            tch::no_grad(|| {
                for (copy, of) in [(&mut dense.hidden, &ours.dense.hidden), (&mut dense.output, &ours.dense.output)] {
                    copy.ws.copy_(&of.ws);
                    copy.bs.as_mut().unwrap().copy_(of.bs.as_ref().unwrap());
                }
            });
            let optimizer = nn::AdamW::default().build(&store, RATE).unwrap();
            let side = |active: &[Active], side: usize| {
                let inputs: Vec<i64> = active.iter().flat_map(|sides| sides[side].map(i64::from)).collect();
                Tensor::from_slice(&inputs)
            };
            let batches = ours
                .batches
                .iter()
                .map(|(active, targets)| ([side(active, 0), side(active, 1)], targets.shallow_clone()));
            let batches = batches.collect();
            let offsets = Tensor::arange(BATCH as i64, (Kind::Int64, Device::Cpu)) * ACTIVE as i64;
            Self { table, bias, dense, optimizer, offsets, batches, _store: store }
        }

        fn step(&mut self, step: usize) -> f64 {
            let (sides, targets) = &self.batches[step % BATCHES];
            let sums = sides.each_ref().map(|side| {
                // Mode 0 sums the rows of a bag.
                let bags =
                    Tensor::embedding_bag(&self.table, side, &self.offsets, false, 0, false, None::<Tensor>, false);
                bags.0 + &self.bias
            });
            let joined = Tensor::cat(&sums, 1).clamp(0.0, 1.0);
            let loss = self.dense.loss(&joined.apply(&self.dense.hidden), targets);
            self.optimizer.backward_step(&loss);
            loss.double_value(&[])
        }
    }

    struct Ours {
        threads: rayon::ThreadPool,
        /// The rows before the first step.
        begun: Vec<f32>,
        transformer: Transformer,
        rule: Optimizer,
        steps: u64,
        dense: Dense,
        optimizer: nn::Optimizer,
        batches: Vec<(Vec<Active>, Tensor)>,
        counts: Vec<u8>,
        sums: Vec<Sums>,
        _store: nn::VarStore,
    }

    /// Numbers per task.
    const PART: usize = 1 << 14;
    const BLOCKS: usize = WIDTH / LANES;

    impl Ours {
        fn new(threads: usize) -> Self {
            let store = nn::VarStore::new(Device::Cpu);
            let dense = Dense::new(&store.root());
            let optimizer = nn::AdamW::default().build(&store, RATE).unwrap();
            let rule = Optimizer::default();
            let mut stream = Stream::new(Use::BookOrder, 1, 1);
            let rows: Vec<f32> = (0..ROWS * WIDTH).map(|_| stream.below(1 << 16) as f32 / 655_360.0 - 0.05).collect();
            let table = Table { rows: &rows, shared: &[], bias: &[BIAS as f32; WIDTH] };
            let limits = Limits { rows: 4.0, bias: 4.0 };
            let mut side = || std::array::from_fn(|_| stream.below(ROWS as u64) as u16);
            let batches = (0..BATCHES).map(|_| ((0..BATCH).map(|_| [side(), side()]).collect(), targets()));
            Self {
                threads: rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap(),
                transformer: Transformer::new(&table, Sharing::default(), &rule, limits, None),
                begun: rows.clone(),
                rule,
                steps: 0,
                dense,
                optimizer,
                batches: batches.collect(),
                counts: vec![ACTIVE as u8; BATCH],
                sums: vec![[[0.0; LANES]; 2]; BATCH * BLOCKS],
                _store: store,
            }
        }

        #[allow(unsafe_code, reason = "libtorch reads and writes memory that is ours")]
        fn step(&mut self, step: usize) -> f64 {
            let (active, targets) = &self.batches[step % BATCHES];
            let Self { threads, transformer, counts, sums, .. } = self;
            let forward = &*transformer;
            threads.scope(|scope| forward.forward(scope, active, counts, sums));
            threads.install(|| {
                let sums = sums.as_flattened_mut().as_flattened_mut();
                sums.par_chunks_mut(PART).for_each(|sums| sums.iter_mut().for_each(|sum| *sum = sum.clamp(0.0, 1.0)));
            });
            let size = [BATCH as i64, 2 * LANES as i64];
            let leaves: Vec<_> = sums
                .chunks_exact(BATCH)
                .map(|sums| {
                    // SAFETY: the buffer holds `size` floats row by row and is not written while
                    // the leaf and its graph live. It outlives them: they end with this function.
                    let leaf = unsafe {
                        Tensor::from_blob(sums.as_ptr().cast(), &size, &[size[1], 1], Kind::Float, Device::Cpu)
                    };
                    leaf.set_requires_grad(true)
                })
                .collect();
            let loss = self.dense.loss(&self.dense.hidden(&leaves), targets);
            self.optimizer.backward_step(&loss);
            let gradients: Vec<_> = leaves.iter().map(Tensor::grad).collect();
            drop(leaves);
            let slopes: Vec<&[f32]> = gradients
                .iter()
                .map(|gradient| {
                    assert!(gradient.is_contiguous() && gradient.kind() == Kind::Float && gradient.size() == size);
                    // SAFETY: contiguous floats of `size`, as asserted, which live as long as
                    // `gradients`.
                    unsafe {
                        std::slice::from_raw_parts(gradient.data_ptr().cast::<f32>().cast_const(), BATCH * 2 * LANES)
                    }
                })
                .collect();
            threads.install(|| {
                sums.par_chunks_mut(BATCH).zip(&slopes).for_each(|(sums, slopes)| {
                    for (sum, slope) in sums.as_flattened_mut().as_flattened_mut().iter_mut().zip(*slopes) {
                        *sum = if *sum > 0.0 && *sum < 1.0 { *slope } else { 0.0 };
                    }
                });
            });
            self.steps += 1;
            let rule = self.rule.step(self.steps, RATE);
            threads.scope(|scope| transformer.backward(scope, Gradients { active, counts, gradients: sums }));
            threads.scope(|scope| transformer.update(scope, &rule));
            loss.double_value(&[])
        }
    }
}
