//! The file of a run of self-play: lines of JSON.
//!
//! It has its name only once it is whole: until then it is `.NAME.<process>.part` in the same folder. A file that is
//! there already is never written over.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use selfplay::{Record, selfplay::Run};
use serde::Serialize;

/// A file that is being written.
pub(super) struct GamesFile {
    path: PathBuf,
    part: PathBuf,
    writer: BufWriter<File>,
}

#[derive(Serialize)]
struct Header<'a> {
    format: &'static str,
    net: Option<&'a str>,
    rules: &'static str,
    seed: u64,
    games: u64,
    hash_mebibytes: usize,
    soft_nodes: Option<u64>,
    hard_nodes: u64,
    /// Score and plies.
    adjudicate_win: Option<(i32, u32)>,
    /// Score, plies, and from which ply.
    adjudicate_draw: Option<(i32, u32, u32)>,
    ply_cap: u32,
    book: Option<&'a str>,
    random_plies: u32,
    opening_bound: Option<i32>,
    opening_nodes: Option<u64>,
}

#[derive(Serialize)]
struct Line {
    game: u64,
    seed: u64,
    attempt: u64,
    start: String,
    opening: Vec<String>,
    moves: Vec<(String, Option<i32>)>,
    outcome: &'static str,
    reason: &'static str,
    digest: String,
}

impl GamesFile {
    /// Begins a file that does not exist yet.
    pub(super) fn begin(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
        let path = folder.join(name);
        if path.try_exists().map_err(|error| named(&path, &error))? {
            return Err(exists(&path));
        }
        let part = folder.join(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&part).map_err(|error| named(&part, &error))?;
        Ok(Self { path, part, writer: BufWriter::new(file) })
    }

    pub(super) fn write_header(&mut self, run: &Run, net: Option<&str>, book: Option<&str>) -> io::Result<()> {
        let settings = &run.settings;
        self.write_line(&Header {
            format: "chuhe games, interim 1",
            net,
            rules: run.openings.rules.name(),
            seed: run.seed,
            games: run.games,
            hash_mebibytes: settings.hash_mebibytes,
            soft_nodes: settings.soft_nodes,
            hard_nodes: settings.hard_nodes,
            adjudicate_win: settings.adjudication.win.map(|rule| (rule.score, rule.plies)),
            adjudicate_draw: settings.adjudication.draw.map(|rule| (rule.score, rule.plies, rule.from_ply)),
            ply_cap: settings.ply_cap,
            book,
            random_plies: run.openings.plies,
            opening_bound: run.openings.filter.map(|filter| filter.bound),
            opening_nodes: run.openings.filter.map(|filter| filter.nodes),
        })
    }

    pub(super) fn write_game(&mut self, number: u64, record: &Record) -> io::Result<()> {
        let opening = &record.opening;
        self.write_line(&Line {
            game: number,
            seed: opening.seed,
            attempt: opening.attempt,
            start: opening.start.to_string(),
            opening: opening.moves.iter().map(ToString::to_string).collect(),
            moves: record.moves.iter().map(|scored| (scored.mv.to_string(), scored.score)).collect(),
            outcome: record.outcome.name(),
            reason: record.reason.name(),
            digest: record.digest().to_string(),
        })
    }

    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, line)?;
        self.writer.write_all(b"\n")
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        // Unlike a renaming this fails if somebody has made such a file meanwhile.
        fs::hard_link(&self.part, &self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => named(&self.path, &error),
        })
    }
}

/// What has not been finished is not left behind; what has, has its name.
impl Drop for GamesFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

fn exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists already; nothing is written over", path.display()))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
