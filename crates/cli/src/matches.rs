//! `chuhe match`: who is stronger.

mod answer;
mod entrant;
mod progress;
mod record;
mod terms;

use std::{
    fs::File,
    io::{self, Write},
    num::NonZeroUsize,
    ops::ControlFlow,
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context as _, Result};
use selfplay::{
    Abort, Book, BrokenOff, Conditions, Entrant, FaultReport, Filter, LoneGame, MatchPlan, OpeningOrder, Openings,
    Player, TimeControl, Timer as _, play_match,
};
use stats::{EloModel, Hypotheses, Pentanomial, Sprt};
use xiangqi::{notation::Notation, rules::RuleSet};

use crate::{Finding, external::Patience, one_line::one_line, stopwatch::Stopwatch, threads, thresholds::Thresholds};
use answer::Report;
use entrant::Engine;
use progress::Progress;
use record::Scribe;
use terms::Terms;

/// With how many nodes of the plain evaluation openings are looked at.
const OPENING_NODES: u64 = 10_000;

/// Play pairs of games between two engines, from the same opening with colours swapped, and say who is stronger
///
/// ENGINE is `net:FILE`, `plain` (the evaluation without a net), `published`, `uci:COMMAND[;option=value…]` or
/// `ucci:COMMAND[;option=value…]`. Blanks separate a command's words, quotes keep them together. Of an outside engine's
/// options two are ours: `ranks=0` or `ranks=1` says how it counts ranks, where it cannot be found out; `name=…` how it
/// is called. An engine that has an option `UCI_Variant` plays xiangqi, and a hash of the size that ours have, unless told
/// otherwise. An engine that crashes, stalls, plays what is not legal, loses the thread of the game or oversteps its
/// time loses the game, and is started anew.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("limit").required(true))]
pub(crate) struct Arguments {
    /// The engine that is asked about
    #[arg(long, value_name = "ENGINE")]
    a: Engine,
    /// The engine that it is compared with
    #[arg(long, value_name = "ENGINE")]
    b: Engine,
    /// How many pairs of games are played, unless a test decides before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    /// Give each move so many nodes
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Give each move so many milliseconds
    #[arg(long, value_name = "MS", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Give each side a clock in seconds: `10+0.1`, or without increment `60`
    #[arg(long, value_name = "CLOCK", group = "limit")]
    tc: Option<TimeControl>,
    /// How many milliseconds more may be used, for each move or with a clock in all, before a game is lost on time
    #[arg(long, value_name = "MS", default_value_t = 200)]
    grace: u64,
    /// After how many milliseconds of silence, beyond the time that it has, an engine is taken for stalled
    #[arg(long, value_name = "MS", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(1..))]
    watchdog: u64,
    /// A file of positions (FEN or EPD, one a line) to begin from, in an order that the seed shuffles
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// How many random moves are made at the beginning [default: 6, or none with a book]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=200))]
    random_plies: Option<u32>,
    /// How far from even, in hundredths of a pawn by a short search without a net, random openings may be
    #[arg(long, value_name = "SCORE", default_value_t = 150, value_parser = clap::value_parser!(i32).range(0..=30_000))]
    opening_bound: i32,
    /// The seed of the openings
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The rulebook: cxr, wxf, axf, wikibook or simple
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// The size of each engine's hash table
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    #[command(flatten)]
    thresholds: Thresholds,
    /// How many games are played at the same time
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Stop as soon as a test of these hypotheses, in normalized Elo, is decided
    #[arg(long, value_name = "E0,E1", allow_hyphen_values = true, value_parser = hypotheses)]
    sprt: Option<Hypotheses>,
    /// Write the games to a new file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// How the file's moves are written: uci, uci1, ucci, iccs, wxf, `chinese_simplified` or
    /// `chinese_traditional`
    #[arg(long, default_value_t = Notation::Uci)]
    notation: Notation,
    /// How the file's games call the match
    #[arg(long, value_name = "NAME", default_value = "chuhe match", value_parser = one_line)]
    event: String,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let test = self.sprt.map(|hypotheses| Sprt::new(EloModel::Normalized, hypotheses));
        if let Some(test) = &test {
            // A hypothesis too extreme for any results is no test, and is told before a game is played for it.
            test.llr(Pentanomial::default()).context("--sprt")?;
        }
        let book = self.book.as_ref().map(|path| Book::from_file(path, self.rules)).transpose().context("--book")?;
        let timer = Stopwatch::start();
        let patience =
            Patience { grace: Duration::from_millis(self.grace), watchdog: Duration::from_millis(self.watchdog) };
        let equipment = entrant::Equipment { hash_mebibytes: self.hash as usize, patience, timer: &timer };
        // Who cannot play is told before anything is played or written.
        let engines = [(&self.a, "--a"), (&self.b, "--b")].map(|(engine, flag)| engine.load().context(flag));
        let [a, b] = engines;
        let (a, b) = (a?, b?);
        let presented = [(&a, "--a"), (&b, "--b")]
            .map(|(engine, flag)| engine.introduce(&equipment).map_err(anyhow::Error::msg).context(flag));
        let [one, other] = presented;
        let introductions = [one?, other?];
        let names = different(introductions.each_ref().map(|introduction| introduction.name.clone()));
        let terms = Terms::new(self, book.as_ref());
        let scribe = Scribe::new(&names, self.rules, self.time_control(), &terms, &self.event, self.notation);
        let file = match &self.pgn {
            Some(path) => Some(File::create_new(path).with_context(|| format!("--pgn: {}", path.display()))?),
            None => None,
        };
        let mut record = Record { file, known_faults: 0 };
        let plan = self.plan(book.clone(), test, &timer);
        let mut progress = Progress::new(self.pairs, plan.test);
        let blind = names.iter().zip(&introductions).filter(|(_, introduction)| !introduction.shows_position);
        let blind: Vec<_> = blind.map(|(name, _)| name.as_str()).collect();
        progress.announce(&self.headline(&names, book.as_ref(), &blind))?;
        for (name, introduction) in names.iter().zip(&introductions) {
            for remark in &introduction.remarks {
                progress.announce(&format!("{name}: {remark}"))?;
            }
        }
        let enter = |entrant: Entrant| -> std::result::Result<Box<dyn Player + '_>, String> {
            match entrant {
                Entrant::A => a.enter(&equipment),
                Entrant::B => b.enter(&equipment),
            }
        };
        let result = play_match(&plan, &enter, |pair, standing| {
            let games = [false, true].map(|second| scribe.write(pair.number, second, &pair.games[usize::from(second)]));
            let kept = record.keep(&games, &names, &standing.faults, &mut progress);
            kept.and_then(|()| progress.show(standing, timer.now())).map_err(|error| output(&error))?;
            Ok(ControlFlow::Continue(()))
        });
        progress.finish()?;
        // A match that breaks off has counted what it has counted, and the game before the trouble shows it.
        let (standing, why) = match result {
            Ok(standing) => (standing, None),
            Err(broken) => {
                let BrokenOff { mut why, standing, lone_game } = *broken;
                if let Some(LoneGame { pair, game }) = lone_game {
                    let game = scribe.write(pair, false, &game);
                    let kept = record.keep(&[game], &names, &standing.faults, &mut progress);
                    kept.unwrap_or_else(|error| why = output(&error));
                }
                (standing, Some(why))
            }
        };
        let report = Report {
            standing: &standing,
            names: &names,
            terms: &terms,
            test: plan.test.as_ref(),
            time: timer.now(),
            broken_off: why.as_ref().map(ToString::to_string),
        };
        report.write(self.json, out)?;
        why.map_or(Ok(Finding::Holds), |why| Err(why.into()))
    }

    fn time_control(&self) -> TimeControl {
        match (self.nodes, self.movetime, self.tc) {
            (Some(nodes), _, _) => TimeControl::Nodes(nodes),
            (_, Some(time), _) => TimeControl::MoveTime(Duration::from_millis(time)),
            (_, _, Some(clock)) => clock,
            _ => unreachable!("clap requires one of the three"),
        }
    }

    fn plan<'a>(&self, book: Option<Book>, test: Option<Sprt>, timer: &'a Stopwatch) -> MatchPlan<'a> {
        let plies = self.random_plies.unwrap_or(if book.is_some() { 0 } else { 6 });
        let filter = (plies > 0).then_some(Filter { nodes: OPENING_NODES, bound: self.opening_bound });
        let openings = Openings { rules: self.rules, book, plies, filter };
        MatchPlan {
            pairs: self.pairs,
            threads: self.threads.get(),
            openings: OpeningOrder::new(openings, self.seed),
            conditions: Conditions {
                time_control: self.time_control(),
                grace: Duration::from_millis(self.grace),
                adjudication: self.thresholds.adjudication(),
                ply_cap: self.thresholds.ply_cap,
            },
            test,
            timer,
        }
    }

    /// What is played, in one line. Of `blind` engines nobody knows what position they hold.
    fn headline(&self, names: &[String; 2], book: Option<&Book>, blind: &[&str]) -> String {
        let [a, b] = names;
        let openings = match book {
            Some(book) => format!("book {} of {} positions", book.hash(), book.positions().len()),
            None => format!("random openings, seed {}", self.seed),
        };
        let blind = match blind {
            [] => String::new(),
            names => format!("; positions of {} cannot be checked", names.join(" and ")),
        };
        let (time_control, grace, rules) = (self.time_control(), self.grace, self.rules);
        format!("{a} against {b}: {time_control}, grace {grace} ms, {rules} rules, {openings}{blind}")
    }
}

