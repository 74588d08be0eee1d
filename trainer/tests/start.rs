//! Runs that start from a checkpoint: where it is looked up, and how it belongs to the run's
//! identity.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use dataset::Digest;
use games::Folder;

/// Trains with an unrelated working directory.
fn train(recipe: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-trainer"));
    command.arg("train").arg(recipe).arg("--out").arg(out).args(more);
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap()
}

fn trained(folder: &Folder, recipe: &str, out: &str) {
    let output = train(&folder.file(recipe), &folder.file(out), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn rejected(folder: &Folder, recipe: &str, out: &str) -> String {
    let output = train(&folder.file(recipe), &folder.file(out), &[]);
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), sentence.lines().count()), (Some(2), 1), "{sentence}");
    sentence
}

/// A run `first`, and recipes that start from its checkpoint.
fn with_first_run(name: &str) -> Folder {
    let folder = Folder::new(name, "batch = 250\nepochs = 1\npositions_per_epoch = 1_000\n", "");
    trained(&folder, "recipe.toml", "first");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let next = format!("{recipe}\n[start]\ncheckpoint = \"first/checkpoint.safetensors\"\n");
    fs::write(folder.file("wide.toml"), next.replace("width = 128", "width = 192")).unwrap();
    fs::write(folder.file("next.toml"), next.replace("epochs = 1", "epochs = 2")).unwrap();
    folder
}

#[test]
fn a_start_is_found_from_the_recipe_and_named_by_its_hash() {
    let folder = with_first_run("start-found");
    trained(&folder, "next.toml", "next");
    let manifest = fs::read_to_string(folder.file("next").join("net.json")).unwrap();
    let digest = Digest::of(&fs::read(folder.file("first").join("checkpoint.safetensors")).unwrap());
    assert!(manifest.contains(&digest.to_string()));

    // Elsewhere, with `--manifests`.
    fs::create_dir(folder.file("recipes")).unwrap();
    fs::rename(folder.file("next.toml"), folder.file("recipes").join("next.toml")).unwrap();
    let output = train(
        &folder.file("recipes").join("next.toml"),
        &folder.file("again"),
        &["--manifests", folder.0.to_str().unwrap()],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let net = |run: &str| fs::read(folder.file(run).join("net.nnue")).unwrap();
    assert!(net("next") == net("again") && net("next") != net("first"));
}

#[test]
fn a_run_has_one_beginning() {
    let folder = with_first_run("start-one");
    trained(&folder, "next.toml", "next");
    let start = folder.file("first").join("checkpoint.safetensors");
    let other = folder.file("first").join("other");
    // The starting checkpoint may be removed, because the run's own holds all of it …
    fs::rename(&start, &other).unwrap();
    trained(&folder, "next.toml", "next");
    // … but not replaced,
    fs::copy(folder.file("next").join("checkpoint.safetensors"), &start).unwrap();
    let sentence = rejected(&folder, "next.toml", "next");
    assert!(sentence.contains("this run began with ") && sentence.contains("`start`: "), "{sentence}");
    // and a new run from another checkpoint has another identity.
    trained(&folder, "next.toml", "fresh");
    let run = |name: &str| {
        let bytes = fs::read(folder.file(name).join("checkpoint.safetensors")).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let from = text.find("\\\"run\\\":\\\"").unwrap();
        text[from..from + 80].to_owned()
    };
    assert_ne!(run("fresh"), run("next"));
}

#[test]
fn a_start_that_does_not_fit_is_rejected() {
    let folder = with_first_run("start-fit");
    let sentence = rejected(&folder, "wide.toml", "wide");
    assert!(
        sentence.ends_with(
            "checkpoint.safetensors: its transformer.bias has the dimensions [128]; the recipe's has [192]: it is of a net of another shape\n"
        ),
        "{sentence}"
    );
    assert!(!folder.file("wide").join("checkpoint.safetensors").exists());
    let start = folder.file("first").join("checkpoint.safetensors");
    let whole = fs::read(&start).unwrap();
    fs::write(&start, &whole[..whole.len() / 2]).unwrap();
    assert!(rejected(&folder, "next.toml", "next").contains("checkpoint.safetensors: not a checkpoint: "));
    fs::remove_file(&start).unwrap();
    assert!(rejected(&folder, "next.toml", "next").contains("`start`: "));
    fs::create_dir(&start).unwrap();
    assert!(rejected(&folder, "next.toml", "next").contains("it is a folder"));
}

#[test]
fn a_run_starts_from_a_published_net() {
    let folder = with_first_run("start-net");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    // Its steps are too small to change an integer.
    let still = recipe.replace("[schedule]", "[schedule]\nlearning_rate = 1e-9\nfinal_learning_rate = 0.0");
    let start = "\n[start]\nnet = \"first/net.nnue\"\n";
    fs::write(folder.file("still.toml"), format!("{still}{start}")).unwrap();
    trained(&folder, "still.toml", "still");
    let net = |run: &str| fs::read(folder.file(run).join("net.nnue")).unwrap();
    assert!(net("still") == net("first"));
    let manifest = fs::read_to_string(folder.file("still").join("net.json")).unwrap();
    assert!(manifest.contains(&Digest::of(&net("first")).to_string()));
    let card = fs::read_to_string(folder.file("still").join("net.md")).unwrap();
    assert!(card.contains("The net that it began from must be at `first/net.nnue` there."), "{card}");

    fs::write(folder.file("next.toml"), format!("{recipe}{start}")).unwrap();
    trained(&folder, "next.toml", "next");
    assert!(net("next") != net("first"));

    fs::write(folder.file("wide.toml"), format!("{recipe}{start}").replace("width = 128", "width = 192")).unwrap();
    assert!(rejected(&folder, "wide.toml", "wide").contains(
        "net.nnue: its transformer.bias has the dimensions [128]; the recipe's has [192]: it is of a net of another shape"
    ));
    fs::write(folder.file("first").join("net.nnue"), &net("first")[..900]).unwrap();
    let sentence = rejected(&folder, "next.toml", "cut");
    assert!(sentence.contains("`start`: ") && sentence.contains("net.nnue: "), "{sentence}");
}
