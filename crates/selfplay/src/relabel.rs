//! New labels for games that were played: their positions, searched again.

use std::ops::ControlFlow;

use dataset::Header;
use engine::{Engine, Evaluation, Limits, Settings, bench, score::MATE};

use xiangqi::rules::{Game, Outcome, RuleSet};

use crate::{
    Control, GameSettings, Reason, Record, ScoredMove, control::CancelToken, ordered::in_order, selfplay::net_of,
};

/// How games are labelled again. The moves stay. Each gets the score of a search. A game ends where
/// the rules end it; other games keep their outcome, unless it came from other rules. Then nothing
/// is known of it.
#[derive(Debug)]
pub struct Relabelling {
    evaluation: Evaluation,
    header: Header,
    has_other_rules: bool,
}

impl Relabelling {
    /// Labels games of self-play by this evaluation, these rules, and the node limits of
    /// `settings`.
    #[must_use]
    pub fn new(played: &Header, evaluation: Evaluation, rules: RuleSet, settings: GameSettings) -> Self {
        let (net, parameters) = (net_of(&evaluation), dataset::Overrides::default());
        let header = Header { bench_signature: bench::SIGNATURE, net, parameters, rules, settings, ..played.clone() };
        Self { evaluation, header, has_other_rules: rules != played.rules }
    }

    /// The header of the labelled games. It names the net of the labels, so its games cannot be
    /// played again from their seeds.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Labels games; `receive` gets them in order. `control` may stop it.
    ///
    /// # Errors
    ///
    /// If `receive` fails.
    pub fn run<E: Send>(
        &self,
        games: &[Record],
        threads: usize,
        control: &Control,
        mut receive: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let settings = &self.header.settings;
        let engine = || {
            let (hash_mebibytes, evaluation) = (settings.hash_mebibytes, self.evaluation.clone());
            Engine::new(&Settings { hash_mebibytes, evaluation, ..Settings::DEFAULT })
        };
        let (soft_nodes, hard_nodes) = (settings.soft_nodes, Some(settings.hard_nodes));
        let limits = Limits { soft_nodes, hard_nodes, ..Limits::default() };
        let work = |engine: &mut Engine, number: u64, token: &CancelToken<'_>| {
            let game = &games[number as usize];
            Ok(self.label(engine, &limits, game.clone(), || token.should_continue()))
        };
        in_order(games.len() as u64, threads, control, engine, work, |_, game| receive(game).map(ControlFlow::Continue))
    }

    /// Labels a game; none if it is to go no further.
    fn label(
        &self,
        engine: &mut Engine,
        limits: &Limits,
        mut record: Record,
        go_on: impl Fn() -> bool,
    ) -> Option<Record> {
        engine.new_game();
        record.opening.rules = self.header.rules;
        let mut game = Game::new(record.opening.start.clone(), self.header.rules);
        let has_no_result = self.has_other_rules && matches!(record.reason, Reason::Rules(_));
        let is_opening =
            record.opening.moves.iter().all(|&mv| game.push(mv).is_ok()) && game.status().ending().is_none();
        if has_no_result || !is_opening {
            (record.outcome, record.reason) = (Outcome::Draw, Reason::PlyCap);
        }
        if !is_opening {
            // Other rules end it before the first searched move.
            record.moves.clear();
        }
        for index in 0..record.moves.len() {
            if !go_on() {
                return None;
            }
            let ScoredMove { mv, score } = &mut record.moves[index];
            *score = engine.search(&game, limits).score().filter(|score| score.abs() <= MATE);
            if let Some(ending) = game.push_legal(*mv).ending() {
                (record.outcome, record.reason) = (ending.outcome, Reason::Rules(ending.reason));
                record.moves.truncate(index + 1);
                break;
            }
        }
        Some(record)
    }
}
