//! A coordinator with much history, for screenshots and tests of pages.

use std::fmt::Write as _;

use coordinator_core::{
    events::record_event,
    gate, matches,
    model::{AccountState, Event, Reason, Stall},
    objects::Kind,
    ops::accounts::CreateAccount,
};
use dataset::{Digest, Record};
use protocol::{api::work::Role, campaign::Campaign};
use serde_json::json;
use xiangqi::rules::Outcome;

use crate::{
    bench::{Bench, CAMPAIGN, NOW, play, shard},
    paging::set_password,
};

pub(crate) const HOUR: i64 = 3_600_000;

const TEXT: &str = r#"
name = "yangtze"
about = "the main line: width 256, games of 5 000 nodes"
rules = "cxr"
seed = 20270101
[selfplay.settings]
hash_mebibytes = 8
soft_nodes = 5_000
hard_nodes = 20_000
ply_cap = 400
[selfplay.openings]
plies = 8
[generation]
positions = 12_000_000
[gate]
elo0 = 0.0
elo1 = 10.0
nodes = 5_000
[recipe.architecture]
width = 256
[recipe.schedule]
epochs = 20
positions_per_epoch = 10_000_000
"#;

/// The job of the running match.
pub(crate) const MATCH: i64 = 290;

/// The hash of the net with this number.
pub(crate) fn net(number: i64) -> String {
    Digest::of(format!("net {number}").as_bytes()).to_string()
}

/// Pairs of a match whose candidate leads by `lead`; deterministic.
pub(crate) fn pairs(count: usize, seed: u64, lead: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 100
    };
    (0..count)
        .map(|_| match draw() + lead {
            0..5 => 0,
            5..27 => 1,
            27..74 => 2,
            74..96 => 3,
            _ => 4,
        })
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub(crate) async fn sql(bench: &Bench, text: String) {
    let done = bench.service.store.write(move |mut c| {
        let text = text.clone();
        Box::pin(async move { Ok(sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(c.raw()).await.map(drop)?) })
    });
    done.await.unwrap();
}

/// Fills a coordinator. Mei is its administrator, with the password of these tests.
pub(crate) async fn fill(bench: &Bench) {
    for (name, role) in [("mei", Role::Admin), ("lin", Role::Maintainer)] {
        bench.account(name, role).await;
        set_password(bench, name).await;
    }
    let names = ["river-walker", "old_general", "silkroad", "cannon88", "tang", "yu-the-great", "newcomer"];
    for name in names {
        let state = if name == "newcomer" { AccountState::Pending } else { AccountState::Active };
        let account = CreateAccount { name: name.to_owned(), role: Role::Volunteer, state, by: None };
        bench.service.store.run(NOW, account).await.unwrap();
    }
    bench.campaign(TEXT).await;
    bench.campaign(&TEXT.replace("yangtze", "pearl").replace("width = 256", "width = 128")).await;
    bench.campaign(&TEXT.replace("yangtze", "yellow")).await;
    bench.campaign(&TEXT.replace("yangtze", "amur")).await;
    let curves = include_bytes!("../../../../nets/gen0-256-scores/curves.svg");
    let curves = bench.service.objects.put(Kind::Curves, bytes::Bytes::from_static(curves)).await.unwrap();
    sql(
        bench,
        workers() + &generations(&curves.to_string()) + &running_match() + &odds() + coordinator_core::store::RECOUNT,
    )
    .await;
    add_events(bench).await;
}

