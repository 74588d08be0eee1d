//! Forced mates, proved: an engine proposes the attacker's moves, every defence is tried.

use std::collections::HashMap;

use engine::{Control, Engine, Limits, NoClock, Settings, score};
use xiangqi::{
    Fen, Move,
    rules::{Game, Reason, RuleSet},
};

/// Proves forced mates.
///
/// A proof does not rely on the search: the attacker needs one move, and each legal reply must lose
/// again. Lines that repeat a position prove nothing.
pub struct Prover {
    engine: Engine,
    nodes: u64,
    /// Searches left for the present position.
    searches: u32,
    /// By position: the plies to the mate at most, and the move.
    proven: HashMap<u64, (u32, Move)>,
}

impl Prover {
    /// A prover whose engine searches at most `nodes` for each move of the attacker.
    #[must_use]
    pub fn new(settings: &Settings, nodes: u64) -> Self {
        Self { engine: Engine::new(settings), nodes, searches: 0, proven: HashMap::new() }
    }

    /// Proves a mate within `plies` for the side to move, in at most `searches` searches. Returns
    /// the line of the longest defence.
    pub fn prove(&mut self, start: &Fen, plies: u32, searches: u32) -> Option<Vec<Move>> {
        self.engine.new_game();
        self.proven.clear();
        self.searches = searches;
        let mut game = Game::new(start.clone(), RuleSet::Cxr);
        self.attack(&mut game, plies)?;
        let mut line = Vec::new();
        while game.status().ending().is_none() {
            let mv =
                if line.len() % 2 == 0 { self.proven.get(&game.position().key())?.1 } else { self.defence(&game)? };
            game.push_legal(mv);
            line.push(mv);
        }
        Some(line)
    }

    /// The defence that lasts longest.
    fn defence(&self, game: &Game) -> Option<Move> {
        let plies = |mv: &Move| self.proven.get(&game.position().key_after(*mv)).map(|(plies, _)| *plies);
        game.position().legal_moves().iter().copied().max_by_key(|mv| plies(mv).unwrap_or(0))
    }

    /// Returns the plies of a proven mate, at most `most`.
    fn attack(&mut self, game: &mut Game, most: u32) -> Option<u32> {
        let key = game.position().key();
        if let Some((plies, _)) = self.proven.get(&key).filter(|(plies, _)| *plies <= most) {
            return Some(*plies);
        }
        if most == 0 || game.occurrences() > 1 {
            return None;
        }
        let mv = self.proposal(game, most)?;
        game.push_legal(mv);
        let plies = self.defend(game, most - 1).map(|plies| plies + 1);
        game.pop();
        self.proven.insert(key, (plies?, mv));
        plies
    }

    /// Returns the plies in which every defence is mated, at most `most`.
    fn defend(&mut self, game: &mut Game, most: u32) -> Option<u32> {
        if let Some(ending) = game.status().ending() {
            return matches!(ending.reason, Reason::Checkmate | Reason::Stalemate).then_some(0);
        }
        let mut longest = 0;
        for mv in &game.position().legal_moves() {
            game.push_legal(*mv);
            let over = game.status().ending().is_some();
            let plies = if over || most == 0 { None } else { self.attack(game, most - 1) };
            game.pop();
            longest = longest.max(plies? + 1);
        }
        Some(longest)
    }

    /// The engine's move, if it announces a mate within `most` plies.
    fn proposal(&mut self, game: &Game, most: u32) -> Option<Move> {
        self.searches = self.searches.checked_sub(1)?;
        let wanted = score::mate_in(most as usize);
        let control = Control::default();
        let report = self.engine.search_with(game, &Limits::nodes(self.nodes), &NoClock, &control, &mut |report| {
            if report.score() >= Some(wanted) {
                control.stop();
            }
        });
        report.best_move().filter(|_| report.score() >= Some(wanted))
    }
}
