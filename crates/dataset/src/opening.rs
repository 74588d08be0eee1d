//! Openings: random walks from a position.
//!
//! A walk is a function of its start, the rule set, the number of moves, a seed and the number of
//! the attempt. No engine is involved. Players may reject walks that are too good for one side and
//! try the next attempt. The accepted attempt is recorded, so that the walk can be repeated.

use xiangqi::{
    Fen, Move, MoveList, Position,
    rules::{Game, LimitCounter, Reason, RuleSet, Status},
};

use crate::random::{Stream, Use};

/// The bound on attempts: a game whose attempts are all rejected has no opening.
pub const MAX_ATTEMPTS: u64 = 10_000;

/// The parameters of random walks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walker {
    /// The position in which the walk begins.
    pub start: Fen,
    /// The rules that could end a game on the way.
    pub rules: RuleSet,
    /// The number of moves.
    pub plies: u32,
}

/// The reason why a walk is not an opening; the next attempt may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The game ended on the way, or at the end of the walk.
    #[error("the walk ends the game ({reason})")]
    EndsGame {
        /// The rule that ended it.
        reason: Reason,
    },
    /// A position occurred twice.
    #[error("the walk repeats a position")]
    Repeats,
}

impl Walker {
    /// Walks from the starting position.
    #[must_use]
    pub fn from_start(rules: RuleSet, plies: u32) -> Self {
        Self { start: Fen::start(), rules, plies }
    }

    /// Makes a walk of uniformly random legal moves, and returns the game, which is not over.
    ///
    /// Moves are drawn from the order of their points, from and to, counted from Red's left corner.
    ///
    /// # Errors
    ///
    /// If the walk ends the game or repeats a position.
    pub fn walk(&self, seed: u64, attempt: u64) -> Result<Game, Rejection> {
        let mut stream = Stream::new(Use::Opening, seed, attempt);
        let mut game = Game::new(self.start.clone(), self.rules);
        for _ in 0..self.plies {
            check(&game)?;
            let mut moves = game.position().legal_moves();
            game.push_legal(draw(&mut stream, &mut moves));
        }
        check(&game)?;
        Ok(game)
    }

    /// [`walk`](Self::walk) without the game, for readers of many games that need no history.
    ///
    /// # Errors
    ///
    /// As [`walk`](Self::walk).
    pub fn walk_unjudged(&self, seed: u64, attempt: u64) -> Result<RandomWalk, Rejection> {
        let mut stream = Stream::new(Use::Opening, seed, attempt);
        let limit = LimitCounter::from_fen(self.start.limit_counter);
        let mut walk = RandomWalk { position: self.start.position.clone(), moves: Vec::new(), captured: false, limit };
        // No position occurs a third time, because none may occur a second.
        let mut keys = Vec::with_capacity(16);
        loop {
            let position = &mut walk.position;
            let mut moves = position.legal_moves();
            let ends = if moves.is_empty() {
                Some(if position.in_check() { Reason::Checkmate } else { Reason::Stalemate })
            } else if walk.limit.counted() >= self.rules.limit() {
                Some(Reason::MoveLimit)
            } else {
                position.is_bare().then_some(Reason::BareDefenders)
            };
            if let Some(reason) = ends {
                return Err(Rejection::EndsGame { reason });
            }
            if keys.contains(&position.key()) {
                return Err(Rejection::Repeats);
            }
            if walk.moves.len() == self.plies as usize {
                return Ok(walk);
            }
            keys.push(position.key());
            let mv = draw(&mut stream, &mut moves);
            let (mover, answers_check) = (position.turn(), position.in_check());
            walk.captured = position.make(mv).captured().is_some();
            walk.limit = walk.limit.after(mover, walk.captured, position.in_check(), answers_check);
            walk.moves.push(mv);
        }
    }

    /// The first attempt from this one on whose walk is an opening. `None` if there is none within
    /// a million attempts: almost every walk from the start ends the game.
    #[must_use]
    pub fn first(&self, seed: u64, attempt: u64) -> Option<(u64, Game)> {
        const MAX_TRIES: u64 = 1_000_000;
        (attempt..attempt.saturating_add(MAX_TRIES)).find_map(|attempt| Some((attempt, self.walk(seed, attempt).ok()?)))
    }

    /// The moves of a walk.
    ///
    /// # Errors
    ///
    /// If the walk is not an opening.
    pub fn moves(&self, seed: u64, attempt: u64) -> Result<Vec<Move>, Rejection> {
        self.walk(seed, attempt).map(|game| game.moves().collect())
    }
}

