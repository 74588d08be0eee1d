//! `chuhe match`: a match between two engines.

mod answer;
pub(crate) mod entrant;
pub(crate) mod games;
mod progress;
pub(crate) mod record;
mod side_limits;
pub(crate) mod terms;

use std::{
    fs::File,
    io::{self, Write},
    ops::ControlFlow,
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use selfplay::{
    Abort, Book, Conditions, Entrant, FaultReport, LoneGame, MatchAborted, MatchPlan, Player, Timer as _, Watcher,
    play_match,
};
use stats::{EloModel, Hypotheses, Pentanomial, Sprt};
use xiangqi::notation::Notation;

use crate::{
    Finding, interrupt, live::LiveArguments, one_line::one_line, parameters, stopwatch::Stopwatch, whole::whole,
};
use answer::Report;
use entrant::Engine;
use games::GameArguments;
use progress::Progress;
use record::PgnWriter;
use side_limits::SideLimits;
use terms::Terms;

/// Play game pairs between two engines, from the same opening with colours swapped, and estimate
/// Elo
///
/// ENGINE is `net:FILE`, `plain` (the evaluation without a net), `published`,
/// `uci:COMMAND[;option=value…]` or `ucci:COMMAND[;option=value…]`. Blanks separate a command's
/// words; quotes group them. Two options of an external engine are ours: `ranks=0` or `ranks=1`
/// sets its numbering of ranks, where it cannot be detected, and `name=…` its name.
///
/// By default an engine with the option `UCI_Variant` plays xiangqi, and its hash size is that of
/// ours. An engine loses the game and is restarted if it crashes, stalls, plays an illegal move,
/// holds a wrong position, or oversteps its time.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The engine under test
    #[arg(long, value_name = "ENGINE")]
    a: Engine,
    /// The engine to compare with
    #[arg(long, value_name = "ENGINE")]
    b: Engine,
    /// Set parameters of A's search, separated by blanks (docs/PARAMETERS.md); A is then ours
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::parse)]
    param: Vec<String>,
    /// Set parameters of B's search
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::parse)]
    param_b: Vec<String>,
    /// Game pairs to play, unless a test decides earlier
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    pairs: u64,
    #[command(flatten)]
    games: GameArguments,
    #[command(flatten)]
    sides: SideLimits,
    #[command(flatten)]
    live: LiveArguments,
    /// Stop when an SPRT of these hypotheses, in normalized Elo, is decided
    #[arg(long, value_name = "E0,E1", allow_hyphen_values = true, value_parser = hypotheses)]
    sprt: Option<Hypotheses>,
    /// Write the games to a new PGN file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Move notation of the file: uci, uci1, ucci, iccs, wxf, chinese (simplified) or
    /// `chinese_traditional`
    #[arg(long, default_value_t = Notation::Uci)]
    notation: Notation,
    /// Event name in the file
    #[arg(long, value_name = "NAME", default_value = "chuhe match", value_parser = one_line)]
    event: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let test = self.sprt.map(|hypotheses| Sprt::new(EloModel::Normalized, hypotheses));
        if let Some(test) = &test {
            // Hypotheses that are too extreme for any result are rejected before a game is played.
            test.llr(Pentanomial::default()).context("--sprt")?;
        }
        let conditions = self.conditions()?;
        let book = self.games.book()?;
        let timer = Stopwatch::start();
        let engine_settings = self.games.engine_settings(&timer);
        // An engine that cannot play is reported before anything is played or written.
        let engines = [(&self.a, "--a"), (&self.b, "--b")].map(|(engine, flag)| engine.load().context(flag));
        let [a, b] = engines;
        let a = a?.with_parameters(&parameters::joined(&self.param, "--param")?).context("--param")?;
        let b = b?.with_parameters(&parameters::joined(&self.param_b, "--param-b")?).context("--param-b")?;
        let probed = [(&a, "--a"), (&b, "--b")]
            .map(|(engine, flag)| engine.probe(&engine_settings).map_err(anyhow::Error::msg).context(flag));
        let [one, other] = probed;
        let profiles = [one?, other?];
        let names = distinct(profiles.each_ref().map(|profile| profile.name.clone()));
        let terms = Terms::new(&self.games, book.as_ref()).with_sides(&conditions);
        let pgn = PgnWriter::new(&names, self.games.rules, conditions, &terms, &self.event, self.notation)
            .with_nets([a.net_hash(), b.net_hash()]);
        let file = match &self.pgn {
            Some(path) => Some(File::create_new(path).with_context(|| format!("--pgn: {}", path.display()))?),
            None => None,
        };
        let mut record = Record { file, reported_faults: 0 };
        let live = self.live.start(&timer)?;
        let watcher = live.as_ref().map(|live| -> &dyn Watcher { live });
        let plan = MatchPlan { watcher, ..self.plan(book.clone(), conditions, test, &timer) };
        interrupt::exit_with(match &self.pgn {
            Some(path) => format!("the finished pairs are in {}; a match is not resumed", path.display()),
            None => "no game is kept; `--pgn FILE` writes each pair when it is finished".to_owned(),
        });
        let mut progress = Progress::new(self.pairs, plan.test, live.as_ref());
        if let Some(live) = &live {
            live.set_match(&names, plan.conditions, String::new());
            if let Some(address) = live.address() {
                progress.announce(&format!("live page: {address}"))?;
            }
        }
        let blind = names.iter().zip(&profiles).filter(|(_, profile)| !profile.shows_position);
        let blind: Vec<_> = blind.map(|(name, _)| name.as_str()).collect();
        progress.announce(&self.headline(&names, &conditions, book.as_ref(), &blind))?;
        for (name, profile) in names.iter().zip(&profiles) {
            for remark in &profile.remarks {
                progress.announce(&format!("{name}: {remark}"))?;
            }
        }
        let enter = |entrant: Entrant| -> std::result::Result<Box<dyn Player + '_>, String> {
            match entrant {
                Entrant::A => a.enter(&engine_settings),
                Entrant::B => b.enter(&engine_settings),
            }
        };
        let result = play_match(&plan, &enter, |pair, standing| {
            let games = [false, true].map(|second| pgn.write(pair.number, second, &pair.games[usize::from(second)]));
            let kept = record.keep(&games, &names, &standing.faults, &mut progress);
            kept.and_then(|()| progress.show(standing, timer.now())).map_err(|error| output(&error))?;
            Ok(ControlFlow::Continue(()))
        });
        progress.finish()?;
        // An aborted match keeps its counts, and the game before the failure is recorded.
        let (standing, why) = match result {
            Ok(standing) => (standing, None),
            Err(broken) => {
                let MatchAborted { mut why, standing, lone_game } = *broken;
                if let Some(LoneGame { pair, game }) = lone_game {
                    let game = pgn.write(pair, false, &game);
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

    fn conditions(&self) -> Result<Conditions> {
        let time_controls = self.sides.time_controls(self.games.time_control())?;
        Ok(self.games.conditions(time_controls, self.sides.decider))
    }

    fn plan<'a>(
        &self,
        book: Option<Book>,
        conditions: Conditions,
        test: Option<Sprt>,
        timer: &'a Stopwatch,
    ) -> MatchPlan<'a> {
        MatchPlan {
            first_pair: 0,
            pairs: self.pairs,
            threads: self.games.threads.get(),
            openings: self.games.openings(book),
            conditions,
            test,
            timer,
            watcher: None,
        }
    }

    /// Describes the match in one line. The position of a `blind` engine cannot be checked.
    fn headline(&self, names: &[String; 2], conditions: &Conditions, book: Option<&Book>, blind: &[&str]) -> String {
        let [a, b] = names;
        let blind = match blind {
            [] => String::new(),
            names => format!("; positions of {} cannot be checked", names.join(" and ")),
        };
        let [of_a, of_b] = conditions.time_controls;
        let limits = if of_a == of_b { of_a.to_string() } else { format!("{of_a} (A) and {of_b} (B)") };
        format!("{a} against {b}: {}{blind}", self.games.description(&limits, conditions.decider, book))
    }
}

