//! Runs as processes: killed and resumed, rejected, stopped when training diverges.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{fs, process::Command};

use games::Folder;
use runs::{done, killed_and_resumed, run, same, trainer};
use serde_json::Value;

#[test]
fn a_killed_run_ends_with_the_bytes_of_an_unbroken_one() {
    let schedule = "batch = 250\nepochs = 4\npositions_per_epoch = 10_000\n";
    let rest = "[optimizer]\nkind = \"ranger\"\n[average]\ndecay = 0.9\ninterval_steps = 3\nfrom_epoch = 2\n";
    let folder = Folder::new("killed", schedule, rest);
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    fs::write(folder.file("recipe.toml"), recipe.replace("pool_blocks", "mirrored = true\npool_blocks")).unwrap();
    done(&mut trainer(&folder, "unbroken", &["--threads", "1"]));
    let each: [(usize, &[&str]); 5] = [
        (2, &["--threads", "2", "--checkpoint-steps", "7"]),
        (5, &["--threads", "1", "--checkpoint-steps", "11"]),
        (1, &["--threads", "3", "--checkpoint-steps", "3"]),
        (9, &["--threads", "2", "--checkpoint-steps", "4"]),
        (4, &["--threads", "1", "--checkpoint-steps", "1000"]),
    ];
    killed_and_resumed(&folder, "broken", &[], &each);
    same(&folder, "unbroken", "broken");
    // A finished run has nothing to do and changes nothing.
    done(&mut trainer(&folder, "broken", &[]));
    same(&folder, "unbroken", "broken");
}

