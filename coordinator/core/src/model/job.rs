//! A job: a series of numbered games. Each is a function of the job's header and its number.

use dataset::Header;

use super::{
    ids::{CampaignId, JobId},
    states::{JobKind, JobState},
};
use crate::clock::Time;

/// A job's header and progress.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its kind.
    pub kind: JobKind,
    /// Its state.
    pub state: JobState,
    /// The header that determines its games.
    pub header: Header,
    /// The parameters of a match's test, as JSON.
    pub gate: Option<String>,
    /// No game has this number or a higher one.
    pub game_limit: Option<i64>,
    /// From this number on, no game was leased.
    pub frontier: i64,
    /// Estimated cost of a game: nodes, or under a clock milliseconds of a thread.
    pub nodes_per_game: i64,
}

/// Counts of a job, which the operations keep that change them.
#[derive(Clone, Copy, Debug)]
pub struct JobCounts {
    /// Its id.
    pub id: JobId,
    /// Counted games.
    pub games: i64,
    /// Counted positions.
    pub positions: i64,
    /// Games that may still count: open, leased, or waiting for validation.
    pub pending: i64,
    /// How often counted games were withdrawn.
    pub withdrawals: i64,
}

/// A self-play job whose games left the pool or came back.
#[derive(Clone, Copy, Debug)]
pub struct ChangedJob {
    /// Its id.
    pub job: JobId,
    /// Its campaign.
    pub campaign: CampaignId,
    /// The generation of its games.
    pub generation: i64,
    /// How often its games changed since they were counted.
    pub recheck: i64,
}

/// A job that may have games for a worker.
#[derive(Clone, Copy, Debug)]
pub struct OpenJob {
    /// Its id.
    pub id: JobId,
    /// Its kind.
    pub kind: JobKind,
    /// The time of its creation.
    pub created: Time,
    /// Workers begin with it at different times within so many milliseconds.
    pub spread: i64,
}
