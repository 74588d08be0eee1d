//! A client in another language, written after the documents alone, plays a lease to its end.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{path::Path, process::Command};

use e2e::{Coordinator, Role, Stage, program};

#[test]
fn a_client_in_python_delivers_a_lease() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let token = coordinator.account("snake", Role::Volunteer);
    coordinator.begin(
        "name = \"documented\"\n\
         [selfplay.settings]\nhash_mebibytes = 1\nsoft_nodes = 60\nhard_nodes = 200\nply_cap = 120\n\
         [selfplay.settings.adjudication]\nwin = { score = 1_500, plies = 4 }\n\
         [selfplay.openings]\nplies = 6\nfilter = { nodes = 100, bound = 300 }\n\
         [generation]\npositions = 1_000_000\n\
         [recipe.architecture]\nwidth = 128\n[recipe.schedule]\nepochs = 1\npositions_per_epoch = 1_000\n",
    );
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut client = Command::new("python3");
    client.arg(here.join("tests/client.py")).args([coordinator.address(), &token]).arg(program("chuhe"));
    let output = client.arg(here.join("../crates/dataset/src/codec/priors.bin")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}\n{}", String::from_utf8_lossy(&output.stderr), coordinator.log());
    assert!(said.contains("were delivered and credited"), "{said}");
}
