//! Runs with libtorch, as processes.

#![cfg(feature = "torch")]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::fs;

use games::Folder;
use runs::{done, killed_and_resumed, rejected, same, trainer};

const SCHEDULE: &str = "batch = 250\nepochs = 3\npositions_per_epoch = 10_000\n";

#[test]
fn a_killed_run_ends_with_the_bytes_of_an_unbroken_one() {
    let folder = Folder::new("torch-killed", SCHEDULE, "[optimizer]\nkind = \"ranger\"");
    for precision in ["float32", "mixed"] {
        let all = ["--backend", "torch", "--threads", "2", "--precision", precision];
        let (unbroken, broken) = (format!("unbroken-{precision}"), format!("broken-{precision}"));
        done(&mut trainer(&folder, &unbroken, &all));
        let steps = |number| ["--checkpoint-steps", number];
        killed_and_resumed(&folder, &broken, &all, &[(2, &steps("7")), (5, &steps("11")), (1, &steps("3"))]);
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
        &["--backend", "cpu", "--threads", "2"],
    ] {
        let sentence = rejected(&mut trainer(&folder, "unbroken-mixed", other));
        assert!(
            sentence.contains("checkpoint.safetensors: it was learned by libtorch 2.11.0 on the processor, 2 threads")
        );
    }
}
