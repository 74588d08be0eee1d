//! Where games begin.

use dataset::{opening::Walker, random::game_seed};
use engine::{Engine, Limits, Score};
use xiangqi::{
    Fen, Move,
    rules::{Game, RuleSet},
};

use crate::book::Book;

/// A short search that tells whether an opening is even enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// How many nodes the search has.
    pub nodes: u64,
    /// How far from even the score may be.
    pub bound: Score,
}

/// The opening policy: from where games start, how many random moves they begin with, and which of these are kept.
#[derive(Clone, Debug)]
pub struct Openings {
    /// The rules of the games.
    pub rules: RuleSet,
    /// The positions from which walks start; the starting position if there is no book.
    pub book: Option<Book>,
    /// How many random moves are made.
    pub plies: u32,
    /// Which walks are kept; all, if there is none.
    pub filter: Option<Filter>,
}

/// Where a game began: what a walk is a function of, and the moves it led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The rules of the game.
    pub rules: RuleSet,
    /// The position before the first move.
    pub start: Fen,
    /// The seed of the walk.
    pub seed: u64,
    /// The number of the attempt that was kept.
    pub attempt: u64,
    /// The random moves.
    pub moves: Vec<Move>,
}

impl Opening {
    /// The game after the opening.
    ///
    /// # Panics
    ///
    /// If the moves are not those of an opening.
    #[must_use]
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start.clone(), self.rules);
        for &mv in &self.moves {
            game.push(mv).expect("the moves of an opening are legal, and the game goes on after them");
        }
        game
    }
}

/// No walk is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no opening of {plies} random plies from {start} was kept in {attempts} attempts")]
pub struct NoOpening {
    start: String,
    plies: u32,
    attempts: u64,
}

impl Openings {
    /// The opening of the game with this seed. `engine` judges; it forgets what it knew before every search, and should
    /// forget again before the game.
    ///
    /// # Errors
    ///
    /// If no walk is kept.
    pub fn choose(&self, seed: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let start = self.book.as_ref().map_or_else(Fen::start, |book| book.pick(seed).clone());
        self.choose_from(start, seed, engine)
    }

    fn choose_from(&self, start: Fen, seed: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        const MOST: u64 = 10_000;
        let walker = Walker { start, rules: self.rules, plies: self.plies };
        for attempt in 0..MOST {
            let Ok(game) = walker.walk(seed, attempt) else { continue };
            if self.filter.is_none_or(|filter| filter.keeps(&game, engine)) {
                let moves = game.moves().collect();
                return Ok(Opening { rules: self.rules, start: walker.start, seed, attempt, moves });
            }
        }
        Err(NoOpening { start: walker.start.to_string(), plies: self.plies, attempts: MOST })
    }
}

impl Filter {
    fn keeps(&self, game: &Game, engine: &mut Engine) -> bool {
        engine.new_game();
        let report = engine.search(game, &Limits::nodes(self.nodes));
        report.score().is_some_and(|score| score.abs() <= self.bound)
    }
}

/// The openings of a match: those of its pairs, in order. A book's positions come in an order that the seed shuffles,
/// and from the start again when all were played.
#[derive(Clone, Debug)]
pub struct OpeningOrder {
    openings: Openings,
    seed: u64,
    order: Vec<usize>,
}

impl OpeningOrder {
    /// The openings of a match with this seed.
    #[must_use]
    pub fn new(openings: Openings, seed: u64) -> Self {
        let order = openings.book.as_ref().map_or_else(Vec::new, |book| book.order(seed));
        Self { openings, seed, order }
    }

    /// The opening of a pair.
    ///
    /// # Errors
    ///
    /// If no walk is kept.
    pub fn of_pair(&self, pair: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let start = match &self.openings.book {
            Some(book) => book.positions()[self.order[(pair % self.order.len() as u64) as usize]].clone(),
            None => Fen::start(),
        };
        self.openings.choose_from(start, game_seed(self.seed, pair), engine)
    }
}
