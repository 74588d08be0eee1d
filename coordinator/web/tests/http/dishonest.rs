//! Dishonest workers: their false results are detected and leave the pool, or change nothing.

use coordinator_core::{
    matches,
    model::{JobId, JobKind},
    ops::matches::CreateMatch,
    query,
};
use dataset::{Header, Reason, Record, ScoredMove, delivery, shard::Shard};
use protocol::{
    api::{
        problem::Code,
        work::{Answer, Lease, Receipt, Role, Work},
    },
    campaign::{Campaign, Gate},
};
use reqwest::StatusCode;
use serde_json::json;
use xiangqi::{
    Color, Fen,
    rules::{Outcome, Status},
};

use crate::{
    bench::{Bench, CAMPAIGN, ask, play, problem, read, shard},
    forge,
};

/// A player with one worker.
pub(crate) struct Player {
    pub(crate) token: String,
    worker: i64,
    requests: u32,
}

impl Player {
    pub(crate) async fn new(bench: &Bench, name: &str) -> Self {
        let token = bench.account(name, Role::Volunteer).await;
        let worker = bench.worker(&token, "machine").await;
        Self { token, worker, requests: 0 }
    }

    /// Requests a few games; `None` without games, or once rejected.
    pub(crate) async fn lease(&mut self, bench: &Bench) -> Option<Lease> {
        self.requests += 1;
        let nonce = format!("{}", self.requests);
        let answer = bench.post(protocol::api::path::LEASES, &self.token, &ask(self.worker, &nonce)).await;
        if answer.status() == StatusCode::FORBIDDEN {
            return None;
        }
        match read::<Answer>(answer).await.work {
            Work::Games(lease) => Some(lease),
            Work::Wait { .. } => None,
        }
    }

    /// Plays and delivers a lease by `how`; false without a lease.
    pub(crate) async fn work(&mut self, bench: &Bench, how: impl Fn(&Header, u64) -> Vec<Record>) -> bool {
        let Some(lease) = self.lease(bench).await else { return false };
        let bytes = shard(&lease.terms, &how(&lease.terms, lease.games));
        let answer = bench.upload(&self.token, &lease, bytes).await;
        let _: Receipt = read(answer).await;
        true
    }
}

/// Scores are slightly better than the search's: no rule is broken, and a replay shows nothing.
fn with_noise(terms: &Header, games: u64) -> Vec<Record> {
    let mut records = play(terms, games);
    for scored in records.iter_mut().flat_map(|record| &mut record.moves) {
        scored.score = scored.score.map(|score| score + 1);
    }
    records
}

/// Games of a search with fewer nodes.
fn with_fewer_nodes(terms: &Header, games: u64) -> Vec<Record> {
    let mut lazy = terms.clone();
    lazy.settings.hard_nodes = 5;
    play(&lazy, games)
}

async fn trust(bench: &Bench, worker: i64) {
    let boss = bench.account("boss", Role::Maintainer).await;
    let answer = bench.post(&format!("/api/v1/workers/{worker}/trust"), &boss, &json!({ "trusted": true })).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
}

async fn state(bench: &Bench, name: &'static str) -> String {
    let found = bench.service.store.read(move |mut c| {
        Box::pin(async move {
            let query = "SELECT state FROM accounts WHERE name = $1";
            Ok(sqlx::query_scalar(query).bind(name).fetch_one(c.raw()).await?)
        })
    });
    found.await.unwrap()
}

const HELD_BY_EVE: &str = "SELECT CAST(COALESCE(SUM(segments.games), 0) AS BIGINT) FROM segments
    JOIN shards ON shards.id = segments.shard JOIN accounts ON accounts.id = shards.account
    WHERE segments.state = 'held' AND accounts.name LIKE 'eve%'";

/// The games that count now: hers, and all.
async fn counted(bench: &Bench) -> (i64, i64) {
    let all = "SELECT CAST(COALESCE(SUM(segments.games), 0) AS BIGINT) FROM segments
        JOIN shards ON shards.id = segments.shard WHERE segments.state = 'held' AND shards.state = 'validated'";
    (bench.number(HELD_BY_EVE).await, bench.number(all).await)
}

