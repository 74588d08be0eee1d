//! The numbers of moves: those of a text's numbers that count its moves.

use crate::Color;

/// A number in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    /// Its value; none if it is too large.
    pub(super) value: Option<u32>,
    /// The number of moves before it.
    pub(super) moves_before: usize,
}

/// The ways to count: two moves for a number, one, and two with Black's first move alone.
const COUNTINGS: [fn(usize) -> usize; 3] = [|moves| moves / 2, |moves| moves, |moves| moves.div_ceil(2)];

/// Returns for each number whether it counts the moves of its text. The counting may begin at any
/// number; it is the one that most numbers fit. Of several at one place the last counts.
pub(super) fn fitting(numbers: &[Number], moves: usize, first: Color) -> Vec<bool> {
    let mut best = (0, Vec::new());
    let countings = if first == Color::Black { &COUNTINGS[..] } else { &COUNTINGS[..2] };
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
        let count = fits.iter().filter(|fits| **fits).count();
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

    /// The numbers that fit, of numbers with the moves before them, if Black moves first.
    fn fits(numbers: &[(u32, usize)]) -> Vec<u32> {
        let read: Vec<Number> =
            numbers.iter().map(|&(value, moves_before)| Number { value: Some(value), moves_before }).collect();
        numbers
            .iter()
            .zip(fitting(&read, 100, Color::Black))
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
        let huge = [Number { value: None, moves_before: 0 }];
        assert_eq!(fitting(&huge, 1, Color::Red), [false]);
        assert_eq!(fitting(&[Number { value: Some(1), moves_before: 0 }], 0, Color::Red), [false]);
        let halves = [7, 8].map(|value| Number { value: Some(value), moves_before: value as usize - 7 });
        let three = [(1, 0), (2, 2), (3, 3)].map(|(value, moves_before)| Number { value: Some(value), moves_before });
        assert_eq!(fitting(&halves, 3, Color::Red), [true, true], "they count plies");
        assert_eq!(fitting(&three, 4, Color::Red), [true, true, false]);
        assert_eq!(fitting(&three, 4, Color::Black), [true, true, true]);
    }
}
