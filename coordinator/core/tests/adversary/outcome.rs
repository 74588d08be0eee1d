//! The counts of a simulation.

/// The result of a simulation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Leases.
    pub(crate) leases: u64,
    /// Games in training sets.
    pub(crate) trained: i64,
    /// Those that are forged.
    pub(crate) forged: i64,
    /// Decided gates.
    pub(crate) gates: i64,
    /// Minutes from their beginnings to their verdicts.
    pub(crate) gate_minutes: i64,
    /// Counted pairs in them.
    pub(crate) pairs: i64,
    /// Those with a forged game.
    pub(crate) forged_pairs: i64,
    /// Decided gates with a forged pair in so many batches that the verdict may be wrong.
    pub(crate) lost_gates: i64,
    /// Games of honest machines that were disputed, for as long as the referee took.
    pub(crate) disputed: i64,
    /// Disputes.
    pub(crate) disputes: i64,
    /// Differences in a game whose result was known.
    pub(crate) known: i64,
    /// Games that honest machines could have played.
    pub(crate) capacity: i64,
    /// Those that they were not lent.
    pub(crate) delayed: i64,
    /// Games that honest machines played.
    pub(crate) played: i64,
    /// Those that were audits.
    pub(crate) replayed: i64,
    /// Games that the owner's machines played: neither forged nor copied.
    pub(crate) owner_played: i64,
    /// Those that were audits.
    pub(crate) owner_replayed: i64,
    /// Games that the owner holds, summed over rounds.
    pub(crate) held: i64,
    /// Games that the referee played again.
    pub(crate) checked: i64,
    /// Those of gates.
    pub(crate) checked_of_gates: i64,
    /// Quarantined accounts of the owner.
    pub(crate) caught: u64,
    /// Quarantined accounts of others.
    pub(crate) wronged: u64,
}

impl Outcome {
    /// Forged games in training sets, per million.
    pub(crate) fn forged_per_million(&self) -> i64 {
        self.forged * 1_000_000 / self.trained.max(1)
    }

    /// Delayed and disputed games of honest machines, in thousandths.
    pub(crate) fn delayed_permille(&self) -> i64 {
        (self.delayed + self.disputed) * 1_000 / self.capacity.max(1)
    }

    /// Replayed games of honest machines, in thousandths.
    pub(crate) fn replayed_permille(&self) -> i64 {
        self.replayed * 1_000 / self.played.max(1)
    }

    /// Replayed games of all machines, in thousandths.
    pub(crate) fn fleet_replayed_permille(&self) -> i64 {
        (self.replayed + self.owner_replayed) * 1_000 / (self.played + self.owner_played).max(1)
    }

    /// Games that the referee played again, of a thousand that all machines played.
    pub(crate) fn checked_permille(&self) -> i64 {
        self.checked * 1_000 / (self.played + self.owner_played).max(1)
    }
}
