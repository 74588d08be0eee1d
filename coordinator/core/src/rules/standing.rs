//! The standing of an account: work is lent against proven work, and faults cost both.
//!
//! A stranger borrows seconds of one core. Each clean audit lets an account borrow more, so an
//! honest one soon borrows what it can play. Legal moves alone prove nothing. Leases that lapse,
//! rejected uploads and dropped audits are faults: they cost proven nodes. The faults of an account
//! without any cost time, twice as much each. Thus a large fleet may lose its power, and a stranger
//! may not hold games.

use crate::{
    clock::{DAY, SECOND, Time},
    model::{Fault, Standing},
};

/// Seconds of a core lent without any accepted game.
pub const SECONDS_OF_STRANGER: i64 = 10;

/// Nodes of a core in a second.
const NODES_PER_SECOND: i64 = 400_000;

/// Nodes lent without any accepted game. A fault costs at least as many.
pub(super) const STRANGER_NODES: i64 = SECONDS_OF_STRANGER * NODES_PER_SECOND;

/// Faults without a wait, since computers sleep and lose power.
const FREE_FAULTS: i64 = 2;

/// The wait after the first fault that is not free.
const FIRST_WAIT_MS: i64 = 60 * SECOND;

/// Maximum wait.
pub const MAX_WAIT_MS: i64 = DAY;

impl Fault {
    /// The price, as a multiple of the games' nodes. A sound worker's uploads are hardly ever
    /// rejected.
    const fn factor(self) -> i64 {
        match self {
            Self::Lapsed | Self::Dropped => 1,
            Self::Rejected => 4,
        }
    }
}

impl Standing {
    /// Maximum nodes lent at the same time.
    #[must_use]
    pub const fn max_lent_nodes(&self) -> i64 {
        self.proven_nodes.saturating_add(STRANGER_NODES)
    }

    /// Seconds of a core that are lent at the same time, at most.
    #[must_use]
    pub const fn lent_seconds(&self) -> i64 {
        self.max_lent_nodes() / NODES_PER_SECOND
    }

    /// Limits the games of a new lease, beside so many nodes already lent. Whole units; one unit is
    /// lent in any case if nothing else is, so that a game of any length can be played.
    #[must_use]
    pub fn max_games(&self, lent_nodes: i64, nodes_per_game: i64, unit: i64) -> i64 {
        let left = (self.max_lent_nodes() - lent_nodes).max(0);
        let units = left / nodes_per_game.saturating_mul(unit).max(1);
        if lent_nodes == 0 { units.max(1) * unit } else { units * unit }
    }

    /// Records a fault with games of so many nodes.
    pub fn charge(&mut self, now: Time, fault: Fault, nodes: i64) {
        let price = nodes.max(STRANGER_NODES).saturating_mul(fault.factor());
        if self.proven_nodes >= price {
            self.proven_nodes -= price;
            return;
        }
        (self.proven_nodes, self.faults) = (0, self.faults.saturating_add(1));
        let doublings = self.faults - FREE_FAULTS - 1;
        if doublings >= 0 {
            let wait = (FIRST_WAIT_MS << doublings.min(20)).min(MAX_WAIT_MS);
            self.waits_until = self.waits_until.max(now.after(wait));
        }
    }

    /// Records proven games of so many nodes; fewer than none take proof back. What a stranger is
    /// lent makes up for one fault.
    pub fn credit(&mut self, nodes: i64) {
        self.proven_nodes = self.proven_nodes.saturating_add(nodes).max(0);
        if self.faults > 0 && self.proven_nodes >= STRANGER_NODES {
            self.faults -= 1;
            self.proven_nodes -= STRANGER_NODES;
        }
    }