fn workers() -> String {
    let mut text = String::new();
    let machines = [
        (3, "desktop", 16, 812_000),
        (3, "laptop", 8, 540_000),
        (4, "farm-1", 64, 705_000),
        (4, "farm-2", 64, 699_000),
        (4, "farm-3", 64, 702_000),
        (5, "tower", 12, 655_000),
        (6, "old-one", 4, 210_000),
        (7, "office", 24, 588_000),
        (8, "lab-a", 32, 733_000),
        (8, "lab-b", 32, 731_000),
        (1, "judge", 8, 640_000),
    ];
    for (number, (account, name, threads, speed)) in (1..).zip(machines) {
        let seen = NOW.0 - [20_000, 90_000, 5_000, 7_000, 240_000, 60_000, 30 * HOUR, 15_000][number as usize % 8];
        let _ = write!(
            text,
            "INSERT INTO workers (id, account, name, version, bench_signature, threads, memory_mebibytes, system,
             instruction_set, nodes_per_second, trusted, created, last_seen) VALUES ({number}, {account}, '{name}',
             '0.1.0', 1, {threads}, 16384, 'linux-x86_64', 'avx2', {speed}, {}, {}, {seen});",
            i64::from(name == "judge"),
            NOW.0 - 400 * HOUR
        );
        for day in 0..20 {
            let games = 40 * threads + (day * 37 + number * 101) % 400;
            let _ = write!(
                text,
                "INSERT INTO contributions VALUES ({account}, {}, {games}, {}) ON CONFLICT (account, day) DO UPDATE SET
                 games = contributions.games + excluded.games, positions = contributions.positions + excluded.positions;",
                NOW.day() - day,
                games * 83
            );
        }
    }
    text + &format!(
        "INSERT INTO failures (account, worker, at, kind, version, detail) VALUES
         (6, 7, {}, 'self_test', '0.1.0', 'the bench counted 3 518 204 nodes instead of 3 518 211: memory or overclocking'),
         (3, 2, {}, 'storage', '0.1.0', 'the outbox cannot be written: no space left on device');
         UPDATE workers SET blocked = 'the self-test fails: check your memory' WHERE id = 7;",
        NOW.0 - 31 * HOUR,
        NOW.0 - 9 * HOUR
    )
}

/// Plausible statistics of positions: most scores are near even.
fn figures(positions: i64) -> String {
    let bell = |class: i64, middle: i64, width: i64| 1_000 * width * width / (width * width + (class - middle).pow(2));
    let scores: Vec<i64> = (0..42).map(|class| bell(class, 21, 3) + if class % 41 == 0 { 240 } else { 0 }).collect();
    let pieces: Vec<i64> = (0..33).map(|pieces| if pieces < 4 { 0 } else { bell(pieces, 27, 6) }).collect();
    let of = |all: &[i64]| -> Vec<i64> {
        let sum: i64 = all.iter().sum();
        all.iter().map(|part| positions / 1_000 * (part * 1_000_000 / sum) / 1_000).collect()
    };
    json!({ "scores": of(&scores), "pieces": of(&pieces), "unscored": 0, "repeated": positions / 47 }).to_string()
}

