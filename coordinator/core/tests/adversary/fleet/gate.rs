//! A gate: its batches, and its verdict.

use coordinator_core::{
    clock::{SECOND, Time},
    model::{AccountId, GateShard, ShardId},
    rules::{granting, readiness::missing_audits},
};

use super::{Shard, World};

/// A gate that is being played.
pub(super) struct Gate {
    pub(super) opened: Time,
    pub(super) batches: Vec<Batch>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Batch {
    Open,
    /// By an account that will not play it. From this time on it is late, and lent to another.
    Held(AccountId, Time),
    Played(ShardId),
}

/// Batches of a gate.
pub(super) const BATCHES: usize = 64;

/// Batches that an account gets in a round.
pub(super) const BATCHES_PER_TURN: usize = 2;

/// One in so many batches, if it has a forged pair, may turn a verdict.
const TURNING_SHARE: i64 = 8;

/// Games of a batch.
pub(super) const BATCH_GAMES: i64 = 16;

/// The percentage of a gate's games that are audited.
pub(super) const GATE_PERCENT: u32 = 10;

impl World {
    /// The batch of the gate that an account is lent, if one is open and it has not had its share.
    pub(super) fn batch_for(&self, index: usize, games: i64) -> Option<usize> {
        if games < BATCH_GAMES || self.batches_of_turn == 0 {
            return None;
        }
        let batches = &self.gate.as_ref()?.batches;
        let player = |batch: &Batch| match batch {
            Batch::Open => None,
            Batch::Held(account, _) => Some(*account),
            Batch::Played(shard) => Some(self.shards[shard.0 as usize].evidence.account),
        };
        let players: Vec<AccountId> = batches.iter().filter_map(player).collect();
        let own = players.iter().filter(|player| **player == AccountId(index as i64)).count() as i64;
        let accounts = self.accounts.iter().filter(|account| !account.is_out).count() as i64;
        let room = granting::gate_room(own * BATCH_GAMES, players.len() as i64 * BATCH_GAMES, 0, 2);
        if !granting::is_small_gate(accounts) && room < BATCH_GAMES {
            return None;
        }
        let open = batches.iter().position(|batch| *batch == Batch::Open);
        let is_late = |batch: &Batch| matches!(batch, Batch::Held(account, late) if *late < self.now && account.0 != index as i64);
        open.or_else(|| batches.iter().position(is_late))
    }

    /// Decides the gate once its batches and its audits are there.
    pub(super) fn judge_gate(&mut self) {
        let draw = self.random.bits();
        let Some(gate) = &self.gate else { return };
        let mut rows = Vec::new();
        for batch in &gate.batches {
            let Batch::Played(id) = batch else { return };
            rows.push(self.shards[id.0 as usize].clone());
        }
        let shards: Vec<GateShard> = rows.iter().map(Shard::of_gate).collect();
        if let Some(missing) = missing_audits(&shards, GATE_PERCENT, 0, self.checks_since(), draw) {
            if let Some(shard) = missing.next {
                self.want(shard);
            }
            return;
        }
        self.outcome.gates += 1;
        self.outcome.gate_minutes += (self.now.0 - gate.opened.0) / (60 * SECOND);
        self.outcome.pairs += shards.iter().map(|shard| shard.games).sum::<i64>() / 2;
        let forged = rows.iter().map(|shard| shard.forged_until - shard.evidence.numbers.start);
        let forged: Vec<i64> = forged.filter(|games| *games > 0).collect();
        self.outcome.forged_pairs += forged.iter().map(|games| (games + 1) / 2).sum::<i64>();
        self.outcome.lost_gates += i64::from(forged.len() as i64 * TURNING_SHARE >= BATCHES as i64);
        self.gate = None;
    }
}

impl Shard {
    fn of_gate(&self) -> GateShard {
        let games = self.evidence.numbers.end - self.evidence.numbers.start;
        GateShard {
            id: self.evidence.id,
            counted: games,
            games,
            audited_games: self.evidence.audited_games,
            state: self.evidence.state,
            object: self.evidence.object,
            is_trusted: false,
            is_timed: false,
            proof: self.proof(),
        }
    }
}
