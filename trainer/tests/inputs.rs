//! A net with attackers among its inputs, from a recipe to a file: the exported net equals the
//! trained one.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;

use std::{
    fs,
    process::{Command, Output},
};

use games::Folder;
use nnue::{Net, architecture::Inputs};
use protocol::{net::NetManifest, recipe};
use serde_json::Value;

fn trainer(arguments: &[&str], folder: &Folder) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe-trainer")).args(arguments).current_dir(&folder.0).output().unwrap()
}

fn answer(arguments: &[&str], folder: &Folder) -> Value {
    let output = trainer(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A folder whose recipe asks for attackers among the inputs.
fn with_attackers(name: &str, rest: &str) -> Folder {
    let folder = Folder::new(name, "batch = 500\nepochs = 3\npositions_per_epoch = 10_000\n", rest);
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let recipe = recipe.replace("stacks = 2", "stacks = 2\ninputs = \"kings-attackers\"");
    fs::write(folder.file("recipe.toml"), recipe).unwrap();
    folder
}

#[test]
fn a_net_that_tells_attackers_apart_is_trained_and_written() {
    let folder = with_attackers("attackers", "[quantisation]\nmode = \"fake\"\n");
    let trained = answer(&["train", "recipe.toml", "--out", "out", "--json"], &folder);
    // Integers agree with the model on thousands of real positions.
    let difference = &trained["difference"];
    assert!(difference["positions"].as_u64().unwrap() > 1_000, "{difference}");
    assert!(difference["mean"].as_f64().unwrap() < 2.0 && difference["most"].as_f64().unwrap() < 20.0, "{difference}");

    let net = Net::from_file(folder.file("out").join("net.nnue")).unwrap();
    assert_eq!(net.sizes().inputs(), Inputs::KingsAttackers);
    let text = fs::read_to_string(folder.file("out").join("net.json")).unwrap();
    assert_eq!(NetManifest::from_text(&text).unwrap().architecture.inputs, recipe::Inputs::KingsAttackers);
    let card = fs::read_to_string(folder.file("out").join("net.md")).unwrap();
    assert!(card.contains("| layers | 16536 inputs → 2 × 128 → 8 → 16 → 1, 2 stacks by material |"), "{card}");

    // Inspection finds out the inputs itself, in floating point and in integers.
    let run = answer(&["inspect", "out", "--manifests", ".", "--svg", "net.svg", "--json"], &folder);
    let file = answer(&["inspect", "out/net.nnue", "--recipe", "recipe.toml", "--json"], &folder);
    for inspection in [&run, &file] {
        assert_eq!(inspection["sizes"], "16536 → 2 × 128 → 8 → 16 → 1, 2 stacks");
    }
    let array = |name: &str| run["arrays"].as_array().unwrap().iter().find(|it| it["array"] == name).unwrap();
    assert_eq!(array("transformer.weight")["count"], 16_536 * 128);
    assert_eq!(array("transformer.shared")["count"], (4 + 6) * 689 * 128);
    assert_eq!(run["activity"]["positions"], file["activity"]["positions"]);
    assert!(!fs::read_to_string(folder.file("net.svg")).unwrap().contains("NaN"));

    // Threads change no bit, as for other nets. A starting checkpoint must have the same inputs.
    let again = answer(&["train", "recipe.toml", "--out", "again", "--threads", "1", "--json"], &folder);
    assert_eq!(again["net"], trained["net"]);
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap().replace("\ninputs = \"kings-attackers\"", "");
    let more = "[start]\ncheckpoint = \"out/checkpoint.safetensors\"\n";
    fs::write(folder.file("kings.toml"), recipe + more).unwrap();
    let output = trainer(&["train", "kings.toml", "--out", "kings"], &folder);
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), sentence.lines().count()), (Some(2), 1), "{sentence}");
    assert!(sentence.contains("`start`: ") && sentence.contains("transformer.weight"), "{sentence}");
}

#[test]
fn the_recipe_is_printed_with_its_inputs() {
    let folder = with_attackers("attackers-printed", "");
    let output = trainer(&["train", "recipe.toml", "--out", "out", "--print-config"], &folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("\ninputs = \"kings-attackers\"\n"));
}