/// Six generations of the first campaign, with their games, trainings and promotions.
#[allow(clippy::too_many_lines, reason = "it is a table")]
fn generations(curves: &str) -> String {
    let campaign = Campaign::from_text(TEXT).unwrap();
    let gate = serde_json::to_string(&campaign.gate).unwrap();
    let test = matches::test_of(&campaign.gate).unwrap();
    let mut text = String::new();
    for generation in 0..=5_i64 {
        let begun = NOW.0 - (6 - generation) * 62 * HOUR;
        let (games, positions) = (141_000 + generation * 3_100, 11_900_000 + generation * 160_000);
        let champion = (generation > 0).then(|| net(generation));
        let name = |net: &Option<String>| net.as_deref().map_or("NULL".to_owned(), quoted);
        let job = 200 + generation;
        let is_last = generation == 5;
        let state = if is_last { "open" } else { "closed" };
        let _ = write!(
            text,
            "INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, net, priority, frontier,
             nodes_per_game, created, closed) SELECT {job}, 1, {generation}, 'selfplay', '{state}', header,
             bench_signature, {}, 50, {games}, 300000, {begun}, {} FROM jobs WHERE id = 1;",
            name(&champion),
            if is_last { "NULL".to_owned() } else { (begun + 60 * HOUR).to_string() }
        );
        for day in 0..3 {
            let _ = write!(
                text,
                "INSERT INTO totals VALUES ({job}, {}, 'validated', {}, {}, {}, {});",
                (begun + day * 24 * HOUR) / (24 * HOUR),
                games / 90,
                games / 3,
                positions / 3,
                positions
            );
        }
        let labels = [
            ("outcome", "red_wins", 31 - generation),
            ("outcome", "black_wins", 24 - generation),
            ("outcome", "draws", 45 + 2 * generation),
            ("reason", "checkmate", 41 - 2 * generation),
            ("reason", "stalemate", 7),
            ("reason", "perpetual_check", 6),
            ("reason", "perpetual_chase", 9),
            ("reason", "repetition", 14 + generation),
            ("reason", "move_limit", 15 + generation),
            ("reason", "ply_cap", 8),
        ];
        for (kind, label, share) in labels {
            let _ = write!(text, "INSERT INTO labels VALUES ({job}, '{kind}', '{label}', {});", games * share / 100);
        }
        let _ = write!(text, "INSERT INTO figures VALUES ({job}, {});", quoted(&figures(positions)));
        let candidate = net(generation + 1);
        let trained = begun + 41 * HOUR;
        let finished = trained + 6 * HOUR + generation * HOUR / 3;
        let manifest = Digest::of(format!("manifest {generation}").as_bytes());
        let state = if is_last { "candidate" } else { "promoted" };
        let card = json!({ "positions": 200_000_000, "steps": 12_207, "validation": { "loss": 0.01213 - 0.0002 * generation as f64 },
            "recipe": { "text": "width = 256\nepochs = 20\n" }, "parents": [] });
        let _ = write!(
            text,
            "INSERT INTO manifests (hash, campaign, generation, games, positions, text, created) VALUES ('{manifest}', 1, {generation}, {games}, {positions}, '{{}}', {trained});
             INSERT INTO nets (hash, name, state, campaign, generation, parent, bytes, manifest, architecture, created, promoted)
             VALUES ('{candidate}', 'yangtze-{}', '{state}', 1, {generation}, {}, 4718592, {}, '256 × 2 → 16 → 32 → 1, 8 stacks',
             {finished}, {});
             INSERT INTO trainings (id, campaign, generation, state, recipe, manifests, champion, candidate, curves, trainer,
             created, finished) VALUES ({}, 1, {generation}, 'done', {}, '[]', {}, '{candidate}', '{curves}', 'gpu-1', {trained}, {finished});",
            generation + 1,
            name(&champion),
            quoted(&card.to_string()),
            if is_last { "NULL".to_owned() } else { (begun + 60 * HOUR).to_string() },
            300 + generation,
            quoted("[architecture]\nwidth = 256\n\n[schedule]\nepochs = 20\npositions_per_epoch = 10_000_000\n"),
            name(&champion),
        );
        let header = campaign.gate.header(
            campaign.rules,
            1,
            Some(candidate.parse().unwrap()),
            champion.as_ref().map(|net| net.parse().unwrap()),
            7,
        );
        let job = 285 + generation;
        let played = pairs(4_000, 7 + generation as u64, [12, 9, 8, 7, 6, 4][generation as usize]);
        let verdict = gate::judge(&test, &campaign.gate, &played).unwrap();
        let decision = serde_json::to_string(&verdict).unwrap();
        let (state, decision, closed) = if is_last {
            ("open", "NULL".to_owned(), "NULL".to_owned())
        } else {
            ("closed", quoted(&decision), (begun + 60 * HOUR).to_string())
        };
        let _ = write!(
            text,
            "INSERT INTO jobs (id, campaign, generation, kind, state, header, bench_signature, net, opponent, gate,
             decision, priority, game_limit, nodes_per_game, created, closed) VALUES ({job}, 1, {generation}, 'match', '{state}',
             {}, 1, '{candidate}', {}, {}, {decision}, 50, 40000, 300000, {}, {closed});",
            quoted(&serde_json::to_string(&header).unwrap()),
            name(&champion),
            quoted(&gate),
            finished + HOUR / 2
        );
        if !is_last {
            let _ = write!(
                text,
                "INSERT INTO promotions (campaign, net, previous, kind, job, at) VALUES (1, '{candidate}', {}, 'gate', {job}, {});",
                name(&champion),
                begun + 60 * HOUR
            );
        }
    }
    text + &format!(
        "UPDATE campaigns SET generation = 5, champion = '{}', phase = 'gating', selfplay = 205, training = 305,
         gate = {MATCH}, phase_since = {}, changed = 40, created = {} WHERE id = 1;
         UPDATE campaigns SET phase_since = {} WHERE name = 'pearl';
         UPDATE campaigns SET phase_since = {} WHERE name = 'yellow';",
        net(5),
        NOW.0 - 13 * HOUR,
        NOW.0 - 400 * HOUR,
        NOW.0 - 2 * HOUR,
        NOW.0 - 30 * HOUR
    )
}

