//! The steps of a campaign. The caller has locked the campaign's row.

use dataset::{Digest, random::game_seed};
use serde_json::json;
use stats::Decision;

use super::{jobs, matches, nets, row::CampaignRow, trainings};
use crate::{
    clock::Time,
    events::{Event, record_event},
    gate,
    model::{CampaignStep, Reason, Refusal, Stall, TrainingState},
    store::{Connection, StoreError},
    work::{DEFAULT_MOVES_PER_GAME, counting},
};

/// Spare games beyond a generation's expected need.
const SPARE_GAMES: i64 = 16;

/// Derives a separate seed for each generation, and for matches and self-play.
fn seed_for(row: &CampaignRow, purpose: u64) -> u64 {
    game_seed(game_seed(row.campaign.seed, row.id as u64), (row.generation as u64) << 8 | purpose)
}

pub(super) async fn step(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    bench_signature: u64,
    counts: Counts,
) -> Result<bool, StoreError> {
    let played = keep_playing(connection, now, row, bench_signature, counts).await?;
    let stepped = match row.phase {
        CampaignStep::Collecting if played.is_full => {
            begin_training(connection, now, row).await?;
            true
        }
        CampaignStep::Training => after_training(connection, now, row, bench_signature).await?,
        CampaignStep::Gating => after_match(connection, now, row, bench_signature).await?,
        CampaignStep::Collecting => false,
    };
    Ok(stepped || played.changed)
}

/// Counts of a generation. Counting reads each of its uploads.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub(super) generation: i64,
    pub(super) selfplay: Option<i64>,
    /// Counted positions.
    positions: i64,
    /// The tally of the current self-play job.
    tally: counting::Tally,
    /// Its games that may still count.
    pending: i64,
}

pub(super) async fn count(connection: &mut Connection<'_>, row: &CampaignRow) -> Result<Counts, StoreError> {
    let mut counts = Counts {
        generation: row.generation,
        selfplay: row.selfplay,
        positions: 0,
        tally: counting::Tally::default(),
        pending: 0,
    };
    let query = "SELECT id FROM jobs WHERE campaign = $1 AND generation = $2 AND kind = 'selfplay' ORDER BY id";
    let query = sqlx::query_scalar(query).bind(row.id).bind(row.generation);
    let jobs: Vec<i64> = query.fetch_all(connection.raw()).await?;
    for job in jobs {
        let tally = counting::tally(connection, job).await?;
        counts.positions += tally.positions;
        if row.selfplay == Some(job) {
            counts.tally = tally;
            counts.pending = counting::pending_games(connection, job).await?;
        }
    }
    Ok(counts)
}

struct Played {
    is_full: bool,
    changed: bool,
}

/// Opens, pauses or replaces the generation's self-play job, and limits its games.
async fn keep_playing(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    bench_signature: u64,
    counts: Counts,
) -> Result<Played, StoreError> {
    let wanted = row.wanted_positions;
    let ahead = i128::from(wanted) * i128::from(row.campaign.generation.ahead_percent) / 100;
    let max_positions = wanted + ahead as i64;
    let positions = counts.positions;
    let is_full = positions >= wanted;
    let current: Option<(String, i64)> = match row.selfplay {
        None => None,
        Some(job) => {
            let query = "SELECT state, bench_signature FROM jobs WHERE id = $1";
            sqlx::query_as(query).bind(job).fetch_optional(connection.raw()).await?
        }
    };
    let state = if positions < max_positions { "open" } else { "paused" };
    match (row.selfplay, current) {
        (Some(job), Some((now_state, signature))) if signature == bench_signature as i64 => {
            if now_state != state {
                jobs::set_state(connection, now, job, state).await?;
            }
            limit_games(connection, job, max_positions - positions, counts).await?;
            Ok(Played { is_full, changed: now_state != state })
        }
        (previous, _) => {
            // None yet, or one for another engine: its games stay, and a job for this engine
            // continues.
            if let Some(job) = previous {
                jobs::set_state(connection, now, job, "closed").await?;
            }
            let seed = seed_for(row, bench_signature << 1 & 0xfe);
            let header = row.campaign.selfplay_header(bench_signature, row.champion, seed);
            let job = jobs::create(connection, now, Some(row), "selfplay", &header, None, None).await?;
            let query = "UPDATE campaigns SET selfplay = $2, changed = changed + 1 WHERE id = $1";
            sqlx::query(query).bind(row.id).bind(job).execute(connection.raw()).await?;
            Ok(Played { is_full, changed: true })
        }
    }
}

