//! The numbers of moves: those of a text's numbers that count its moves.

use crate::{Color, Fen};

/// A number in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    /// Its value; none if it is too large.
    pub(super) value: Option<u32>,
    /// Whether a mark of a move's number is written with it: `7.`, 第7回合.
    pub(super) is_marked: bool,
    /// The number of moves before it.
    pub(super) moves_before: usize,
}

/// The ways to count: two moves for a number, one, and two with Black's first move alone.
const COUNTINGS: [fn(usize) -> usize; 3] = [|moves| moves / 2, |moves| moves, |moves| moves.div_ceil(2)];

/// Returns for each number whether it counts the moves of its text. The counting may begin at any
/// number; it is the one that most numbers fit. Of several at one place the last counts. One number
/// alone says nothing of the counting: it is the position's or 1, or stands with its mark before
/// the first move.
pub(super) fn fitting(numbers: &[Number], moves: usize, start: &Fen) -> Vec<bool> {
    let mut best = (0, Vec::new());
    let countings = if start.position.turn() == Color::Black { &COUNTINGS[..] } else { &COUNTINGS[..2] };
    for counting in countings {
        let first = |number: &Number| Some(i64::from(number.value?) - counting(number.moves_before) as i64);
        let firsts: Vec<Option<i64>> = numbers.iter().map(first).collect();
        let mode = most_frequent(&firsts);
        let mut fits: Vec<bool> = firsts.iter().map(|first| moves > 0 && first.is_some() && *first == mode).collect();
        let mut place = None;
        for (number, fits) in numbers.iter().zip(&mut fits).rev() {
            *fits &= place != Some(number.moves_before);
            place = if *fits { Some(number.moves_before) } else { place };
        }
        let mut count = fits.iter().filter(|fits| **fits).count();
        if count == 1
            && let Some(index) = fits.iter().position(|fits| *fits)
        {
            let Number { is_marked, moves_before, .. } = numbers[index];
            let is_usual = mode.is_some_and(|first| first == 1 || first == i64::from(start.move_number));
            fits[index] = is_usual || is_marked && moves_before == 0;
            count = usize::from(fits[index]);
        }
        if count == numbers.len() {
            return fits;
        }
        if count > best.0 || best.1.is_empty() {
            best = (count, fits);
        }
    }
    best.1
}

/// The most frequent value, of several the one that comes first.
fn most_frequent(values: &[Option<i64>]) -> Option<i64> {
    let first = values.iter().flatten().next().copied();
    if values.iter().all(|value| *value == first) {
        return first;
    }
    let mut places: Vec<(i64, usize)> =
        values.iter().enumerate().filter_map(|(place, value)| Some(((*value)?, place))).collect();
    places.sort_unstable();
    let runs = places.chunk_by(|one, other| one.0 == other.0);
    runs.max_by_key(|run| (run.len(), std::cmp::Reverse(run[0].1))).map(|run| run[0].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(turn: &str) -> Fen {
        format!("4k4/9/9/9/9/9/9/9/9/3K5 {turn} - - 0 12").parse().unwrap()
    }

    fn number(value: u32, moves_before: usize) -> Number {
        Number { value: Some(value), is_marked: false, moves_before }
    }

    /// The numbers that fit, of numbers with the moves before them, if Black moves first.
    fn fits(numbers: &[(u32, usize)]) -> Vec<u32> {
        let read: Vec<Number> = numbers.iter().map(|&(value, moves_before)| number(value, moves_before)).collect();
        numbers
            .iter()
            .zip(fitting(&read, 100, &start("b")))
            .filter(|(_, fits)| *fits)
            .map(|((value, _), _)| *value)
            .collect()
    }

    #[test]
    fn numbers_count_moves_or_plies_from_any_beginning() {
        assert_eq!(fits(&[(1, 0), (2, 2), (3, 4)]), [1, 2, 3]);
        assert_eq!(fits(&[(7, 0), (8, 1), (9, 3)]), [7, 8, 9]);
        assert_eq!(fits(&[(1, 0), (1, 1), (2, 2), (2, 3)]), [1, 1, 2, 2]);
        assert_eq!(fits(&[(1, 0), (2, 1), (3, 2)]), [1, 2, 3]);
        assert_eq!(fits(&[]), [0; 0]);
    }

    #[test]
    fn other_numbers_do_not_fit() {
        assert_eq!(fits(&[(1, 0), (99, 2), (2, 2), (3, 4)]), [1, 2, 3]);
        assert_eq!(fits(&[(1, 0), (2, 2), (2, 2), (3, 4)]), [1, 2, 3]);
        assert_eq!(fits(&[(1, 0), (99, 1)]), [1]);
        assert_eq!(fits(&[(2_024, 0), (1, 0), (2, 2)]), [1, 2]);
        let red = start("w");
        let huge = [Number { value: None, is_marked: true, moves_before: 0 }];
        assert_eq!(fitting(&huge, 1, &red), [false]);
        assert_eq!(fitting(&[number(1, 0)], 0, &red), [false]);
        let halves = [7, 8].map(|value| number(value, value as usize - 7));
        let three = [(1, 0), (2, 2), (3, 3)].map(|(value, moves_before)| number(value, moves_before));
        assert_eq!(fitting(&halves, 3, &red), [true, true], "they count plies");
        assert_eq!(fitting(&three, 4, &red), [true, true, false]);
        assert_eq!(fitting(&three, 4, &start("b")), [true, true, true]);
    }

    #[test]
    fn one_number_alone_counts_only_where_games_begin() {
        assert_eq!(fits(&[(1, 0)]), [1]);
        assert_eq!(fits(&[(2, 2)]), [2]);
        assert_eq!(fits(&[(12, 0)]), [12], "the position's number");
        assert_eq!(fits(&[(13, 2)]), [13]);
        assert_eq!(fits(&[(7, 0)]), [0; 0]);
        assert_eq!(fits(&[(99, 1), (5, 3)]), [0; 0]);
        let marked = |moves_before| [Number { is_marked: true, ..number(7, moves_before) }];
        assert_eq!(fitting(&marked(0), 5, &start("w")), [true]);
        assert_eq!(fitting(&marked(1), 5, &start("w")), [false]);
    }
}
