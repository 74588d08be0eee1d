//! Nets for Fairy-Stockfish, from a recipe to a file.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{
    collections::BTreeSet,
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use dataset::manifest::Manifest;
use games::Folder;
use protocol::{net::NetManifest, recipe::Recipe};
use runs::{done, rejected, run, trainer};
use serde_json::Value;
use trainer::{
    batch::{Batch, Features},
    checkpoint::Checkpoint,
    data::TrainingData,
    fairy::FairyNet,
};
use xiangqi::Color;

const BACKEND: [&str; 2] = ["--backend", "torch"];

/// A folder whose recipe asks for a net for Fairy-Stockfish.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name, "batch = 500\nepochs = 3\npositions_per_epoch = 10_000\n", "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let recipe =
        recipe.replace("width = 128\nfirst = 8\nsecond = 16\nstacks = 2", "activation = \"clipped\"\nwidth = 512");
    fs::write(folder.file("recipe.toml"), recipe + "[quantisation]\nmode = \"fake\"\n").unwrap();
    folder
}

#[test]
fn a_net_for_fairy_stockfish_is_learned_and_written() {
    let folder = folder("fairy");
    let trained = run(&mut trainer(&folder, "out", &[&BACKEND[..], &["--json"]].concat()));
    let trained: Value = serde_json::from_slice(&trained.stdout).unwrap();
    let difference = &trained["difference"];
    assert!(difference["positions"].as_u64().unwrap() > 1_000, "{difference}");
    assert!(difference["mean"].as_f64().unwrap() < 2.0, "{difference}");
    assert!(trained["validation_loss"].as_f64().unwrap() < 0.05, "{trained}");

    let bytes = fs::read(folder.file("out").join("net.nnue")).unwrap();
    let words = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap());
    // The hash values of all its nets for all games.
    assert_eq!([words(0), words(4), words(8), words(16)], [0x7af3_2f20, 0x3c10_3e72, 4, 0x5f23_48b8]);
    assert_eq!(&bytes[12..16], b"test");
    let layer = |inputs: usize, outputs: usize| outputs * (4 + inputs.next_multiple_of(32));
    let stack = 4 + layer(1_024, 16) + layer(16, 32) + layer(32, 1);
    assert_eq!(bytes.len(), 20 + 1_024 + 10_530 * (1_024 + 32) + 8 * stack);

    let manifest = fs::read_to_string(folder.file("out").join("net.json")).unwrap();
    assert!(
        NetManifest::from_text(&manifest).is_ok() && manifest.contains("\"activation\": \"clipped\""),
        "{manifest}"
    );
    let card = fs::read_to_string(folder.file("out").join("net.md")).unwrap();
    assert!(card.contains("| for | Fairy-Stockfish, under a name that begins with `xiangqi` |"), "{card}");
    for (arguments, sentence) in [
        (&["inspect", "out"][..], "a net for Fairy-Stockfish; only nets of the engine can be inspected"),
        (&["train", "recipe.toml", "--out", "cpu"], "a net for Fairy-Stockfish is learned by libtorch"),
    ] {
        let found = rejected(Command::new(env!("CARGO_BIN_EXE_chuhe-trainer")).args(arguments).current_dir(&folder.0));
        assert!(found.contains(sentence), "{found}");
    }
}

/// Fairy-Stockfish itself gives the scores of our integers. `FAIRY_STOCKFISH` names its program,
/// built with `largeboards=yes`; `FAIRY_RUN` a run to compare instead of a small one.
#[test]
#[ignore = "it needs Fairy-Stockfish: docs/LONG_CHECKS.md"]
fn fairy_stockfish_gives_the_same_scores() {
    let folder = folder("fairy-parity");
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../nets/gen2-256/games/games-seed4007-2000.chuhe");
    fs::copy(games, folder.file("games.chuhe")).unwrap();
    fs::write(folder.file("set.json"), Manifest::of_files(&[folder.file("games.chuhe")]).unwrap().to_text()).unwrap();
    let run = env::var("FAIRY_RUN").map_or_else(
        |_| {
            done(&mut trainer(&folder, "out", &BACKEND));
            folder.file("out")
        },
        |run| Path::new(&run).to_owned(),
    );
    let recipe = Recipe::from_text(&fs::read_to_string(folder.file("recipe.toml")).unwrap()).unwrap();
    let data = TrainingData::open(&recipe, &folder.0, None, &BTreeSet::new()).unwrap();
    let path = run.join("checkpoint.safetensors");
    let shape = Checkpoint::shape(&path).unwrap();
    let checkpoint = Checkpoint::read(&path, &shape).unwrap();
    let net = FairyNet::quantise(&shape, checkpoint.state.net()).unwrap();
    let file = folder.file("xiangqi-parity.nnue");
    fs::write(&file, net.to_bytes("parity")).unwrap();

    let program = env::var("FAIRY_STOCKFISH").expect("FAIRY_STOCKFISH names the program");
    let mut engine = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = engine.stdin.take().unwrap();
    let mut lines = BufReader::new(engine.stdout.take().unwrap()).lines();
    writeln!(input, "uci\nsetoption name UCI_Variant value xiangqi\nsetoption name EvalFile value {}", file.display())
        .unwrap();
    let (mut compared, mut apart) = (0, Vec::new());
    for sample in data.quiet_samples(10_000).unwrap() {
        let fen = sample.position.to_fen();
        let mut batch = Batch::default();
        batch.push(&sample, Features::of(&shape), 1.0);
        // Its unit is a 208th of a pawn, and it prints hundredths.
        let score = net.score(&batch, 0) / 16;
        let ours = f64::from(if sample.position.turn() == Color::Red { score } else { -score }) / 208.0;
        writeln!(
            input,
            "position fen {} - - 0 1\neval",
            fen.replace('h', "n").replace('H', "N").replace('e', "b").replace('E', "B")
        )
        .unwrap();
        let found = lines
            .by_ref()
            .map(|line| line.unwrap())
            .find(|line| line.starts_with("NNUE evaluation") || line.contains("none (in check)"))
            .unwrap();
        let Some(found) = found.strip_prefix("NNUE evaluation") else { continue };
        let theirs: f64 = found.split_whitespace().next().unwrap().parse().unwrap();
        compared += 1;
        if (theirs - ours).abs() > 0.0051 {
            apart.push((fen, ours, theirs));
        }
    }
    writeln!(input, "quit").unwrap();
    engine.wait().unwrap();
    println!("{compared} positions, {} of them with another score", apart.len());
    assert!(compared > 9_000 && apart.is_empty(), "{:?}", &apart[..apart.len().min(5)]);
}
