//! The steps of a sequence.

use crate::common::truth::mix;

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A machine asks for games.
    Ask,
    /// It plays some of those it has.
    Play,
    /// It delivers what it played.
    Upload,
    /// It shows that it gets on.
    Renew,
    /// It will play no more.
    GiveBack,
    /// It forgets its leases, and perhaps what it played.
    Crash,
    /// A coordinator takes shards on, to validate them.
    TakeShards,
    /// A coordinator says what it found out of one.
    Judge,
    /// A coordinator takes comparisons on.
    TakeComparisons,
    /// A coordinator says what it found out of one.
    Compared,
    /// Leases end whose time is over.
    Expire,
    /// The campaign goes on.
    Drive,
    /// Decided matches are looked at again, and others concluded.
    Recheck,
    /// A trainer trains, or breaks off.
    Train,
    /// A person puts an account into quarantine.
    Quarantine,
    /// And takes one out of it.
    Lift,
    /// A person pauses the campaign, or has it go on.
    Command,
    /// A coordinator dies, and comes again.
    Restart,
    /// Time passes.
    Pass,
    /// A lot of it.
    Jump,
    /// The clock is set back.
    Back,
}

/// How often each comes.
const WEIGHTS: [(What, u64); 21] = [
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
    (What::Command, 1),
    (What::Restart, 1),
    (What::Pass, 8),
    (What::Jump, 3),
    (What::Back, 2),
];

/// Something that happens, to somebody, somehow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) who: u64,
    pub(super) how: u64,
    /// At the same time as the next, by the other coordinator.
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
