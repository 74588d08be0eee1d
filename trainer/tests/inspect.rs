//! The files beside a run's net, and the inspection of nets.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use games::Folder;
use protocol::{
    net::{NetManifest, Sha256},
    recipe::Recipe,
};
use serde_json::Value;

const SCHEDULE: &str = "batch = 500\nepochs = 2\npositions_per_epoch = 5_000\n";

fn trainer(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe-trainer")).args(arguments).current_dir(folder).output().unwrap()
}

fn answer(arguments: &[&str], folder: &Folder) -> String {
    let output = trainer(arguments, &folder.0);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rejected(arguments: &[&str], folder: &Folder) -> String {
    let output = trainer(arguments, &folder.0);
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), sentence.lines().count()), (Some(2), 1), "{arguments:?}: {sentence}");
    sentence
}

fn trained(name: &str) -> Folder {
    let folder = Folder::new(name, SCHEDULE, "");
    answer(&["train", "recipe.toml", "--out", "out"], &folder);
    folder
}

fn manifest(folder: &Folder, run: &str) -> NetManifest {
    NetManifest::from_text(&fs::read_to_string(folder.file(run).join("net.json")).unwrap()).unwrap()
}

#[test]
fn the_manifest_names_the_inputs_of_the_net() {
    let folder = trained("manifest");
    let it = manifest(&folder, "out");
    let bytes = |name: &str| fs::read(folder.file(name)).unwrap();
    assert_eq!(it.net, Sha256::of(&bytes("out/net.nnue")));
    assert_eq!(it.data.len(), 1);
    assert_eq!((it.data[0].manifest, it.data[0].positions), (Sha256::of(&bytes("set.json")), 9_836));
    assert_eq!(it.recipe.text.as_bytes(), bytes("out/recipe.toml"));
    let recipe = Recipe::from_text(&String::from_utf8(bytes("recipe.toml")).unwrap()).unwrap();
    assert_eq!(Recipe::from_text(&it.recipe.text).unwrap(), recipe);
    assert_eq!((it.steps, it.positions, it.parents.len()), (20, 10_000, 0));
    let last: Value =
        serde_json::from_str(String::from_utf8(bytes("out/metrics.jsonl")).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!((it.training_loss, Some(it.validation.loss)), (last["loss"].as_f64(), last["validation_loss"].as_f64()));

    let card = String::from_utf8(bytes("out/net.md")).unwrap();
    for part in [&it.net.to_string(), "# test\n", "![losses and learning rate](curves.svg)", "9,836", &it.recipe.text] {
        assert!(card.contains(part), "{part}");
    }
    assert!(!card.contains(folder.0.to_str().unwrap()), "no path of a machine");

    // A run that starts from a checkpoint names it.
    let more = "[start]\ncheckpoint = \"out/checkpoint.safetensors\"\n";
    let next = String::from_utf8(bytes("recipe.toml")).unwrap() + more;
    fs::write(folder.file("next.toml"), next).unwrap();
    answer(&["train", "next.toml", "--out", "next"], &folder);
    assert_eq!(manifest(&folder, "next").parents, [Sha256::of(&bytes("out/checkpoint.safetensors"))]);
}

#[test]
fn the_card_says_how_the_net_is_made_again() {
    let folder = trained("again");
    let card = fs::read_to_string(folder.file("out").join("net.md")).unwrap();
    assert!(card.contains("\njq -j .recipe.text net.json > recipe.toml\nchuhe-trainer train recipe.toml --out test\n"));
    fs::write(folder.file("recipe.toml"), manifest(&folder, "out").recipe.text).unwrap();
    answer(&["train", "recipe.toml", "--out", "test", "--threads", "1"], &folder);
    assert_eq!(manifest(&folder, "test").net, manifest(&folder, "out").net);
    for name in ["curves.svg", "events.out.tfevents.chuhe", "metrics.jsonl"] {
        let read = |run: &str| fs::read(folder.file(run).join(name)).unwrap();
        assert!(read("out") == read("test"), "{name}");
    }
}

#[test]
fn a_run_is_exported_by_its_own_recipe() {
    let folder = trained("export");
    let files = || ["net.nnue", "net.json", "net.md"].map(|name| fs::read(folder.file("out").join(name)).unwrap());
    let before = files();
    // Manifests are relative to the recipe's folder, and the run's copy is elsewhere.
    assert!(rejected(&["export", "out"], &folder).contains("out/set.json: there is no such file"));
    answer(&["export", "out", "--manifests", "."], &folder);
    assert!(files() == before);
    answer(&["export", "out", "--recipe", "recipe.toml"], &folder);
    assert!(files() == before);

    let described = ["export", "out", "--manifests", ".", "--description", "it's the first"];
    answer(&described, &folder);
    let [net, json, card] = files().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(net.contains("it's the first") && !json.contains("it's the first"));
    assert!(card.contains("chuhe-trainer export test --manifests . --description 'it'\\''s the first'\n"));
    let long = "x".repeat(1025);
    let sentence = rejected(&["export", "out", "--manifests", ".", "--description", &long], &folder);
    assert!(sentence.ends_with("--description has 1025 bytes; a net's may have 1024\n"), "{sentence}");

    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    fs::write(folder.file("recipe.toml"), recipe.replace("name = \"test\"", "name = \"other\"")).unwrap();
    assert!(rejected(&["export", "out", "--recipe", "recipe.toml"], &folder).contains("a checkpoint of another run"));
}

#[test]
fn a_net_is_inspected() {
    let folder = trained("inspect");
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&answer(arguments, &folder)).unwrap() };
    let run = json(&["inspect", "out", "--json"]);
    assert_eq!((run["kind"].as_str(), run["steps"].as_u64()), (Some("checkpoint"), Some(20)));
    assert_eq!(run["arrays"].as_array().unwrap().len(), 10);
    assert!(run["activity"].is_null());
    let mut checkpoint = json(&["inspect", "out/checkpoint.safetensors", "--json"]);
    assert_eq!(checkpoint, run);

    let net = json(&["inspect", "out/net.nnue", "--recipe", "recipe.toml", "--positions", "500", "--json"]);
    assert_eq!((net["kind"].as_str(), net["steps"].as_u64()), (Some("net"), None));
    let names = |it: &Value| -> Vec<String> {
        it["arrays"].as_array().unwrap().iter().map(|it| it["array"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&net).contains(&"transformer.shared".to_owned()) && names(&net).len() == 9);
    let positions = net["activity"]["positions"].as_array().unwrap();
    assert_eq!(positions.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 500);
    // The integers of the run are those of its net, except for the order of the pairs.
    checkpoint = json(&["inspect", "out", "--manifests", ".", "--positions", "500", "--json"]);
    let sorted = |it: &Value| {
        let mut activity = it["activity"].clone();
        let pairs = activity["layers"][0]["neurons"].as_array_mut().unwrap();
        pairs.sort_by(|one, other| one.as_f64().unwrap().total_cmp(&other.as_f64().unwrap()));
        activity
    };
    assert_eq!(sorted(&checkpoint), sorted(&net));
    assert!(checkpoint["activity"] != net["activity"], "export orders them");
    assert_eq!(checkpoint["unreachable"], net["unreachable"]);

    let picture = |name: &str| {
        answer(&["inspect", "out", "--manifests", ".", "--svg", name], &folder);
        fs::read_to_string(folder.file(name)).unwrap()
    };
    let svg = picture("one.svg");
    assert_eq!(svg, picture("two.svg"));
    assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
    assert!(
        svg.contains("transformer.weight · 529.2 k")
            && svg.contains(">enemy<")
            && svg.contains(">cannon ")
            && svg.contains(">Stacks<")
    );

    let text = answer(&["inspect", "out"], &folder);
    assert!(text.starts_with("layers 4134 → 2 × 128 → 8 → 16 → 1, 2 stacks\nsteps 20\narray "), "{text}");
    fs::write(folder.file("notes"), "nothing").unwrap();
    let sentence = rejected(&["inspect", "notes"], &folder);
    assert!(sentence.ends_with("notes: neither the folder of a run, nor a checkpoint, nor a net\n"), "{sentence}");
    assert!(rejected(&["inspect", "."], &folder).contains("checkpoint.safetensors: there is no such file"));
    let net = fs::read(folder.file("out").join("net.nnue")).unwrap();
    fs::write(folder.file("cut.nnue"), &net[..net.len() - 1]).unwrap();
    assert!(rejected(&["inspect", "cut.nnue"], &folder).contains("cut.nnue: "));
}