/// The owners of the machines.
const ACCOUNTS: [i64; 10] = [3, 3, 4, 4, 4, 5, 6, 7, 8, 8];

/// Shards of a job with these pairs, eight in each, by the workers in turn, numbered from a first
/// shard and game.
pub(crate) fn shards(
    job: i64,
    first_shard: i64,
    first_game: i64,
    pairs: &[u8],
    at: i64,
    accounts: [i64; 10],
) -> String {
    let mut text = String::new();
    for (number, part) in pairs.chunks(8).enumerate() {
        let number = number as i64;
        let (shard, first) = (first_shard + number, first_game + number * 16);
        let worker = number % 10 + 1;
        let account = accounts[worker as usize - 1];
        let games = part.len() * 2;
        let mut hex = String::new();
        for pair in part {
            let _ = write!(hex, "{pair:02x}");
        }
        let hash = Digest::of(format!("shard {shard}").as_bytes());
        let at = at + number * 1_000;
        let _ = write!(
            text,
            "INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
             VALUES ({shard}, 'lease{shard}', {job}, {worker}, {account}, 'n{shard}', 'fresh', 'done', {first}, {games}, 1, {at}, {at});
             INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received,
             validated, audit, pairs, object) VALUES ({shard}, '{hash}', {job}, {shard}, {worker}, {account}, {first}, {games},
             {}, 9000, 'validated', {at}, {at}, 'none', x'{hex}', 'present');
             INSERT INTO segments (job, first, games, state, lease, shard) VALUES ({job}, {first}, {games}, 'held', NULL, {shard});
             INSERT INTO totals VALUES ({job}, {}, 'validated', 1, {games}, {}, 9000) ON CONFLICT (job, day, state) DO UPDATE
             SET shards = totals.shards + 1, games = totals.games + excluded.games,
             positions = totals.positions + excluded.positions, bytes = totals.bytes + excluded.bytes;",
            games * 84,
            at / (24 * HOUR),
            games * 84
        );
    }
    text
}

fn running_match() -> String {
    let mut played = pairs(352, 77, 2);
    // One worker whose candidate does better.
    for (place, pair) in played.iter_mut().enumerate() {
        if (place / 8) % 10 == 6 {
            *pair = (*pair + 1).min(4);
        }
    }
    shards(MATCH, 1_000, 0, &played, NOW.0 - HOUR / 2, ACCOUNTS)
        + "UPDATE jobs SET frontier = 704 WHERE id = 290;"
        // Self-play games of the current generation.
        + &shards(205, 3_000, 0, &[2; 1_200], NOW.0 - HOUR / 3, ACCOUNTS).replace(", x'0202020202020202'", ", NULL")
}

