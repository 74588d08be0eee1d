//! Campaigns: the loop of generations, from games to a promoted net.
//!
//! ```text
//! collecting ──▶ training ──▶ gating ──▶ promoted: the next generation
//!     ▲                          │
//!     └────── rejected: more games, another candidate ─┘
//! ```
//!
//! State machine: the state is the campaign's row. [`drive`] advances it by at most one step, in
//! one transaction that locks the row. Any coordinator may call it at any time, and a crash between
//! two steps loses nothing.

pub mod matches;
pub mod nets;
pub mod trainings;

mod edit;
mod jobs;
mod rollback;
mod row;
mod steps;

pub use edit::edit;
pub use rollback::roll_back;
pub use row::{CampaignRow, lock, read};
pub use steps::Counts;

use protocol::{api::problem::Code, campaign::Campaign};

use crate::{
    clock::Time,
    events::{Event, record_event},
    store::{Connection, StoreError},
};

/// Creates a running campaign and returns its id.
///
/// # Errors
///
/// If the name is taken, or a net or book that it names does not exist.
pub async fn create(
    connection: &mut Connection<'_>,
    now: Time,
    text: &str,
    by: Option<i64>,
) -> Result<i64, StoreError> {
    let campaign = Campaign::from_text(text).map_err(|error| StoreError::rejected(Code::Invalid, error.to_string()))?;
    let query = "SELECT COUNT(*) FROM campaigns WHERE name = $1";
    let taken: i64 = sqlx::query_scalar(query).bind(campaign.name.clone()).fetch_one(connection.raw()).await?;
    if taken > 0 {
        return Err(StoreError::rejected(Code::Conflict, format!("there is a campaign {} already", campaign.name)));
    }
    if let Some(net) = campaign.champion {
        nets::must_exist(connection, net).await?;
    }
    for book in [campaign.selfplay.openings.book, campaign.gate.book].into_iter().flatten() {
        nets::book_must_exist(connection, book).await?;
    }
    let query = "INSERT INTO campaigns (name, text, state, phase, generation, champion, candidates, wanted_positions,
                                        created_by, created, phase_since, changed)
                 VALUES ($1, $2, 'running', 'collecting', 0, $3, 0, $4, $5, $6, $6, 1) RETURNING id";
    let query = sqlx::query_scalar(query).bind(campaign.name.clone()).bind(campaign.to_text());
    let query = query.bind(campaign.champion.map(|net| net.to_string())).bind(campaign.generation.positions as i64);
    let id: i64 = query.bind(by).bind(now.0).fetch_one(connection.raw()).await?;
    let subject = format!("campaign:{}", campaign.name);
    let text = format!("campaign {} began", campaign.name);
    record_event(connection, now, Event { kind: "campaign_created", account: by, subject, text }).await?;
    Ok(id)
}

/// Returns the ids of the running campaigns.
pub async fn running(connection: &mut Connection<'_>) -> Result<Vec<i64>, StoreError> {
    let query = "SELECT id FROM campaigns WHERE state = 'running' ORDER BY id";
    Ok(sqlx::query_scalar(query).fetch_all(connection.raw()).await?)
}

/// Finds a campaign by its name.
///
/// # Errors
///
/// If there is none.
pub async fn by_name(connection: &mut Connection<'_>, name: &str) -> Result<i64, StoreError> {
    let query = "SELECT id FROM campaigns WHERE name = $1";
    let id: Option<i64> = sqlx::query_scalar(query).bind(name.to_owned()).fetch_optional(connection.raw()).await?;
    id.ok_or_else(|| StoreError::rejected(Code::NotFound, format!("there is no campaign {name}")))
}

/// A command to a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Grant no new games.
    Pause,
    /// Continue, also from stuck.
    Resume,
    /// End the campaign for good.
    Stop,
    /// Train a net from the games so far.
    Train,
    /// Reject the candidate.
    Reject,
    /// Promote the candidate whatever the gate decides.
    Promote,
}

