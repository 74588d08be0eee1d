//! How long to think, from what the clocks show.

use std::time::Duration;

/// What the mover's clock shows and will be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// What is left on it.
    pub left: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// How many moves, this one included, the time must last for; to the end of the game if `None`.
    pub moves_to_go: Option<u32>,
}

/// What a move may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// About this much; the search takes from half of it to twice, as it is sure of its move.
    pub soft: Duration,
    /// Not more than this.
    pub hard: Duration,
}

/// For how many moves the time is divided if nobody says. A game may last longer: what is left then is divided anew,
/// so that each move takes a share and the last is never reached.
const HORIZON: u32 = 40;

/// How often the hard limit is the soft one, if the clock allows it.
const STRETCH: u32 = 5;

/// The least a search is given: enough for a move.
const LEAST: Duration = Duration::from_millis(1);

impl ClockState {
    /// Divides what is left. `overhead` is what each move loses on its way to the clock and back; that much is never
    /// used.
    #[must_use]
    pub fn budget(self, overhead: Duration) -> Budget {
        let moves = self.moves_to_go.unwrap_or(HORIZON).clamp(1, HORIZON);
        // The clock must not run out before this move is made: increments come later.
        let reach = self.left.saturating_sub(overhead);
        let income = self.increment * (moves - 1);
        let pool = (self.left + income).saturating_sub(overhead * (moves + 1)).max(reach / 4);
        let most = if moves == 1 { reach * 17 / 20 } else { reach * 3 / 5 };
        let soft = (pool / moves).min(most).max(LEAST);
        let hard = (soft * STRETCH).min(most).max(LEAST);
        Budget { soft: soft.min(hard), hard }
    }
}

impl Budget {
    /// A fixed time for a move: all of it but the overhead.
    #[must_use]
    pub fn fixed(time: Duration, overhead: Duration) -> Self {
        let time = time.saturating_sub(overhead).max(LEAST);
        Self { soft: time, hard: time }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn clock(left: u64, increment: u64, moves_to_go: Option<u32>) -> ClockState {
        ClockState { left: ms(left), increment: ms(increment), moves_to_go }
    }

    #[test]
    fn time_is_divided_among_the_moves_to_come() {
        let budget = |left, increment, moves| clock(left, increment, moves).budget(ms(30));
        // Sudden death: a fortieth, less the overhead.
        assert_eq!(
            budget(60_000, 0, None),
            Budget { soft: Duration::from_micros(1_469_250), hard: ms(7_346) + ms(1) / 4 }
        );
        // An increment is spent too, all but the part that comes after the last move.
        assert_eq!(budget(10_000, 100, None).soft, Duration::from_micros(316_750));
        // The last move before more time may take nearly all.
        assert_eq!(budget(1_030, 0, Some(1)), Budget { soft: ms(850), hard: ms(850) });
        assert_eq!(budget(10_000, 0, Some(10)).soft, ms(967));
        // Hardly anything left: a move at once.
        assert_eq!(budget(20, 0, None), Budget { soft: ms(1), hard: ms(1) });
        assert_eq!(budget(0, 0, Some(0)), Budget { soft: ms(1), hard: ms(1) });
        assert_eq!(Budget::fixed(ms(100), ms(30)).hard, ms(70));
        assert_eq!(Budget::fixed(ms(10), ms(30)).hard, ms(1));
    }

    /// Even if every move takes all that it may, the clock does not run out while it shows more than the overhead and
    /// the least that a search takes.
    #[test]
    fn the_clock_never_runs_out() {
        proptest!(|(left in 0_u64..600_000, increment in 0_u64..5_000, moves in proptest::option::of(1_u32..60),
            overhead in 0_u64..500)| {
            let state = clock(left, increment, moves);
            let budget = state.budget(ms(overhead));
            prop_assert!(budget.soft <= budget.hard);
            prop_assert!(budget.hard == LEAST || budget.hard + ms(overhead) <= state.left);
        });
        let mut left = ms(60_000);
        for _ in 0..200 {
            let budget = ClockState { left, increment: ms(0), moves_to_go: None }.budget(ms(30));
            // What a steady search takes of its budget, and what the way costs.
            let used = budget.soft + ms(10);
            assert!(used < left, "a game of two hundred moves");
            left -= used;
        }
    }
}