/// Failures, rejections and disputes.
fn odds() -> String {
    format!(
        "DELETE FROM jobs WHERE id = 1;
         UPDATE events SET at = {begun}; UPDATE accounts SET created = {begun} WHERE state = 'active';
         UPDATE campaigns SET state = 'stuck', reason = '3 candidates of generation 2 were rejected', generation = 2 WHERE id = 3;
         UPDATE campaigns SET state = 'stopped', generation = 1 WHERE id = 4;
         INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
         VALUES (9000, 'l9000', 205, 7, 6, 'n', 'fresh', 'done', 6000, 40, 1, 1, 1), (9001, 'l9001', 205, 1, 3, 'm', 'audit', 'done', 6000, 40, 1, 1, 1);
         INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, code, detail, received,
         audit, object) VALUES (9000, '{}', 205, 9000, 7, 6, 6000, 40, 3300, 41000, 'rejected', 'illegal_move',
         'game 6011 ply 48: the move is not legal', {}, 'none', 'present'),
         (9001, '{}', 205, 9001, 7, 6, 6040, 40, 3300, 41000, 'quarantined', NULL, NULL, {}, 'none', 'present'),
         (9002, '{}', 205, 9001, 1, 3, 6040, 40, 3300, 41000, 'disputed', NULL, NULL, {}, 'wanted', 'present');
         INSERT INTO totals VALUES (205, {day}, 'rejected', 1, 40, 3300, 41000), (205, {day}, 'quarantined', 1, 40, 3300, 41000),
         (205, {day}, 'disputed', 1, 40, 3300, 41000);
         INSERT INTO comparisons (job, left_shard, right_shard, first, games, state, game, created) VALUES
         (205, 9001, 9002, 6040, 40, 'different', 6052, {at}), (205, 3000, 3001, 0, 16, 'equal', NULL, {at});",
        Digest::of(b"a"), NOW.0 - 40 * HOUR, Digest::of(b"b"), NOW.0 - 39 * HOUR, Digest::of(b"c"), NOW.0 - 38 * HOUR,
        begun = NOW.0 - 400 * HOUR,
        day = NOW.day() - 2,
        at = NOW.0 - 38 * HOUR,
    )
}

async fn add_events(bench: &Bench) {
    let (campaign, net) = ("yangtze".to_owned(), "00".to_owned());
    let promotion = |generation| {
        let (campaign, net, name) = (campaign.clone(), net.clone(), format!("yangtze-{generation}"));
        Event::Promotion { campaign, net, name, generation, job: None }
    };
    let reason = Reason::CandidatesRejected { candidates: 3, generation: 2 };
    let events = [
        (62, promotion(4)),
        (30, Event::Stall(Stall::Campaign { campaign: "yellow".to_owned(), reason })),
        (24, Event::Training { campaign: campaign.clone(), generation: 4, name: "yangtze-5".to_owned() }),
        (14, promotion(5)),
        (13, Event::Gating { campaign: campaign.clone(), name: "yangtze-6".to_owned(), job: None }),
        (2, Event::CampaignCreated { campaign: "pearl".to_owned() }),
    ];
    for (hours, event) in events {
        let done = bench.service.store.write(move |mut c| {
            let event = event.clone();
            Box::pin(async move {
                let at = coordinator_core::clock::Time(NOW.0 - hours * HOUR);
                record_event(&mut c, at, None, event).await
            })
        });
        done.await.unwrap();
    }
}

/// Real games for a finished match, whose openings can then be shown.
pub(crate) async fn openings(bench: &Bench) {
    const OF: i64 = 289;
    let campaign = Campaign::from_text(CAMPAIGN).unwrap();
    let header = campaign.gate.header(campaign.rules, protocol::BENCH_SIGNATURE, None, None, 11);
    let records = play(&header, 16);
    let halves = |record: &Record, own: Outcome| match record.outcome {
        Outcome::Draw => 1,
        outcome => 2 * u8::from(outcome == own),
    };
    let mut pairs = String::new();
    for pair in records.chunks(2) {
        let _ = write!(pairs, "{:02x}", halves(&pair[0], Outcome::RedWins) + halves(&pair[1], Outcome::BlackWins));
    }
    let hash = bench.service.objects.put(Kind::Shard, shard(&header, &records).into()).await.unwrap();
    sql(
        bench,
        format!(
            "INSERT INTO leases (id, token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
             VALUES (9100, 'l9100', {OF}, 1, 3, 'o', 'fresh', 'done', 0, 16, 1, 1, 1);
             INSERT INTO shards (id, hash, job, lease, worker, account, first, games, positions, bytes, state, received,
             validated, audit, pairs, object) VALUES (9100, '{hash}', {OF}, 9100, 1, 3, 0, 16, 1300, 9000, 'validated', 1, 1,
             'none', x'{pairs}', 'present');"
        ),
    )
    .await;
}
