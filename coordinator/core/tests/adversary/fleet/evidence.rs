//! Comparisons, and what their results demand.

use std::collections::BTreeSet;

use coordinator_core::{
    model::{
        AuditState, Comparison, ComparisonId, ComparisonState, Evidence, JobId, ShardEvidence, ShardId, ShardState,
        ToCompare,
    },
    rules::{
        audits,
        case::{Case, Transition},
    },
};

use super::{NODES_PER_GAME, Shard, World, gate::Batch};

/// Shards of an account that one step of its review reads.
const REVIEWED: usize = 100;

impl World {
    /// Compares two uploads, and lets the referee settle a dispute.
    pub(super) fn compare(&mut self, upload: ShardId, other: ShardId) {
        let differs = {
            let [left, right] = [upload, other].map(|id| &self.shards[id.0 as usize]);
            let first = left.evidence.numbers.start.max(right.evidence.numbers.start);
            let end = left.evidence.numbers.end.min(right.evidence.numbers.end);
            let pair = ToCompare {
                comparison: ComparisonId(0),
                left: String::new(),
                right: String::new(),
                first,
                games: end - first,
                left_checked: left.evidence.checked_game,
                right_checked: right.evidence.checked_game,
            };
            let is_forged = |shard: &Shard, game: u64| (game as i64) < shard.forged_until;
            pair.order().into_iter().flatten().find(|game| is_forged(left, *game) != is_forged(right, *game))
        };
        let differs = differs.map(|game| game as i64);
        let comparison = self.record(upload, other, differs);
        if let Some(game) = differs {
            let is_known = self.comparisons[comparison.0 as usize].state == ComparisonState::Settled;
            *(if is_known { &mut self.outcome.known } else { &mut self.outcome.disputes }) += 1;
            let is_right = [upload, other].map(|side| game >= self.shards[side.0 as usize].forged_until);
            let mut case = self.case(&[upload, other]);
            case.ruled(comparison, is_right);
            self.settle(case);
        }
        self.review();
    }

    /// Reviews the accounts that were found wrong.
    pub(super) fn review(&mut self) {
        while let Some(account) = self.reviews.pop() {
            for ids in self.of_account.get(&account).cloned().unwrap_or_default().chunks(REVIEWED) {
                let mut case = self.case(ids);
                case.review(ids.iter().copied());
                self.settle(case);
            }
        }
    }

    /// Records the result of a comparison.
    fn record(&mut self, left: ShardId, right: ShardId, differs: Option<i64>) -> ComparisonId {
        let id = ComparisonId(self.comparisons.len() as i64);
        let [a, b] = [left, right].map(|id| self.shards[id.0 as usize].evidence.numbers.clone());
        let numbers = a.start.max(b.start)..a.end.min(b.end);
        let state = ComparisonState::Waiting;
        self.comparisons.push(Comparison { id, job: JobId(1), left, right, numbers, state, game: None });
        for side in [left, right] {
            self.touching.entry(side).or_default().push(id);
        }
        let mut case = self.case(&[left, right]);
        case.compared(id, differs);
        self.settle(case);
        id
    }

    /// The evidence about shards: their comparisons, and the shards on the other sides.
    pub(super) fn case(&self, ids: &[ShardId]) -> Case {
        let touching = ids.iter().flat_map(|id| self.touching.get(id).into_iter().flatten());
        let comparisons: BTreeSet<ComparisonId> = touching.copied().collect();
        let comparisons: Vec<Comparison> =
            comparisons.into_iter().map(|id| self.comparisons[id.0 as usize].clone()).collect();
        let sides = comparisons.iter().flat_map(|row| [row.left, row.right]);
        let all: BTreeSet<ShardId> = ids.iter().copied().chain(sides).collect();
        let shards = all.into_iter().map(|id| {
            let evidence = self.shards[id.0 as usize].evidence.clone();
            let is_distrusted = self.accounts[evidence.account.0 as usize].is_out;
            ShardEvidence { is_distrusted, ..evidence }
        });
        let mut case = Case::default();
        case.extend(Evidence { shards: shards.collect(), comparisons, complete: ids.to_vec() });
        case
    }

    /// Applies what a case demands, as the operation on the database does.
    pub(super) fn settle(&mut self, mut case: Case) {
        loop {
            let demanded = case.next();
            if demanded.is_empty() {
                return;
            }
            for transition in demanded {
                let before = transition.shard().map(|shard| case.shard(shard).clone());
                if case.apply(transition) {
                    self.mirror(&mut case, transition, before);
                }
            }
        }
    }

    fn mirror(&mut self, case: &mut Case, transition: Transition, before: Option<ShardEvidence>) {
        match transition {
            Transition::Conclude(id) | Transition::Void(id) | Transition::Requeue(id) | Transition::Settle(id) => {
                self.comparisons[id.0 as usize] = case.comparison(id).clone();
            }
            Transition::Distrust(account) => {
                let row = &mut self.accounts[account.0 as usize];
                if !row.is_out {
                    row.is_out = true;
                    *(if row.is_owners { &mut self.outcome.caught } else { &mut self.outcome.wronged }) += 1;
                    self.reviews.push(account);
                }
            }
            Transition::Dispute(id) => {
                let row = &self.shards[id.0 as usize].evidence;
                if !self.accounts[row.account.0 as usize].is_owners {
                    self.outcome.disputed += row.numbers.end - row.numbers.start;
                }
            }
            Transition::Recount(account) => {
                self.accounts[account.0 as usize].clean_games += case.take_gain(account);
            }
            _ => {}
        }
        let (Some(id), Some(before)) = (transition.shard(), before) else { return };
        let after = case.shard(id);
        let games = after.numbers.end - after.numbers.start;
        let proven = audits::proven_games(games, before.audited_games, after.audited_games);
        self.accounts[after.account.0 as usize].standing.credit(proven * NODES_PER_GAME);
        let row = &mut self.shards[id.0 as usize].evidence;
        (row.state, row.audit, row.audited_games) = (after.state, after.audit, after.audited_games);
        if row.audit == AuditState::Wanted && before.audit != AuditState::Wanted {
            self.want(id);
        }
        if row_is_out(after.state) && self.shards[id.0 as usize].is_of_gate {
            // Its pairs are played again.
            if let Some(gate) = &mut self.gate {
                let its = gate.batches.iter_mut().filter(|batch| **batch == Batch::Played(id));
                its.for_each(|batch| *batch = Batch::Open);
            }
        }
    }
}

fn row_is_out(state: ShardState) -> bool {
    !matches!(state, ShardState::Received | ShardState::Validated | ShardState::Disputed)
}
