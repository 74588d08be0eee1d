//! Consequences of a verdict on a shard: the cost of a game, credit, and the choice for an audit.

use std::ops::Range;

use protocol::campaign::Gate;

use super::{audits, sizing};
use crate::model::{Job, LeaseKind, ShardState, ShardToValidate, ValidationReport, uncovered};

/// Measured games that weigh as much as the estimate before them.
const COST_INERTIA: i64 = 100;

/// Maximum factor between the estimated cost of a game and the first estimate.
const MAX_COST_FACTOR: i64 = 4;

impl ShardToValidate {
    /// Whether a verdict is pending. Two claimants may both report one after a claim expired.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.validated.is_none() && matches!(self.state, ShardState::Received | ShardState::Quarantined)
    }

    /// The state of a valid shard. A quarantined one waits, in case the quarantine is lifted.
    #[must_use]
    pub const fn accepted(&self) -> ShardState {
        match self.state {
            ShardState::Received => ShardState::Validated,
            other => other,
        }
    }

    /// Whether only an audit shows that the engine played its games. Games of trusted workers need
    /// none, and games under a clock are not reproducible.
    #[must_use]
    pub fn is_auditable(&self, job: &Job) -> bool {
        self.kind == LeaseKind::Fresh && !self.is_trusted && !job.is_timed()
    }

    /// Whether its games measure the cost of a game, to which leases are sized. Those of accounts
    /// without proven work may be any legal moves.
    #[must_use]
    pub fn measures_cost(&self) -> bool {
        self.state == ShardState::Received && (self.is_trusted || self.proven_nodes > 0)
    }

    /// Draws whether it is audited: games of untrusted workers are, and a few of the audits. Those
    /// by trusted workers are ringers. `min_percent` is the coordinator's minimum rate; a gate may
    /// have a higher one.
    #[must_use]
    pub fn is_sampled(&self, job: &Job, min_percent: u64, draw: u64) -> bool {
        if self.kind == LeaseKind::Audit {
            return audits::is_wanted_again(draw);
        }
        if !self.is_auditable(job) {
            return false;
        }
        let gate = self.gate.as_deref().and_then(|gate| serde_json::from_str::<Gate>(gate).ok());
        let of_gate = gate.map_or(0, |gate| u64::from(gate.audit_percent));
        // New accounts are free of charge, and the pairs of a gate are few.
        if of_gate > 0 && self.proven_nodes == 0 {
            return true;
        }
        audits::is_wanted(self.clean_games, min_percent.max(of_gate), draw)
    }
}

impl Job {
    /// The estimated cost of a game after so many were measured: a moving average by games. It
    /// stays within a factor of the first estimate, since most games have no audit.
    #[must_use]
    pub fn updated_cost(&self, games: i64, positions: u64) -> Option<i64> {
        if positions == 0 || games == 0 {
            return None;
        }
        let cost = positions as i64 * sizing::cost_per_position(&self.header) / games;
        let measured = self.nodes_per_game + (cost - self.nodes_per_game) * games / (games + COST_INERTIA);
        let first = sizing::cost_per_position(&self.header) * sizing::DEFAULT_MOVES_PER_GAME;
        Some(measured.clamp(first / MAX_COST_FACTOR, first.saturating_mul(MAX_COST_FACTOR)).max(1))
    }
}

/// Games and positions credited to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Games.
    pub games: i64,
    /// Their positions.
    pub positions: i64,
}

impl Credit {
    /// The credit for a shard: each game once. `before` are the account's other validated shards
    /// with the same games.
    #[must_use]
    pub fn of(numbers: &Range<i64>, before: &[Range<i64>], report: &ValidationReport) -> Option<Self> {
        let games = uncovered(numbers, before.iter().cloned());
        let all = (numbers.end - numbers.start).max(1);
        let positions = (i128::from(report.positions) * i128::from(games) / i128::from(all)) as i64;
        (games > 0).then_some(Self { games, positions })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        clock::Time,
        model::{AccountId, ShardId, WorkerId},
        rules::fixtures::{header, job},
    };

    fn shard() -> ShardToValidate {
        ShardToValidate {
            id: ShardId(1),
            worker: WorkerId(1),
            account: AccountId(1),
            numbers: 0..10,
            state: ShardState::Received,
            validated: None,
            kind: LeaseKind::Fresh,
            is_trusted: false,
            clean_games: 0,
            proven_nodes: 1,
            gate: None,
        }
    }

