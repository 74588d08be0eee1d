//! Properties of recipes, and of arbitrary texts.

use proptest::{option, prelude::*};
use protocol::recipe::{
    Activation, Architecture, Average, Data, Filter, Head, Inputs, Loss, Optimizer, OptimizerKind, Quantisation,
    QuantisationMode, Recipe, Schedule, ScheduleKind, Seeds, Share, Source, Stage, Start, Stop,
};

const MINIMAL: &str = "\
name = \"small\"
[[data.sources]]
manifest = \"gen0.json\"
[schedule]
epochs = 40
positions_per_epoch = 1_000_000
";

#[test]
fn missing_keys_have_their_defaults() {
    let expected = Recipe {
        name: "small".to_owned(),
        architecture: Architecture {
            inputs: Inputs::Kings,
            width: 256,
            first: 16,
            second: 32,
            stacks: 8,
            activation: Activation::Pairs,
            factorised: true,
            head: Head::PieceValues,
        },
        data: Data {
            least_positions: 0,
            validation_one_in: 64,
            pool_blocks: 64,
            mirrored: false,
            streamed: false,
            filter: Filter {
                in_check: true,
                captures: true,
                before_ply: 0,
                beyond: None,
                contradicting: None,
                limit_above: None,
                repeated: false,
                duplicates: false,
                verdicts_as_draws: false,
            },
            shares: Vec::new(),
            sources: vec![Source { manifest: "gen0.json".to_owned(), weight: 1, newest_positions: None }],
        },
        loss: Loss { exponent: 2.5, lambda_start: 0.8, lambda_end: 0.8, output_scale: None },
        optimizer: Optimizer {
            kind: OptimizerKind::AdamW,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
        },
        schedule: Schedule {
            batch: 16_384,
            epochs: 40,
            positions_per_epoch: 1_000_000,
            learning_rate: 1e-3,
            kind: ScheduleKind::Cosine { final_learning_rate: 1e-5 },
            warm_up_steps: 0,
        },
        average: None,
        quantisation: Quantisation { mode: QuantisationMode::Fake },
        seeds: Seeds { weights: 1, order: 2 },
        start: None,
        stop: Stop { explosion: 4.0 },
        stages: Vec::new(),
    };
    assert_eq!(Recipe::from_text(MINIMAL), Ok(expected));
}

/// The default of a missing key may depend on a given one.
#[test]
fn some_defaults_depend_on_other_keys() {
    let with = |section: &str| Recipe::from_text(&format!("{MINIMAL}{section}")).unwrap();
    let loss = with("[loss]\nlambda_start = 1").loss;
    assert_eq!((loss.lambda_start, loss.lambda_end), (1.0, 1.0));
    let kind = |key: &str| with(&format!("[optimizer]\nkind = {key}")).optimizer.kind;
    assert_eq!(kind("\"radam\""), OptimizerKind::RAdam);
    assert_eq!(kind("\"ranger\""), OptimizerKind::Ranger { lookahead_steps: 6, lookahead_blend: 0.5 });
    // The schedule's section is the last of the text.
    let kind = |keys: &str| with(keys).schedule.kind;
    assert_eq!(kind("kind = \"constant\""), ScheduleKind::Constant);
    assert_eq!(kind("kind = \"one-cycle\""), ScheduleKind::OneCycle { final_learning_rate: 1e-5 });
    assert_eq!(kind("kind = \"step\"\ndecay_epochs = 7"), ScheduleKind::Step { decay: 0.1, decay_epochs: 7 });
}

#[test]
fn a_text_says_every_value() {
    let text = Recipe::from_text(MINIMAL).unwrap().to_text();
    let expected = "\
name = \"small\"

[architecture]
inputs = \"kings\"
width = 256
first = 16
second = 32
stacks = 8
activation = \"pairs\"
factorised = true
head = \"piece-values\"

[data]
least_positions = 0
validation_one_in = 64
pool_blocks = 64

[data.filter]
in_check = true
captures = true
before_ply = 0
repeated = false
duplicates = false

[[data.sources]]
manifest = \"gen0.json\"
weight = 1

[loss]
exponent = 2.5
lambda_start = 0.8
lambda_end = 0.8

[optimizer]
kind = \"adamw\"
beta1 = 0.9
beta2 = 0.999
epsilon = 0.00000001
weight_decay = 0.01

[schedule]
batch = 16384
epochs = 40
positions_per_epoch = 1000000
learning_rate = 0.001
kind = \"cosine\"
final_learning_rate = 0.00001
warm_up_steps = 0

[quantisation]
mode = \"fake\"

[seeds]
weights = 1
order = 2

[stop]
explosion = 4.0
";
    assert_eq!(text, expected);
}

