//! The content of the live view.

use std::time::Duration;

use selfplay::{Note, WatchedGame};
use xiangqi::{Color, Move, Position, notation::Notation, rules::Outcome};

/// A shown game.
pub(super) struct Scene {
    /// The name of the game.
    pub(super) title: String,
    pub(super) position: Position,
    pub(super) last_move: Option<Move>,
    /// Red and Black.
    pub(super) sides: [Side; 2],
    /// The moves as text, opening included.
    pub(super) moves: Vec<String>,
    /// The number of the first move, and its side.
    pub(super) first: (u32, Color),
    pub(super) end: Option<String>,
}

/// A side of a game.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) limit: String,
    /// The time left, if both have clocks.
    pub(super) clock: Option<Duration>,
    pub(super) thinks: bool,
    /// The report with its last move.
    pub(super) report: Option<Report>,
}

/// The search result of an engine's last move.
#[derive(Clone)]
pub(super) struct Report {
    /// In pawns, from Red's view.
    pub(super) score: String,
    pub(super) depth: u32,
    pub(super) nodes: u64,
    pub(super) time: Duration,
    /// The expected line, from its move on.
    pub(super) line: String,
}

impl Report {
    /// Describes the last move.
    pub(super) fn new(watched: &WatchedGame<'_>, note: Note, notation: Notation) -> Self {
        let Note { score, depth, nodes, time } = note;
        let red = |score: i32| if watched.game.position().turn() == Color::Black { score } else { -score };
        let score = score.map(red).map_or_else(|| "–".to_owned(), pawns);
        let mut position = watched.game.start().position.clone();
        for mv in watched.game.moves().take(watched.game.len().saturating_sub(1)) {
            let _ = position.make(mv);
        }
        Self { score, depth, nodes, time, line: texts(position, watched.line.iter().copied(), notation).join(" ") }
    }
}

impl Scene {
    pub(super) fn new(title: String, watched: &WatchedGame<'_>, notation: Notation, sides: [Side; 2]) -> Self {
        let game = watched.game;
        let start = game.start();
        let end = watched.ending.map(|ending| {
            let outcome = match ending.outcome() {
                Outcome::Draw => "draw",
                outcome if outcome.loser() == Some(Color::Red) => "Black wins",
                _ => "Red wins",
            };
            format!("{outcome}: {}", ending.reason())
        });
        Self {
            title,
            position: game.position().clone(),
            last_move: game.moves().last(),
            sides,
            moves: texts(start.position.clone(), game.moves(), notation),
            first: (start.move_number, start.position.turn()),
            end,
        }
    }

    /// Rows of two moves, with their number.
    pub(super) fn rows(&self) -> Vec<[String; 3]> {
        let (first, side) = self.first;
        let skipped = usize::from(side == Color::Black);
        let cells: Vec<&str> = std::iter::repeat_n("…", skipped).chain(self.moves.iter().map(String::as_str)).collect();
        let rows = cells.chunks(2).zip(first..);
        rows.map(|(row, number)| {
            [format!("{number}."), row[0].to_owned(), row.get(1).copied().unwrap_or_default().to_owned()]
        })
        .collect()
    }
}

/// Formats moves from a position up to the first illegal one.
fn texts(mut position: Position, moves: impl Iterator<Item = Move>, notation: Notation) -> Vec<String> {
    let mut texts = Vec::new();
    for mv in moves {
        if !position.is_legal(mv) {
            break;
        }
        texts.push(position.format_move(mv, notation));
        let _ = position.make(mv);
    }
    texts
}

/// Formats a score as people read it: `+0.31`.
fn pawns(score: i32) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    format!("{sign}{}.{:02}", score.abs() / 100, score.abs() % 100)
}

/// Formats remaining time, with tenths below 20 seconds.
pub(super) fn clock(left: Duration) -> String {
    let (seconds, tenths) = (left.as_secs(), left.subsec_millis() / 100);
    match seconds {
        0..20 => format!("0:{seconds:02}.{tenths}"),
        20..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}
