//! The live view in a terminal.

use xiangqi::{Color, Square};

use super::{
    Script,
    scene::{Report, Scene, Side, clock},
};

/// Maximum width of a line in columns, so that no line is wrapped.
const MAX_COLUMNS: usize = 79;
/// Moves in the list below the board.
const MAX_MOVES: usize = 4;

/// Draws a game, with the colours of a terminal.
pub(super) fn board(scene: &Scene, script: Script) -> Vec<String> {
    let [red, black] = &scene.sides;
    let mut lines = vec![scene.title.clone(), side(Color::Black, black)];
    for rank in (0..10_u8).rev() {
        let points: String = (0..9).filter_map(|file| Some(point(scene, script, Square::new(file, rank)?))).collect();
        lines.push(format!(" {rank} {points}"));
        if rank == 5 {
            lines.push(script.river().to_owned());
        }
    }
    lines.push("   a b c d e f g h i".to_owned());
    lines.push(side(Color::Red, red));
    let rows = scene.rows();
    let last = rows[rows.len().saturating_sub(MAX_MOVES)..].iter().map(|row| row.join(" "));
    lines.push(last.collect::<Vec<_>>().join("  "));
    lines.extend([(Color::Black, black), (Color::Red, red)].map(|(color, side)| {
        let line = side.report.as_ref().map_or("", |report| report.line.as_str());
        format!("{} expects {line}", color.name())
    }));
    lines.push(scene.end.clone().unwrap_or_default());
    lines
}

/// A point of the board: two columns. The last move is shown in reverse.
fn point(scene: &Scene, script: Script, square: Square) -> String {
    let piece = scene.position.piece_at(square);
    let text = script.point(piece);
    let is_last = scene.last_move.is_some_and(|mv| square == mv.from() || square == mv.to());
    let style = match (piece.is_some_and(|piece| piece.color() == Color::Red), is_last) {
        (false, false) => return text,
        (true, false) => "31",
        (false, true) => "7",
        (true, true) => "31;7",
    };
    format!("\x1b[{style}m{text}\x1b[0m")
}

fn side(color: Color, side: &Side) -> String {
    let marker = if side.thinks { '>' } else { ' ' };
    let time = side.clock.map_or_else(|| side.limit.clone(), clock);
    let report = side.report.as_ref().map(|report| format!("  {}", figures(report))).unwrap_or_default();
    format!("{marker} {:5} {}  {time}{report}", color.name(), side.name)
}

fn figures(report: &Report) -> String {
    let Report { score, depth, nodes, time, .. } = report;
    format!("{score} depth {depth} nodes {nodes} in {:.1} s", time.as_secs_f64())
}

/// Describes the last move, or the beginning or the end, in one line without colours.
pub(super) fn line(scene: &Scene) -> String {
    let Scene { title, sides, moves, end, .. } = scene;
    if let Some(end) = end {
        return format!("{title}, ply {}: {end}", moves.len());
    }
    let mover = !scene.position.turn();
    let side = &sides[mover.index()];
    let (Some(mv), Some(report)) = (moves.last(), &side.report) else {
        return format!("{title}: {} against {}", sides[0].name, sides[1].name);
    };
    let time = side.clock.map(|left| format!("  left {}", clock(left))).unwrap_or_default();
    let line = report.line.split_once(' ').map(|(_, rest)| format!("  expects {rest}")).unwrap_or_default();
    format!("{title}, ply {}: {mv} by {}  {}{time}{line}", moves.len(), side.name, figures(report))
}

/// Cuts a line to the width of a terminal. Control sequences have no width, East Asian characters
/// two columns.
pub(super) fn clipped(line: &str) -> String {
    let (mut clipped, mut columns, mut in_sequence) = (String::new(), 0, false);
    for letter in line.chars() {
        if letter == '\x1b' {
            in_sequence = true;
        } else if !in_sequence {
            columns += if letter >= '\u{1100}' { 2 } else { 1 };
        } else if letter == 'm' {
            in_sequence = false;
        }
        if columns > MAX_COLUMNS {
            break;
        }
        clipped.push(letter);
    }
    clipped
}

#[cfg(test)]
mod tests {
    use xiangqi::Piece;

    use super::{Script, clipped};

    #[test]
    fn points_have_two_columns_in_every_script() {
        let pieces = |script: Script| Piece::ALL.map(|piece| script.point(Some(piece))).concat();
        assert_eq!(pieces(Script::Chinese), "车马炮兵仕相帅车马炮卒士象将");
        assert_eq!(pieces(Script::Traditional), "俥傌炮兵仕相帥車馬砲卒士象將");
        assert_eq!(pieces(Script::Letters).chars().count(), 2 * Piece::ALL.len());
        for script in [Script::Chinese, Script::Traditional] {
            assert_eq!((script.point(None).as_str(), script.river().contains('汉')), ("＋", script == Script::Chinese));
        }
    }

    #[test]
    fn lines_are_cut_by_columns() {
        assert_eq!(clipped(&"a".repeat(100)), "a".repeat(79));
        assert_eq!(clipped(&"炮".repeat(100)), "炮".repeat(39));
        let colored = "\x1b[31m炮\x1b[0m".repeat(20);
        assert_eq!(clipped(&colored), colored);
    }
}
