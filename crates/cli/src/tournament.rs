//! `chuhe tournament`: a tournament of several engines.
//!
//! The schedule is a function of the arguments and the games so far. Each encounter is a match of
//! pairs from the same openings. Every finished pair is recorded before it counts, so that a killed
//! tournament is resumed at the next pair.

mod crosstable;
mod journal;
mod schedule;

use std::{
    fs::{self, File},
    io::{self, IsTerminal as _, Write},
    ops::ControlFlow,
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use selfplay::{Abort, Book, Entrant, MatchPlan, PairReport, Player, play_match};
use serde_json::json;
use stats::tournament::Pairing;
use xiangqi::notation::Notation;

use crate::{
    Finding,
    matches::{
        entrant::{Engine, EngineSettings, Loaded},
        games::GameArguments,
        record::PgnWriter,
        terms::Terms,
    },
    one_line::one_line,
    stopwatch::Stopwatch,
};
use crosstable::Crosstable;
use journal::{Journal, RecordedPair};
use schedule::Kind;

/// Play a tournament of several engines, and rate them
///
/// ENGINE is as in `chuhe match`. Every encounter has the same number of game pairs, from the same
/// openings. A win is worth two points, a draw one. The schedule is that of the Berger tables of
/// the World rules; their Article 10.2 separates engines with equal points.
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
    /// Game pairs in each encounter
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    #[command(flatten)]
    games: GameArguments,
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

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        if self.engines.len() < 2 {
            bail!("--engine: a tournament has two engines or more");
        }
        let book = self.games.book()?;
        let timer = Stopwatch::start();
        let settings = self.games.engine_settings(&timer);
        let (engines, names) = self.load(&settings)?;
        let terms = Terms::new(&self.games, book.as_ref());
        let header = json!({
            "chuhe_tournament": 1,
            "kind": self.kind,
            "engines": names,
            "pairs": self.pairs,
            "time_control": self.games.time_control().to_string(),
            "rules": self.games.rules.name(),
            "random_plies": self.games.random_plies(),
            "terms": terms,
        });
        let journal = Journal::open(self.record.as_deref(), &header).context("--record")?;
        let mut event = Event {
            arguments: self,
            pgn: self.pgn.as_deref().map(|path| journal.open_pgn(path)).transpose().context("--pgn")?,
            journal,
            names,
            nets: engines.iter().map(Loaded::net_hash).collect(),
            terms,
            live: Live { terminal: io::stderr().is_terminal(), pending: false },
        };
        let resumed = event.journal.pairs.len();
        event.live.announce(&format!(
            "{}: {}",
            self.event,
            self.games.description(&self.games.conditions(), book.as_ref())
        ))?;
        if resumed > 0 {
            event.live.announce(&format!("resumed after {resumed} pairs"))?;
        }
        event.play(&engines, &settings, book.as_ref(), &timer)?;
        event.live.finish()?;
        let table = Crosstable::new(&event.names, &event.journal.pairs);
        if let Some(path) = &self.html {
            fs::write(path, table.html(&self.event)).with_context(|| format!("--html: {}", path.display()))?;
        }
        if self.json {
            let answer = json!({ "tournament": header, "standings": table.rows(), "encounters": table.encounters() });
            writeln!(out, "{answer}")?;
        } else {
            write!(out, "{table}")?;
        }
        Ok(Finding::Holds)
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

/// A running tournament.
struct Event<'a> {
    arguments: &'a Arguments,
    journal: Journal,
    pgn: Option<File>,
    names: Vec<String>,
    /// The hashes of the engines' nets.
    nets: Vec<Option<String>>,
    terms: Terms,
    live: Live,
}

