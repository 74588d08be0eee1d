//! `chuhe tournament`: a tournament of several engines.
//!
//! The schedule is a function of the arguments and the games so far. Each encounter is a match of
//! pairs from the same openings. Every finished pair is recorded before it counts, so that a killed
//! tournament is resumed at the next pair.

mod crosstable;
mod encounter;
mod event;
mod journal;
mod limit;
mod schedule;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use selfplay::{Book, TimeControl};
use serde_json::json;
use xiangqi::notation::Notation;

use crate::{
    Finding, date, interrupt,
    live::{LiveArguments, LiveView},
    live_line::LiveLine,
    matches::{
        entrant::{Engine, EngineSettings, Loaded},
        games::GameArguments,
        terms::Terms,
    },
    one_line::one_line,
    stopwatch::Stopwatch,
    whole::whole,
};
use crosstable::Crosstable;
use event::{Event, Stand};
use journal::Journal;
use limit::{Odds, limit};
use schedule::{Kind, Schedule};

/// Play a tournament of several engines, and rate them
///
/// ENGINE is as in `chuhe match`. Every encounter has the same number of game pairs, from the same
/// openings. A win is worth two points, a draw one; in a Swiss tournament a won encounter is worth
/// two. The order of a round robin is that of the Berger tables of the World rules. Their Article
/// 10 separates engines with equal points.
///
/// A tied encounter of a knockout is followed by a pair of rapid games, then by the decider of the
/// Asian rules. That is one game: Black has two thirds of the rapid limit, and wins a draw.
///
/// With `--record` each finished pair is written to a file. The same command continues a tournament
/// that was stopped or killed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An engine; give two or more
    #[arg(long = "engine", value_name = "ENGINE", required = true)]
    engines: Vec<Engine>,
    /// The schedule. In a gauntlet the first engine meets all others
    #[arg(long, value_enum, default_value_t = Kind::RoundRobin)]
    kind: Kind,
    /// Rounds of a Swiss tournament [default: as many as a knockout would have]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Game pairs in each encounter
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    pairs: u64,
    #[command(flatten)]
    games: GameArguments,
    /// Give an engine, by its number from 1, a limit of its own, as in `2:nodes=500`,
    /// `2:movetime=100` or `2:tc=10+0.1`
    #[arg(long, value_name = "NUMBER:LIMIT")]
    odds: Vec<Odds>,
    /// Limit of rapid games in a knockout, as in `nodes=500` [default: a quarter of each engine's
    /// limit, and a sixth of its increment]
    #[arg(long, value_name = "LIMIT", value_parser = limit)]
    rapid: Option<TimeControl>,
    /// Play only deciders of the Asian rules: Black has two thirds of its limit, and a draw is
    /// Black's win
    #[arg(long)]
    decider: bool,
    #[command(flatten)]
    live: LiveArguments,
    /// Write each finished pair to this file; if it exists, resume its tournament
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the games to a PGN file, which a resumed tournament continues
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Move notation of the PGN file: uci, uci1, ucci, iccs, wxf, chinese (simplified) or
    /// `chinese_traditional`
    #[arg(long, default_value_t = Notation::Uci)]
    notation: Notation,
    /// Event name in the files
    #[arg(long, value_name = "NAME", default_value = "chuhe tournament", value_parser = one_line)]
    event: String,
    /// Write the crosstable as a page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How a game of this event begins in PGN.
fn tag_start(event: &str) -> String {
    format!("[Event \"{}\"]\n", event.replace('\\', "\\\\").replace('"', "\\\""))
}