/// Three players with equal shares, of whom one cheats until she is detected. Prints how much of
/// hers counted before; afterwards nothing does.
async fn is_detected(text: &str, cheat: fn(&Header, u64) -> Vec<Record>) {
    let bench = Bench::start().await;
    bench.campaign(&text.replace("positions = 400", "positions = 100_000")).await;
    let (mut ann, mut eve) = (Player::new(&bench, "ann").await, Player::new(&bench, "eve").await);
    let mut tess = Player::new(&bench, "tess").await;
    trust(&bench, tess.worker).await;
    let mut delivered = 0;
    let mut most = (0, 0);
    for round in 0..200 {
        if eve.work(&bench, cheat).await {
            delivered += 1;
        }
        ann.work(&bench, play).await;
        tess.work(&bench, play).await;
        bench.validate().await;
        if state(&bench, "eve").await == "quarantined" {
            break;
        }
        bench.draw_auditors().await;
        most = most.max(counted(&bench).await);
        assert!(round < 199, "not detected after {delivered} uploads");
    }
    assert_eq!(state(&bench, "ann").await, "active");
    assert_eq!(state(&bench, "tess").await, "active");
    assert_eq!(bench.number(HELD_BY_EVE).await, 0, "of {delivered} uploads");
    assert!(!eve.work(&bench, cheat).await, "she gets no more games");
    // Others replay her games, and the campaign misses nothing.
    while bench.number("SELECT COUNT(*) FROM segments WHERE state = 'open'").await > 0 {
        assert!(ann.work(&bench, play).await);
    }
    let (hers, all) = most;
    println!("detected after {delivered} uploads; before that {hers} of {all} games that counted were hers, now none");
    // All play equally, but replaying her games adds no new ones meanwhile. She plays first in each
    // round, so a few uploads say nothing.
    assert!(delivered < 5 || hers * 3 <= all * 2, "{hers} of {all} games that counted were hers");
}

/// Another game's moves as far as they are legal, then any, to an end by the rules: a replay finds
/// nothing.
fn with_moves_of(terms: &Header, record: &Record, old: &Record) -> Record {
    let mut game = record.opening.game();
    let mut old = old.moves.iter();
    let mut moves = Vec::new();
    let (outcome, reason) = loop {
        if let Status::Over(ending) = game.status() {
            break (ending.outcome, Reason::Rules(ending.reason));
        }
        if game.len() >= terms.settings.ply_cap as usize {
            break (Outcome::Draw, Reason::PlyCap);
        }
        let legal = game.position().legal_moves();
        let next = old.next().copied().filter(|scored| legal.contains(&scored.mv));
        let scored = next.unwrap_or(ScoredMove { mv: legal[0], score: Some(0) });
        moves.push(scored);
        game.push_legal(scored.mv);
    };
    Record { opening: record.opening.clone(), moves, outcome, reason }
}

/// Earlier games' moves under other numbers, each with the opening of its number.
fn with_old_moves(terms: &Header, games: u64) -> Vec<Record> {
    // The first lease cannot reuse its own games: under their own numbers they would be honest.
    let first_game = if terms.first_game == 0 { games } else { 0 };
    let old = play(&Header { first_game, ..terms.clone() }, games);
    let own = play(terms, games);
    own.iter().zip(&old).map(|(record, old)| with_moves_of(terms, record, old)).collect()
}

/// A campaign with adjudication by scores.
fn adjudicated() -> String {
    let rule = "[selfplay.settings.adjudication]\nwin = { score = 400, plies = 2 }\n[selfplay.openings]";
    CAMPAIGN.replace("[selfplay.openings]", rule)
}

/// Reversed results: the claimed scores end the game at once, and the outcome follows from them.
fn with_flipped_outcomes(terms: &Header, games: u64) -> Vec<Record> {
    let mut records = play(terms, games);
    for record in &mut records {
        let winner = record.outcome.loser().unwrap_or(Color::Black);
        record.moves.truncate(2);
        for (place, scored) in record.moves.iter_mut().enumerate() {
            let mover = if (record.opening.moves.len() + place).is_multiple_of(2) { Color::Red } else { Color::Black };
            scored.score = Some(if mover == winner { 1_000 } else { -1_000 });
        }
        (record.outcome, record.reason) = (Outcome::loss_of(!winner), Reason::AdjudicatedWin);
    }
    records
}

