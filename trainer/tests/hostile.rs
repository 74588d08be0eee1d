//! Damaged folders of runs: a clear error, and nothing lost.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[path = "common/games.rs"]
mod games;
#[path = "common/runs.rs"]
mod runs;

use std::{fs, thread, time::Duration};

use games::Folder;
use runs::{done, trainer};

fn trained(folder: &Folder, out: &str) {
    done(&mut trainer(folder, out, &[]));
}

fn rejected(folder: &Folder, out: &str) -> String {
    runs::rejected(&mut trainer(folder, out, &["--json"]))
}

const SCHEDULE: &str = "batch = 50\nepochs = 2\npositions_per_epoch = 3_000\n";

#[test]
fn a_flipped_bit_is_detected() {
    let folder = Folder::new("bits", SCHEDULE, "");
    trained(&folder, "out");
    let path = folder.file("out").join("checkpoint.safetensors");
    let whole = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    // In the length, in names and metadata, in weights, in the last byte.
    let steps = String::from_utf8_lossy(&whole[8..header + 8]).find("steps").unwrap() + 8 + 9;
    let places = [0, 3, 12, steps, header, header + 9, header + 400_003, whole.len() / 2, whole.len() - 1];
    for (number, place) in places.into_iter().enumerate() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (number % 5);
        fs::write(&path, &bytes).unwrap();
        let sentence = rejected(&folder, "out");
        assert!(sentence.contains("checkpoint.safetensors: "), "{place}: {sentence}");
        assert!(fs::read(&path).unwrap() == bytes, "{place}");
    }
    for length in [0, 1, 7, 8, 100, header + 8, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(rejected(&folder, "out").contains("checkpoint.safetensors: not a checkpoint: "), "{length}");
    }
    fs::write(&path, &whole).unwrap();
    trained(&folder, "out");
}

