//! The steps of a sequence.

use crate::common::truth::mix;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A machine requests games.
    Ask,
    /// It plays some of its games.
    Play,
    /// It uploads them.
    Upload,
    /// It sends a heartbeat.
    Renew,
    /// It releases a lease.
    GiveBack,
    /// It crashes: forgets its leases, and perhaps its outbox.
    Crash,
    /// A coordinator claims shards for validation.
    TakeShards,
    /// A coordinator reports a verdict.
    Judge,
    /// A coordinator claims comparisons.
    TakeComparisons,
    /// A coordinator reports a comparison.
    Compared,
    /// Leases expire.
    Expire,
    /// The campaign advances.
    Drive,
    /// Decided matches are rechecked, or others concluded.
    Recheck,
    /// A trainer trains, or stops, or a maintainer has a net gated.
    Train,
    /// A maintainer quarantines an account.
    Quarantine,
    /// A maintainer lifts a quarantine.
    Lift,
    /// A coordinator reviews a few shards of an account whose standing changed.
    Review,
    /// A maintainer pauses or resumes the campaign.
    Command,
    /// A coordinator crashes and restarts.
    Restart,
    /// Time passes.
    Pass,
    /// Much time passes.
    Jump,
    /// The clock is set back.
    Back,
}

/// The relative frequency of each kind.
const WEIGHTS: [(What, u64); 22] = [
    (What::Ask, 18),
    (What::Play, 22),
    (What::Upload, 24),
    (What::Renew, 4),
    (What::GiveBack, 3),
    (What::Crash, 2),
    (What::TakeShards, 8),
    (What::Judge, 20),
    (What::TakeComparisons, 5),
    (What::Compared, 8),
    (What::Expire, 5),
    (What::Drive, 8),
    (What::Recheck, 3),
    (What::Train, 3),
    (What::Quarantine, 1),
    (What::Lift, 2),
    (What::Review, 8),
    (What::Command, 1),
    (What::Restart, 1),
    (What::Pass, 8),
    (What::Jump, 3),
    (What::Back, 2),
];

/// A step: its kind, and random numbers for subject and details.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) who: u64,
    pub(super) how: u64,
    /// Whether it runs concurrently with the next, on the other coordinator.
    pub(super) together: bool,
}

/// The steps of a seed.
pub(super) fn from_seed(seed: u64, count: usize) -> Vec<Step> {
    let total: u64 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let step = |number: u64| {
        let draw = |what: u64| mix(mix(seed, number), what);
        let mut left = draw(0) % total;
        let what = WEIGHTS.iter().find(|(_, weight)| {
            let here = left < *weight;
            left = left.saturating_sub(*weight);
            here
        });
        let what = what.expect("the draw is below the total").0;
        Step { what, who: draw(1), how: draw(2), together: draw(3).is_multiple_of(6) }
    };
    (0..count as u64).map(step).collect()
}
