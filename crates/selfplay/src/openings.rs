//! Where games begin.

use dataset::{
    Book, EvaluationFilter as Filter, Opening,
    opening::{MOST_ATTEMPTS, Walker},
    random::game_seed,
};
use engine::{Engine, Limits};
use xiangqi::{
    Fen,
    rules::{Game, RuleSet},
};

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
    ///
    /// # Panics
    ///
    /// Never: nobody asks it to give up.
    pub fn choose(&self, seed: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let chosen = self.choose_while(seed, engine, &mut || true)?;
        Ok(chosen.expect("the choice goes on until it is made"))
    }

    /// [`choose`](Self::choose), asking before each walk whether to go on; `None` if not.
    pub(crate) fn choose_while(
        &self,
        seed: u64,
        engine: &mut Engine,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Opening>, NoOpening> {
        let start = self.book.as_ref().map_or_else(Fen::start, |book| book.pick(seed).clone());
        self.choose_from(start, seed, engine, goes_on)
    }

    fn choose_from(
        &self,
        start: Fen,
        seed: u64,
        engine: &mut Engine,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Opening>, NoOpening> {
        let walker = Walker { start, rules: self.rules, plies: self.plies };
        for attempt in 0..MOST_ATTEMPTS {
            if !goes_on() {
                return Ok(None);
            }
            let Ok(game) = walker.walk(seed, attempt) else { continue };
            if self.filter.is_none_or(|filter| keeps(filter, &game, engine)) {
                let moves = game.moves().collect();
                return Ok(Some(Opening { rules: self.rules, start: walker.start, seed, attempt, moves }));
            }
        }
        Err(NoOpening { start: walker.start.to_string(), plies: self.plies, attempts: MOST_ATTEMPTS })
    }
}

fn keeps(filter: Filter, game: &Game, engine: &mut Engine) -> bool {
    engine.new_game();
    let report = engine.search(game, &Limits::nodes(filter.nodes));
    report.score().is_some_and(|score| score.abs() <= filter.bound)
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
    ///
    /// # Panics
    ///
    /// Never: nobody asks it to give up.
    pub fn of_pair(&self, pair: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let start = match &self.openings.book {
            Some(book) => book.positions()[self.order[(pair % self.order.len() as u64) as usize]].clone(),
            None => Fen::start(),
        };
        let chosen = self.openings.choose_from(start, game_seed(self.seed, pair), engine, &mut || true)?;
        Ok(chosen.expect("the choice goes on until it is made"))
    }
}
