//! The board as SVG, for the coordinator's pages and those of `chuhe match`.
//!
//! Colours are classes of the [style sheet](STYLE), for light and dark. Each piece is drawn once
//! and placed by reference: the browser only moves it.

use std::fmt::{self, Write as _};

use xiangqi::{
    Color, Move, Piece, PieceKind, Position, Square,
    rules::{Game, PlyFacts},
};

/// The style sheet of boards and of the live page. The page's own colours have other names.
pub const STYLE: &str = include_str!("../assets/board.css");

/// The character printed on a piece.
#[must_use]
pub const fn character(piece: Piece) -> char {
    const RED: [char; 7] = ['俥', '傌', '炮', '兵', '仕', '相', '帥'];
    const BLACK: [char; 7] = ['車', '馬', '砲', '卒', '士', '象', '將'];
    match piece.color() {
        Color::Red => RED[piece.kind().index()],
        Color::Black => BLACK[piece.kind().index()],
    }
}

/// Distance of two points.
const CELL: i32 = 60;
/// Position of the upper left point.
const LEFT: i32 = 50;
const TOP: i32 = 42;
const WIDTH: i32 = 580;
const HEIGHT: i32 = 640;
/// Radius of a piece.
const RADIUS: i32 = 26;

/// A mark on the board, besides the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// From a piece to its target.
    Arrow {
        /// The point of the attacker.
        from: Square,
        /// The point of the target.
        to: Square,
        /// The kind of the attack.
        kind: Attack,
    },
    /// Around an attacked piece.
    Ring {
        /// The point of the piece.
        around: Square,
        /// The kind of the attack.
        kind: Attack,
    },
}

/// Kind of a marked attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// A check.
    Check,
    /// A threat of mate.
    Threat,
    /// A chase.
    Chase,
    /// A chase that does not count.
    Vain,
}

impl Attack {
    const fn class(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Threat => "threat",
            Self::Chase => "chase",
            Self::Vain => "vain",
        }
    }
}

/// The marks of a move of the cycle.
#[must_use]
pub fn marks_of(facts: &PlyFacts) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (attackers, kind) in [(facts.checkers, Attack::Check), (facts.threats, Attack::Threat)] {
        marks.extend(attackers.into_iter().map(|from| Mark::Arrow { from, to: facts.king, kind }));
        if attackers.any() {
            marks.push(Mark::Ring { around: facts.king, kind });
        }
    }
    for chase in &facts.chases {
        let kind = if chase.saved { Attack::Chase } else { Attack::Vain };
        marks.push(Mark::Arrow { from: chase.by, to: chase.victim, kind });
        let ring = Mark::Ring { around: chase.victim, kind };
        if !marks.contains(&ring) {
            marks.push(ring);
        }
    }
    marks
}

/// The marks of a single position: its checks.
#[must_use]
pub fn marks_of_check(position: &Position) -> Vec<Mark> {
    let king = position.king(position.turn());
    let mut marks: Vec<_> =
        position.checkers().into_iter().map(|from| Mark::Arrow { from, to: king, kind: Attack::Check }).collect();
    if !marks.is_empty() {
        marks.push(Mark::Ring { around: king, kind: Attack::Check });
    }
    marks
}

/// A board, displayed as SVG.
pub struct Board<'a> {
    /// The position.
    pub position: &'a Position,
    /// Whether Black is at the bottom.
    pub flipped: bool,
    /// The marked move.
    pub last_move: Option<Move>,
    /// Marks by ply; those of other plies are hidden.
    pub marks: &'a [(usize, Vec<Mark>)],
    /// The shown ply.
    pub ply: usize,
    /// The title, for screen readers.
    pub title: &'a str,
    /// The description, for screen readers.
    pub description: &'a str,
}