fn output(error: &io::Error) -> Abort {
    Abort::Output(format!("--pgn: {error}"))
}

/// The record of games and faults.
struct Record {
    file: Option<File>,
    /// The number of reported faults.
    reported_faults: usize,
}

impl Record {
    /// Records the games of one pair, and reports new faults.
    fn keep(
        &mut self,
        games: &[String],
        names: &[String; 2],
        faults: &[FaultReport],
        progress: &mut Progress<'_>,
    ) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(games.concat().as_bytes())?;
        }
        for fault in &faults[self.reported_faults..] {
            // Without a file, the game is printed.
            let game = if self.file.is_none() { games.get(usize::from(fault.second)) } else { None };
            let name = &names[usize::from(fault.entrant == Entrant::B)];
            progress.fault(name, fault, game.map(String::as_str))?;
        }
        self.reported_faults = faults.len();
        Ok(())
    }
}

/// Makes the two names distinct.
fn distinct([a, b]: [String; 2]) -> [String; 2] {
    if a == b { [format!("{a} (A)"), format!("{b} (B)")] } else { [a, b] }
}

fn hypotheses(text: &str) -> Result<Hypotheses, String> {
    let (elo0, elo1) = text.split_once(',').ok_or("expected E0,E1, as in `0,10`")?;
    let elo = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
    Hypotheses::new(elo(elo0)?, elo(elo1)?).map_err(|error| error.to_string())
}
