//! A running tournament: its rounds, encounters and stages.

use std::{fs::File, io::Write as _, ops::ControlFlow};

use anyhow::{Context as _, Result, bail};
use selfplay::{
    Abort, Book, Conditions, Entrant, MatchPlan, PlayedGame, Player, TimeControl, Watcher, play_game, play_match,
};
use stats::tournament::Pairing;

use super::{
    Arguments,
    crosstable::results,
    encounter::{Encounter, Stage},
    journal::{Journal, RecordedPair},
    schedule::{Kind, Schedule},
};
use crate::{
    live::LiveView,
    live_line::LiveLine,
    matches::{
        entrant::{EngineSettings, Loaded},
        record::PgnWriter,
        terms::Terms,
    },
    stopwatch::Stopwatch,
};

/// The engines and their surroundings.
pub(super) struct Stand<'a> {
    pub(super) engines: Vec<Loaded>,
    pub(super) settings: EngineSettings<'a>,
    pub(super) book: Option<Book>,
    pub(super) timer: &'a Stopwatch,
}

/// A running tournament.
pub(super) struct Event<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) journal: Journal,
    pub(super) pgn: Option<File>,
    pub(super) names: Vec<String>,
    /// The hashes of the engines' nets.
    pub(super) nets: Vec<Option<String>>,
    pub(super) terms: Terms,
    pub(super) schedule: Schedule,
    /// The limits of the engines.
    pub(super) limits: Vec<TimeControl>,
    pub(super) view: Option<&'a LiveView<'a>>,
    pub(super) line: LiveLine<'a>,
}

impl Event<'_> {
    /// Plays what is not in the record. Returns the encounters of all finished rounds, and the
    /// error that ended the tournament early.
    pub(super) fn play(&mut self, stand: &Stand<'_>) -> (Vec<Vec<Encounter>>, Option<anyhow::Error>) {
        let mut rounds: Vec<Vec<Encounter>> = Vec::new();
        loop {
            let pairings = self.schedule.next_round(&results(&rounds));
            if pairings.is_empty() {
                return (rounds, None);
            }
            let mut play = |pairing| self.play_encounter(rounds.len(), pairing, stand);
            match pairings.into_iter().map(&mut play).collect() {
                Ok(round) => rounds.push(round),
                Err(error) => return (rounds, Some(error)),
            }
        }
    }

    fn play_encounter(&mut self, round: usize, pairing: Pairing, stand: &Stand<'_>) -> Result<Encounter> {
        let stages = if self.arguments.kind == Kind::Knockout { &Stage::ALL[..] } else { &[Stage::Match] };
        let mut encounter = None;
        for &stage in stages {
            if let Err(broken) = self.play_stage(round, pairing, stage, stand) {
                self.line.end()?;
                let [red, black] = [pairing.red, pairing.black].map(|player| self.names[player].as_str());
                bail!("{red} (A) against {black} (B), round {}: {broken}", round + 1);
            }
            let played = Encounter::new(round, pairing, self.arguments.pairs, &self.journal.pairs);
            let is_tied = played.is_tied();
            encounter = Some(played);
            if !is_tied {
                break;
            }
        }
        Ok(encounter.expect("there is a first stage"))
    }

    /// Plays the pairs of a stage that are not in the record.
    fn play_stage(&mut self, round: usize, pairing: Pairing, stage: Stage, stand: &Stand<'_>) -> Result<(), Abort> {
        let games = &self.arguments.games;
        let plan = MatchPlan {
            first_pair: self.journal.pairs_of(round, pairing),
            pairs: stage.pairs(self.arguments.pairs),
            threads: games.threads.get(),
            openings: games.openings(stand.book.clone()),
            conditions: self.conditions(pairing, stage),
            test: None,
            timer: stand.timer,
            watcher: self.view.map(|view| -> &dyn Watcher { view }),
        };
        if plan.first_pair >= plan.pairs {
            return Ok(());
        }
        if let Some(view) = self.view {
            let names = [pairing.red, pairing.black].map(|player| self.names[player].clone());
            view.set_match(&names, plan.conditions, format!("{}.", round + 1));
        }
        let enter = |entrant: Entrant| -> Result<Box<dyn Player + '_>, String> {
            stand.engines[if entrant == Entrant::A { pairing.red } else { pairing.black }].enter(&stand.settings)
        };
        let mut keep = |number: u64, games: &[PlayedGame]| {
            self.keep(round, pairing, stage, number, games).map_err(|error| Abort::Output(format!("{error:#}")))
        };
        if stage == Stage::Decider {
            return keep(plan.first_pair, &[play_game(&plan, &enter)?]);
        }
        play_match(&plan, &enter, |pair, _| keep(pair.number, &pair.games).map(ControlFlow::Continue))
            .map(drop)
            .map_err(|broken| broken.why)
    }

    fn conditions(&self, pairing: Pairing, stage: Stage) -> Conditions {
        let Arguments { games, rapid, decider, .. } = self.arguments;
        let time_controls = [pairing.red, pairing.black].map(|player| match stage {
            Stage::Match => self.limits[player],
            Stage::Rapid | Stage::Decider => rapid.unwrap_or_else(|| self.limits[player].rapid()),
        });
        games.conditions(time_controls, *decider || stage == Stage::Decider)
    }

    /// Records the games of a pair, or a decider: the games first, then the line that makes them
    /// count.
    fn keep(&mut self, round: usize, pairing: Pairing, stage: Stage, number: u64, played: &[PlayedGame]) -> Result<()> {
        let names = [pairing.red, pairing.black].map(|player| self.names[player].clone());
        let Arguments { games, event, notation, pairs, .. } = self.arguments;
        let conditions = self.conditions(pairing, stage);
        let mut text = None;
        if let Some(file) = &mut self.pgn {
            let nets = [pairing.red, pairing.black].map(|player| self.nets[player].clone());
            let pgn = PgnWriter::new(&names, games.rules, conditions, &self.terms, event, *notation);
            let pgn = pgn.in_round(round).with_nets(nets);
            let games = played.iter().zip([false, true]).map(|(game, second)| pgn.write(number, second, game));
            let games: String = games.collect();
            // The record must not outlive the games that it names.
            file.write_all(games.as_bytes()).and_then(|()| file.sync_data()).context("--pgn")?;
            text = Some(games);
        }
        let recorded = RecordedPair::new(round, pairing, number, played, text.as_deref());
        for game in recorded.games.iter().filter(|game| game.foul) {
            let loser =
                &self.names[if game.red == stats::GameResult::Loss { game.pairing.red } else { game.pairing.black }];
            self.line.announce(&format!("round {}, pair {}: {} by {loser}", round + 1, number + 1, game.reason))?;
        }
        self.journal.push(recorded).context("--record")?;
        let [red, black] = names;
        let done: usize = self.journal.pairs.iter().map(|pair| pair.games.len()).sum();
        let stage_name = match stage {
            Stage::Match => "",
            Stage::Rapid => " (rapid)",
            Stage::Decider => " (decider)",
        };
        let standing = match (self.schedule.encounters(), self.schedule.kind) {
            (None, _) => format!("games {done}"),
            // Encounters count there, not games.
            (Some(encounters), Kind::Swiss) => format!("games {done}/{}", 2 * pairs * encounters as u64),
            (Some(encounters), _) => format!("games {done}/{}  {}", 2 * pairs * encounters as u64, self.leader()),
        };
        let line = format!("round {}  {red} against {black}{stage_name}  {standing}", round + 1);
        self.line.show_or_print(number + 1 == stage.pairs(*pairs), || line)?;
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
