//! A shard of games from the rulebook, as if played, in a closed job.

use dataset::{
    Adjudication, Digest, GameSettings, Header, Opening, OpeningPolicy, Reason, Record, ScoredMove, opening::Walker,
};
use protocol::api::work::Role;
use xiangqi::{
    Fen,
    rules::{Game, Outcome, RuleSet, Status},
};

use crate::bench::{Bench, shard};

/// Game 0: Red chases a cannon perpetually.
pub(crate) const CHASE: (&str, &str) =
    ("3a1kb2/4a4/4r3b/7c1/9/9/9/8R/7CC/3K5 w", "i2h2 h6i6 h2i2 i6h6 i2h2 h6i6 h2i2 i6h6");
/// Game 1: Red checks perpetually.
pub(crate) const CHECK: (&str, &str) = ("5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w", "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9");
/// Game 2: a repetition without an offence.
pub(crate) const ALLOWED: (&str, &str) =
    ("3ak1b2/4a4/4b3r/4C4/5R3/9/9/9/9/4KA3 w", "f5g5 e9f9 g5f5 f9e9 f5g5 e9f9 g5f5 f9e9");

/// Small and fast settings.
pub(crate) fn settings() -> GameSettings {
    GameSettings {
        hash_mebibytes: 1,
        soft_nodes: None,
        hard_nodes: 60,
        adjudication: Adjudication::default(),
        ply_cap: 60,
    }
}

/// The header of the rulebook's games.
pub(crate) fn header() -> Header {
    Header {
        bench_signature: protocol::BENCH_SIGNATURE,
        net: None,
        opponent: None,
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: RuleSet::Cxr,
        settings: settings(),
        openings: OpeningPolicy { book: Some(Digest::of(b"rulebook")), plies: 0, filter: None },
        seed: 7,
        first_game: 0,
    }
}

fn record(header: &Header, number: u64, (fen, moves): (&str, &str)) -> Record {
    let start: Fen = fen.parse().unwrap();
    let mut game = Game::new(start.clone(), header.rules);
    let mut scored = Vec::new();
    for (index, text) in moves.split(' ').enumerate() {
        let mv = game.position().parse_move(text).unwrap();
        scored.push(ScoredMove { mv, score: Some(40 * (index as i32 % 5) - 60) });
        game.push(mv).unwrap();
    }
    let (outcome, reason) = match game.status() {
        Status::Over(ending) => (ending.outcome, Reason::Rules(ending.reason)),
        Status::Ongoing => (Outcome::Draw, Reason::PlyCap),
    };
    let seed = header.seed_of(number);
    let walker = Walker { start: start.clone(), rules: header.rules, plies: 0 };
    assert!(walker.walk_unjudged(seed, 0).unwrap().moves.is_empty());
    let opening = Opening { rules: header.rules, start, seed, attempt: 0, moves: Vec::new() };
    Record { opening, moves: scored, outcome, reason }
}

/// Stores the rulebook's shard, with its job in `state`. Returns its hash.
pub(crate) async fn keep(bench: &Bench, state: &'static str) -> Digest {
    let header = header();
    let records: Vec<_> = [CHASE, CHECK, ALLOWED]
        .into_iter()
        .enumerate()
        .map(|(number, game)| record(&header, number as u64, game))
        .collect();
    put(bench, &header, &records, state).await
}

/// Stores a shard of these games. Returns its hash.
pub(crate) async fn put(bench: &Bench, header: &Header, records: &[Record], state: &'static str) -> Digest {
    let bytes = shard(header, records);
    let hash = bench.service.objects.put(coordinator_core::objects::Kind::Shard, bytes.into()).await.unwrap();
    let token = bench.account("player", Role::Volunteer).await;
    let worker = bench.worker(&token, "machine").await;
    let header = serde_json::to_string(header).unwrap();
    let games = records.len();
    let mut counts = [std::collections::BTreeMap::new(), std::collections::BTreeMap::new()];
    for record in records {
        *counts[0].entry(record.outcome.name().to_owned()).or_insert(0) += 1;
        *counts[1].entry(record.reason.name().to_owned()).or_insert(0) += 1;
    }
    let [outcomes, reasons] = counts.map(|counts| serde_json::to_string(&counts).unwrap());
    let queries = [
        format!(
            "INSERT INTO jobs (id, generation, kind, state, header, bench_signature, priority, nodes_per_game, created)
             VALUES (901, 0, 'selfplay', '{state}', '{header}', 1, 0, 1, 0)"
        ),
        format!(
            "INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created,
                                 expires)
             SELECT 901, 'forged', 901, id, account, 'forged', 'fresh', 'done', 0, {games}, 1, 0, 0
             FROM workers WHERE id = {worker}"
        ),
        format!(
            "INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state,
                                 received, validated, audit, outcomes, reasons, object)
             SELECT 901, '{hash}', 901, 901, id, account, 0, {games}, 24, 1, 'validated', 0, 0, 'none',
                    '{outcomes}', '{reasons}', 'present'
             FROM workers WHERE id = {worker}"
        ),
    ];
    for query in queries {
        bench.execute(query).await;
    }
    hash
}