/// Limits the job's games to the missing positions, so the last leases are not longer than needed.
async fn limit_games(
    connection: &mut Connection<'_>,
    job: i64,
    missing: i64,
    counts: Counts,
) -> Result<(), StoreError> {
    let tally = counts.tally;
    let per_game = if tally.games > 0 { (tally.positions / tally.games).max(1) } else { DEFAULT_MOVES_PER_GAME };
    let games = missing.max(0) / per_game;
    // A few spare games cost less than workers that wait. Disputed games are not relied on:
    // settling may take long.
    let query = "SELECT frontier FROM jobs WHERE id = $1";
    let frontier: i64 = sqlx::query_scalar(query).bind(job).fetch_one(connection.raw()).await?;
    let limit = frontier + (games + games / 10 + SPARE_GAMES - counts.pending).max(0);
    let query = "UPDATE jobs SET game_limit = $2 WHERE id = $1 AND (game_limit IS NULL OR game_limit <> $2)";
    sqlx::query(query).bind(job).bind(limit).execute(connection.raw()).await?;
    Ok(())
}

/// Freezes a training set and creates a training.
pub(super) async fn begin_training(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
) -> Result<(), StoreError> {
    let first = (row.generation + 1 - i64::from(row.campaign.generation.window)).max(0);
    let manifest = nets::freeze(connection, now, row.id, first, row.generation).await?;
    let name = format!("{}-{}-{}", row.campaign.name, row.generation + 1, row.candidates + 1);
    let name: String = name.chars().rev().take(64).collect::<Vec<_>>().into_iter().rev().collect();
    let file = "games.json".to_owned();
    let recipe = row.campaign.recipe_for(&name, &[(file.clone(), 1)]);
    let recipe = recipe.map_err(|error| StoreError::Corrupt(format!("a recipe that is none: {error}")))?;
    let manifests = json!([{ "name": file, "sha256": manifest }]).to_string();
    let training = trainings::create(connection, now, row, &recipe.to_text(), &manifests).await?;
    let query = "UPDATE campaigns SET phase = 'training', training = $2, phase_since = $3, changed = changed + 1
                 WHERE id = $1";
    sqlx::query(query).bind(row.id).bind(training).bind(now.0).execute(connection.raw()).await?;
    let (campaign, generation) = (row.campaign.name.clone(), row.generation);
    record_event(connection, now, None, Event::Training { campaign, generation, name }).await?;
    Ok(())
}

async fn after_training(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    bench_signature: u64,
) -> Result<bool, StoreError> {
    let Some(training) = row.training else { return Ok(false) };
    trainings::expire(connection, now, training).await?;
    let query = "SELECT state, candidate, reason FROM trainings WHERE id = $1";
    type Row = (TrainingState, Option<String>, Option<Reason>);
    let (state, candidate, reason): Row = sqlx::query_as(query).bind(training).fetch_one(connection.raw()).await?;
    match state {
        TrainingState::Done => {}
        TrainingState::Failed => {
            stuck(connection, now, row, reason.unwrap_or(Reason::TrainingFailed)).await?;
            return Ok(true);
        }
        TrainingState::Open | TrainingState::Leased => return Ok(false),
    }
    let candidate: Digest = candidate
        .and_then(|hash| hash.parse().ok())
        .ok_or_else(|| StoreError::Corrupt(format!("training {training} without its candidate")))?;
    begin_match(connection, now, row, candidate, bench_signature).await?;
    Ok(true)
}