fn architecture() -> impl Strategy<Value = Architecture> {
    let inputs = prop_oneof![Just(Inputs::Kings), Just(Inputs::KingsAttackers)];
    let head = prop_oneof![Just(Head::PieceValues), Just(Head::Zero)];
    (inputs, 2..=16u32, 1..=4u32, 1..=8u32, 1..=16u32, any::<bool>(), head).prop_map(
        |(inputs, width, first, second, stacks, factorised, head)| Architecture {
            inputs,
            width: 64 * width,
            first: 8 * first,
            second: 8 * second,
            stacks,
            activation: Activation::Pairs,
            factorised,
            head,
        },
    )
}

fn filter() -> impl Strategy<Value = Filter> {
    (any::<[bool; 5]>(), 0..=100_000u32, option::of(1..=32_767i32), option::of(1..=32_767i32), option::of(0..=1_000u32))
        .prop_map(|(flags, before_ply, beyond, contradicting, limit_above)| Filter {
            in_check: flags[0],
            captures: flags[1],
            before_ply,
            beyond,
            contradicting,
            limit_above,
            repeated: flags[2],
            duplicates: flags[3],
            verdicts_as_draws: flags[4],
        })
}

/// Names of files: plausible and arbitrary ones.
fn file() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z/.]{1,20}", any::<String>()].prop_filter("empty", |name| !name.is_empty())
}

fn sources() -> impl Strategy<Value = Vec<Source>> {
    let source = (file(), 0..=1_000_000u32, option::of(1..=1_000_000_000_000u64));
    let source = source.prop_map(|(manifest, weight, newest_positions)| Source { manifest, weight, newest_positions });
    prop::collection::vec(source, 1..5).prop_map(|mut sources| {
        for (number, source) in sources.iter_mut().enumerate() {
            source.manifest.push_str(&number.to_string());
        }
        sources[0].weight = sources[0].weight.max(1);
        sources
    })
}

fn shares() -> impl Strategy<Value = Vec<Share>> {
    let share = (0..=100u8, 0..=32u8, 0..=32u8, any::<[u16; 2]>()).prop_map(|(percent, one, other, plies)| Share {
        percent,
        from_pieces: one.min(other),
        to_pieces: one.max(other),
        from_ply: plies[0].min(plies[1]),
        to_ply: plies[0].max(plies[1]),
    });
    prop::collection::vec(share, 0..3)
}

fn data() -> impl Strategy<Value = Data> {
    let numbers = (0..=1_000_000_000_000u64, 2..=1_000_000u32, 1..=65_536u32);
    (numbers, any::<[bool; 2]>(), filter(), shares(), sources()).prop_map(
        |((least_positions, validation_one_in, pool_blocks), [mirrored, streamed], filter, shares, sources)| Data {
            least_positions,
            validation_one_in,
            pool_blocks,
            mirrored,
            streamed,
            filter: Filter { duplicates: filter.duplicates && !streamed, ..filter },
            shares,
            sources,
        },
    )
}

fn loss() -> impl Strategy<Value = Loss> {
    (1.0..=4.0f64, 0.0..=1.0f64, 0.0..=1.0f64, option::of(1.0..=10_000.0f64)).prop_map(
        |(exponent, lambda_start, lambda_end, output_scale)| Loss { exponent, lambda_start, lambda_end, output_scale },
    )
}

/// Above 0, at most 1, of every magnitude.
fn small() -> impl Strategy<Value = f64> {
    (-30.0..=0.0f64).prop_map(f64::exp)
}

