//! Time management: from clocks to soft and hard time limits.

use std::time::Duration;

use crate::tune::Parameters;

/// The clock of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// The time left.
    pub left: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// The moves to the next time control, this one included; `None` for sudden death.
    pub moves_to_go: Option<u32>,
}

/// The time limits of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The target; the search scales it from half to twice by best-move stability.
    pub soft: Duration,
    /// The maximum.
    pub hard: Duration,
}

/// The minimum time of a search, enough for one iteration.
const MIN_TIME: Duration = Duration::from_millis(1);

impl ClockState {
    /// Divides the time left. `overhead` is the time lost between engine and clock per move; it is
    /// never used. The rest is divided anew at each move, so that the time never runs out.
    #[must_use]
    pub fn budget(self, overhead: Duration, tune: &Parameters) -> Budget {
        let max_moves = tune.time_moves_to_go as u32;
        let moves = self.moves_to_go.unwrap_or(max_moves).clamp(1, max_moves);
        // Increments arrive after the move, so they must not count towards this one's maximum.
        let available = self.left.saturating_sub(overhead);
        let income = self.increment * (moves - 1);
        let pool =
            (self.left + income).saturating_sub(overhead * (moves + 1)).max(available / tune.time_pool_divisor as u32);
        let percent = if moves == 1 { tune.time_last_percent } else { tune.time_max_percent };
        let max = available * percent as u32 / 100;
        let soft = (pool / moves).min(max).max(MIN_TIME);
        let hard = (soft * tune.time_hard_factor as u32).min(max).max(MIN_TIME);
        Budget { soft: soft.min(hard), hard }
    }
}

impl Budget {
    /// A fixed time per move, less the overhead.
    #[must_use]
    pub fn fixed(time: Duration, overhead: Duration) -> Self {
        let time = time.saturating_sub(overhead).max(MIN_TIME);
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
        let budget = |left, increment, moves| clock(left, increment, moves).budget(ms(30), &Parameters::DEFAULT);
        // Sudden death: a fortieth, less the overhead.
        assert_eq!(
            budget(60_000, 0, None),
            Budget { soft: Duration::from_micros(1_469_250), hard: ms(7_346) + ms(1) / 4 }
        );
        // Increments are spent too, except the one after the last move.
        assert_eq!(budget(10_000, 100, None).soft, Duration::from_micros(316_750));
        // The last move before the time control may take nearly all.
        assert_eq!(budget(1_030, 0, Some(1)), Budget { soft: ms(850), hard: ms(850) });
        assert_eq!(budget(10_000, 0, Some(10)).soft, ms(967));
        // Hardly anything left: a move at once.
        assert_eq!(budget(20, 0, None), Budget { soft: ms(1), hard: ms(1) });
        assert_eq!(budget(0, 0, Some(0)), Budget { soft: ms(1), hard: ms(1) });
        assert_eq!(Budget::fixed(ms(100), ms(30)).hard, ms(70));
        assert_eq!(Budget::fixed(ms(10), ms(30)).hard, ms(1));
    }

    /// The clock does not run out even if every move takes its hard limit, while more than the
    /// overhead and the minimum are left.
    #[test]
    fn the_clock_never_runs_out() {
        proptest!(|(left in 0_u64..600_000, increment in 0_u64..5_000, moves in proptest::option::of(1_u32..60),
            overhead in 0_u64..500)| {
            let state = clock(left, increment, moves);
            let budget = state.budget(ms(overhead), &Parameters::DEFAULT);
            prop_assert!(budget.soft <= budget.hard);
            prop_assert!(budget.hard == MIN_TIME || budget.hard + ms(overhead) <= state.left);
        });
        let mut left = ms(60_000);
        for _ in 0..200 {
            let budget = ClockState { left, increment: ms(0), moves_to_go: None }.budget(ms(30), &Parameters::DEFAULT);
            // The soft limit, and 10 ms of actual overhead.
            let used = budget.soft + ms(10);
            assert!(used < left, "a game of two hundred moves");
            left -= used;
        }
    }
}
