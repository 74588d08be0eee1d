//! `chuhe data relabel`: new scores for the positions of played games.

use std::{
    collections::BTreeMap,
    io::Write,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use dataset::{
    AtomicFile, Header, Record,
    shard::{self, FileSource, Shard, ShardWriter},
};
use engine::Evaluation;
use nnue::{Kernel, Net};
use selfplay::{Control, Relabelling};
use serde::Serialize;
use xiangqi::rules::RuleSet;

use crate::{
    Finding,
    interrupt::{self, Interrupted},
    progress::Progress,
    stopwatch, threads,
    whole::whole,
};

/// Give the positions of shards the scores of another net, or of longer searches
///
/// The moves stay, and the results of games that the rules or an adjudication ended. With `--rules`
/// games end by that rulebook; a game that it does not end has no result, unless it was
/// adjudicated.
///
/// The shards are written to DIR under their own names, each when it is complete; the same command
/// resumes after the last. Their games do not come out of their seeds again, and adjudications do
/// not follow from the new scores: `chuhe data verify` is for the old shards.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder for the new shards; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The net [default: the plain evaluation]
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Hard node limit of a search [default: the shard's]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    nodes: Option<u64>,
    /// Soft node limit of a search [default: the shard's, or none with --nodes]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    soft_nodes: Option<u64>,
    /// The rulebook: cxr, wxf, axf, wikibook or simple [default: the shard's]
    #[arg(long)]
    rules: Option<RuleSet>,
    /// Threads that search; the result does not depend on it
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Answer {
    games: u64,
    positions: u64,
    /// Games that end earlier by the rules.
    shorter_games: u64,
    /// Games with another outcome.
    other_outcomes: u64,
    /// Games without a result that had one.
    lost_results: u64,
    /// Files that were there already.
    kept_files: u64,
    seconds: f64,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let kernel = Kernel::from_env()?;
        let net = self.net.as_ref().map(Net::from_file).transpose().context("--net")?;
        let evaluation = net.map_or(Evaluation::Plain, |net| Evaluation::Net(Arc::new(net), kernel));
        let control = Control::default();
        let stop = control.clone();
        interrupt::on_request(move || stop.stop());
        let mut names = BTreeMap::new();
        for path in &self.files {
            if let Some(other) = names.insert(path.file_name(), path) {
                bail!("{} and {} have the same name", other.display(), path.display());
            }
        }
        let games = self.files.iter().map(|path| Ok(shard::open(path)?.games())).sum::<Result<u64>>()?;
        let mut progress = Progress::new("games", Some(games));
        let mut answer = Answer::default();
        let mut label = |path: &PathBuf| self.label(path, &evaluation, &control, &mut answer, &mut progress);
        let (result, time) = stopwatch::timed(|| self.files.iter().try_for_each(&mut label));
        drop(progress);
        result?;
        answer.seconds = time.as_secs_f64();
        let Answer { games, positions, shorter_games, other_outcomes, lost_results, kept_files, seconds } = answer;
        if self.json {
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            writeln!(out, "seconds {seconds:.3}, {} positions a second", stopwatch::rate(positions, time))?;
            if kept_files > 0 {
                writeln!(out, "shards that were there already: {kept_files}")?;
            }
            let outcomes = format!("{other_outcomes} have another outcome, {lost_results} none any more");
            writeln!(out, "{shorter_games} games end earlier, {outcomes}")?;
            writeln!(out, "{games} games with {positions} positions")?;
        }
        Ok(Finding::Holds)
    }

    fn label(
        &self,
        path: &Path,
        evaluation: &Evaluation,
        control: &Control,
        answer: &mut Answer,
        progress: &mut Progress,
    ) -> Result<()> {
        let shard = shard::open(path)?;
        let relabelling = self.relabelling(path, shard.header(), evaluation)?;
        let target = self.out.join(path.file_name().context("a shard has a name")?);
        let records = read(&shard).with_context(|| path.display().to_string())?;
        if target.try_exists()? {
            let there = shard::open(&target)?;
            let labels = read(&there).with_context(|| target.display().to_string())?;
            let are_same = labels.len() == records.len() && labels.iter().zip(&records).all(is_label_of);
            if there.header() != relabelling.header() || !are_same {
                bail!("{}: a file with other labels is there already", target.display());
            }
            answer.kept_files += 1;
            progress.count(shard.games());
            return Ok(());
        }
        let file = AtomicFile::begin(&target).context("--out")?;
        let mut writer = ShardWriter::new(file, relabelling.header().clone()).context("--out")?;
        let mut before = records.iter();
        relabelling.run(&records, self.threads.get(), control, |record| {
            let old = before.next().expect("there are as many games");
            answer.games += 1;
            answer.positions += record.moves.len() as u64;
            answer.shorter_games += u64::from(record.moves.len() < old.moves.len());
            let has_result = record.reason.is_label();
            answer.other_outcomes += u64::from(has_result && record.outcome != old.outcome);
            answer.lost_results += u64::from(old.reason.is_label() && !has_result);
            progress.count(1);
            writer.add(&record).context("--out")
        })?;
        if before.len() > 0 {
            let text = format!("the complete shards are in {}; the same command continues", self.out.display());
            return Err(Interrupted(text).into());
        }
        writer.finish().context("--out")?.0.finish().context("--out")?;
        Ok(())
    }

    fn relabelling(&self, path: &Path, played: &Header, evaluation: &Evaluation) -> Result<Relabelling> {
        if played.clock.is_some() || played.opponent.is_some() {
            bail!("{}: its games are of a match, not of self-play", path.display());
        }
        let mut settings = played.settings;
        if let Some(nodes) = self.nodes {
            (settings.hard_nodes, settings.soft_nodes) = (nodes, None);
        }
        settings.soft_nodes = self.soft_nodes.or(settings.soft_nodes);
        Ok(Relabelling::new(played, evaluation.clone(), self.rules.unwrap_or(played.rules), settings))
    }
}

fn read(shard: &Shard<FileSource>) -> Result<Vec<Record>> {
    shard.records().map(|record| Ok(record?.1)).collect()
}

/// Whether the first game is the second one with other labels.
fn is_label_of((new, old): (&Record, &Record)) -> bool {
    let is_start = new.opening.start == old.opening.start && new.opening.moves == old.opening.moves;
    is_start
        && new.moves.len() <= old.moves.len()
        && new.moves.iter().zip(&old.moves).all(|(new, old)| new.mv == old.mv)
}