/// Delivers uploads that a replay rejects. Checks that nothing of them ever counts, and returns the
/// code of her last notice.
async fn is_rejected(how: impl Fn(&Header, &[Record]) -> Vec<u8>) -> String {
    const UPLOADS: usize = 5;
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000")).await;
    let (mut eve, mut ann) = (Player::new(&bench, "eve").await, Player::new(&bench, "ann").await);
    let first = eve.lease(&bench).await.unwrap();
    let honest = play(&first.terms, first.games);
    assert!(bench.upload(&eve.token, &first, shard(&first.terms, &honest)).await.status().is_success());
    bench.validate().await;
    let (own, _) = counted(&bench).await;
    assert_eq!(own, first.games as i64);
    let mut forged = 0;
    for _ in 0..UPLOADS {
        let lease = eve.lease(&bench).await.unwrap();
        let bytes = how(&lease.terms, &honest);
        forged += Shard::new(&bytes[..]).unwrap().games();
        assert_eq!(bench.upload(&eve.token, &lease, bytes).await.status(), StatusCode::CREATED);
        bench.validate().await;
        assert_eq!(counted(&bench).await.0, own, "nothing of it counts");
        // She waits longer after each, and for the games that are missing.
        bench.clock.advance(coordinator_core::clock::DAY);
        bench.step().await;
        bench.clock.advance(coordinator_core::clock::DAY + 1);
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'rejected'").await, UPLOADS as i64);
    while bench.number("SELECT COUNT(*) FROM segments WHERE state = 'open'").await > 0 {
        assert!(ann.work(&bench, play).await, "others play what she did not");
    }
    let answer = bench.ask(&eve.token, eve.worker, "notices").await;
    let notice = answer.notices.last().unwrap();
    println!("{forged} games in {UPLOADS} uploads, of which 0 ever counted: {}", notice.text);
    notice.code.clone().unwrap()
}

/// Labels are checked by the rules.
#[tokio::test]
async fn flipped_labels_do_not_pass_the_replay() {
    let flipped = |terms: &Header, _: &[Record]| {
        let mut records = play(terms, 3);
        for record in &mut records {
            record.outcome = match record.outcome {
                Outcome::RedWins => Outcome::BlackWins,
                Outcome::BlackWins | Outcome::Draw => Outcome::RedWins,
            };
        }
        shard(terms, &records)
    };
    assert_eq!(is_rejected(flipped).await, "false_label");
    // One false label among true ones suffices.
    let one = |terms: &Header, _: &[Record]| {
        let mut records = play(terms, 3);
        records[1].outcome = if records[1].outcome == Outcome::Draw { Outcome::RedWins } else { Outcome::Draw };
        shard(terms, &records)
    };
    assert_eq!(is_rejected(one).await, "false_label");
}

#[tokio::test]
async fn outcomes_flipped_by_false_scores_are_detected() {
    is_detected(&adjudicated(), with_flipped_outcomes).await;
}

/// The same bytes are rejected by the precheck. Renumbered, with valid checksums, they fail the
/// replay: a game's opening follows from its number.
#[tokio::test]
async fn old_games_under_new_numbers_are_rejected() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000")).await;
    let mut eve = Player::new(&bench, "eve").await;
    let first = eve.lease(&bench).await.unwrap();
    let bytes = shard(&first.terms, &play(&first.terms, first.games));
    assert!(bench.upload(&eve.token, &first, bytes.clone()).await.status().is_success());
    let second = eve.lease(&bench).await.unwrap();
    problem(bench.upload(&eve.token, &second, bytes).await, Code::Replayed).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards").await, 1, "nothing of it is kept");

    let renumbered = |terms: &Header, honest: &[Record]| {
        let old = shard(&Header { first_game: 0, ..terms.clone() }, &honest[..3]);
        let at = Shard::new(&old[..]).unwrap().index()[0].offset as usize;
        let number = |from: usize| u32::from_le_bytes(*old[at + from..].first_chunk().unwrap());
        let payload = old[at + 16..][..number(4) as usize].to_vec();
        forge::file(&terms.to_bytes(), &[forge::Block { payload, games: number(8), moves: number(12) }])
    };
    let code = is_rejected(renumbered).await;
    assert!(["illegal_move", "false_label", "corrupt", "bomb", "bad_score"].contains(&code.as_str()), "{code}");
}

#[tokio::test]
async fn old_moves_under_new_numbers_are_detected() {
    is_detected(CAMPAIGN, with_old_moves).await;
}

#[tokio::test]
async fn noise_in_scores_is_detected_by_audits() {
    is_detected(CAMPAIGN, with_noise).await;
}

#[tokio::test]
async fn searching_less_is_detected() {
    is_detected(CAMPAIGN, with_fewer_nodes).await;
}