/// Whether two nets have the same architecture; the plain evaluation has none.
async fn has_same_architecture(
    connection: &mut Connection<'_>,
    candidate: Digest,
    champion: Option<Digest>,
) -> Result<bool, StoreError> {
    let Some(champion) = champion else { return Ok(false) };
    let query = "SELECT COUNT(*) FROM nets AS own JOIN nets AS other ON own.architecture = other.architecture
                 WHERE own.hash = $1 AND other.hash = $2";
    let query = sqlx::query_scalar(query).bind(candidate.to_string()).bind(champion.to_string());
    let found: i64 = query.fetch_one(connection.raw()).await?;
    Ok(found > 0)
}

/// Creates the gate match of a candidate against the champion.
async fn begin_match(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    candidate: Digest,
    bench_signature: u64,
) -> Result<(), StoreError> {
    let seed = seed_for(row, 1 | (row.candidates as u64 & 0x3f) << 1);
    let mut plan = row.campaign.clone();
    if has_same_architecture(connection, candidate, row.champion).await? {
        // Nets of the same architecture are equally fast.
        plan.gate.candidate_nodes_percent = 100;
    }
    let header = plan.match_header(bench_signature, Some(candidate), row.champion, seed);
    let gate = serde_json::to_string(&plan.gate).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let limit = i64::from(row.campaign.gate.most_pairs) * 2;
    let job = jobs::create(connection, now, Some(row), "match", &header, Some(gate), Some(limit)).await?;
    let query =
        "UPDATE campaigns SET phase = 'gating', gate = $2, phase_since = $3, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(row.id).bind(job).bind(now.0).execute(connection.raw()).await?;
    let (campaign, name) = (row.campaign.name.clone(), nets::name_of(connection, Some(candidate)).await?);
    record_event(connection, now, None, Event::Gating { campaign, name }).await?;
    Ok(())
}

async fn after_match(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    bench_signature: u64,
) -> Result<bool, StoreError> {
    let Some(job) = row.gate else { return Ok(false) };
    let query = "SELECT bench_signature FROM jobs WHERE id = $1";
    let signature: i64 = sqlx::query_scalar(query).bind(job).fetch_one(connection.raw()).await?;
    if signature != bench_signature as i64 {
        // The engine version has changed, and one match cannot mix two engines: start anew.
        jobs::set_state(connection, now, job, "closed").await?;
        let candidate = candidate_of(connection, row).await?;
        let candidate = candidate.parse().map_err(|_| StoreError::Corrupt("a candidate without a hash".to_owned()))?;
        begin_match(connection, now, row, candidate, bench_signature).await?;
        return Ok(true);
    }
    let pairs = counting::pairs(connection, job).await?;
    let gate_plan = &row.campaign.gate;
    let test = row.campaign.sprt().map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let verdict = gate::judge(&test, gate_plan.batch_pairs, &pairs);
    let verdict = verdict.map_err(|error| StoreError::Corrupt(format!("a gate without solution: {error}")))?;
    let is_out = verdict.decision == Decision::Continue && pairs.len() as u64 >= u64::from(gate_plan.most_pairs);
    if verdict.decision == Decision::Continue && !is_out {
        jobs::set_state(connection, now, job, "open").await?;
        return Ok(false);
    }
    jobs::set_state(connection, now, job, "closed").await?;
    if verdict.decision != Decision::AcceptH1 {
        jobs::decide(connection, job, &verdict).await?;
        let why = if is_out { Reason::Inconclusive } else { Reason::NotStronger };
        reject(connection, now, row, why).await?;
        return Ok(true);
    }
    if let Some(games) = matches::missing_audits(connection, job, &verdict, gate_plan.audit_percent).await? {
        let query = "UPDATE campaigns SET reason = $2 WHERE id = $1";
        sqlx::query(query).bind(row.id).bind(Reason::AuditsMissing { games }).execute(connection.raw()).await?;
        return Ok(false);
    }
    jobs::decide(connection, job, &verdict).await?;
    promote(connection, now, row, None).await?;
    Ok(true)
}

async fn candidate_of(connection: &mut Connection<'_>, row: &CampaignRow) -> Result<String, StoreError> {
    let query = "SELECT candidate FROM trainings WHERE id = $1";
    let query = sqlx::query_scalar(query).bind(row.training.unwrap_or(-1));
    let candidate: Option<Option<String>> = query.fetch_optional(connection.raw()).await?;
    candidate.flatten().ok_or_else(|| Refusal::NoCandidate.into())
}

