//! Openings of games.

use dataset::{
    Book, EvaluationFilter as Filter, Opening,
    opening::{MAX_ATTEMPTS, Walker},
    random::game_seed,
};
use engine::{Engine, Limits};
use xiangqi::{
    Fen,
    rules::{Game, RuleSet},
};

/// The opening policy: starting positions, number of random moves, and filter.
#[derive(Clone, Debug)]
pub struct Openings {
    /// The rules of the games.
    pub rules: RuleSet,
    /// The positions to start walks from; the standard one without a book.
    pub book: Option<Book>,
    /// The number of random moves.
    pub plies: u32,
    /// The filter of walks; none keeps all.
    pub filter: Option<Filter>,
}

/// No walk passed the filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no opening of {plies} random plies from {start} was kept in {attempts} attempts")]
pub struct NoOpening {
    start: String,
    plies: u32,
    attempts: u64,
}

impl Openings {
    /// Chooses the opening of the game with this seed. `engine` evaluates walks, cleared before
    /// each; clear it again before the game.
    ///
    /// # Errors
    ///
    /// If no walk passes.
    ///
    /// # Panics
    ///
    /// Never: the choice is not cancelled.
    pub fn choose(&self, seed: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let chosen = self.choose_while(seed, engine, &mut || true)?;
        Ok(chosen.expect("the choice is not cancelled"))
    }

    /// [`choose`](Self::choose), checking before each walk whether to continue; `None` if not.
    pub(crate) fn choose_while(
        &self,
        seed: u64,
        engine: &mut Engine,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Opening>, NoOpening> {
        let start = self.book.as_ref().map_or_else(Fen::start, |book| book.pick(seed).clone());
        self.choose_from(start, seed, engine, should_continue)
    }

    fn choose_from(
        &self,
        start: Fen,
        seed: u64,
        engine: &mut Engine,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Opening>, NoOpening> {
        let walker = Walker { start, rules: self.rules, plies: self.plies };
        for attempt in 0..MAX_ATTEMPTS {
            if !should_continue() {
                return Ok(None);
            }
            let Ok(game) = walker.walk(seed, attempt) else { continue };
            if self.filter.is_none_or(|filter| passes(filter, &game, engine)) {
                let moves = game.moves().collect();
                return Ok(Some(Opening { rules: self.rules, start: walker.start, seed, attempt, moves }));
            }
        }
        Err(NoOpening { start: walker.start.to_string(), plies: self.plies, attempts: MAX_ATTEMPTS })
    }
}

fn passes(filter: Filter, game: &Game, engine: &mut Engine) -> bool {
    engine.new_game();
    let report = engine.search(game, &Limits::nodes(filter.nodes));
    report.score().is_some_and(|score| score.abs() <= filter.bound)
}

/// The openings of a match in order. A book's positions are shuffled by the seed, and repeat from
/// the start when exhausted.
#[derive(Clone, Debug)]
pub struct OpeningOrder {
    openings: Openings,
    seed: u64,
    order: Vec<usize>,
}

impl OpeningOrder {
    /// Creates the order of a match with this seed.
    #[must_use]
    pub fn new(openings: Openings, seed: u64) -> Self {
        let order = openings.book.as_ref().map_or_else(Vec::new, |book| book.order(seed));
        Self { openings, seed, order }
    }

    /// Chooses the opening of a pair.
    ///
    /// # Errors
    ///
    /// If no walk passes.
    ///
    /// # Panics
    ///
    /// Never: the choice is not cancelled.
    pub fn of_pair(&self, pair: u64, engine: &mut Engine) -> Result<Opening, NoOpening> {
        let start = match &self.openings.book {
            Some(book) => book.positions()[self.order[(pair % self.order.len() as u64) as usize]].clone(),
            None => Fen::start(),
        };
        let chosen = self.openings.choose_from(start, game_seed(self.seed, pair), engine, &mut || true)?;
        Ok(chosen.expect("the choice is not cancelled"))
    }
}