fn page(path: &Path) -> String {
    format!("--html: {}", path.display())
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        if self.engines.len() < 2 {
            bail!("--engine: a tournament has two engines or more");
        }
        let schedule = self.schedule()?;
        let limits = self.limits()?;
        let book = self.games.book()?;
        let timer = Stopwatch::start();
        let settings = self.games.engine_settings(&timer);
        let (engines, names) = self.load(&settings)?;
        let terms = Terms::new(&self.games, book.as_ref());
        let mut header = json!({
            "chuhe_tournament": 1,
            "kind": self.kind,
            "engines": names,
            "pairs": self.pairs,
            "time_control": self.games.time_control().map(|limit| limit.to_string()),
            "rules": self.games.rules.name(),
            "random_plies": self.games.random_plies(),
            "terms": terms,
            "event": self.event,
            "date": date::now().0,
            "pgn": self.pgn.as_ref().map(|_| self.notation.name()),
        });
        // Records without these are of tournaments without them.
        if self.kind == Kind::Swiss {
            header["rounds"] = json!(schedule.swiss_rounds);
        }
        if !self.odds.is_empty() {
            header["limits"] = limits.iter().map(ToString::to_string).collect();
        }
        let outside: serde_json::Map<_, _> = names
            .iter()
            .zip(&engines)
            .filter_map(|(name, engine)| Some((name.clone(), json!(engine.program_digest()?))))
            .collect();
        if !outside.is_empty() {
            header["outside_engines"] = outside.into();
        }
        if let Some(rapid) = self.rapid {
            header["rapid"] = json!(rapid.to_string());
        }
        if self.decider {
            header["decider"] = json!(true);
        }
        let mut journal = Journal::open(self.record.as_deref(), &header).context("--record")?;
        journal.check(schedule, self.pairs).context("--record")?;
        let start = tag_start(&self.event);
        let pgn = self.pgn.as_deref().map(|path| journal.open_pgn(path, &start)).transpose().context("--pgn")?;
        if let Some(path) = &self.html {
            // A path that cannot be written is reported before a game is played.
            OpenOptions::new().append(true).create(true).open(path).with_context(|| page(path))?;
        }
        journal.begin().context("--record")?;
        let view = self.live.start(&timer)?;
        let mut event = Event {
            arguments: self,
            pgn,
            journal,
            names,
            nets: engines.iter().map(Loaded::net_hash).collect(),
            terms,
            schedule,
            limits,
            view: view.as_ref(),
            line: LiveLine::with_view(view.as_ref()),
        };
        interrupt::exit_with(match &self.record {
            Some(path) => format!("the finished pairs are in {}; the same command continues", path.display()),
            None => "no pair is kept; with `--record FILE` the same command continues".to_owned(),
        });
        let resumed = event.journal.pairs.len();
        event.line.announce(&format!("{}: {}", self.event, self.description(book.as_ref())))?;
        if let Some(address) = view.as_ref().and_then(LiveView::address) {
            event.line.announce(&format!("live page: {address}"))?;
        }
        if resumed > 0 {
            event.line.announce(&format!("resumed after {resumed} pairs"))?;
        }
        let book_name = self.games.openings_name(book.as_ref());
        let (rounds, broken) = event.play(&Stand { engines, settings, book, timer: &timer });
        event.line.end()?;
        let table = Crosstable::new(self.kind, &event.names, self.pairs, &event.journal.pairs, &rounds);
        if let Some(path) = &self.html {
            fs::write(path, table.html(&self.event, &self.facts(&event, book_name))).with_context(|| page(path))?;
        }
        if self.json {
            let answer = json!({ "tournament": event.journal.header, "standings": table.rows(), "encounters": table.meetings(),
                                 "rounds": rounds });
            writeln!(out, "{answer}")?;
        } else {
            write!(out, "{table}")?;
        }
        match broken {
            None => Ok(Finding::Holds),
            Some(error) if matches!(self.kind, Kind::Swiss | Kind::Knockout) => {
                Err(error.context("the table is of the games before the end, its places are of the finished rounds"))
            }
            Some(error) => Err(error.context("the table is of the games before the end")),
        }
    }

    /// The facts about the tournament for its page.
    fn facts(&self, event: &Event<'_>, openings: String) -> Vec<(&'static str, String)> {
        let limits = event.names.iter().zip(&event.limits);
        let limits = match self.games.time_control() {
            Some(common) if self.odds.is_empty() => common.to_string(),
            _ => limits.map(|(name, limit)| format!("{name}: {limit}")).collect::<Vec<_>>().join("; "),
        };
        let of_limits = |limit: &dyn Fn(TimeControl) -> TimeControl| {
            let own: Vec<_> = event.limits.iter().map(|common| limit(*common).to_string()).collect();
            if own.windows(2).all(|pair| pair[0] == pair[1]) {
                return own[0].clone();
            }
            event.names.iter().zip(own).map(|(name, own)| format!("{name}: {own}")).collect::<Vec<_>>().join("; ")
        };
        let rapid_limit = |common: TimeControl| self.rapid.unwrap_or_else(|| common.rapid());
        let is_knockout = self.kind == Kind::Knockout;
        let rapid = is_knockout.then(|| ("rapid games", format!("a pair after a tie: {}", of_limits(&rapid_limit))));
        let decider = if is_knockout {
            let black = of_limits(&|common| rapid_limit(common).two_thirds());
            Some(format!("one game after tied rapid games; Black wins a draw and has {black}; not counted for Elo"))
        } else {
            self.decider.then(|| "Black has two thirds of its limit and wins a draw".to_owned())
        };
        let decider = decider.map(|terms| ("decider", terms));
        let date = event.journal.header["date"].as_str().map(|date| ("begun", date.to_owned()));
        let fixed = [
            ("schedule", self.kind.to_string()),
            ("limits", limits),
            (
                "games",
                format!("{} in each encounter{}", 2 * self.pairs, if is_knockout { " without a tie" } else { "" }),
            ),
            ("openings", openings),
            ("rules", self.games.rules.to_string()),
        ];
        // The openings are named above.
        let terms = event.terms.tags().into_iter().filter(|(name, _)| !["Seed", "Book"].contains(name));
        date.into_iter().chain(fixed).chain(rapid).chain(decider).chain(terms).collect()
    }

    fn schedule(&self) -> Result<Schedule> {
        let (kind, players) = (self.kind, self.engines.len());
        // With an odd number of players each has a bye in one of them.
        let max = players - 1 + players % 2;
        let swiss_rounds = match self.rounds {
            Some(_) if kind != Kind::Swiss => bail!("--rounds: only a Swiss tournament (--kind swiss) has a choice"),
            Some(rounds) if !(1..=max).contains(&rounds) => {
                bail!("--rounds: no two of {players} engines meet twice, so there are at most {max} rounds")
            }
            Some(rounds) => rounds,
            None => players.next_power_of_two().ilog2() as usize,
        };
        if self.rapid.is_some() && kind != Kind::Knockout {
            bail!("--rapid: only a knockout (--kind knockout) has rapid games");
        }
        Ok(Schedule { kind, players, swiss_rounds })
    }

    /// The limits of the engines.
    fn limits(&self) -> Result<Vec<TimeControl>> {
        let mut limits = vec![self.games.time_control(); self.engines.len()];
        for (index, &Odds { number, limit }) in self.odds.iter().enumerate() {
            if self.odds[..index].iter().any(|other| other.number == number) {
                bail!("--odds: engine {number} has two limits");
            }
            let own = limits.get_mut(number.wrapping_sub(1));
            *own.with_context(|| format!("--odds: engines have the numbers 1 to {}", self.engines.len()))? =
                Some(limit);
        }
        let has_limit = |(number, limit): (usize, Option<TimeControl>)| {
            limit.with_context(|| {
                format!("no limit for engine {number}: give --nodes, --movetime or --tc, or --odds {number}:LIMIT")
            })
        };
        (1..).zip(limits).map(has_limit).collect()
    }

    fn description(&self, book: Option<&Book>) -> String {
        let common = self.games.time_control().map_or_else(|| "own limits".to_owned(), |limit| limit.to_string());
        format!("{}{}", self.games.description(&common, self.decider, book), self.odds_list())
    }

    /// The limits that differ, each after a comma.
    fn odds_list(&self) -> String {
        let odds = self.odds.iter().map(|Odds { number, limit }| format!(", {limit} for engine {number}"));
        odds.collect::<Vec<_>>().concat()
    }

    /// Loads the engines and starts each once. Returns them with distinct names.
    fn load(&self, settings: &EngineSettings<'_>) -> Result<(Vec<Loaded>, Vec<String>)> {
        let (mut engines, mut names) = (Vec::new(), Vec::<String>::new());
        for (number, engine) in self.engines.iter().enumerate() {
            let place = || format!("--engine (number {})", number + 1);
            let engine = engine.load().with_context(place)?;
            let profile = engine.probe(settings).map_err(anyhow::Error::msg).with_context(place)?;
            let same = engines.len() - names.iter().filter(|name| **name != profile.name).count();
            names.push(if same == 0 { profile.name } else { format!("{} ({})", profile.name, number + 1) });
            engines.push(engine);
        }
        Ok((engines, names))
    }
}