impl Event<'_> {
    fn play(
        &mut self,
        engines: &[Loaded],
        settings: &EngineSettings<'_>,
        book: Option<&Book>,
        timer: &Stopwatch,
    ) -> Result<()> {
        let (kind, games) = (self.arguments.kind, &self.arguments.games);
        let rounds = kind.rounds(engines.len());
        let encounters: usize = rounds.iter().map(Vec::len).sum();
        for (round, pairings) in rounds.iter().enumerate() {
            for &pairing in pairings {
                let plan = MatchPlan {
                    first_pair: self.journal.pairs_of(pairing),
                    pairs: self.arguments.pairs,
                    threads: games.threads.get(),
                    openings: games.openings(book.cloned()),
                    conditions: games.conditions(),
                    test: None,
                    timer,
                };
                if plan.first_pair >= plan.pairs {
                    continue;
                }
                let enter = |entrant: Entrant| -> Result<Box<dyn Player + '_>, String> {
                    engines[if entrant == Entrant::A { pairing.red } else { pairing.black }].enter(settings)
                };
                let total = encounters as u64 * self.arguments.pairs;
                let played = play_match(&plan, &enter, |pair, _| {
                    self.keep(round, pairing, pair, total).map_err(|error| Abort::Output(format!("{error:#}")))?;
                    Ok(ControlFlow::Continue(()))
                });
                if let Err(broken) = played {
                    self.live.finish()?;
                    let [red, black] = [pairing.red, pairing.black].map(|player| self.names[player].as_str());
                    bail!("{red} (A) against {black} (B), round {}: {broken}", round + 1);
                }
            }
        }
        Ok(())
    }

    /// Records a finished pair: the games first, then the line that makes them count.
    fn keep(&mut self, round: usize, pairing: Pairing, pair: &PairReport, total: u64) -> Result<()> {
        let names = [pairing.red, pairing.black].map(|player| self.names[player].clone());
        let Arguments { games, event, notation, .. } = self.arguments;
        if let Some(file) = &mut self.pgn {
            let pgn = PgnWriter::new(&names, games.rules, games.conditions(), &self.terms, event, *notation);
            let nets = [pairing.red, pairing.black].map(|player| self.nets[player].clone());
            let pgn = pgn.in_round(round).with_nets(nets);
            let text = [false, true].map(|second| pgn.write(pair.number, second, &pair.games[usize::from(second)]));
            file.write_all(text.concat().as_bytes()).context("--pgn")?;
            self.journal.pgn_bytes += text.concat().len() as u64;
        }
        let recorded = RecordedPair::new(round, pairing, pair, self.journal.pgn_bytes);
        for game in recorded.games.iter().filter(|game| game.foul) {
            let loser =
                &self.names[if game.red == stats::GameResult::Loss { game.pairing.red } else { game.pairing.black }];
            self.live.announce(&format!(
                "round {}, pair {}: {} by {loser}",
                round + 1,
                pair.number + 1,
                game.reason
            ))?;
        }
        self.journal.push(recorded).context("--record")?;
        let [red, black] = names;
        let done = self.journal.pairs.len() as u64;
        let leader = self.leader();
        let line = format!("round {}  {red} against {black}  games {}/{}  {leader}", round + 1, 2 * done, 2 * total);
        self.live.show(&line, pair.number + 1 == self.arguments.pairs)?;
        Ok(())
    }

    /// Names the engine with the most points, without tie-breaks.
    fn leader(&self) -> String {
        let mut points = vec![0; self.names.len()];
        for game in self.journal.pairs.iter().flat_map(|pair| &pair.games) {
            points[game.pairing.red] += game.red.half_points();
            points[game.pairing.black] += game.red.reversed().half_points();
        }
        let max = points.iter().max().copied().unwrap_or_default();
        let leader = points.iter().position(|points| *points == max).unwrap_or_default();
        format!("first {} with {max}", self.names[leader])
    }
}

/// The live line on standard error; without a terminal, a line per encounter.
struct Live {
    terminal: bool,
    pending: bool,
}

impl Live {
    fn announce(&mut self, line: &str) -> io::Result<()> {
        self.finish()?;
        writeln!(io::stderr(), "{line}")
    }

    fn show(&mut self, line: &str, last_of_encounter: bool) -> io::Result<()> {
        if self.terminal {
            self.pending = true;
            write!(io::stderr(), "\r\x1b[K{line}")
        } else if last_of_encounter {
            writeln!(io::stderr(), "{line}")
        } else {
            Ok(())
        }
    }

    /// Ends the updated line.
    fn finish(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.pending) { writeln!(io::stderr()) } else { Ok(()) }
    }
}
