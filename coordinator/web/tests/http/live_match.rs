//! A match, and a worker's live position of it.

use coordinator_core::{model::JobKind, ops::matches::CreateMatch};
use dataset::{Header, Opponent};
use protocol::{
    api::work::{Lease, Live},
    campaign::Gate,
};

use crate::bench::Bench;

/// Creates a long sequential test of two plain players. Returns its job.
pub(crate) async fn begin(bench: &Bench) -> i64 {
    let gate: Gate = toml::from_str("nodes = 60\nmost_pairs = 500\n").unwrap();
    begin_of(bench, JobKind::Match, gate).await
}

/// Creates a match of two plain players. Returns its job.
pub(crate) async fn begin_of(bench: &Bench, kind: JobKind, gate: Gate) -> i64 {
    let header = Header {
        bench_signature: protocol::BENCH_SIGNATURE,
        net: None,
        opponent: Some(Opponent { net: None, soft_nodes: None, hard_nodes: 50 }),
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: xiangqi::rules::RuleSet::Cxr,
        settings: crate::rulebook::settings(),
        openings: dataset::OpeningPolicy { book: None, plies: 6, filter: None },
        seed: 3,
        first_game: 0,
    };
    bench.service.run(CreateMatch { kind, header, gate }).await.unwrap().0
}

pub(crate) fn live(lease: &Lease, moves: &str) -> Live {
    Live {
        game: lease.terms.first_game,
        start: xiangqi::Fen::start().to_string(),
        moves: moves.to_owned(),
        nodes: [1_200, 1_100],
        remaining: None,
        score: Some(31),
        depth: 9,
        nodes_per_second: 400_000,
        variation: "h9g7 h0g2".to_owned(),
        end: None,
    }
}
