//! Nets for other engines, from a recipe to a file.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use dataset::{manifest::Manifest, training::Sample};
use games::Folder;
use protocol::{net::NetManifest, recipe::Recipe};
use runs::{done, rejected, run, trainer};
use serde_json::Value;
use trainer::{
    batch::{Batch, Features},
    checkpoint::Checkpoint,
    data::TrainingData,
    foreign::ForeignNet,
    model::Shape,
};
use xiangqi::Color;

const BACKEND: [&str; 2] = ["--backend", "torch"];

const FAIRY_STOCKFISH: &str = "activation = \"clipped\"\nwidth = 512";

const PIKAFISH: &str = "activation = \"pairs-skip\"\ninputs = \"kings-attackers\"\nwidth = 1024\nstacks = 16";

/// A folder whose recipe asks for a net for another engine.
fn folder(name: &str, architecture: &str, schedule: &str) -> Folder {
    let folder = Folder::new(name, schedule, "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let recipe = recipe.replace("width = 128\nfirst = 8\nsecond = 16\nstacks = 2", architecture);
    fs::write(folder.file("recipe.toml"), recipe + "[quantisation]\nmode = \"fake\"\n").unwrap();
    folder
}

fn fairy_folder(name: &str) -> Folder {
    folder(name, FAIRY_STOCKFISH, "batch = 500\nepochs = 3\npositions_per_epoch = 10_000\n")
}

/// Few steps: each changes 24 million weights.
fn pikafish_folder(name: &str) -> Folder {
    folder(name, PIKAFISH, "batch = 500\nepochs = 1\npositions_per_epoch = 8_000\n")
}

/// Trains a net, and checks its figures and papers.
fn learned(folder: &Folder, backend: &[&str], engine: &str, activation: &str, card_row: &str) -> Vec<u8> {
    let trained = run(&mut trainer(folder, "out", &[backend, &["--json"]].concat()));
    let trained: Value = serde_json::from_slice(&trained.stdout).unwrap();
    let difference = &trained["difference"];
    assert!(difference["positions"].as_u64().unwrap() > 1_000, "{difference}");
    assert!(difference["mean"].as_f64().unwrap() < 2.0, "{difference}");
    assert!(trained["validation_loss"].as_f64().unwrap() < 0.05, "{trained}");
    let manifest = fs::read_to_string(folder.file("out").join("net.json")).unwrap();
    let activation = format!("\"activation\": \"{activation}\"");
    assert!(NetManifest::from_text(&manifest).is_ok() && manifest.contains(&activation), "{manifest}");
    let card = fs::read_to_string(folder.file("out").join("net.md")).unwrap();
    assert!(card.contains(card_row), "{card}");
    refuses(folder, &["inspect", "out"], &format!("a net for {engine}; only nets of our engine can be inspected"));
    fs::read(folder.file("out").join("net.nnue")).unwrap()
}

fn refuses(folder: &Folder, arguments: &[&str], sentence: &str) {
    let found = rejected(Command::new(env!("CARGO_BIN_EXE_chuhe-trainer")).args(arguments).current_dir(&folder.0));
    assert!(found.contains(sentence), "{found}");
}

#[test]
fn a_net_for_fairy_stockfish_is_learned_and_written() {
    let row = "| for | Fairy-Stockfish, under a name that begins with `xiangqi` |";
    let bytes = learned(&fairy_folder("fairy"), &[], "Fairy-Stockfish", "clipped", row);
    let words = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap());
    // The hash values of all its nets for all games.
    assert_eq!([words(0), words(4), words(8), words(16)], [0x7af3_2f20, 0x3c10_3e72, 4, 0x5f23_48b8]);
    assert_eq!(&bytes[12..16], b"test");
    let layer = |inputs: usize, outputs: usize| outputs * (4 + inputs.next_multiple_of(32));
    let stack = 4 + layer(1_024, 16) + layer(16, 32) + layer(32, 1);
    assert_eq!(bytes.len(), 20 + 1_024 + 10_530 * (1_024 + 32) + 8 * stack);
}

