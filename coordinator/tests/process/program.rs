//! The coordinator's program as a process, and games for it.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command},
};

use coordinator_core::objects::Objects;
use dataset::shard::ShardWriter;
use engine::Evaluation;
use protocol::api::work::Lease;
use selfplay::selfplay::Run;

use crate::started;

/// Games of a move or two, without limit.
const CHANGES: [(&str, &str); 3] = [
    ("hard_nodes = 60", "hard_nodes = 1"),
    ("ply_cap = 60", "ply_cap = 8"),
    ("positions = 400", "positions = 1_000_000_000"),
];

/// A coordinator's folder, database and objects.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) database: String,
    /// The object store, and the environment to reach it.
    pub(crate) objects: String,
    pub(crate) environment: Vec<(String, String)>,
}

impl Place {
    /// All data in one folder.
    pub(crate) fn folder(folder: &Path) -> Self {
        let database = format!("sqlite:{}", folder.join("chuhe.db").display());
        Self::with(folder, database)
    }

    /// A folder, with the database elsewhere.
    pub(crate) fn with(folder: &Path, database: String) -> Self {
        let objects = folder.join("objects").display().to_string();
        Self { folder: folder.to_owned(), database, objects, environment: Vec::new() }
    }

    pub(crate) fn objects(&self) -> Objects {
        match self.environment.as_slice() {
            [] => Objects::open(&self.objects).unwrap(),
            environment => Objects::open_with(&self.objects, environment.iter().cloned()).unwrap(),
        }
    }

    /// Adds the options of this place to a command.
    pub(crate) fn add_options(&self, command: &mut Command) {
        command.arg("--data").arg(&self.folder).args(["--database", &self.database, "--objects", &self.objects]);
        command.envs(self.environment.iter().cloned());
    }
}

/// Runs an `admin` command and returns its output.
pub(crate) fn admin(place: &Place, arguments: &[&str]) -> String {
    run(place, &[&["admin"], arguments].concat())
}

/// Creates the database.
pub(crate) fn migrate(place: &Place) {
    run(place, &["migrate"]);
}

fn run(place: &Place, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Creates an account and a campaign; returns the account's token.
pub(crate) fn prepare(place: &Place) -> String {
    let file = place.folder.join("short.toml");
    std::fs::write(&file, started::campaign(&CHANGES)).unwrap();
    migrate(place);
    admin(place, &["user", "create", "ann"]);
    let token = admin(place, &["token", "create", "ann"]);
    admin(place, &["campaign", "create", file.to_str().unwrap()]);
    token
}

/// The same with several tokens.
pub(crate) fn prepare_many(place: &Place, tokens: usize) -> Vec<String> {
    let first = prepare(place);
    std::iter::once(first).chain((1..tokens).map(|_| admin(place, &["token", "create", "ann"]))).collect()
}

/// Starts a coordinator, under another program if one is named, and waits until it listens.
pub(crate) fn start(by: &[&str], place: &Place) -> (Child, u16) {
    let own = env!("CARGO_BIN_EXE_chuhe-coordinator");
    let mut command = Command::new(by.first().copied().unwrap_or(own));
    if let Some((_, arguments)) = by.split_first() {
        command.args(arguments).arg(own);
    }
    place.add_options(&mut command);
    command.args(["serve", "--rate", "100000", "--burst", "100000"]).env("CHUHE_LOG", "info");
    started::serve(&mut command, drop)
}

/// Plays a lease's games.
pub(crate) fn play(lease: &Lease) -> Vec<u8> {
    let mut run = Run::from_header(&lease.terms, Evaluation::Plain, None, None).unwrap();
    run.games = lease.games;
    let mut bytes = Vec::new();
    let mut writer = ShardWriter::new(&mut bytes, lease.terms.clone()).unwrap();
    run.play(|_, finished| writer.add(&finished.record)).unwrap();
    writer.finish().unwrap();
    bytes
}
