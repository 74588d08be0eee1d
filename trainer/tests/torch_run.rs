//! Runs with libtorch, as processes.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::fs;

use games::Folder;
use serde_json::Value;

use runs::{done, killed_and_resumed, rejected, same, trainer};

const SCHEDULE: &str = "batch = 250\nepochs = 3\npositions_per_epoch = 10_000\n";

/// Kills after so many checkpoints, each time with other intervals between them.
const KILLS: [(usize, &[&str]); 3] =
    [(2, &["--checkpoint-steps", "7"]), (5, &["--checkpoint-steps", "11"]), (1, &["--checkpoint-steps", "3"])];

#[test]
fn a_killed_run_ends_with_the_bytes_of_an_unbroken_one() {
    let folder = Folder::new("torch-killed", SCHEDULE, "[optimizer]\nkind = \"ranger\"");
    let torch = |precision| ["--backend", "torch", "--threads", "2", "--precision", precision];
    for (what, all) in [("float32", torch("float32")), ("mixed", torch("mixed"))] {
        let (unbroken, broken) = (format!("unbroken-{what}"), format!("broken-{what}"));
        done(&mut trainer(&folder, &unbroken, &all));
        killed_and_resumed(&folder, &broken, &all, &KILLS);
        same(&folder, &unbroken, &broken);
    }
    let net = |run: &str| fs::read(folder.file(run).join("net.nnue")).unwrap();
    assert!(net("unbroken-float32") != net("unbroken-mixed"));

    // Everything that the bytes depend on is in the manifest, and cannot change on resuming.
    let manifest = fs::read_to_string(folder.file("unbroken-mixed").join("net.json")).unwrap();
    assert!(
        manifest.contains(
            "\"libtorch 2.11.0 on the processor, 2 threads, MKL_CBWR=AUTO,STRICT MKL_DYNAMIC=FALSE OMP_DYNAMIC=FALSE, mixed precision\""
        ),
        "{manifest}"
    );
    for other in [
        &["--backend", "torch", "--threads", "1", "--precision", "mixed"][..],
        &["--backend", "torch", "--threads", "2"],
        &["--backend", "torch", "--threads", "2", "--precision", "mixed", "--resident"],
        &["--backend", "cpu", "--threads", "2"],
    ] {
        let sentence = rejected(&mut trainer(&folder, "unbroken-mixed", other));
        assert!(
            sentence.contains("checkpoint.safetensors: it was learned by `libtorch 2.11.0 on the processor, 2 threads")
        );
    }
}

/// A card's code, with positions that the device keeps: each stage has others.
#[test]
fn a_killed_resident_run_resumes_in_each_stage() {
    let rest = "[loss]\nlambda_start = 1.0\n[average]\ndecay = 1\ninterval_steps = 5\n\
                [[stages]]\nschedule.batch = 500\ndata.mirrored = true\n[[stages]]\nschedule.epochs = 1\n";
    let folder = Folder::new("resident-killed", SCHEDULE, rest);
    let all = ["--backend", "rehearsal", "--threads", "2", "--resident"];
    done(&mut trainer(&folder, "unbroken", &all));
    killed_and_resumed(&folder, "broken", &all, &KILLS);
    same(&folder, "unbroken", "broken");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    for (line, sentence) in [
        ("streamed = true", "`--resident` is not for a streamed set"),
        ("shares = [{ percent = 50 }]", "`--resident` draws all positions alike"),
    ] {
        fs::write(folder.file("recipe.toml"), recipe.replace("[data]", &format!("[data]\n{line}"))).unwrap();
        let found = rejected(&mut trainer(&folder, "other", &all));
        assert!(found.contains(sentence), "{found}");
        assert!(!folder.file("other").join("checkpoint.safetensors").exists());
    }
}

/// A card's code learns as the other does, and from positions that the device keeps.
#[test]
fn a_rehearsal_learns_as_well() {
    let folder = Folder::new("rehearsal", SCHEDULE, "[quantisation]\nmode = \"fake\"");
    let loss = |run: &str, all: &[&str]| {
        done(&mut trainer(&folder, run, all));
        let metrics = fs::read_to_string(folder.file(run).join("metrics.jsonl")).unwrap();
        let last: Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
        assert!(last["loss"].as_f64().unwrap() > 0.0);
        last["validation_loss"].as_f64().unwrap()
    };
    let cpu = loss("cpu", &["--backend", "cpu"]);
    for (run, all) in
        [("card", &["--backend", "rehearsal", "--readers", "3"][..]), ("kept", &["--backend", "torch", "--resident"])]
    {
        let found = loss(run, all);
        assert!((found - cpu).abs() < 0.1 * cpu, "{run}: {found}, on the processor {cpu}");
    }
    let sentence = rejected(&mut trainer(&folder, "none", &["--backend", "cpu", "--resident"]));
    assert!(sentence.contains("`--resident` keeps positions on libtorch's device"), "{sentence}");
}
