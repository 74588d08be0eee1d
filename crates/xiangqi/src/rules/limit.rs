//! The natural limit: the longest run of plies without a capture.

use crate::{Color, Fen};

/// The number of counted checks of each side. Further checks, and the replies to them, do not bring
/// the limit nearer.
const COUNTED_CHECKS: u8 = 10;

/// The natural limit's counter of plies since the last capture. Pawn moves do not reset it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LimitCounter {
    counted: u32,
    /// Checks given by each side since the last capture; eleven means more than ten.
    checks: [u8; 2],
}

impl LimitCounter {
    /// A counter with the value of a FEN, at most [`Fen::MAX_COUNTER`]. Earlier checks are unknown
    /// and count as none.
    #[must_use]
    pub const fn from_fen(counted: u32) -> Self {
        let counted = if counted < Fen::MAX_COUNTER { counted } else { Fen::MAX_COUNTER };
        Self { counted, checks: [0; 2] }
    }

    /// The counted plies.
    #[must_use]
    pub const fn counted(self) -> u32 {
        self.counted
    }

    /// The number of checks this side has given since the last capture, at most eleven.
    #[must_use]
    pub const fn checks(self, color: Color) -> u8 {
        self.checks[color.index()]
    }

    /// The counter after a move.
    #[must_use]
    #[inline]
    pub fn after(mut self, mover: Color, captures: bool, gives_check: bool, answers_check: bool) -> Self {
        if captures {
            return Self::default();
        }
        let mut counts = true;
        if gives_check {
            let checks = &mut self.checks[mover.index()];
            *checks = (*checks + 1).min(COUNTED_CHECKS + 1);
            counts = *checks <= COUNTED_CHECKS;
        }
        if answers_check && self.checks(!mover) > COUNTED_CHECKS {
            counts = false;
        }
        self.counted += u32::from(counts);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_past_the_tenth_and_their_answers_are_not_counted() {
        let mut counter = LimitCounter::from_fen(5);
        for _ in 0..10 {
            counter = counter.after(Color::Red, false, true, false).after(Color::Black, false, false, true);
        }
        assert_eq!(counter.counted(), 25);
        let eleventh = counter.after(Color::Red, false, true, false);
        assert_eq!(eleventh.counted(), 25);
        assert_eq!(eleventh.after(Color::Black, false, false, true).counted(), 25);
        // A reply that is itself a check, one of the first ten.
        assert_eq!(eleventh.after(Color::Black, false, true, true).counted(), 25);
        assert_eq!(eleventh.after(Color::Black, false, true, true).checks(Color::Black), 1);
        // A quiet move counts.
        assert_eq!(counter.after(Color::Red, false, false, false).counted(), 26);
        assert_eq!(eleventh.after(Color::Black, true, true, true), LimitCounter::default());
    }

    #[test]
    fn a_counter_that_no_fen_gives_does_not_wrap() {
        let counter = LimitCounter::from_fen(u32::MAX);
        assert_eq!(counter.counted(), Fen::MAX_COUNTER);
        assert_eq!(counter.after(Color::Red, false, false, false).counted(), Fen::MAX_COUNTER + 1);
    }
}
