//! Sweeps as processes: every combination trained, ranked, resumed; bad values rejected.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{
    fs::{self, File, Permissions},
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use games::Folder;
use runs::{done, rejected, trainer, wait_for_changes};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn sweep(folder: &Folder, settings: &[&str]) -> Command {
    let mut command = sweep_by(env!("CARGO_BIN_EXE_chuhe-trainer").as_ref(), folder, settings);
    command.args(["--", "--threads", "1"]);
    command
}

fn sweep_by(program: &Path, folder: &Folder, settings: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.arg("sweep").arg(folder.file("recipe.toml")).arg("--out").arg(folder.file("sweep")).arg("--json");
    for setting in settings {
        command.args(["--set", setting]);
    }
    command
}

#[test]
fn combinations_are_trained_and_ranked() {
    let folder = Folder::new("sweep", "batch = 500\nepochs = 1\npositions_per_epoch = 5_000\n", "");
    let settings = ["schedule.learning_rate=1e-5,1e-3", "seeds.order=1,2"];
    let output = done(&mut sweep(&folder, &settings));
    let arms: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    // A hundredth of the rate learns less.
    let names: Vec<_> = arms.iter().map(|arm| arm["settings"].as_str().unwrap()).collect();
    assert_eq!(names, ["schedule.learning_rate=0.001", "schedule.learning_rate=0.00001"]);
    for arm in &arms {
        let losses: Vec<_> =
            arm["nets"].as_array().unwrap().iter().map(|net| net["validation_loss"].as_f64()).collect();
        let mean = losses.iter().flatten().sum::<f64>() / 2.0;
        assert!(losses.len() == 2 && losses[0] != losses[1], "{losses:?}");
        assert!((arm["validation_loss"].as_f64().unwrap() - mean).abs() < 1e-12);
    }
    // The same command finds all of it done.
    let net = folder.file("sweep").join("schedule.learning_rate=0.001,seeds.order=2").join("net.nnue");
    assert!(net.exists());
    let checkpoint = net.with_file_name("checkpoint.safetensors");
    let before = fs::metadata(&checkpoint).unwrap().modified().unwrap();
    assert_eq!(done(&mut sweep(&folder, &settings)).stdout, output.stdout);
    assert_eq!(fs::metadata(&checkpoint).unwrap().modified().unwrap(), before);
}

#[test]
fn a_wrong_value_trains_nothing() {
    let folder = Folder::new("sweep-rejected", "batch = 500\nepochs = 1\npositions_per_epoch = 5_000\n", "");
    let sentence = rejected(&mut sweep(&folder, &["schedule.batch=500,0"]));
    let file = folder.file("recipe.toml").display().to_string();
    let words = "with schedule.batch = 0: `schedule.batch` is 0; it must be a whole number from 1 to 1048576\n";
    assert_eq!(sentence, format!("chuhe-trainer: {file} {words}"));
    // A fault of the recipe itself has its place there.
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    fs::write(folder.file("recipe.toml"), recipe.replace("epochs = 1", "epochs = 0")).unwrap();
    let sentence = rejected(&mut sweep(&folder, &["schedule.batch=500"]));
    assert!(sentence.contains("recipe.toml: line ") && sentence.contains("`schedule.epochs` is 0"), "{sentence}");
    assert!(!folder.file("sweep").exists());
}

/// The program beside the trainer plays the matches; here it keeps its opponents and always has 12
/// Elo.
#[test]
fn a_match_is_played_once_for_each_opponent() {
    let folder = Folder::new("sweep-matches", "batch = 500\nepochs = 1\npositions_per_epoch = 5_000\n", "");
    let (program, player) = (folder.file("chuhe-trainer"), folder.file("chuhe"));
    fs::copy(env!("CARGO_BIN_EXE_chuhe-trainer"), &program).unwrap();
    let script = "#!/bin/sh\necho \"$5\" >>\"$0.played\"\necho '{\"elo\":12.0,\"elo_error\":3.0}'\n";
    fs::write(&player, script).unwrap();
    fs::set_permissions(&player, Permissions::from_mode(0o755)).unwrap();
    let played = || fs::read_to_string(folder.file("chuhe.played")).unwrap_or_default();
    let against = |opponent: &str| {
        let mut command = sweep_by(&program, &folder, &["schedule.batch=500"]);
        command.args(["--against", opponent, "--", "--threads", "1"]);
        command
    };
    let elo = |opponent: &str| {
        let arms: Vec<Value> = serde_json::from_slice(&done(&mut against(opponent)).stdout).unwrap();
        arms[0]["elo"].as_f64()
    };

    // An opponent that is not there is named before anything is trained.
    let other = folder.file("other.nnue");
    let net = format!("net:{}", other.display());
    let sentence = rejected(&mut against(&net));
    assert!(sentence.contains(&format!("--against {net}: there is no such file")), "{sentence}");
    assert!(!folder.file("sweep").exists());

    assert_eq!(elo("plain"), Some(12.0));
    assert_eq!((elo("plain"), played()), (Some(12.0), "plain\n".to_owned()));
    // A net is known by its bytes.
    fs::write(&other, "one").unwrap();
    (0..2).for_each(|_| assert_eq!(elo(&net), Some(12.0)));
    assert_eq!(played(), format!("plain\n{net}\n"));
    fs::write(&other, "two").unwrap();
    assert_eq!((elo(&net), played()), (Some(12.0), format!("plain\n{net}\n{net}\n")));
}

/// A process that is killed when a test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// A killed sweep leaves its training running; one that is stopped does not.
#[test]
fn a_sweep_waits_for_a_training_and_stops_its_own() {
    let folder = Folder::new("sweep-stopped", "batch = 250\nepochs = 1000\npositions_per_epoch = 100_000\n", "");
    let run = "sweep/seeds.order=2";
    fs::create_dir_all(folder.file(run)).unwrap();
    let checkpoint = folder.file(run).join("checkpoint.safetensors");
    let mut left = Killed(trainer(&folder, run, &[]).spawn().unwrap());
    wait_for_changes(&mut left.0, &checkpoint, 1);
    let mut command = sweep(&folder, &["seeds.order=2"]);
    let mut waiting = Killed(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(waiting.0.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("training 1 of 1: "));
    assert!(lines.next().unwrap().unwrap().starts_with("waiting for the process that is at work on "));
    left.0.kill().unwrap();
    left.0.wait().unwrap();
    // Its own training resumes from there.
    wait_for_changes(&mut waiting.0, &checkpoint, 1);
    kill_process(Pid::from_child(&waiting.0), Signal::TERM).unwrap();
    assert!(waiting.0.wait().unwrap().success());
    let said: Vec<_> = lines.map(Result::unwrap).collect();
    assert_eq!(said.last().unwrap(), "chuhe-trainer: stopped; the same command resumes", "{said:?}");
    assert!(File::open(checkpoint.with_file_name("metrics.jsonl")).unwrap().try_lock().is_ok());
}