    #[test]
    fn a_verdict_is_given_once() {
        let pending = |state, validated| ShardToValidate { state, validated, ..shard() }.is_pending();
        for state in ShardState::ALL {
            let is_open = matches!(state, ShardState::Received | ShardState::Quarantined);
            assert_eq!((pending(*state, None), pending(*state, Some(Time(1)))), (is_open, false), "{state}");
        }
        assert_eq!(shard().accepted(), ShardState::Validated);
        let kept = ShardToValidate { state: ShardState::Quarantined, ..shard() };
        assert_eq!(kept.accepted(), ShardState::Quarantined);
    }

    #[test]
    fn fresh_games_of_untrusted_workers_are_sampled() {
        let job = job(header());
        let rate = |shard: &ShardToValidate| (0..1_000).filter(|draw| shard.is_sampled(&job, 0, *draw)).count();
        assert_eq!(rate(&shard()), 200);
        assert_eq!(rate(&ShardToValidate { is_trusted: true, ..shard() }), 0);
        assert_eq!(rate(&ShardToValidate { kind: LeaseKind::Audit, ..shard() }), 50);
        assert_eq!(rate(&ShardToValidate { kind: LeaseKind::Audit, is_trusted: true, ..shard() }), 50, "ringers");
        assert_eq!(rate(&ShardToValidate { kind: LeaseKind::Settle, ..shard() }), 0);
        let gate = serde_json::to_string(&Gate { audit_percent: 60, ..Gate::default() }).unwrap();
        let of_gate = ShardToValidate { gate: Some(gate), ..shard() };
        assert_eq!(rate(&of_gate), 600);
        assert_eq!(rate(&ShardToValidate { proven_nodes: 0, ..of_gate }), 1_000, "an account without proven work");
        assert_eq!(rate(&ShardToValidate { proven_nodes: 0, ..shard() }), 200, "in self-play it may show some");
    }

    #[test]
    fn only_an_audit_proves_fresh_games_of_strangers() {
        let job = job(header());
        assert!(shard().is_auditable(&job));
        assert!(!ShardToValidate { is_trusted: true, ..shard() }.is_auditable(&job));
        for kind in [LeaseKind::Audit, LeaseKind::Settle] {
            assert!(!ShardToValidate { kind, ..shard() }.is_auditable(&job));
        }
    }

    #[test]
    fn strangers_do_not_steer_the_cost() {
        assert!(shard().measures_cost());
        assert!(!ShardToValidate { proven_nodes: 0, ..shard() }.measures_cost());
        assert!(ShardToValidate { proven_nodes: 0, is_trusted: true, ..shard() }.measures_cost());
        assert!(!ShardToValidate { state: ShardState::Quarantined, ..shard() }.measures_cost());
    }

    #[test]
    fn the_cost_of_a_game_moves_with_the_games() {
        let job = Job { nodes_per_game: 10_000, ..job(header()) };
        assert_eq!(job.updated_cost(100, 5_000), Some(7_500));
        assert_eq!(job.updated_cost(1, 50), Some(10_000 - 5_000 / 101));
        assert_eq!((job.updated_cost(10, 0), job.updated_cost(0, 10)), (None, None));
    }

    #[test]
    fn small_shards_with_short_games_do_not_steer_the_cost() {
        let mut job = Job { nodes_per_game: 10_000, ..job(header()) };
        for _ in 0..20 {
            job.nodes_per_game = job.updated_cost(1, 6).unwrap();
        }
        assert!(job.nodes_per_game > 8_000, "{}", job.nodes_per_game);
        let lies = |positions| {
            (0..100)
                .fold(job.clone(), |job, _| Job { nodes_per_game: job.updated_cost(4_096, positions).unwrap(), ..job })
        };
        assert_eq!((lies(1).nodes_per_game, lies(4_096 * 4_000).nodes_per_game), (2_500, 40_000));
    }

    proptest! {
        #[test]
        fn each_game_is_credited_once(before in prop::collection::vec((0..40_i64, 1..20_i64), 0..6), end in 11..30_i64) {
            let mut before: Vec<_> = before.into_iter().map(|(first, games)| first..first + games).collect();
            before.retain(|other| other.start < end && other.end > 10);
            before.sort_by_key(|other| other.start);
            let new = (10..end).filter(|game| !before.iter().any(|other| other.contains(game))).count() as i64;
            let report = ValidationReport { positions: 100 * (end - 10) as u64, ..ValidationReport::default() };
            let credit = Credit::of(&(10..end), &before, &report);
            prop_assert_eq!(credit, (new > 0).then_some(Credit { games: new, positions: 100 * new }));
        }
    }
}
