//! The cost of quantisation in strength: a match at equal nodes between the integer net and its
//! model, evaluated in floating point without any rounding. Figures: docs/TRAINING.md.
//!
//! `cargo run --release -p chuhe-trainer --example float_match -- RECIPE RUN PAIRS NODES [THREADS
//! [SEED]]`, where `RUN` is the folder of a run of the recipe. A is the integer net.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an experiment prints, and panics on failure")]

use std::{collections::BTreeSet, env, fs, ops::ControlFlow, path::Path, sync::Arc, time::Duration};

use engine::{Engine, Evaluation, Experiment, Settings};
use nnue::{
    Kernel, Net,
    architecture::{self, PAIR_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, View},
};
use selfplay::{
    Adjudication, Conditions, EnginePlayer, Entrant, Filter, MatchPlan, NoTimer, OpeningOrder, Openings, Player,
    TimeControl, play_match,
};
use trainer::{
    batch::{Batch, Features},
    checkpoint::Checkpoint,
    data::TrainingData,
    export,
    model::{Array, Arrays, SUM_ONE, Shape, VALUE_ONE},
    run::{self, Folder, Kept, Plan},
};
use xiangqi::{Color, Piece, Position, Square, rules::RuleSet};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |place: usize, default: u64| arguments.get(place).map_or(default, |text| text.parse().unwrap());
    let (path, folder) = (Path::new(&arguments[0]), Folder::new(&arguments[1]));
    let recipe = protocol::recipe::Recipe::from_text(&fs::read_to_string(path).unwrap()).unwrap();
    let data = TrainingData::open(&recipe, path.parent().unwrap(), None, &BTreeSet::new()).unwrap();
    let mut plan = Plan::new(&recipe, &data).unwrap();
    let learned = Checkpoint::read(&folder.checkpoint(Kept::Last), &plan.shape).unwrap().state.values;
    let net = Arc::new(Net::new(&export::quantise(&plan.shape, &learned, "").unwrap()).unwrap());
    // Nothing is rounded here, even if training used fake quantisation.
    plan.shape.fake_quantisation = false;
    let model = Model::new(plan.shape, &learned);
    compare(&plan, &data, &learned, &model, &net);

    let a = Evaluation::Net(net, Kernel::best());
    let b = Evaluation::Experiment(Arc::new(model));
    let openings = Openings {
        rules: RuleSet::default(),
        book: None,
        plies: 6,
        filter: Some(Filter { nodes: 10_000, bound: 150 }),
    };
    let plan = MatchPlan {
        first_pair: 0,
        pairs: number(2, 100),
        threads: number(4, 1) as usize,
        openings: OpeningOrder::new(openings, number(5, 1)),
        conditions: Conditions {
            time_controls: [TimeControl::Nodes(number(3, 2_000)); 2],
            decider: false,
            grace: Duration::ZERO,
            adjudication: Adjudication::default(),
            ply_cap: 400,
        },
        test: None,
        timer: &NoTimer,
        watcher: None,
    };
    let enter = |entrant| -> Result<Box<dyn Player>, String> {
        let evaluation = if entrant == Entrant::A { a.clone() } else { b.clone() };
        let settings = Settings { evaluation, ..Settings::default() };
        Ok(Box::new(EnginePlayer::new(Engine::new(&settings), &NoTimer)))
    };
    play_match(&plan, &enter, |pair, standing| {
        if (pair.number + 1).is_multiple_of(50) || pair.number + 1 == plan.pairs {
            let (pairs, games) = (standing.pairs, standing.games);
            let elo = stats::Counts::from(pairs).logistic_elo();
            println!("{} pairs: {pairs:?} {games:?} Elo {elo}", pair.number + 1);
        }
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
}

/// Checks this evaluator against the trainer's model, and prints the error of quantisation.
fn compare(plan: &Plan, data: &TrainingData, learned: &Arrays, model: &Model, net: &Arc<Net>) {
    let samples = data.quiet_samples(10_000).unwrap();
    let mut batch = Batch::default();
    for sample in &samples {
        batch.push(sample, Features::of(&plan.shape), 1.0);
    }
    let values = run::values_of(plan, learned, &batch, 1).unwrap();
    let mut evaluator = Accumulator::new(Arc::new(model.clone()));
    for (sample, value) in samples.iter().zip(&values) {
        let position = Position::from_fen(&sample.position.to_fen()).unwrap();
        assert!((evaluator.value(&position) - value).abs() < 1e-3, "the same model");
    }
    let difference = export::compare(net, &samples, &values);
    println!("integers against the unrounded model: {difference:?}");
}

/// A model in floating point.
#[derive(Clone)]
struct Model {
    shape: Shape,
    values: Arrays,
    /// The merged rows.
    rows: Vec<f32>,
    /// The first layer's weights of all stacks, transposed: for each input those of all neurons.
    columns: Vec<f32>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a model in floating point")
    }
}