/// The end of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomWalk {
    /// The position reached.
    pub position: Position,
    /// The moves that led there.
    pub moves: Vec<Move>,
    /// Whether the last of them was a capture.
    pub captured: bool,
    /// The natural limit's counter.
    pub limit: LimitCounter,
}

/// Draws a move, in the order of the moves' points.
fn draw(stream: &mut Stream, moves: &mut MoveList) -> Move {
    let drawn = stream.below(moves.len() as u64) as usize;
    *moves.select_nth_unstable_by_key(drawn, |mv| (mv.from().index(), mv.to().index())).1
}

fn check(game: &Game) -> Result<(), Rejection> {
    match game.status() {
        Status::Over(ending) => Err(Rejection::EndsGame { reason: ending.reason }),
        Status::Ongoing if game.occurrences() > 1 => Err(Rejection::Repeats),
        Status::Ongoing => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(moves: &[Move]) -> String {
        moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
    }

    /// If one of these changes, no past game can be verified. They were computed independently: the
    /// cipher and the sampling in Python, the legal moves by another engine.
    #[test]
    fn known_answers() {
        let moves = |plies, seed, attempt| text(&Walker::from_start(RuleSet::Cxr, plies).moves(seed, attempt).unwrap());
        assert_eq!(moves(8, 7, 0), "h2h4 b9a7 h4f4 e6e5 b2d2 c6c5 f4f7 h7h4");
        assert_eq!(moves(6, 7, 0), "h2h4 b9a7 h4f4 e6e5 b2d2 c6c5");
        assert_eq!(moves(6, 7, 1), "b2g2 h9i7 h2h1 b7b8 i0i2 h7f7");
        assert_eq!(moves(6, u64::MAX, u64::MAX), "e0e1 g6g5 b2f2 h7h6 a0a1 g5g4");
    }

    #[test]
    fn a_shorter_walk_is_the_beginning_of_a_longer_one() {
        for seed in 0..50 {
            let long = Walker::from_start(RuleSet::Cxr, 8).moves(seed, 0);
            let short = Walker::from_start(RuleSet::Cxr, 6).moves(seed, 0);
            if let (Ok(long), Ok(short)) = (long, short) {
                assert_eq!(long[..6], short[..]);
            }
        }
    }

    /// The arbiter is the reference; [`Walker::walk_unjudged`] must agree with it.
    #[test]
    fn unjudged_walks_agree_with_the_arbiter() {
        let starts = ["4k4/9/9/9/9/9/9/9/R8/3K5 w", "4k4/9/9/9/9/9/2p6/9/9/3K5 b - - 110 1", Position::START_FEN];
        let mut ends = 0;
        for start in starts {
            for rules in RuleSet::ALL {
                let walker = Walker { start: start.parse().unwrap(), rules, plies: 24 };
                for attempt in 0..200 {
                    let walk = walker.walk(3, attempt);
                    ends += usize::from(walk.is_err());
                    let unjudged = walker.walk_unjudged(3, attempt);
                    let ends =
                        |game: Game| (game.position().clone(), game.moves().collect::<Vec<_>>(), game.limit_counter());
                    assert_eq!(
                        unjudged.map(|walk| (walk.position, walk.moves, walk.limit)),
                        walk.map(ends),
                        "{start} {attempt}"
                    );
                }
            }
        }
        assert!(ends > 1000, "only {ends} walks were rejected");
    }

    #[test]
    fn walks_that_end_or_repeat_are_rejected() {
        // One chariot against a bare king: mate or a repetition comes soon.
        let start: Fen = "4k4/9/9/9/9/9/9/9/R8/3K5 w".parse().unwrap();
        let walker = Walker { start, rules: RuleSet::Cxr, plies: 40 };
        let walks: Vec<_> = (0..300).map(|attempt| walker.walk(1, attempt)).collect();
        assert!(walks.iter().any(|walk| matches!(walk, Err(Rejection::Repeats))));
        let ends = |walk: &Result<Game, Rejection>| matches!(walk, Err(Rejection::EndsGame { .. }));
        assert!(walks.iter().any(ends));
        if let Some((attempt, game)) = walker.first(1, 0) {
            assert!(walks[..attempt as usize].iter().all(Result::is_err));
            assert_eq!((game.len(), game.status()), (40, &Status::Ongoing));
        }
        // A game that is over before it begins has no opening.
        let over: Fen = "4k4/9/9/9/9/9/9/9/9/3K5 w".parse().unwrap();
        let walker = Walker { start: over, rules: RuleSet::Cxr, plies: 0 };
        assert_eq!(walker.walk(0, 0).err(), Some(Rejection::EndsGame { reason: Reason::BareDefenders }));
    }
}
