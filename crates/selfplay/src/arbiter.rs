//! The arbiter: plays one game of a match.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use dataset::{Adjudication, Reason};
use engine::Score;
use xiangqi::{
    Color, Move,
    rules::{Game, Outcome, Status},
};

use crate::{
    matches::MatchPlan,
    player::{Choice, Fault, FaultKind, Player, Trouble},
    timing::{Clocks, TimeControl, Timer},
};

/// The conditions of every game of a match.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The time controls of A and B.
    pub time_controls: [TimeControl; 2],
    /// Whether games are deciders: Black has two thirds of its limit, and a draw is Black's win.
    pub decider: bool,
    /// The time a player may exceed its limit by: per move, or with a clock, per game.
    pub grace: Duration,
    /// The adjudication rules: early ends by score.
    pub adjudication: Adjudication,
    /// The number of plies, opening included, after which a game is drawn.
    pub ply_cap: u32,
}

impl Conditions {
    /// The time controls of Red and Black in the first or the second game of a pair.
    #[must_use]
    pub fn by_color(&self, second: bool) -> [TimeControl; 2] {
        let [a, b] = self.time_controls;
        let [red, black] = if second { [b, a] } else { [a, b] };
        [red, if self.decider { black.two_thirds() } else { black }]
    }
}

/// A player's search result for its move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The score for the side that moves.
    pub score: Option<Score>,
    /// The completed depth, in plies.
    pub depth: u32,
    /// The number of searched nodes.
    pub nodes: u64,
    /// The time, in whole milliseconds.
    pub time: Duration,
}

/// A move of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The move, which is legal.
    pub mv: Move,
    /// The mover's search result.
    pub note: Note,
}

/// The end of a match game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By the rules, adjudication or the ply cap.
    Played(Outcome, Reason),
    /// A draw of a decider, which Black wins.
    DrawWinsBlack(Reason),
    /// A loss by a fault of this side.
    Fault(Color, Fault),
}

impl Ending {
    /// Returns the outcome; after a fault its side has lost.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Played(outcome, _) => *outcome,
            Self::DrawWinsBlack(_) => Outcome::loss_of(Color::Red),
            Self::Fault(side, _) => Outcome::loss_of(*side),
        }
    }

    /// The name in records and reports.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Played(_, reason) | Self::DrawWinsBlack(reason) => reason.name(),
            Self::Fault(_, fault) => fault.kind.name(),
        }
    }
}

/// A finished match game.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The whole game, opening included. After a fault it may be ongoing by the rules.
    pub game: Game,
    /// The number of opening moves.
    pub opening_plies: usize,
    /// The moves after the opening.
    pub moves: Vec<PlayedMove>,
    /// The outcome and its reason, or the fault.
    pub ending: Ending,
}

/// A match game at its beginning, after a move, or at its end.
#[derive(Clone, Copy, Debug)]
pub struct WatchedGame<'a> {
    /// The number of the pair, from 0.
    pub pair: u64,
    /// Whether it is the pair's second game, in which B is Red.
    pub second: bool,
    /// The game so far, opening included.
    pub game: &'a Game,
    /// The moves after the opening.
    pub moves: &'a [PlayedMove],
    /// The line that the last mover expects, from its move on; empty if unknown.
    pub line: &'a [Move],
    /// The time left by [`Color::index`], if both sides have clocks.
    pub left: Option<[Duration; 2]>,
    /// The end, if the game is over.
    pub ending: Option<&'a Ending>,
}

/// An observer of a match's games. It is called between the moves, on the threads of the games, and
/// changes none of them.
pub trait Watcher: Sync {
    /// Shows a game.
    fn show(&self, game: &WatchedGame<'_>);
}

/// An interrupted game.
#[derive(Debug)]
pub(crate) enum Interruption {
    /// Cancelled.
    Stopped,
    /// This side's player is gone.
    Gone(Color, String),
}

/// Plays a game of a pair to its end. `players` are Red and Black; `second`: whether Red is B.
pub(crate) fn play(
    mut game: Game,
    players: &mut [&mut dyn Player; 2],
    plan: &MatchPlan<'_>,
    pair: u64,
    second: bool,
    stop: &AtomicBool,
) -> Result<PlayedGame, Interruption> {
    let MatchPlan { conditions, timer, watcher, .. } = plan;
    let watch = |game: &Game, moves: &[PlayedMove], line: &[Move], clocks: &Clocks, ending: Option<&Ending>| {
        if let Some(watcher) = watcher {
            watcher.show(&WatchedGame { pair, second, game, moves, line, left: clocks.left(), ending });
        }
    };
    let opening_plies = game.len();
    let mut moves: Vec<PlayedMove> = Vec::new();
    let mut clocks = Clocks::new(conditions.by_color(second), conditions.grace);
    let fault = |side, trouble| match trouble {
        Trouble::Fault(fault) => Ok(Ending::Fault(side, fault)),
        Trouble::Gone(detail) => Err(Interruption::Gone(side, detail)),
    };
    for side in [Color::Red, Color::Black] {
        if let Err(trouble) = players[side.index()].new_game() {
            return Ok(PlayedGame { game, opening_plies, moves, ending: fault(side, trouble)? });
        }
    }
    watch(&game, &moves, &[], &clocks, None);
    let ending = loop {
        if let Status::Over(ending) = game.status() {
            break Ending::Played(ending.outcome, Reason::Rules(ending.reason));
        }
        let scores = moves.iter().map(|played| played.note.score);
        if let Some((outcome, reason)) = conditions.adjudication.verdict(scores, opening_plies, !game.position().turn())
        {
            break Ending::Played(outcome, reason);
        }
        if game.len() >= conditions.ply_cap as usize {
            break Ending::Played(Outcome::Draw, Reason::PlyCap);
        }
        if stop.load(Relaxed) {
            return Err(Interruption::Stopped);
        }
        let side = game.position().turn();
        match play_move(players[side.index()], &game, &mut clocks, *timer) {
            Ok((Choice { mv, score, depth, nodes, line }, time)) => {
                moves.push(PlayedMove { mv, note: Note { score, depth, nodes, time } });
                game.push_legal(mv);
                watch(&game, &moves, &line, &clocks, None);
            }
            Err(trouble) => break fault(side, trouble)?,
        }
    };
    let ending = match ending {
        Ending::Played(Outcome::Draw, reason) if conditions.decider => Ending::DrawWinsBlack(reason),
        ending => ending,
    };
    watch(&game, &moves, &[], &clocks, Some(&ending));
    Ok(PlayedGame { game, opening_plies, moves, ending })
}

/// Plays one move. Returns it, legal and in time, with its time in whole milliseconds.
fn play_move(
    player: &mut dyn Player,
    game: &Game,
    clocks: &mut Clocks,
    timer: &dyn Timer,
) -> Result<(Choice, Duration), Trouble> {
    let side = game.position().turn();
    player.prepare(game)?;
    let allowance = clocks.allowance(side);
    let start = timer.now();
    let choice = player.choose(game, &allowance)?;
    let used = timer.now().saturating_sub(start);
    if !game.position().is_legal(choice.mv) {
        return Err(Trouble::fault(FaultKind::IllegalMove, format!("{} is not legal", choice.mv)));
    }
    clocks.press(side, used).map_err(|late| Trouble::fault(FaultKind::TimeLoss, late.to_string()))?;
    Ok((choice, Duration::from_millis(used.as_millis() as u64)))
}