fn optimizer() -> impl Strategy<Value = Optimizer> {
    let kind = prop_oneof![
        Just(OptimizerKind::AdamW),
        Just(OptimizerKind::RAdam),
        (1..=1_000u32, small())
            .prop_map(|(lookahead_steps, lookahead_blend)| OptimizerKind::Ranger { lookahead_steps, lookahead_blend }),
    ];
    let epsilon = (-27.6..=0.0f64).prop_map(f64::exp);
    (kind, 0.0..=0.999_999_9f64, 0.0..=0.999_999_9f64, epsilon, 0.0..=1.0f64)
        .prop_map(|(kind, beta1, beta2, epsilon, weight_decay)| Optimizer { kind, beta1, beta2, epsilon, weight_decay })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let whole = (1..=1_048_576u32, 1..=1_000_000u32, 1..=1_000_000_000_000u64);
    let rest = (0..4usize, small(), 0.0..=1.0f64, 1e-9..0.999f64, 1..=1_000_000u32, 0.0..=1.0f64);
    (whole, rest).prop_map(
        |((batch, epochs, positions_per_epoch), (kind, learning_rate, part, decay, every, warm_up))| {
            let final_learning_rate = learning_rate * part;
            let kinds = [
                ScheduleKind::Constant,
                ScheduleKind::Cosine { final_learning_rate },
                ScheduleKind::Step { decay, decay_epochs: every },
                ScheduleKind::OneCycle { final_learning_rate },
            ];
            let schedule =
                Schedule { batch, epochs, positions_per_epoch, learning_rate, kind: kinds[kind], warm_up_steps: 0 };
            let steps = schedule.steps();
            Schedule { warm_up_steps: ((steps as f64 * warm_up) as u64).min(steps), ..schedule }
        },
    )
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let mode = prop_oneof![Just(QuantisationMode::Clip), Just(QuantisationMode::Fake)];
    let seeds = (0..=i64::MAX as u64, 0..=i64::MAX as u64).prop_map(|(weights, order)| Seeds { weights, order });
    let start = option::of(prop_oneof![file().prop_map(Start::Checkpoint), file().prop_map(Start::Net)]);
    let average = option::of((0.0..=1.0f64, 0.0..1.0f64, 0.0..1.0f64));
    let further = prop::collection::vec(schedule(), 0..3);
    let run = (average, mode, seeds, start, 1.001..=1_000_000.0f64, further);
    ("[A-Za-z0-9][A-Za-z0-9._-]{0,63}", architecture(), data(), loss(), optimizer(), schedule(), run).prop_map(
        |(name, architecture, data, loss, optimizer, schedule, (average, mode, seeds, start, explosion, further))| {
            let last = further.last().unwrap_or(&schedule);
            // At least the last step of the last epoch counts.
            let average = average.map(|(decay, of_steps, of_epochs)| Average {
                decay,
                interval_steps: 1 + (of_steps * last.steps_per_epoch().min(1_000_000) as f64) as u64,
                from_epoch: 1 + (of_epochs * f64::from(last.epochs)) as u32,
            });
            Recipe {
                stages: further.into_iter().map(|schedule| Stage { data: data.clone(), loss, schedule }).collect(),
                name,
                architecture,
                data,
                loss,
                optimizer,
                schedule,
                average,
                quantisation: Quantisation { mode },
                seeds,
                start,
                stop: Stop { explosion },
            }
        },
    )
}

/// A text is parsed or rejected; an error is one line that names a place in the text.
fn read_or_refused(text: &str) {
    if let Err(error) = Recipe::from_text(text) {
        assert!((1..=text.matches('\n').count() + 1).contains(&error.line), "{error}");
        let line = text.split('\n').nth(error.line - 1).expect("a line of the text");
        assert!((1..=line.chars().count() + 1).contains(&error.column), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

proptest! {
    #[test]
    fn a_written_recipe_reads_back_as_itself(recipe in recipe()) {
        prop_assert_eq!(Recipe::from_text(&recipe.to_text()), Ok(recipe));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_or_refused(&text);
    }

    /// A slice of a recipe's text in the place of another.
    #[test]
    fn a_damaged_text_is_read_or_refused(recipe in recipe(), cuts in any::<[prop::sample::Index; 4]>()) {
        let text: Vec<char> = recipe.to_text().chars().collect();
        let [a, b, c, d] = cuts.map(|cut| cut.index(text.len() + 1));
        let damaged = [&text[..a], &text[b.min(c)..b.max(c)], &text[d..]].concat();
        read_or_refused(&damaged.into_iter().collect::<String>());
    }
}
