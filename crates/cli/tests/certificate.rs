//! `chuhe data certificate`: a ruling holds on every machine, and a forged one does not.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use dataset::{
    Digest,
    shard::{Shard, ShardWriter},
};
use engine::Evaluation;
use selfplay::{certificate::Certificate, selfplay::Run};
use serde_json::Value;

fn chuhe(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe")).args(arguments).current_dir(folder).output().unwrap()
}

/// A folder with the shards `right` and `forged`, and the certificate of their dispute.
fn dispute(name: &str) -> (PathBuf, Certificate) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let played = ["selfplay", "--games", "3", "--nodes", "200", "--seed", "7", "--hash", "1", "--out", "."];
    assert!(chuhe(&folder, &played).status.success());
    fs::rename(folder.join("games-seed7-3.chuhe"), folder.join("right")).unwrap();
    let bytes = fs::read(folder.join("right")).unwrap();
    let right = Shard::new(&bytes[..]).unwrap();
    let mut writer = ShardWriter::new(Vec::new(), right.header().clone()).unwrap();
    for (number, mut record) in right.records().map(Result::unwrap) {
        if number == 2 {
            record.moves[10].score = Some(-1);
        }
        writer.add(&record).unwrap();
    }
    let forged = writer.finish().unwrap().0;
    fs::write(folder.join("forged"), &forged).unwrap();
    let run = Run::from_header(right.header(), Evaluation::Plain, None, None).unwrap();
    let hashes = [Digest::of(&bytes), Digest::of(&forged)];
    let games = [right.game(2).unwrap(), Shard::new(&forged[..]).unwrap().game(2).unwrap()];
    let ruling = Certificate::rule(&run, &mut run.players(), 2, hashes, games.each_ref()).unwrap().unwrap();
    fs::write(folder.join("ruling.json"), serde_json::to_vec(&ruling).unwrap()).unwrap();
    (folder, ruling)
}

#[test]
fn a_certificate_is_verified_offline_and_a_forged_one_refused() {
    let (folder, ruling) = dispute("certificate");
    let check = |file: &str, more: &[&str]| chuhe(&folder, &[&["data", "certificate", file], more].concat());
    let held = check("ruling.json", &["--shard", "right", "--shard", "forged"]);
    let text = String::from_utf8(held.stdout).unwrap();
    assert_eq!(held.status.code(), Some(0), "{text}");
    let [right, forged] = ruling.shards[..] else { panic!("a dispute has two sides") };
    let [claim, lie] = &ruling.claims[..] else { panic!("a dispute has two sides") };
    assert_eq!(
        text,
        format!(
            "game 2 of seed 7, step 11: {claim}\nshard {right} is right: {claim}\nshard {forged} is wrong: {lie}\n"
        )
    );

    // It is forged: the wrong shard is declared right.
    let write = |ruling: &Certificate| fs::write(folder.join("forged.json"), serde_json::to_vec(ruling).unwrap());
    write(&Certificate { right: lie.clone(), ..ruling.clone() }).unwrap();
    let refused = check("forged.json", &[]);
    let text = String::from_utf8(refused.stdout).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert_eq!(text, format!("forged.json: step 11 of game 2 is `{claim}`, not `{lie}`\n"));

    // It is forged: a claim is put into an honest shard.
    write(&Certificate { claims: vec![format!("{claim}0"), lie.clone()], ..ruling.clone() }).unwrap();
    assert_eq!(check("forged.json", &[]).status.code(), Some(0), "the game alone does not show it");
    let refused = check("forged.json", &["--shard", "right"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stdout).unwrap().contains("as step 11 of game 2"));
}

#[test]
fn an_unverifiable_certificate_is_refused_in_one_sentence() {
    let (folder, ruling) = dispute("certificate-unreadable");
    let mut value = serde_json::to_value(&ruling).unwrap();
    value["header"]["bench_signature"] = Value::from(1);
    fs::write(folder.join("other-engine.json"), value.to_string()).unwrap();
    value["header"]["net"] = Value::from("ab".repeat(32));
    fs::write(folder.join("other-net.json"), value.to_string()).unwrap();
    fs::write(folder.join("none.json"), "{}").unwrap();
    for (file, sentence) in [
        ("other-engine.json", "chuhe: other-engine.json: the games are of engines with the bench signature 1"),
        ("other-net.json", "chuhe: the game needs the net abab"),
        ("none.json", "chuhe: none.json: no certificate: missing field `header`"),
        ("missing.json", "chuhe: missing.json: there is no such file"),
    ] {
        let refused = chuhe(&folder, &["data", "certificate", file]);
        let text = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.starts_with(sentence) && text.lines().count() == 1, "{text}");
    }
}