impl Model {
    fn new(shape: Shape, values: &Arrays) -> Self {
        let (width, first) = (shape.sizes.width(), shape.sizes.first());
        let rows = values.merged_transformer(&shape);
        let stacks = values[Array::First].chunks_exact(first * width);
        let columns = stacks
            .flat_map(|rows| (0..width).flat_map(move |input| (0..first).map(move |it| rows[it * width + input])))
            .collect();
        Self { shape, values: values.clone(), rows, columns }
    }
}

impl Experiment for Model {
    fn evaluator(&self) -> Box<dyn FnMut(&Position) -> i32 + Send> {
        let mut line = Accumulator::new(Arc::new(self.clone()));
        Box::new(move |position| (line.value(position) * VALUE_ONE).round() as i32)
    }
}

/// One thread's evaluator, which updates its sums incrementally (an accumulator).
struct Accumulator {
    model: Arc<Model>,
    sides: [Side; 2],
}

/// One side's view of the board, and its sums.
#[derive(Clone)]
struct Side {
    view: Option<View>,
    board: [Option<Piece>; 90],
    sums: Vec<f32>,
    changes: u32,
}

/// Changes after which sums are refreshed, because every change rounds.
const MAX_CHANGES: u32 = 1_000;

impl Accumulator {
    fn new(model: Arc<Model>) -> Self {
        let sums = vec![0.0; model.shape.sizes.width()];
        let side = Side { view: None, board: [None; 90], sums, changes: 0 };
        Self { model, sides: [side.clone(), side] }
    }

    fn value(&mut self, position: &Position) -> f32 {
        let Self { model, sides } = self;
        let values = &model.values;
        let sizes = model.shape.sizes;
        let (width, stacks) = (sizes.width(), sizes.stacks());
        let stack = architecture::stack(position, stacks);
        let board: [Option<Piece>; 90] = std::array::from_fn(|place| {
            position.piece_at(Square::from_index(place).expect("a board has ninety points"))
        });
        let mut head = 0.0;
        for color in Color::ALL {
            let view = sizes.inputs().view(position, color);
            let side = &mut sides[color.index()];
            side.move_to(model, color, view, &board);
            let sign = if color == position.turn() { 0.5 } else { -0.5 };
            for (place, piece) in board.iter().enumerate() {
                let Some(piece) = *piece else { continue };
                let square = Square::from_index(place).expect("a board has ninety points");
                head += sign * values[Array::Head][view.input(color, piece, square) * stacks + stack];
            }
        }
        let (first, second) = (sizes.first(), sizes.second());
        let half = width / 2;
        // An integer activation of 127 corresponds to 1 here: 255 · 255 / 512.
        let one =
            f32::from(TRANSFORMER_ONE).powi(2) / (1_u32 << PAIR_SHIFT) as f32 / architecture::ACTIVATION_ONE as f32;
        assert!((one - 1.0).abs() < 0.01);
        let mut sums = values[Array::FirstBias][stack * first..][..first].to_vec();
        let columns = &model.columns[stack * first * width..][..first * width];
        for (number, color) in [position.turn(), !position.turn()].into_iter().enumerate() {
            let (low, high) = sides[color.index()].sums.split_at(half);
            for (place, (low, high)) in low.iter().zip(high).enumerate() {
                let pair = low.clamp(0.0, 1.0) * high.clamp(0.0, 1.0);
                if pair > 0.0 {
                    let column = &columns[(number * half + place) * first..][..first];
                    for (sum, weight) in sums.iter_mut().zip(column) {
                        *sum += pair * weight;
                    }
                }
            }
        }
        let most = SUM_LIMIT as f32 / SUM_ONE;
        let squares = sums.iter().map(|sum| sum.abs().min(most).powi(2));
        let middle: Vec<f32> = squares.chain(sums.iter().map(|sum| sum.clamp(0.0, most))).collect();
        let mut value = values[Array::OutputBias][stack] + head;
        for neuron in 0..second {
            let row = &values[Array::Second][(stack * second + neuron) * 2 * first..][..2 * first];
            let sum: f32 = row.iter().zip(&middle).map(|(weight, input)| weight * input).sum();
            let sum = sum + values[Array::SecondBias][stack * second + neuron];
            value += sum.clamp(0.0, most) * values[Array::Output][stack * second + neuron];
        }
        value
    }
}

impl Side {
    fn move_to(&mut self, model: &Model, color: Color, view: View, board: &[Option<Piece>; 90]) {
        let width = self.sums.len();
        if self.view != Some(view) || self.changes > MAX_CHANGES {
            self.sums.copy_from_slice(&model.values[Array::TransformerBias]);
            (self.view, self.board, self.changes) = (Some(view), [None; 90], 0);
        }
        for (place, (old, new)) in self.board.iter().zip(board).enumerate().filter(|(_, (old, new))| old != new) {
            let square = Square::from_index(place).unwrap();
            for (piece, sign) in [(old, -1.0), (new, 1.0)] {
                let Some(piece) = *piece else { continue };
                let row = &model.rows[view.input(color, piece, square) * width..][..width];
                for (sum, weight) in self.sums.iter_mut().zip(row) {
                    *sum += sign * weight;
                }
                self.changes += 1;
            }
        }
        self.board = *board;
    }
}
