//! Numbers of inputs on the board: for each kind of piece and either owner a board seen from the side whose net it is,
//! its king below on the d or e file.

use nnue::architecture::{BUCKETS, PIECE_POINTS, View};
use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use super::Page;

/// A number for each point on which a piece can stand.
pub(super) struct Board {
    pub(super) piece: Piece,
    points: Vec<(Square, f64)>,
}

impl Board {
    /// The boards of all pieces, the side's own first; a number is the mean over the king's places.
    pub(super) fn all(number: impl Fn(usize) -> f64) -> Vec<Self> {
        let pieces = Color::ALL.into_iter().flat_map(|color| PieceKind::ALL.map(|kind| Piece::new(color, kind)));
        pieces.map(|piece| Self { piece, points: points(piece, &number) }).collect()
    }

    /// The mean over the board.
    pub(super) fn mean(&self) -> f64 {
        self.points.iter().map(|(_, number)| number).sum::<f64>() / self.points.len().max(1) as f64
    }

    /// The same, with the numbers as their differences from a level.
    pub(super) fn less(mut self, level: f64) -> Self {
        for (_, number) in &mut self.points {
            *number -= level;
        }
        self
    }

    /// The greatest distance from zero.
    pub(super) fn reach(&self) -> f64 {
        self.points.iter().fold(0.0, |most: f64, (_, number)| most.max(number.abs()))
    }

    /// Draws it, its corner here and a point so large; what is `full` has the whole colour.
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

/// The points of a piece, Red being the side whose view it is.
fn points(piece: Piece, number: &impl Fn(usize) -> f64) -> Vec<(Square, f64)> {
    let mut points = Vec::new();
    for square in attacks::home(piece) {
        let can_be = |king: Square| match piece {
            Piece::RedKing => king == square,
            // With the own king on the e file, boards are mirrored so that the enemy's is not on the f file.
            Piece::BlackKing => king.file() != 4 || square.file() != 5,
            _ => true,
        };
        let views = kings().filter(|(king, _)| can_be(*king));
        let inputs: Vec<usize> = views.map(|(_, view)| view.input(Color::Red, piece, square)).collect();
        if !inputs.is_empty() {
            points.push((square, inputs.iter().map(|input| number(*input)).sum::<f64>() / inputs.len() as f64));
        }
    }
    debug_assert!(points.len() <= PIECE_POINTS);
    points
}

/// The king's places, with the views that they give.
fn kings() -> impl Iterator<Item = (Square, View)> {
    const D: u8 = 3;
    let enemy = Square::new(D, 9).expect("it is on the board");
    (0..BUCKETS as u8).filter_map(move |place| {
        let own = Square::new(D + place % 2, place / 2)?;
        Some((own, View::from_kings(Color::Red, own, enemy)))
    })
}

#[cfg(test)]
mod tests {
    use nnue::architecture::INPUTS;

    use super::*;

    #[test]
    fn every_input_that_can_be_on_is_on_a_board() {
        let seen = std::cell::RefCell::new(vec![0; INPUTS]);
        let boards = Board::all(|input| {
            seen.borrow_mut()[input] += 1;
            1.0
        });
        assert_eq!(boards.len(), 14);
        assert_eq!(boards.iter().map(|board| board.points.len()).sum::<usize>(), PIECE_POINTS);
        // The own king is in one place at a time; three points are the enemy's only while it is not on the e file.
        let seen = seen.into_inner();
        assert_eq!(seen.iter().filter(|times| **times == 1).count(), INPUTS - BUCKETS * BUCKETS + BUCKETS - 3 * 3);
        assert!(boards.iter().all(|board| (board.mean() - 1.0).abs() < 1e-9));
    }

    #[test]
    fn the_view_is_not_mirrored() {
        assert!(kings().enumerate().all(|(place, (_, view))| view.bucket() == place && !view.is_mirrored()));
    }
}
