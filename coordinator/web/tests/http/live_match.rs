//! A match, and a worker's live position of it.

use dataset::{Header, Opponent};
use protocol::api::work::{Lease, Live};

use crate::bench::Bench;

/// Creates a match of two plain players. Returns its job.
pub(crate) async fn begin(bench: &Bench) -> i64 {
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
    let gate: protocol::campaign::Gate = toml::from_str("nodes = 60\nmost_pairs = 500\n").unwrap();
    let create =
        coordinator_core::ops::matches::CreateMatch { kind: coordinator_core::model::JobKind::Match, header, gate };
    bench.service.run(create).await.unwrap().0
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