/// Promotes the candidate and begins the next generation.
pub(super) async fn promote(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let candidate = candidate_of(connection, row).await?;
    let query = "UPDATE nets SET state = 'promoted', promoted = $2 WHERE hash = $1";
    sqlx::query(query).bind(candidate.clone()).bind(now.0).execute(connection.raw()).await?;
    let kind = if by.is_some() { "hand" } else { "gate" };
    let query =
        "INSERT INTO promotions (campaign, net, previous, kind, account, job, at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let query = sqlx::query(query).bind(row.id).bind(candidate.clone()).bind(row.champion.map(|net| net.to_string()));
    query.bind(kind).bind(by).bind(row.gate).bind(now.0).execute(connection.raw()).await?;
    set_jobs_state(connection, now, row, "closed").await?;
    let generation = row.generation + 1;
    let is_last = row.campaign.generation.most.is_some_and(|most| generation >= i64::from(most));
    let query = "UPDATE campaigns SET champion = $2, generation = $3, candidates = 0, wanted_positions = $4,
                 selfplay = NULL, training = NULL, gate = NULL, phase = 'collecting', phase_since = $5, reason = NULL,
                 state = CASE WHEN $6 = 1 THEN 'complete' ELSE state END, changed = changed + 1 WHERE id = $1";
    let query = sqlx::query(query).bind(row.id).bind(candidate.clone()).bind(generation);
    let query = query.bind(row.campaign.generation.positions as i64).bind(now.0).bind(i64::from(is_last));
    query.execute(connection.raw()).await?;
    let (campaign, name) = (row.campaign.name.clone(), nets::name_of_text(connection, &candidate).await?);
    record_event(connection, now, by, Event::Promotion { campaign, net: candidate, name, generation }).await?;
    Ok(())
}

/// Rejects the candidate and requires more games for the next one.
pub(super) async fn reject(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    reason: Reason,
) -> Result<(), StoreError> {
    let candidate = candidate_of(connection, row).await?;
    let query = "UPDATE nets SET state = 'rejected' WHERE hash = $1 AND state = 'candidate'";
    sqlx::query(query).bind(candidate.clone()).execute(connection.raw()).await?;
    if let Some(job) = row.gate {
        jobs::set_state(connection, now, job, "closed").await?;
    }
    let plan = &row.campaign.generation;
    let more = (u128::from(plan.positions) * u128::from(plan.more_percent) / 100) as i64;
    let query = "UPDATE campaigns SET candidates = candidates + 1, wanted_positions = wanted_positions + $2,
                 training = NULL, gate = NULL, phase = 'collecting', phase_since = $3, reason = NULL,
                 changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(row.id).bind(more).bind(now.0).execute(connection.raw()).await?;
    let (campaign, name) = (row.campaign.name.clone(), nets::name_of_text(connection, &candidate).await?);
    record_event(connection, now, None, Event::Rejection { campaign, net: candidate, name, reason }).await?;
    if row.candidates + 1 >= i64::from(plan.most_candidates) {
        let reason = Reason::CandidatesRejected { candidates: row.candidates + 1, generation: row.generation };
        stuck(connection, now, row, reason).await?;
    }
    Ok(())
}

/// Sets the state of the campaign's jobs.
pub(super) async fn set_jobs_state(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    state: &str,
) -> Result<(), StoreError> {
    for job in [row.selfplay, row.gate].into_iter().flatten() {
        jobs::set_state(connection, now, job, state).await?;
    }
    Ok(())
}

/// Marks the campaign as stuck until a maintainer acts.
async fn stuck(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    reason: Reason,
) -> Result<(), StoreError> {
    if let Some(job) = row.selfplay {
        jobs::set_state(connection, now, job, "paused").await?;
    }
    let query = "UPDATE campaigns SET state = 'stuck', reason = $2, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(row.id).bind(reason.clone()).execute(connection.raw()).await?;
    let campaign = row.campaign.name.clone();
    record_event(connection, now, None, Event::Stall(Stall::Campaign { campaign, reason })).await?;
    Ok(())
}