#[test]
fn stages_follow_each_other_and_a_killed_run_resumes_in_each() {
    let schedule = "batch = 250\nepochs = 2\npositions_per_epoch = 10_000\nkind = \"constant\"\n";
    let rest = "[loss]\nlambda_start = 1.0\n[average]\ndecay = 1\ninterval_steps = 5\n\
                [[stages]]\nschedule.batch = 500\nschedule.learning_rate = 1e-4\nloss.lambda_start = 0.5\n\
                data.mirrored = true\n[[stages]]\nschedule.epochs = 1\n";
    let folder = Folder::new("stages", schedule, rest);
    done(&mut trainer(&folder, "unbroken", &["--threads", "1"]));
    let each: [(usize, &[&str]); 3] = [
        (2, &["--threads", "2", "--checkpoint-steps", "7"]),
        (11, &["--threads", "1", "--checkpoint-steps", "11"]),
        (5, &["--threads", "2", "--checkpoint-steps", "5"]),
    ];
    killed_and_resumed(&folder, "broken", &[], &each);
    same(&folder, "unbroken", "broken");
    let metrics = fs::read_to_string(folder.file("broken").join("metrics.jsonl")).unwrap();
    let ends: Vec<_> = metrics.lines().filter(|line| line.contains("\"validation_loss\"")).collect();
    let of = |name: &str| figures(&ends.join("\n"), name);
    assert_eq!(of("step"), [40.0, 80.0, 100.0, 120.0, 160.0]);
    assert_eq!(of("epoch"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(of("positions"), [10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0]);
    assert_eq!(of("lambda"), [1.0, 1.0, 0.5, 0.5, 1.0]);
    assert_eq!(of("learning_rate"), [1e-3, 1e-3, 1e-4, 1e-4, 1e-3]);
    let manifest = fs::read_to_string(folder.file("broken").join("net.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!((manifest["steps"].as_u64(), manifest["positions"].as_u64()), (Some(160), Some(50_000)));
}

/// The mean of one set of weights is these weights.
#[test]
fn the_mean_of_the_weights_is_exported() {
    let net = |name: &str, rest: &str| {
        let folder = Folder::new(name, "batch = 500\nepochs = 2\npositions_per_epoch = 10_000\n", rest);
        done(&mut trainer(&folder, "out", &[]));
        let read = |name: &str| fs::read(folder.file("out").join(name)).unwrap();
        (read("net.nnue"), figures(&String::from_utf8(read("metrics.jsonl")).unwrap(), "validation_loss")[1])
    };
    let last = net("last-weights", "");
    assert!(net("mean-of-one", "[average]\ninterval_steps = 40\n") == last);
    let mean = net("mean-of-all", "[average]\ndecay = 1\ninterval_steps = 1\n");
    assert!(mean.0 != last.0 && mean.1.total_cmp(&last.1).is_ne(), "{} {}", mean.1, last.1);
}

fn figures(metrics: &str, name: &str) -> Vec<f64> {
    metrics.lines().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()[name].as_f64()).collect()
}

/// Overfitting: fifty games' results alone are soon memorised, and the held-out loss rises.
#[test]
fn the_best_is_kept_beside_the_last() {
    let schedule = "batch = 500\nepochs = 8\npositions_per_epoch = 10_000\nkind = \"constant\"\nlearning_rate = 0.004";
    let folder = Folder::new("best", schedule, "[loss]\nlambda_start = 0.0\n");
    let output = done(&mut trainer(&folder, "out", &["--json"]));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let read = |name: &str| fs::read(folder.file("out").join(name)).unwrap();
    let json = |name: &str| -> Value { serde_json::from_slice(&read(name)).unwrap() };
    let metrics = String::from_utf8(read("metrics.jsonl")).unwrap();
    let (losses, bests) = (figures(&metrics, "validation_loss"), figures(&metrics, "best_validation_loss"));
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let epoch = 1 + losses.iter().position(|loss| loss.total_cmp(&least).is_eq()).unwrap();
    assert!(epoch < 8 && losses[7] > least, "the end should be worse: {losses:?}");
    let so_far = losses.iter().scan(f64::INFINITY, |best, loss| {
        *best = best.min(*loss);
        Some(*best)
    });
    assert_eq!(bests, so_far.collect::<Vec<_>>());
    let (best, last) = (json("best.json"), json("net.json"));
    assert_eq!((best["steps"].as_u64(), best["validation"]["loss"].as_f64()), (Some(20 * epoch as u64), Some(least)));
    assert_eq!((last["steps"].as_u64(), last["validation"]["loss"].as_f64()), (Some(160), Some(losses[7])));
    assert_eq!(last["validation"]["best"], serde_json::json!({"step": 20 * epoch, "loss": least}));
    assert_eq!((&answer["net"], &answer["best"]["net"]), (&last["net"], &best["net"]));
    assert!(read("best.nnue") != read("net.nnue"));
    let card = String::from_utf8(read("best.md")).unwrap();
    assert!(
        card.contains(&format!("This net is of step {}, where the held-out loss was least.", 20 * epoch)),
        "{card}"
    );

    let before = ["best.nnue", "best.json", "best.md", "net.nnue"].map(read);
    fs::remove_file(folder.file("out").join("best.nnue")).unwrap();
    let mut export = Command::new(env!("CARGO_BIN_EXE_chuhe-trainer"));
    export.arg("export").arg(folder.file("out")).arg("--best").arg("--recipe").arg(folder.file("recipe.toml"));
    assert!(run(&mut export).status.success());
    assert!(["best.nnue", "best.json", "best.md", "net.nnue"].map(read) == before);
}

#[test]
fn training_lowers_the_held_out_loss() {
    let folder = Folder::new("learns", "batch = 500\nepochs = 6\npositions_per_epoch = 10_000\n", "");
    let output = done(&mut trainer(&folder, "out", &["--json"]));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["difference"]["mean"].as_f64().unwrap() < 10.0, "{answer}");
    let metrics = fs::read_to_string(folder.file("out").join("metrics.jsonl")).unwrap();
    let losses = figures(&metrics, "validation_loss");
    assert_eq!(losses.len(), 6);
    assert!(losses[5] < 0.97 * losses[0], "{losses:?}");
}

#[test]
fn a_loss_that_explodes_stops_the_run_with_its_last_good_checkpoint() {
    let schedule = "batch = 250\nepochs = 40\npositions_per_epoch = 5_000\nkind = \"constant\"\nlearning_rate = 1.0";
    let folder = Folder::new("explodes", schedule, "[stop]\nexplosion = 1.05\n");
    let output = run(&mut trainer(&folder, "out", &["--checkpoint-steps", "10"]));
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{sentence}");
    let last = sentence.lines().last().unwrap();
    assert!(last.contains("times the best so far") && last.contains("is the last good checkpoint, at step"), "{last}");
    assert!(folder.file("out").join("checkpoint.safetensors").exists());
    assert!(folder.file("out").join("curves.svg").exists());
    assert!(!folder.file("out").join("net.nnue").exists());
}

#[test]
fn an_invalid_run_is_rejected_in_a_sentence() {
    let rejected = |folder: &Folder, more: &[&str]| runs::rejected(&mut trainer(folder, "out", more));
    let schedule = "epochs = 1\npositions_per_epoch = 1_000\n";
    let folder = Folder::new("rejected", schedule, "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let with = |from: &str, to: &str| fs::write(folder.file("recipe.toml"), recipe.replace(from, to)).unwrap();

    with("pool_blocks", "pool_bloks");
    assert!(rejected(&folder, &[]).contains("recipe.toml: line 9, column 1: "));
    with("[data]", "[data]\nleast_positions = 10_000");
    assert!(rejected(&folder, &[]).contains("the recipe's data have 9836 positions; it asks for at least 10000"));
    let twice = "manifest = \"set.json\"\n[[data.sources]]\nmanifest = \"";
    with("manifest = \"", &format!("{twice}./"));
    assert!(rejected(&folder, &[]).contains("./set.json are the same training set: its games would count twice"));
    let set = fs::read_to_string(folder.file("set.json")).unwrap();
    fs::write(folder.file("other.json"), set.replacen("\"games\": 64", "\"games\": 63", 1)).unwrap();
    let again = runs::rejected(&mut {
        with("manifest = \"set.json\"", &format!("{twice}other.json\"\nweight = 0"));
        trainer(&folder, "out", &[])
    });
    assert!(again.contains("other.json"), "{again}");
    // Sources of weight 0 do not count as data.
    with("[data]", "[data]\nleast_positions = 9_837");
    assert!(rejected(&folder, &[]).contains("have 9836 positions"));
    with("[schedule]", "[optimizer]\nbeta1 = 0.999999999\n[schedule]");
    assert!(rejected(&folder, &[]).contains("beta1"));
    with("[schedule]", "[optimizer]\nepsilon = 1e-300\n[schedule]");
    assert!(rejected(&folder, &[]).contains("epsilon"));
    with("set.json", "nowhere.json");
    assert!(rejected(&folder, &[]).contains("nowhere.json"));
    with("", "");
    assert!(rejected(&folder, &["--precision", "mixed"]).contains("--precision mixed is for libtorch"));
    with("[schedule]", "[start]\ncheckpoint = \"nothing\"\n[schedule]");
    assert!(
        rejected(&folder, &[])
            .contains(&format!("`start`: {}: there is no such file", folder.file("nothing").display()))
    );

    with("", "");
    let digest = {
        let manifest: Value = serde_json::from_str(&fs::read_to_string(folder.file("set.json")).unwrap()).unwrap();
        manifest["shards"][0]["sha256"].as_str().unwrap().to_owned()
    };
    let list = folder.file("quarantine");
    fs::write(&list, format!("\n{digest}\n")).unwrap();
    let quarantine = ["--quarantine", list.to_str().unwrap()];
    assert!(rejected(&folder, &quarantine).ends_with(&format!("set.json: the shard {digest} is quarantined\n")));
    fs::write(&list, "xyz\n").unwrap();
    assert!(rejected(&folder, &quarantine).contains("quarantine, line 1: a digest is 64"));

    // Another run's folder is not written to.
    assert!(run(&mut trainer(&folder, "out", &[])).status.success());
    with("name = \"test\"", "name = \"other\"");
    assert!(rejected(&folder, &[]).contains("a checkpoint of another run"));
    fs::write(folder.file("out").join("checkpoint.safetensors"), "nothing").unwrap();
    assert!(rejected(&folder, &[]).contains("checkpoint.safetensors: not a checkpoint: "));

    let mut games = fs::read(folder.file("games.chuhe")).unwrap();
    games[1000] ^= 1;
    fs::write(folder.file("games.chuhe"), games).unwrap();
    with("", "");
    assert!(rejected(&folder, &[]).contains("it was altered"));
    fs::remove_file(folder.file("games.chuhe")).unwrap();
    assert!(rejected(&folder, &[]).contains(&format!("is the shard {digest}")));
}
