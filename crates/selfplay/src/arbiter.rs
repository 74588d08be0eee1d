//! One game of a match.

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
    player::{Choice, Fault, FaultKind, Player, Trouble},
    timing::{Clocks, TimeControl, Timer},
};

/// What holds in every game of a match.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// What players may use for their moves.
    pub time_control: TimeControl,
    /// How much more they may use before they lose on time: for each move, or where a clock runs, for all together.
    pub grace: Duration,
    /// When games end by their scores.
    pub adjudication: Adjudication,
    /// After how many plies, its opening included, a game ends in a draw.
    pub ply_cap: u32,
}

/// What a player thought of its move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The score for the side that moves.
    pub score: Option<Score>,
    /// How deep it looked.
    pub depth: u32,
    /// How many nodes it looked at.
    pub nodes: u64,
    /// How long it took, in whole milliseconds.
    pub time: Duration,
}

/// A move of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The move.
    pub mv: Move,
    /// What its player thought.
    pub note: Note,
}

/// How a game of a match ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As games end.
    Played(Outcome, Reason),
    /// One side did something wrong, and lost.
    Fault(Color, Fault),
}

impl Ending {
    /// Who won.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Played(outcome, _) => *outcome,
            Self::Fault(side, _) => Outcome::loss_of(*side),
        }
    }

    /// The word for it in records and reports.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Played(_, reason) => reason.name(),
            Self::Fault(_, fault) => fault.kind.name(),
        }
    }
}

/// A game of a match that has ended.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// All of it, its opening included. If it ended by a fault it may go on by the rules.
    pub game: Game,
    /// How many of its moves are the opening's.
    pub opening_plies: usize,
    /// The moves after the opening.
    pub moves: Vec<PlayedMove>,
    /// How it ended.
    pub ending: Ending,
}

/// Why there is no game.
#[derive(Debug)]
pub(crate) enum Interruption {
    /// Nobody wants it any more.
    Stopped,
    /// This side cannot play on.
    Gone(Color, String),
}

/// Plays a game from its opening to its end. `players` are Red and Black.
pub(crate) fn play(
    mut game: Game,
    players: &mut [&mut dyn Player; 2],
    conditions: &Conditions,
    timer: &dyn Timer,
    stop: &AtomicBool,
) -> Result<PlayedGame, Interruption> {
    let opening_plies = game.len();
    let mut moves: Vec<PlayedMove> = Vec::new();
    let mut clocks = Clocks::new(conditions.time_control, conditions.grace);
    let fault = |side, trouble| match trouble {
        Trouble::Fault(fault) => Ok(Ending::Fault(side, fault)),
        Trouble::Gone(detail) => Err(Interruption::Gone(side, detail)),
    };
    for side in [Color::Red, Color::Black] {
        if let Err(trouble) = players[side.index()].new_game() {
            return Ok(PlayedGame { game, opening_plies, moves, ending: fault(side, trouble)? });
        }
    }
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
        match turn(players[side.index()], &game, &mut clocks, timer) {
            Ok((Choice { mv, score, depth, nodes }, time)) => {
                moves.push(PlayedMove { mv, note: Note { score, depth, nodes, time } });
                game.push_legal(mv);
            }
            Err(trouble) => break fault(side, trouble)?,
        }
    };
    Ok(PlayedGame { game, opening_plies, moves, ending })
}

/// One move, which is legal and in time, and its time in whole milliseconds.
fn turn(
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
