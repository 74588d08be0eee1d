//! Boards of a net's inputs, one for each kind of piece and owner. They are seen from the net's
//! side, its king below on the d or e file.

use nnue::architecture::{Attackers, Inputs, KING_BUCKETS, PIECE_POINTS, View};
use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use super::Page;

/// A number for each point that a piece can stand on.
pub(super) struct Board {
    pub(super) piece: Piece,
    points: Vec<(Square, f64)>,
}

impl Board {
    /// The boards of all pieces, the own ones first. A number is the mean over the buckets that
    /// allow the piece there.
    pub(super) fn all(inputs: Inputs, number: impl Fn(usize) -> f64) -> Vec<Self> {
        let pieces = Color::ALL.into_iter().flat_map(|color| PieceKind::ALL.map(|kind| Piece::new(color, kind)));
        pieces.map(|piece| Self { piece, points: points(inputs, piece, &number) }).collect()
    }

    /// The mean over the board.
    pub(super) fn mean(&self) -> f64 {
        self.points.iter().map(|(_, number)| number).sum::<f64>() / self.points.len().max(1) as f64
    }

    /// Subtracts a level from all numbers.
    pub(super) fn less(mut self, level: f64) -> Self {
        for (_, number) in &mut self.points {
            *number -= level;
        }
        self
    }

    /// The greatest absolute value.
    pub(super) fn reach(&self) -> f64 {
        self.points.iter().fold(0.0, |most: f64, (_, number)| most.max(number.abs()))
    }

    /// Draws the board with its corner at `(x, y)` and points of `size`; the value `full` is
    /// opaque.
    pub(super) fn draw(&self, page: &mut Page, (x, y): (f64, f64), size: f64, full: f64) {
        for (square, number) in &self.points {
            let (left, top) = (x + f64::from(square.file()) * size, y + f64::from(9 - square.rank()) * size);
            let opacity = (number.abs() / full.max(f64::MIN_POSITIVE)).min(1.0);
            if opacity >= 0.01 {
                let class = if *number > 0.0 { "plus" } else { "minus" };
                page.add(format_args!(
                    "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{size}\" height=\"{size}\" fill-opacity=\"{opacity:.2}\"/>",
                    super::at(left),
                    super::at(top),
                ));
            }
        }
        page.rectangle("frame", (x, y), 9.0 * size, 10.0 * size);
        let river = y + 5.0 * size;
        page.line("axis", (x, river), (x + 9.0 * size, river));
    }
}

/// The points of a piece, in Red's view.
fn points(inputs: Inputs, piece: Piece, number: &impl Fn(usize) -> f64) -> Vec<(Square, f64)> {
    let mut points = Vec::new();
    for square in attacks::home(piece) {
        let can_be = |king: Square, attackers: Option<Attackers>| match piece {
            Piece::RedKing => king == square,
            // With the own king on the e file, boards are mirrored so that the enemy's king is not
            // on the f file.
            Piece::BlackKing => king.file() != 4 || square.file() != 5,
            _ => piece.color() == Color::Black || attackers.is_none_or(|attackers| attackers.allow(piece.kind())),
        };
        let views = views(inputs).filter(|(king, attackers, _)| can_be(*king, *attackers));
        let inputs: Vec<usize> = views.map(|(.., view)| view.input(Color::Red, piece, square)).collect();
        if !inputs.is_empty() {
            points.push((square, inputs.iter().map(|input| number(*input)).sum::<f64>() / inputs.len() as f64));
        }
    }
    debug_assert!(points.len() <= PIECE_POINTS);
    points
}

/// The views of all buckets, each with its king's point and its attackers.
fn views(inputs: Inputs) -> impl Iterator<Item = (Square, Option<Attackers>, View)> {
    const D: u8 = 3;
    let enemy = Square::new(D, 9).expect("it is on the board");
    (0..inputs.buckets()).filter_map(move |bucket| {
        let place = (bucket % KING_BUCKETS) as u8;
        let own = Square::new(D + place % 2, place / 2)?;
        let (view, attackers) = (View::from_kings(Color::Red, own, enemy), inputs.attackers_in(bucket));
        Some((own, attackers, attackers.map_or(view, |attackers| view.with_attackers(attackers))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_that_can_be_on_is_on_a_board() {
        // A bucket has one point of the own king. Three points are the enemy king's only while the
        // own one is not on the e file.
        let elsewhere = KING_BUCKETS * KING_BUCKETS - KING_BUCKETS + 3 * 3;
        // Buckets without chariots, or without horses and cannons, have no points for these pieces.
        let gone = 2 * KING_BUCKETS * 3 * 90;
        for (inputs, never) in [(Inputs::Kings, elsewhere), (Inputs::KingsAttackers, 4 * elsewhere + gone)] {
            let seen = std::cell::RefCell::new(vec![0; inputs.count()]);
            let boards = Board::all(inputs, |input| {
                seen.borrow_mut()[input] += 1;
                1.0
            });
            assert_eq!(boards.len(), 14);
            assert_eq!(boards.iter().map(|board| board.points.len()).sum::<usize>(), PIECE_POINTS);
            let seen = seen.into_inner();
            assert_eq!(seen.iter().filter(|times| **times == 1).count(), inputs.count() - never);
            assert!(boards.iter().all(|board| (board.mean() - 1.0).abs() < 1e-9));
        }
    }

    #[test]
    fn the_view_is_not_mirrored() {
        for inputs in Inputs::ALL {
            let views = || views(inputs).enumerate();
            assert!(views().all(|(place, (.., view))| view.bucket() == place && !view.is_mirrored()));
        }
    }
}