/// Colluding accounts could confirm each other. But auditors are drawn by proven work, and a
/// trusted worker settles disputes.
#[tokio::test]
async fn ten_colluding_accounts_are_detected_one_by_one() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000")).await;
    let (mut ann, mut tess) = (Player::new(&bench, "ann").await, Player::new(&bench, "tess").await);
    trust(&bench, tess.worker).await;
    let mut gang = Vec::new();
    for number in 0..10 {
        gang.push(Player::new(&bench, &format!("eve{number}")).await);
    }
    let mut most = 0;
    let caught = "SELECT COUNT(*) FROM accounts WHERE name LIKE 'eve%' AND state = 'quarantined'";
    let mut rounds = 0;
    while bench.number(caught).await < 10 {
        rounds += 1;
        assert!(rounds < 400, "{} of ten were detected", bench.number(caught).await);
        for player in &mut gang {
            player.work(&bench, with_noise).await;
        }
        for _ in 0..3 {
            ann.work(&bench, play).await;
            tess.work(&bench, play).await;
        }
        bench.validate().await;
        bench.draw_auditors().await;
        most = most.max(bench.number(HELD_BY_EVE).await);
    }
    let held = bench.number(HELD_BY_EVE).await;
    let all = bench.number("SELECT CAST(SUM(games) AS BIGINT) FROM segments WHERE state = 'held'").await;
    println!("all detected after {rounds} rounds; {most} games at most counted meanwhile, {held} of {all} remain");
    // Their mutual confirmations are void.
    assert_eq!(held, 0, "of {all} games");
    for honest in ["ann", "tess"] {
        assert_eq!(state(&bench, honest).await, "active");
    }
}

/// A match of the plain evaluation with itself, whose candidate has fewer nodes. Returns its job.
async fn with_match(bench: &Bench) -> i64 {
    let plan = Campaign::from_text(CAMPAIGN).unwrap();
    let gate = Gate { elo1: 100.0, batch_pairs: 4, most_pairs: 24, candidate_nodes_percent: 60, ..plan.gate };
    let header = gate.header(plan.rules, protocol::BENCH_SIGNATURE, None, None, 7);
    bench.service.run(CreateMatch { kind: JobKind::Match, header, gate }).await.unwrap().0
}

async fn decision(bench: &Bench, job: i64) -> Option<String> {
    let found = bench.service.store.read(query!(|c| {
        let query = "SELECT decision FROM jobs WHERE id = $1";
        Ok(sqlx::query_scalar(query).bind(job).fetch_one(c.raw()).await?)
    }));
    found.await.unwrap()
}

/// Plays until the match is decided.
async fn play_to_the_end(bench: &Bench, player: &mut Player, job: i64) -> String {
    for _ in 0..100 {
        while player.work(bench, play).await {}
        bench.validate().await;
        bench.step().await;
        if let Some(decision) = decision(bench, job).await {
            return decision;
        }
    }
    panic!("the match is not decided");
}

/// Selective delivery leaves gaps, and no pair after a gap is judged: others play the missing
/// games.
#[tokio::test]
async fn bad_pairs_that_are_withheld_move_no_gate() {
    let honest = Bench::start().await;
    let job = with_match(&honest).await;
    let mut ann = Player::new(&honest, "ann").await;
    let expected = play_to_the_end(&honest, &mut ann, job).await;

    let bench = Bench::start().await;
    let job = with_match(&bench).await;
    let (mut ann, mut eve) = (Player::new(&bench, "ann").await, Player::new(&bench, "eve").await);
    let (mut delivered, mut withheld) = (0, 0);
    while let Some(lease) = eve.lease(&bench).await {
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let start = |_| Fen::start();
        let proof = delivery::by_replay(&bytes, &lease.terms, lease.numbers(), Some(&start)).unwrap();
        let points: u32 = proof.pairs.iter().map(|&pair| u32::from(pair)).sum();
        if points as usize > proof.pairs.len() * 2 {
            delivered += proof.pairs.len();
            assert!(bench.upload(&eve.token, &lease, bytes).await.status().is_success());
        } else {
            withheld += proof.pairs.len();
        }
    }
    assert!(delivered > 0 && withheld > 0, "{delivered} and {withheld}");
    bench.validate().await;
    bench.step().await;
    let standing = bench.service.store.read(query!(|c| matches::standing(&mut c, JobId(job)).await));
    let seen = standing.await.unwrap().pairs as usize;
    assert!(seen < delivered + withheld);
    assert_eq!(decision(&bench, job).await, None, "her deliveries alone decide nothing");
    bench.clock.advance(24 * 3_600_000);
    bench.step().await;
    assert_eq!(play_to_the_end(&bench, &mut ann, job).await, expected);
    println!("{delivered} pairs delivered, {withheld} withheld; {seen} were judged before others had played the rest");
}