impl fmt::Display for Board<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            r#"<svg class="board" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="board-title" aria-describedby="board-description"><title id="board-title">{}</title><desc id="board-description">{}</desc>"#,
            escaped(self.title),
            escaped(self.description)
        )?;
        definitions(f)?;
        write!(f, r#"<rect class="board-ground" width="{WIDTH}" height="{HEIGHT}" rx="10"/>"#)?;
        write!(f, r#"<path class="board-lines" d="{}"/>"#, lines())?;
        let (x, y) = (LEFT - 6, TOP - 6);
        let (width, height) = (8 * CELL + 12, 9 * CELL + 12);
        write!(f, r#"<rect class="board-frame" x="{x}" y="{y}" width="{width}" height="{height}"/>"#)?;
        river(f)?;
        self.coordinates(f)?;
        self.last_move(f)?;
        // Arrows are below the pieces: they pass under pieces between.
        for (ply, marks) in self.marks {
            let display = if *ply == self.ply { "inline" } else { "none" };
            write!(f, r#"<g class="board-marks" data-ply="{ply}" display="{display}">"#)?;
            for mark in marks {
                self.mark(f, *mark)?;
            }
            f.write_str("</g>")?;
        }
        f.write_str(r#"<g class="board-pieces">"#)?;
        for square in Square::all() {
            if let Some(piece) = self.position.piece_at(square) {
                let (x, y) = self.place(square);
                write!(f, r##"<use href="#piece-{}" x="{x}" y="{y}"/>"##, piece.letter())?;
            }
        }
        f.write_str("</g>")?;
        f.write_str("</svg>")
    }
}

impl Board<'_> {
    /// Coordinates of a point.
    fn place(&self, square: Square) -> (i32, i32) {
        let (file, rank) = (i32::from(square.file()), i32::from(square.rank()));
        let (column, row) = if self.flipped { (8 - file, rank) } else { (file, 9 - rank) };
        (LEFT + column * CELL, TOP + row * CELL)
    }

    fn coordinates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"<g class="board-coordinates">"#)?;
        for index in 0..9_u8 {
            let file = if self.flipped { 8 - index } else { index };
            let (x, y) = (LEFT + i32::from(index) * CELL, HEIGHT - 16);
            write!(f, r#"<text x="{x}" y="{y}">{}</text>"#, char::from(b'a' + file))?;
        }
        for index in 0..10_u8 {
            let rank = if self.flipped { index } else { 9 - index };
            let (x, y) = (13, TOP + i32::from(index) * CELL);
            write!(f, r#"<text x="{x}" y="{y}">{rank}</text>"#)?;
        }
        f.write_str("</g>")
    }

    /// Both circles are always present, so that scripts can move them.
    fn last_move(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let display = if self.last_move.is_some() { "inline" } else { "none" };
        let (from, to) = self.last_move.map_or(((0, 0), (0, 0)), |mv| (self.place(mv.from()), self.place(mv.to())));
        write!(
            f,
            r#"<g class="board-last" display="{display}"><circle class="board-from" cx="{}" cy="{}" r="12"/><circle class="board-to" cx="{}" cy="{}" r="{}"/></g>"#,
            from.0,
            from.1,
            to.0,
            to.1,
            RADIUS + 4
        )
    }

    fn mark(&self, f: &mut fmt::Formatter<'_>, mark: Mark) -> fmt::Result {
        match mark {
            Mark::Ring { around, kind } => {
                let (x, y) = self.place(around);
                write!(f, r#"<circle class="mark {}" cx="{x}" cy="{y}" r="{}"/>"#, kind.class(), RADIUS + 3)
            }
            Mark::Arrow { from, to, kind } => {
                let ((x, y), (to_x, to_y)) = (self.place(from), self.place(to));
                let (dx, dy) = (f64::from(to_x - x), f64::from(to_y - y));
                let length = dx.hypot(dy).max(1.0);
                let (dx, dy) = (dx / length, dy / length);
                let at = |along: f64, aside: f64| {
                    let (x, y) = (f64::from(x) + dx * along - dy * aside, f64::from(y) + dy * along + dx * aside);
                    format!("{x:.1} {y:.1}")
                };
                // From the edge of one piece to the edge of the other.
                let (begin, end) = (f64::from(RADIUS) - 6.0, length - f64::from(RADIUS) - 2.0);
                let neck = (end - 16.0).max(begin);
                write!(
                    f,
                    r#"<path class="arrow {}" d="M{}L{}L{}L{}L{}L{}L{}Z"/>"#,
                    kind.class(),
                    at(begin, -3.5),
                    at(neck, -3.5),
                    at(neck, -11.0),
                    at(end, 0.0),
                    at(neck, 11.0),
                    at(neck, 3.5),
                    at(begin, 3.5)
                )
            }
        }
    }
}

fn river(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let y = TOP + 4 * CELL + CELL / 2;
    for (column, text) in [(2, "楚 河"), (6, "漢 界")] {
        write!(f, r#"<text class="board-river" x="{}" y="{y}">{text}</text>"#, LEFT + column * CELL)?;
    }
    Ok(())
}

/// The fourteen pieces, by the letters of a FEN.
fn definitions(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("<defs>")?;
    for piece in Piece::ALL {
        let side = match piece.color() {
            Color::Red => "red",
            Color::Black => "black",
        };
        write!(
            f,
            r#"<g id="piece-{}" class="piece {side}"><circle class="disc" r="{RADIUS}"/><circle class="rim" r="{}"/><text dy="1">{}</text></g>"#,
            piece.letter(),
            RADIUS - 4,
            character(piece)
        )?;
    }
    f.write_str("</defs>")
}

/// The lines, both palaces and the point marks in one path. It is symmetric under rotation.
fn lines() -> String {
    let at = |column: i32, row: i32| (LEFT + column * CELL, TOP + row * CELL);
    let mut path = String::new();
    let mut line = |from: (i32, i32), to: (i32, i32)| {
        // Writing to a string cannot fail.
        let _ = write!(path, "M{} {}L{} {}", from.0, from.1, to.0, to.1);
    };
    for row in 0..10 {
        line(at(0, row), at(8, row));
    }
    for column in 0..9 {
        if column == 0 || column == 8 {
            line(at(column, 0), at(column, 9));
        } else {
            line(at(column, 0), at(column, 4));
            line(at(column, 5), at(column, 9));
        }
    }
    for row in [0, 7] {
        line(at(3, row), at(5, row + 2));
        line(at(5, row), at(3, row + 2));
    }
    let cannons = [(1, 2), (7, 2), (1, 7), (7, 7)];
    let pawns = (0..5).flat_map(|file| [(2 * file, 3), (2 * file, 6)]);
    for (column, row) in cannons.into_iter().chain(pawns) {
        let (x, y) = at(column, row);
        for (right, down) in [(-1, -1), (1, -1), (-1, 1), (1, 1)] {
            if column + right < 0 || column + right > 8 {
                continue;
            }
            let corner = (x + 5 * right, y + 5 * down);
            line((corner.0 + 10 * right, corner.1), corner);
            line((corner.0, corner.1 + 10 * down), corner);
        }
    }
    path
}

/// Escapes a text for XML.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Describes a position for screen readers: `Red: king e0, chariot a0 i0, …`.
#[must_use]
pub fn in_words(position: &Position, chinese: bool) -> String {
    let mut words = String::new();
    for color in Color::ALL {
        let name = match (color, chinese) {
            (_, false) => color.name(),
            (Color::Red, true) => "红方",
            (Color::Black, true) => "黑方",
        };
        if color == Color::Black {
            words.push_str(if chinese { "；" } else { "; " });
        }
        words.push_str(name);
        words.push_str(if chinese { "：" } else { ": " });
        let mut groups = Vec::new();
        for kind in
            [PieceKind::King].into_iter().chain(PieceKind::ALL.into_iter().filter(|&kind| kind != PieceKind::King))
        {
            let squares: Vec<_> = position.pieces(color, kind).into_iter().map(|square| square.to_string()).collect();
            if !squares.is_empty() {
                let name =
                    if chinese { character(Piece::new(color, kind)).to_string() } else { format!("{} ", kind.name()) };
                groups.push(format!("{name}{}", squares.join(" ")));
            }
        }
        words.push_str(&groups.join(if chinese { "，" } else { ", " }));
    }
    words
}

/// The marks of all plies of a game: the facts of its last cycle, otherwise the checks.
#[must_use]
pub fn marks_of_game(game: &Game, cycle: &[PlyFacts]) -> Vec<(usize, Vec<Mark>)> {
    let mut marks: Vec<_> = cycle.iter().map(|facts| (facts.ply, marks_of(facts))).collect();
    let first = cycle.first().map_or(usize::MAX, |facts| facts.ply);
    let mut position = game.start().position.clone();
    if first > 0 && position.in_check() {
        marks.push((0, marks_of_check(&position)));
    }
    for (index, mv) in game.moves().enumerate() {
        let _ = position.make(mv);
        let ply = index + 1;
        if position.in_check() && !cycle.iter().any(|facts| facts.ply == ply) {
            marks.push((ply, marks_of_check(&position)));
        }
    }
    marks.retain(|(_, marks)| !marks.is_empty());
    marks.sort_by_key(|(ply, _)| *ply);
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(flipped: bool, last_move: Option<&str>, marks: &[(usize, Vec<Mark>)]) -> String {
        let position = Position::start();
        let last_move = last_move.map(|text| text.parse().unwrap());
        let (title, description) = ("a <board> & \"more\"", "words");
        Board { position: &position, flipped, last_move, marks, ply: 1, title, description }.to_string()
    }

    /// `scripts/demo` shows it before any program is built.
    #[test]
    fn the_waiting_page_has_this_board() {
        let position = Position::start();
        let description = in_words(&position, false);
        let (title, description) = ("Starting position", description.as_str());
        let board =
            Board { position: &position, flipped: false, last_move: None, marks: &[], ply: 0, title, description };
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/tools/waiting-page/board.svg");
        assert_eq!(std::fs::read_to_string(file).unwrap().trim_end(), board.to_string(), "{file} is outdated");
    }

    #[test]
    fn every_piece_is_on_its_point() {
        let red_below = drawn(false, None, &[]);
        assert_eq!(red_below.matches("<use ").count(), 32);
        // The king on e0 is at the bottom, the one on e9 at the top.
        assert!(red_below.contains(r##"<use href="#piece-K" x="290" y="582"/>"##), "{red_below}");
        assert!(red_below.contains(r##"<use href="#piece-k" x="290" y="42"/>"##));
        assert!(red_below.contains(r##"<use href="#piece-C" x="110" y="462"/>"##));
        let black_below = drawn(true, None, &[]);
        assert!(black_below.contains(r##"<use href="#piece-K" x="290" y="42"/>"##));
        assert!(black_below.contains(r##"<use href="#piece-C" x="470" y="162"/>"##));
        for letter in ['帥', '仕', '相', '俥', '傌', '炮', '兵', '將', '士', '象', '車', '馬', '砲', '卒']
        {
            assert_eq!(red_below.matches(letter).count(), 1, "{letter}");
        }
        assert!(red_below.contains("楚 河") && red_below.contains("漢 界"));
    }

    #[test]
    fn a_board_is_described_and_its_words_are_escaped() {
        let svg = drawn(false, None, &[]);
        assert!(svg.contains(r#"role="img""#) && svg.contains("a &lt;board&gt; &amp; &quot;more&quot;</title>"));
        assert!(svg.contains(">words</desc>"));
        assert!(!svg.contains("style="), "the content security policy forbids it");
        let words = in_words(&Position::start(), false);
        assert!(
            words.starts_with("Red: king e0, chariot a0 i0, horse b0 h0, cannon b2 h2, pawn a3 c3 e3 g3 i3, advisor")
        );
        assert!(in_words(&Position::start(), true).contains("；黑方：將e9，車a9 i9"));
    }

    #[test]
    fn the_last_move_and_the_marks_of_its_ply_are_shown() {
        let [h2, h9] = ["h2", "h9"].map(|text| text.parse().unwrap());
        let chase =
            vec![Mark::Arrow { from: h2, to: h9, kind: Attack::Chase }, Mark::Ring { around: h9, kind: Attack::Chase }];
        let marks = [(1, chase), (2, vec![Mark::Ring { around: h2, kind: Attack::Check }])];
        let svg = drawn(false, Some("h2e2"), &marks);
        assert!(svg.contains(
            r#"<g class="board-last" display="inline"><circle class="board-from" cx="470" cy="462" r="12"/>"#
        ));
        assert!(svg.contains(r#"<g class="board-marks" data-ply="1" display="inline"><path class="arrow chase" d="M"#));
        assert!(svg.contains(r#"<g class="board-marks" data-ply="2" display="none"><circle class="mark check""#));
        assert!(drawn(false, None, &[]).contains(r#"<g class="board-last" display="none">"#));
    }
}
