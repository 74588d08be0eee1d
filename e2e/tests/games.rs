//! `scripts/games`: from a release's folder, its address and the history, and what it refuses.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use dataset::Digest;
use tempfile::{TempDir, tempdir};
use testkit::http::{Listener, Response};

const NETS: [(&str, &str); 3] =
    [("gen0-256-scores", "first.json"), ("gen1-256", "second.json"), ("gen2-256", "third.json")];
const ARCHIVE: &str = "chuhe-games-gen2-256.tar";

/// A tree with the script, manifests of two shards for each net, and a release made of them.
struct Tree(TempDir);

impl Tree {
    /// The tree, with its games in the release alone.
    fn new() -> Self {
        let tree = Self(tempdir().unwrap());
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts");
        fs::create_dir_all(tree.path("scripts/tools")).unwrap();
        for file in ["games", "tools/games.py"] {
            fs::copy(scripts.join(file), tree.path("scripts").join(file)).unwrap();
        }
        for (net, manifest) in NETS {
            fs::create_dir_all(tree.games(net)).unwrap();
            let mut entries = Vec::new();
            for seed in [1, 2] {
                let bytes = shard(net, seed);
                fs::write(tree.games(net).join(name(seed)), &bytes).unwrap();
                let digest = Digest::of(&bytes);
                entries.push(format!("{{\"sha256\":\"{digest}\",\"games\":9,\"provenance\":{{\"seed\":{seed}}}}}"));
            }
            let text = format!("{{\"shards\":[{}]}}", entries.join(","));
            fs::write(tree.path("nets").join(net).join(manifest), text).unwrap();
        }
        tree.release("release");
        for (net, _) in NETS {
            fs::remove_dir_all(tree.games(net)).unwrap();
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn games(&self, net: &str) -> PathBuf {
        self.path("nets").join(net).join("games")
    }

    /// Writes the archives of a release into a new folder.
    fn release(&self, folder: &str) {
        fs::create_dir(self.path(folder)).unwrap();
        assert_eq!(error(&self.run(&["--archive", folder])), "");
    }

    /// The archive of `gen2-256` in the release.
    fn archive(&self) -> PathBuf {
        self.path("release").join(ARCHIVE)
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut script = Command::new(self.path("scripts/games"));
        script.current_dir(self.0.path()).args(words);
        script.env_remove("CHUHE_RELEASES").env("no_proxy", "127.0.0.1").output().unwrap()
    }

    /// The one sentence of a refusal to fetch `gen2-256`, after which its folder is as before.
    #[track_caller]
    fn refusal(&self, words: &[&str]) -> String {
        let before = files(&self.games("gen2-256"));
        let output = self.run(&[&["gen2-256"], words].concat());
        let said = error(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert_eq!(files(&self.games("gen2-256")), before, "{said}");
        said
    }

    fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.0.path()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn name(seed: u32) -> String {
    format!("games-seed{seed}-9.chuhe")
}

fn shard(net: &str, seed: u32) -> Vec<u8> {
    format!("{net}, seed {seed}").into_bytes()
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Names and bytes of a folder's files.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entry = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    let mut files: Vec<_> = entries.map(|it| entry(it.unwrap())).collect();
    files.sort();
    files
}

fn serve(folder: PathBuf) -> Listener {
    Listener::answering(move |request| match fs::read(folder.join(request.path.trim_start_matches('/'))) {
        Ok(bytes) => Response::new(200, "application/octet-stream", bytes),
        Err(_) => Response::new(404, "text/plain", "there is no such file"),
    })
    .unwrap()
}

#[test]
fn games_come_from_a_folder_and_from_an_address() {
    let tree = Tree::new();
    let server = serve(tree.path("release"));
    for place in ["release".to_owned(), format!("file://{}", tree.path("release").display()), server.url()] {
        let output = tree.run(&["all", "--from", &place]);
        assert!(output.status.success(), "{}", error(&output));
        for (net, _) in NETS {
            let expected = [1, 2].map(|seed| (name(seed), shard(net, seed)));
            assert_eq!(files(&tree.games(net)), expected, "{net} from {place}");
        }
        fs::remove_file(tree.games("gen2-256").join(name(2))).unwrap();
        let listed = String::from_utf8(tree.run(&[]).stdout).unwrap();
        assert!(listed.ends_with("gen2-256: 1 of 2 shards are here\n"), "{listed}");
        let said = error(&tree.run(&["gen2-256", "--from", &place]));
        assert!(said.starts_with("scripts/games: 1 shards of gen2-256 from "), "{said}");
        // With its games here, a tree makes the same archives, from any place.
        tree.release("again");
        assert_eq!(files(&tree.path("again")), files(&tree.path("release")));
        fs::remove_dir_all(tree.path("again")).unwrap();
        fs::remove_dir_all(tree.games("gen2-256")).unwrap();
    }
}

#[test]
fn games_come_from_the_history() {
    let tree = Tree::new();
    assert_eq!(error(&tree.run(&["all", "--from", "release"])).lines().count(), 3);
    tree.git(&["init", "--quiet"]);
    tree.git(&["add", "nets"]);
    tree.git(&["commit", "--quiet", "--message", "games"]);
    let revision = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["rm", "--quiet", "-r", "nets/gen2-256/games"]);
    tree.git(&["commit", "--quiet", "--message", "no games"]);

    let script = tree.path("scripts/tools/games.py");
    let text = fs::read_to_string(&script).unwrap();
    let known = text.split("\nREVISION = \"").nth(1).unwrap().split('"').next().unwrap();
    let said = tree.refusal(&[]);
    assert!(said.contains("are neither here nor in this clone's history") && said.contains(known), "{said}");
    fs::write(&script, text.replace(known, &revision)).unwrap();
    let said = error(&tree.run(&["all"]));
    assert_eq!(said, "scripts/games: 2 shards of gen2-256 from this clone's history\n");
    assert_eq!(files(&tree.games("gen2-256")), [1, 2].map(|seed| (name(seed), shard("gen2-256", seed))));
}

#[test]
fn games_without_a_source_are_refused() {
    let tree = Tree::new();
    let said = tree.refusal(&[]);
    assert!(said.contains("neither here nor in this clone's history: name a release by CHUHE_RELEASES"), "{said}");
    fs::remove_file(tree.archive()).unwrap();
    let server = serve(tree.path("release"));
    let url = server.url();
    for (place, reason) in [("release", "No such file or directory"), (url.as_str(), "the status is 404")] {
        let said = tree.refusal(&["--from", place]);
        assert_eq!(said, format!("scripts/games: {place}/{ARCHIVE} could not be fetched: {reason}\n"));
    }
    let said = tree.refusal(&["gen9-256"]);
    assert!(said.starts_with("scripts/games: there are no games of `gen9-256`; there are those of gen0-"), "{said}");
}

#[test]
fn changed_games_are_refused() {
    let tree = Tree::new();
    let archive = fs::read(tree.archive()).unwrap();
    let text = |from: &str, to: &str| {
        let at = archive.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
        [&archive[..at], to.as_bytes(), &archive[at + from.len()..]].concat()
    };
    let server = serve(tree.path("release"));
    let url = server.url();
    for place in ["release", &url] {
        fs::write(tree.archive(), text("256, seed 2", "256, seed 3")).unwrap();
        let said = tree.refusal(&["--from", place]);
        let (found, expected) = (Digest::of(b"gen2-256, seed 3"), Digest::of(&shard("gen2-256", 2)));
        let digests = format!("has SHA-256 {found}, not {expected}; nothing was written\n");
        assert_eq!(said, format!("scripts/games: {} of {place}/{ARCHIVE} {digests}", name(2)));
        // Cut in the second entry's bytes.
        for bytes in [&archive[..1540], b"<html>"] {
            fs::write(tree.archive(), bytes).unwrap();
            let said = tree.refusal(&["--from", place]);
            assert!(said.contains(&format!("{place}/{ARCHIVE} is not an archive of games: ")), "{said}");
        }
        // Cut between the entries, and in the second one's header.
        for length in [1024, 1300] {
            fs::write(tree.archive(), &archive[..length]).unwrap();
            let said = tree.refusal(&["--from", place]);
            assert!(said.ends_with(&format!("has no {}; nothing was written\n", name(2))), "{said}");
        }
    }

    fs::write(tree.archive(), &archive).unwrap();
    assert_eq!(tree.run(&["gen2-256", "--from", "release"]).status.code(), Some(0));
    fs::write(tree.games("gen2-256").join(name(1)), "another").unwrap();
    let said = tree.refusal(&["--from", "release"]);
    assert!(said.ends_with("is not the shard of third.json; remove it to fetch that one\n"), "{said}");
}
