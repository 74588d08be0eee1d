//! Rows for the tests of rules.

use dataset::{Adjudication, GameSettings, Header, OpeningPolicy, Opponent, Overrides};
use xiangqi::rules::RuleSet;

use crate::{
    clock::Time,
    model::{AccountId, Job, JobId, JobKind, JobState, Lease, LeaseId, LeaseKind, LeaseState, WorkerId},
};

/// A header of self-play.
pub(super) fn header() -> Header {
    let adjudication = Adjudication::default();
    Header {
        bench_signature: 1,
        net: None,
        opponent: None,
        clock: None,
        parameters: Overrides::default(),
        opponent_parameters: Overrides::default(),
        rules: RuleSet::ALL[0],
        settings: GameSettings { hash_mebibytes: 1, soft_nodes: None, hard_nodes: 100, adjudication, ply_cap: 300 },
        openings: OpeningPolicy { book: None, plies: 6, filter: None },
        seed: 1,
        first_game: 0,
    }
}

/// An open job.
pub(super) fn job(header: Header) -> Job {
    let (id, state) = (JobId(1), JobState::Open);
    let kind = if header.opponent.is_some() { JobKind::Match } else { JobKind::Selfplay };
    Job { id, kind, state, header, gate: None, game_limit: None, frontier: 0, nodes_per_game: 10_000 }
}

/// A match.
pub(super) fn a_match() -> Job {
    job(Header { opponent: Some(Opponent { net: None, soft_nodes: None, hard_nodes: 100 }), ..header() })
}

/// An active lease of the games 10 to 17.
pub(super) fn lease() -> Lease {
    Lease {
        id: LeaseId(1),
        job: JobId(2),
        worker: WorkerId(3),
        account: AccountId(4),
        kind: LeaseKind::Fresh,
        state: LeaseState::Active,
        first: 10,
        games: 8,
        finished: 0,
        charged: 0,
        audited: None,
        duration: 100,
        created: Time(1_000),
        delivered: Time(0),
        expires: Time(1_100),
    }
}