fn output(error: &io::Error) -> Abort {
    Abort::Output(format!("--pgn: {error}"))
}

/// Where games and faults are kept.
struct Record {
    file: Option<File>,
    /// So many were told.
    known_faults: usize,
}

impl Record {
    /// Writes down the games of one pair, and tells the faults that are new.
    fn keep(
        &mut self,
        games: &[String],
        names: &[String; 2],
        faults: &[FaultReport],
        progress: &mut Progress,
    ) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(games.concat().as_bytes())?;
        }
        for fault in &faults[self.known_faults..] {
            // Without a file the game would be lost.
            let game = if self.file.is_none() { games.get(usize::from(fault.second)) } else { None };
            let name = &names[usize::from(fault.entrant == Entrant::B)];
            progress.fault(name, fault, game.map(String::as_str))?;
        }
        self.known_faults = faults.len();
        Ok(())
    }
}

/// The names under which the two play: never the same.
fn different([a, b]: [String; 2]) -> [String; 2] {
    if a == b { [format!("{a} (A)"), format!("{b} (B)")] } else { [a, b] }
}

fn hypotheses(text: &str) -> Result<Hypotheses, String> {
    let (elo0, elo1) = text.split_once(',').ok_or("expected E0,E1, as in `0,10`")?;
    let elo = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
    Hypotheses::new(elo(elo0)?, elo(elo1)?).map_err(|error| error.to_string())
}