#[test]
fn a_run_resumes_with_metrics_that_were_cut_off() {
    let folder = Folder::new("figures", SCHEDULE, "");
    trained(&folder, "out");
    let path = folder.file("out").join("metrics.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    // A partial last line, as a killed process leaves it.
    fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    trained(&folder, "out");
    assert_eq!(fs::read_to_string(&path).unwrap(), lines[..lines.len() - 1].concat());
    // An invalid line is no reason to drop the lines after it.
    let spoilt = format!("{}nothing\n{}", lines[0], lines[1..].concat());
    fs::write(&path, &spoilt).unwrap();
    assert!(rejected(&folder, "out").contains("metrics.jsonl, line 2: "));
    fs::write(&path, [lines[0].as_bytes(), b"\xff\n", lines[1].as_bytes()].concat()).unwrap();
    assert!(rejected(&folder, "out").contains("metrics.jsonl: stream did not contain valid UTF-8"));
    // Lines of later steps are cut off.
    let later = lines[0].replace("\"step\":50", "\"step\":1000000");
    assert_ne!(later, lines[0]);
    fs::write(&path, format!("{whole}{later}")).unwrap();
    trained(&folder, "out");
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn partial_files_of_killed_processes_are_removed() {
    let folder = Folder::new("leftovers", "batch = 250\nepochs = 1\npositions_per_epoch = 1_000\n", "");
    trained(&folder, "out");
    let names = [".checkpoint.safetensors.77.part", ".best.safetensors.77-1.part", ".net.nnue.77.part", ".mine.part"];
    for name in names {
        fs::write(folder.file("out").join(name), "half").unwrap();
    }
    trained(&folder, "out");
    let left: Vec<_> = names.into_iter().filter(|name| folder.file("out").join(name).exists()).collect();
    assert_eq!(left, [".net.nnue.77.part", ".mine.part"]);
}

#[test]
fn two_processes_do_not_share_a_run() {
    let schedule = "batch = 250\nepochs = 1000\npositions_per_epoch = 100_000\n";
    let folder = Folder::new("two", schedule, "");
    let mut first = trainer(&folder, "out", &[]).spawn().unwrap();
    for _ in 0..3000 {
        if folder.file("out").join("checkpoint.safetensors").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let sentence = rejected(&folder, "out");
    let running = first.try_wait().unwrap().is_none();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(running, "the first ended before the second could come");
    assert!(sentence.ends_with("metrics.jsonl: another process is at work on this run\n"));
}

#[test]
fn an_obstructing_file_is_named() {
    let folder = Folder::new("way", "batch = 250\nepochs = 1\npositions_per_epoch = 1_000\n", "");
    fs::write(folder.file("file"), "").unwrap();
    assert!(rejected(&folder, "file").contains("--out "));
    for name in ["recipe.toml", "metrics.jsonl", "best.safetensors", "curves.svg", "net.json"] {
        let out = format!("out-{name}");
        fs::create_dir_all(folder.file(&out).join(name).join("deep")).unwrap();
        let sentence = rejected(&folder, &out);
        assert!(sentence.contains(&format!("{name}: ")), "{name}: {sentence}");
        // Once it is removed, the run resumes.
        fs::remove_dir_all(folder.file(&out).join(name)).unwrap();
        trained(&folder, &out);
    }
    let nets = |name: &str| fs::read(folder.file(&format!("out-{name}")).join("net.nnue")).unwrap();
    assert!(nets("recipe.toml") == nets("curves.svg") && nets("net.json") == nets("best.safetensors"));
}

#[test]
fn a_recipe_that_cannot_begin_leaves_the_folder_to_another() {
    let folder = Folder::new("begin", "batch = 250\nepochs = 1\npositions_per_epoch = 1_000\n", "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let faults = [
        ("validation_one_in = 4", "validation_one_in = 1000000", "no position of the held-out games"),
        ("pool_blocks = 2", "pool_blocks = 2\nshares = [{ percent = 0 }]", "filter and shares left nothing"),
    ];
    for (from, to, sentence) in faults {
        fs::write(folder.file("recipe.toml"), recipe.replace(from, to)).unwrap();
        assert!(rejected(&folder, "out").contains(sentence), "{to}");
    }
    fs::write(folder.file("recipe.toml"), &recipe).unwrap();
    trained(&folder, "out");
}

#[test]
fn invalid_recipes_and_manifests_are_rejected() {
    let folder = Folder::new("none", SCHEDULE, "");
    let recipe = fs::read_to_string(folder.file("recipe.toml")).unwrap();
    let with = |from: &str, to: &str| {
        assert!(recipe.contains(from), "{from}");
        fs::write(folder.file("recipe.toml"), recipe.replace(from, to)).unwrap();
        rejected(&folder, "out")
    };
    // A truncated recipe is rejected, unless it lacks only optional parts.
    for length in (0..recipe.find("positions_per_epoch").unwrap()).step_by(31) {
        fs::write(folder.file("recipe.toml"), &recipe[..length]).unwrap();
        assert!(rejected(&folder, "out").contains("recipe.toml: line "), "{length}");
    }
    assert!(with("stacks = 2", "stacks = 2\nstacks = 2").contains("duplicate key"));
    assert!(with("batch = 50", "batch = 50\nlearning_rate = nan").contains("`schedule.learning_rate` is nan"));
    assert!(with("batch = 50", "batch = 50\nlearning_rate = inf").contains("`schedule.learning_rate` is inf"));
    assert!(with("batch = 50", "batch = 100_000_000").contains("`schedule.batch` is 100_000_000"));
    assert!(with("epochs = 2", "epochs = 0").contains("`schedule.epochs` is 0"));
    assert!(with("width = 128", "width = 129").contains("`architecture.width` is 129"));
    fs::write(folder.file("recipe.toml"), b"\xff\xfe").unwrap();
    assert!(rejected(&folder, "out").contains("recipe.toml: "));

    fs::write(folder.file("recipe.toml"), &recipe).unwrap();
    let manifest = fs::read_to_string(folder.file("set.json")).unwrap();
    let empty = "{\"format\":\"chuhe manifest 1\",\"games\":0,\"positions\":0,\"shards\":[\n]}\n";
    for text in ["", "{}", "[]", "null", &manifest[..100], &manifest[..manifest.len() - 3], empty] {
        fs::write(folder.file("set.json"), text).unwrap();
        assert!(rejected(&folder, "out").contains("set.json: "), "{text}");
    }
    fs::write(folder.file("set.json"), manifest.replace(":9836,", ":10000,")).unwrap();
    let sentence = rejected(&folder, "out");
    assert!(sentence.contains("set.json: it counts 10000 positions in "), "{sentence}");
    assert!(sentence.ends_with("games.chuhe, which has 9836\n"), "{sentence}");
    let (scale, _) = manifest.rsplit_once("}\n]}").unwrap();
    let scale = scale.rsplit_once("\"scale_tenths\":").unwrap().1;
    fs::write(folder.file("set.json"), manifest.replace(&format!(":{scale}}}\n"), ":0}\n")).unwrap();
    assert!(rejected(&folder, "out").contains("set.json: the scale of the shard "));
    assert!(!folder.file("out").exists(), "nothing was begun");
}