/// The unit tests of `foreign::pikafish` read a whole file.
#[test]
fn a_net_for_pikafish_is_learned_and_written() {
    let row = "| for | Pikafish, as its release of January 2026 |";
    let folder = pikafish_folder("pikafish");
    let bytes = learned(&folder, &BACKEND, "Pikafish", "pairs-skip", row);
    refuses(&folder, &["train", "recipe.toml", "--out", "cpu"], "a net for Pikafish is learned by libtorch");
    let bytes = zstd::decode_all(&bytes[..]).unwrap();
    let words = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap());
    assert_eq!([words(0), words(4), words(8), words(16)], [0x7af3_2f20, 0x6e24_d34a, 4, 0x0d17_b900]);
    assert_eq!(&bytes[12..16], b"test");
}

/// A net and positions to compare with those of an engine.
struct Subject {
    _folder: Folder,
    shape: Shape,
    net: ForeignNet,
    samples: Vec<Sample>,
}

impl Subject {
    /// Takes the net of the run that a variable names, or trains a small one; writes it to `file`.
    fn new(folder: Folder, variable: &str, file: &str) -> (Self, PathBuf) {
        let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../nets/gen2-256/games/games-seed4007-2000.chuhe");
        fs::copy(games, folder.file("games.chuhe")).unwrap();
        let manifest = Manifest::of_files(&[folder.file("games.chuhe")]).unwrap();
        fs::write(folder.file("set.json"), manifest.to_text()).unwrap();
        let run = env::var(variable).map_or_else(
            |_| {
                done(&mut trainer(&folder, "out", &BACKEND));
                folder.file("out")
            },
            |run| Path::new(&run).to_owned(),
        );
        let recipe = Recipe::from_text(&fs::read_to_string(folder.file("recipe.toml")).unwrap()).unwrap();
        let data = TrainingData::open(&recipe, &folder.0, None, &BTreeSet::new()).unwrap();
        let samples = data.quiet_samples(10_000).unwrap();
        let path = run.join("checkpoint.safetensors");
        let shape = Checkpoint::shape(&path).unwrap();
        let checkpoint = Checkpoint::read(&path, &shape).unwrap();
        let net = ForeignNet::quantise(&shape, checkpoint.state.net()).unwrap();
        let file = folder.file(file);
        fs::write(&file, net.to_bytes("parity")).unwrap();
        (Self { _folder: folder, shape, net, samples }, file)
    }

    fn batch(&self, sample: &Sample) -> Batch {
        let mut batch = Batch::default();
        batch.push(sample, Features::of(&self.shape), 1.0);
        batch
    }
}

/// A running engine.
struct Engine {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Engine {
    fn start(variable: &str, settings: &str) -> Self {
        let program = env::var(variable).unwrap_or_else(|_| panic!("{variable} names the program"));
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        writeln!(input, "uci\n{settings}").unwrap();
        Self { child, input, lines }
    }

    /// The lines of its own evaluation, up to one that begins so; none in check.
    fn evaluation(&mut self, sample: &Sample, end: &str) -> Option<Vec<String>> {
        let fen = sample.position.to_fen();
        let fen = fen.replace('h', "n").replace('H', "N").replace('e', "b").replace('E', "B");
        writeln!(self.input, "position fen {fen} - - 0 1\neval").unwrap();
        let mut lines = Vec::new();
        loop {
            let line = self.lines.next().expect("the engine has ended").unwrap();
            if line.contains("none (in check)") {
                return None;
            }
            let is_last = line.starts_with(end);
            lines.push(line);
            if is_last {
                return Some(lines);
            }
        }
    }

