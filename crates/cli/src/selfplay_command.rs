//! `chuhe selfplay`: plays training games.

mod resume;

use std::{collections::BTreeMap, io::Write, num::NonZeroUsize, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result, bail};
use dataset::{
    AtomicFile, Record,
    shard::{EXTENSION, ShardWriter},
};
use engine::{Evaluation, Parameters};
use nnue::{Kernel, Net};
use selfplay::{
    Book, Control, Filter, Openings, Reason, RunDigest,
    selfplay::{GameSettings, Run},
};
use serde::Serialize;
use xiangqi::rules::{Outcome, RuleSet};

use crate::{
    Finding,
    interrupt::{self, Interrupted},
    parameters,
    progress::Progress,
    stopwatch, threads,
    thresholds::Thresholds,
    whole::whole,
};
use resume::Kept;

/// Play training games of a net against itself
///
/// A game is a function of net, rules, settings and seed. The same command always plays the same
/// games and prints the same digest, with any number of threads.
///
/// The games are written to a shard in DIR, `games-seed<S>-<N>.chuhe`
/// (`games-seed<S>-<N>-from<F>.chuhe` if the first is not 0), which appears when all games are
/// complete. Until then they are in a hidden `.part` file beside it. After Ctrl-C or a kill the
/// same command resumes from there and writes the same shard. `chuhe data recover` makes a shard of
/// a `.part` file.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of games
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    games: u64,
    /// Number of the first game; a run can be played in parts
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Hard node limit of a search
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    nodes: u64,
    /// Soft node limit: no further iteration starts after N nodes [default: none]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    soft_nodes: Option<u64>,
    /// Seed of the run, from which its games' seeds are derived
    #[arg(long, value_name = "S", value_parser = whole::<u64>(..))]
    seed: u64,
    /// Games played in parallel
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Folder for the games; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The net that plays [default: the plain evaluation]
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Opening book (FEN or EPD, one a line)
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Random moves at the start [default: 8, or none with a book]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=200))]
    random_plies: Option<u32>,
    /// Greatest imbalance of random openings, in centipawns, by a short search
    #[arg(long, value_name = "SCORE", value_parser = whole::<i32>(0..=30_000))]
    opening_bound: Option<i32>,
    /// Nodes of that search
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "opening_bound",
          value_parser = whole::<u64>(1..))]
    opening_nodes: u64,
    /// The rulebook: cxr, wxf, axf, wikibook or simple
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// Hash table size
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = whole::<u32>(1..=65_536))]
    hash: u32,
    #[command(flatten)]
    thresholds: Thresholds,
    /// Set parameters of the search, separated by blanks (docs/PARAMETERS.md)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::parse)]
    param: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    /// The net's hash; none for the plain evaluation.
    net: Option<String>,
    book: Option<String>,
    /// The overridden parameters of the search.
    #[serde(skip_serializing_if = "String::is_empty")]
    parameters: String,
    games: u64,
    /// All moves, including openings.
    plies: u64,
    /// Positions with a score.
    positions: u64,
    outcomes: BTreeMap<&'static str, u64>,
    reasons: BTreeMap<&'static str, u64>,
    /// Of all games in order.
    digest: String,
    /// Games of an interrupted run, which are not in `nodes` and `seconds`.
    #[serde(skip_serializing_if = "is_zero")]
    resumed: u64,
    nodes: u64,
    seconds: f64,
    file: PathBuf,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let kernel = Kernel::from_env()?;
        let net = self.net.as_ref().map(Net::from_file).transpose().context("--net")?.map(Arc::new);
        let net_hash = net.as_ref().map(|net| net.hash().to_string());
        let evaluation = net.map_or(Evaluation::Plain, |net| Evaluation::Net(net, kernel));
        let book = self.book.as_ref().map(|path| Book::from_file(path, self.rules)).transpose().context("--book")?;
        let book_hash = book.as_ref().map(|book| book.hash().to_string());
        let mut run = self.plan(evaluation, parameters::joined(&self.param, "--param")?, book);

        if self.first.checked_add(self.games).is_none() {
            bail!("--first: so many games from there on have no numbers");
        }
        let from = if self.first == 0 { String::new() } else { format!("-from{}", self.first) };
        let path = self.out.join(format!("games-seed{}-{}{from}.{EXTENSION}", self.seed, self.games));
        let control = Control::default();
        let stop = control.clone();
        interrupt::on_request(move || stop.stop());
        let file = AtomicFile::begin(&path).context("--out")?;
        let kept = Kept::find(&path, &run.header(), self.games)?;
        let mut shard = ShardWriter::new(file, run.header()).context("--out")?;
        let mut answer = Answer {
            net: net_hash,
            book: book_hash,
            parameters: run.parameters.to_string(),
            games: 0,
            plies: 0,
            positions: 0,
            outcomes: [Outcome::RedWins, Outcome::BlackWins, Outcome::Draw].map(|it| (it.name(), 0)).into(),
            reasons: Reason::all().map(|reason| (reason.name(), 0)).collect(),
            digest: String::new(),
            resumed: 0,
            nodes: 0,
            seconds: 0.0,
            file: path,
        };
        let mut digest = RunDigest::default();
        let mut progress = Progress::new("games", Some(self.games));
        if let Some(games) = kept.shard() {
            for game in games.records() {
                let (_, record) = game.context("--out")?;
                answer.add(&record);
                digest.add(&record);
                shard.add(&record).context("--out")?;
            }
            answer.resumed = answer.games;
            progress.resume(answer.resumed);
            progress.announce(&format!("resumed after {} games", answer.resumed))?;
            run.first += answer.resumed;
            run.games -= answer.resumed;
        }
        let (result, time) = stopwatch::timed(|| {
            run.play_with_control(&control, |_, finished| {
                answer.add(&finished.record);
                answer.nodes += finished.nodes;
                digest.add(&finished.record);
                progress.count(1);
                shard.add(&finished.record)
            })
        });
        result?;
        drop(progress);
        let file = shard.finish().context("--out")?.0;
        if answer.games < self.games {
            file.keep().context("--out")?;
            kept.remove();
            let (games, all, folder) = (answer.games, self.games, self.out.display());
            let text = format!("{games} of {all} games are kept in {folder}; the same command continues");
            return Err(Interrupted(text).into());
        }
        file.finish().context("--out")?;
        kept.remove();
        answer.digest = digest.digest().to_string();
        answer.seconds = time.as_secs_f64();
        if self.json {
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            answer.print(out)?;
        }
        Ok(Finding::Holds)
    }

    fn plan(&self, evaluation: Evaluation, parameters: Parameters, book: Option<Book>) -> Run {
        let plies = self.random_plies.unwrap_or(if book.is_some() { 0 } else { 8 });
        let filter = self.opening_bound.map(|bound| Filter { nodes: self.opening_nodes, bound });
        Run {
            evaluation,
            opponent: None,
            parameters,
            timed: None,
            settings: GameSettings {
                hash_mebibytes: self.hash as usize,
                soft_nodes: self.soft_nodes,
                hard_nodes: self.nodes,
                adjudication: self.thresholds.adjudication(),
                ply_cap: self.thresholds.ply_cap,
            },
            openings: Openings { rules: self.rules, book, plies, filter: filter.filter(|_| plies > 0) },
            seed: self.seed,
            first: self.first,
            games: self.games,
            threads: self.threads.get(),
        }
    }
}

impl Answer {
    fn add(&mut self, record: &Record) {
        self.games += 1;
        self.plies += (record.opening.moves.len() + record.moves.len()) as u64;
        self.positions += record.moves.len() as u64;
        *self.outcomes.entry(record.outcome.name()).or_default() += 1;
        *self.reasons.entry(record.reason.name()).or_default() += 1;
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "file {}", self.file.display())?;
        for (what, counts) in [("outcome", &self.outcomes), ("reason", &self.reasons)] {
            for (name, count) in counts.iter().filter(|(_, count)| **count > 0) {
                writeln!(out, "{what} {name} {count}")?;
            }
        }
        writeln!(out, "seconds {:.3}", self.seconds)?;
        writeln!(out, "nodes {}", self.nodes)?;
        writeln!(out, "games {} with {} plies, {} of them scored", self.games, self.plies, self.positions)?;
        writeln!(out, "digest {}", self.digest)?;
        Ok(())
    }
}