/// Executes a command. Optimistic locking: it fails if the campaign is newer than the version
/// `changed`.
///
/// # Errors
///
/// If the state does not allow it, or the campaign has changed.
pub async fn command(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    command: Command,
    changed: Option<i64>,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let row = lock(connection, id).await?;
    if changed.is_some_and(|changed| changed != row.changed) {
        return Err(StoreError::rejected(Code::PreconditionFailed, "the campaign has changed meanwhile: look again"));
    }
    let cannot = || {
        let detail = format!("the campaign is {} and {}: it cannot do that now", row.state, row.phase);
        StoreError::rejected(Code::Conflict, detail)
    };
    let state = match (command, row.state.as_str()) {
        (Command::Pause, "running") | (Command::Train | Command::Reject | Command::Promote, "paused") => "paused",
        // A manual step also resolves what a stuck campaign waits for.
        (Command::Resume, "paused" | "stuck")
        | (Command::Train | Command::Reject | Command::Promote, "running" | "stuck") => "running",
        (Command::Stop, "running" | "paused" | "stuck") => "stopped",
        _ => return Err(cannot()),
    };
    // Before the step, which may end as stuck or complete.
    let query = "UPDATE campaigns SET state = $2, reason = NULL, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(id).bind(state.to_owned()).execute(connection.raw()).await?;
    match command {
        Command::Train if row.phase == "collecting" => steps::begin_training(connection, now, &row).await?,
        Command::Reject if row.phase == "gating" => {
            steps::reject(connection, now, &row, "a maintainer gave it up").await?;
        }
        Command::Promote if row.phase == "gating" => steps::promote(connection, now, &row, by).await?,
        Command::Train | Command::Reject | Command::Promote => return Err(cannot()),
        Command::Resume if row.state == "stuck" => {
            // Resuming retries the generation with a new count of candidates.
            let query = "UPDATE campaigns SET candidates = 0, training = CASE phase WHEN 'training' THEN NULL
                         ELSE training END, phase = CASE phase WHEN 'training' THEN 'collecting' ELSE phase END
                         WHERE id = $1";
            sqlx::query(query).bind(id).execute(connection.raw()).await?;
        }
        // The next tick reopens the jobs.
        Command::Resume => {}
        Command::Pause => steps::set_jobs_state(connection, now, &row, "paused").await?,
        Command::Stop => {
            steps::set_jobs_state(connection, now, &row, "closed").await?;
            trainings::end_all(connection, id, "the campaign was stopped").await?;
            nets::reject_candidates(connection, id).await?;
        }
    }
    let subject = format!("campaign:{}", row.campaign.name);
    let text = format!("{command:?}").to_lowercase();
    record_event(connection, now, Event { kind: "campaign_command", account: by, subject, text }).await?;
    Ok(())
}

/// Advances a campaign by a step, if one is due; returns whether it did.
pub async fn drive(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    bench_signature: u64,
) -> Result<bool, StoreError> {
    drive_with(connection, now, id, bench_signature, None).await
}

/// Counts a generation for [`drive_with`], outside of the writing transaction: counting many
/// uploads takes a while and would block other writes.
pub async fn count(connection: &mut Connection<'_>, id: i64) -> Result<Counts, StoreError> {
    let row = read(connection, id).await?;
    steps::count(connection, &row).await
}

/// [`drive`] with recent counts. If games were withdrawn meanwhile, a net may be trained from
/// slightly too few.
pub async fn drive_with(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    bench_signature: u64,
    counts: Option<Counts>,
) -> Result<bool, StoreError> {
    let row = lock(connection, id).await?;
    if row.state != "running" {
        return Ok(false);
    }
    let still = |counts: &Counts| (counts.generation, counts.selfplay) == (row.generation, row.selfplay);
    let counts = match counts.filter(still) {
        Some(counts) => counts,
        None => steps::count(connection, &row).await?,
    };
    steps::step(connection, now, &row, bench_signature, counts).await
}