    fn quit(mut self) {
        writeln!(self.input, "quit").unwrap();
        self.child.wait().unwrap();
    }
}

/// Fairy-Stockfish itself gives the scores of our integers. `FAIRY_STOCKFISH` names its program,
/// built with `largeboards=yes`; `FAIRY_RUN` a run to compare instead of a small one.
#[test]
#[ignore = "it needs Fairy-Stockfish: docs/LONG_CHECKS.md"]
fn fairy_stockfish_gives_the_same_scores() {
    let (subject, file) = Subject::new(fairy_folder("fairy-parity"), "FAIRY_RUN", "xiangqi-parity.nnue");
    let settings =
        format!("setoption name UCI_Variant value xiangqi\nsetoption name EvalFile value {}", file.display());
    let mut engine = Engine::start("FAIRY_STOCKFISH", &settings);
    let (mut compared, mut apart) = (0, Vec::new());
    for sample in &subject.samples {
        let Some(lines) = engine.evaluation(sample, "NNUE evaluation") else { continue };
        let theirs: f64 = lines.last().unwrap().split_whitespace().nth(2).unwrap().parse().unwrap();
        let batch = subject.batch(sample);
        // Its unit is a 208th of a pawn, and it prints hundredths.
        let score = subject.net.outputs(&batch, 0, batch.stacks[0].into()).iter().sum::<i32>() / 16;
        let ours = f64::from(if sample.position.turn() == Color::Red { score } else { -score }) / 208.0;
        compared += 1;
        if (theirs - ours).abs() > 0.0051 {
            apart.push((sample.position.to_fen(), ours, theirs));
        }
    }
    engine.quit();
    println!("{compared} positions, {} of them with another score", apart.len());
    assert!(compared > 9_000 && apart.is_empty(), "{:?}", &apart[..apart.len().min(5)]);
}

/// The least and the most that a pawn is worth in Pikafish's unit: not twice as much.
const PAWN_WORTHS: [f64; 2] = [250.0, 450.0];

/// Pikafish itself gives the outputs of our integers, of all stacks. `PIKAFISH` names its program;
/// `PIKAFISH_RUN` a run to compare instead of a small one.
///
/// It prints hundredths of a pawn, whose worth in its unit depends on the pieces alone. So each
/// number allows a range of worths, and positions with the same pieces must have one in common.
#[test]
#[ignore = "it needs Pikafish: docs/LONG_CHECKS.md"]
fn pikafish_gives_the_same_scores() {
    let (subject, file) = Subject::new(pikafish_folder("pikafish-parity"), "PIKAFISH_RUN", "parity.nnue");
    let mut engine = Engine::start("PIKAFISH", &format!("setoption name EvalFile value {}", file.display()));
    let mut worths: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    let (mut compared, mut numbers, mut apart) = (0, 0, Vec::new());
    for sample in &subject.samples {
        let Some(lines) = engine.evaluation(sample, "NNUE evaluation") else { continue };
        let fen = sample.position.to_fen();
        let batch = subject.batch(sample);
        let mut pieces: Vec<_> = fen.split(' ').next().unwrap().chars().filter(char::is_ascii_alphabetic).collect();
        pieces.sort_unstable();
        let worth = worths.entry(pieces.into_iter().collect()).or_insert(PAWN_WORTHS);
        let rows = lines.iter().filter_map(|line| {
            let cells: Vec<_> = line.split('|').map(|cell| cell.replace(' ', "")).collect();
            (cells.len() == 6).then(|| cells[1].parse::<usize>().ok().map(|stack| (stack, cells)))?
        });
        let mut stacks = 0;
        let mut is_apart = false;
        for (stack, cells) in rows {
            stacks += 1;
            let is_used = cells[5].contains("thisbucketisused");
            is_apart |= is_used != (stack == usize::from(batch.stacks[0]));
            let [head, layers] = subject.net.outputs(&batch, 0, stack).map(|output| f64::from(output / 16));
            for (ours, theirs) in [head, layers, head + layers].into_iter().zip(&cells[2..5]) {
                let theirs = 100.0 * theirs.parse::<f64>().unwrap();
                let (ours, theirs) = (if theirs < 0.0 { -ours } else { ours }, theirs.abs().round());
                // It rounds to `theirs`: |100 ours / worth - theirs| is at most a half.
                worth[0] = worth[0].max(100.0 * ours / (theirs + 0.5));
                if theirs > 0.0 {
                    worth[1] = worth[1].min(100.0 * ours / (theirs - 0.5));
                } else {
                    worth[0] = worth[0].max(-100.0 * ours / 0.5);
                }
                numbers += 1;
            }
        }
        assert_eq!(stacks, 16, "{lines:?}");
        compared += 1;
        if is_apart || worth[0] > worth[1] + 1e-6 {
            apart.push((fen, *worth));
            *worth = PAWN_WORTHS;
        }
    }
    engine.quit();
    println!("{compared} positions of {} materials, {numbers} numbers; {} positions apart", worths.len(), apart.len());
    assert!(compared > 9_000 && apart.is_empty(), "{:?}", &apart[..apart.len().min(5)]);
}