    /// Seconds until it gets a lease; none if it gets one now.
    #[must_use]
    pub fn wait_seconds(&self, now: Time) -> Option<u32> {
        let left = self.waits_until.0 - now.0;
        (left > 0).then(|| (left.min(MAX_WAIT_MS) / SECOND + 1) as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stranger_borrows_seconds_of_a_core() {
        let stranger = Standing::default();
        assert_eq!(stranger.max_games(0, 53_000, 1), 75);
        assert_eq!(stranger.max_games(0, 53_000, 2), 74, "whole pairs");
        assert_eq!(stranger.max_games(75 * 53_000, 53_000, 1), 0);
        assert_eq!(stranger.max_games(0, 900_000_000, 2), 2, "one pair in any case");
        assert_eq!(stranger.max_games(1, 900_000_000, 2), 0, "but only one");
        assert_eq!(stranger.max_games(0, i64::MAX, 2), 2);
    }

    #[test]
    fn an_account_borrows_as_much_as_it_has_proven() {
        let mut standing = Standing::default();
        standing.credit(STRANGER_NODES);
        assert_eq!(standing.max_lent_nodes(), 2 * STRANGER_NODES);
        assert_eq!(standing.max_games(STRANGER_NODES, 1_000, 1), 4_000);
        let rich = Standing { proven_nodes: i64::MAX, ..standing };
        assert!(rich.max_games(0, 1, 1) > 1 << 60);
    }

    #[test]
    fn without_proven_work_each_fault_doubles_the_wait() {
        let mut stranger = Standing::default();
        let waits: Vec<Option<u32>> = (0..16)
            .map(|_| {
                stranger.charge(Time(0), Fault::Lapsed, 1);
                stranger.wait_seconds(Time(0))
            })
            .collect();
        assert_eq!(waits[..5], [None, None, Some(61), Some(121), Some(241)]);
        assert_eq!(waits[15], Some(86_401), "a day at most");
        assert_eq!(stranger.wait_seconds(Time(MAX_WAIT_MS)), None);
        assert_eq!(stranger.wait_seconds(Time(MAX_WAIT_MS - 1)), Some(1));
        stranger.faults = FREE_FAULTS;
        stranger.charge(Time(0), Fault::Lapsed, 1);
        assert_eq!(stranger.wait_seconds(Time(0)), Some(86_401), "a wait is never shortened");
    }

    #[test]
    fn proven_work_pays_for_faults() {
        let mut standing = Standing { proven_nodes: 10 * STRANGER_NODES, ..Standing::default() };
        standing.charge(Time(0), Fault::Lapsed, 3 * STRANGER_NODES);
        assert_eq!((standing.proven_nodes, standing.faults), (7 * STRANGER_NODES, 0));
        standing.charge(Time(0), Fault::Dropped, 1);
        assert_eq!(standing.proven_nodes, 6 * STRANGER_NODES, "the least price");
        standing.charge(Time(0), Fault::Rejected, 1);
        assert_eq!((standing.proven_nodes, standing.faults), (2 * STRANGER_NODES, 0));
        standing.charge(Time(0), Fault::Rejected, 1);
        assert_eq!((standing.proven_nodes, standing.faults), (0, 1));
    }

    #[test]
    fn accepted_games_make_up_for_faults() {
        let mut standing = Standing { faults: 2, ..Standing::default() };
        standing.credit(STRANGER_NODES - 1);
        assert_eq!((standing.proven_nodes, standing.faults), (STRANGER_NODES - 1, 2));
        standing.credit(1);
        assert_eq!((standing.proven_nodes, standing.faults), (0, 1));
        standing.credit(5 * STRANGER_NODES);
        assert_eq!((standing.proven_nodes, standing.faults), (4 * STRANGER_NODES, 0));
        standing.credit(-3 * STRANGER_NODES);
        assert_eq!(standing.proven_nodes, STRANGER_NODES);
        standing.credit(-3 * STRANGER_NODES);
        assert_eq!((standing.proven_nodes, standing.faults), (0, 0));
    }

    proptest! {
        #[test]
        fn no_more_is_lent_than_is_proven(
            proven in 0..1_000_000_000_i64, lent in 1..2_000_000_000_i64, cost in 1..100_000_i64, unit in 1..3_i64,
        ) {
            let standing = Standing { proven_nodes: proven, ..Standing::default() };
            let games = standing.max_games(lent, cost, unit);
            prop_assert!(games % unit == 0 && games >= 0);
            prop_assert!(games == 0 || lent + games * cost <= standing.max_lent_nodes());
            prop_assert!(lent + (games + unit) * cost > standing.max_lent_nodes());
        }
    }
}
