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

pub use crate::model::CampaignCommand as Command;

use protocol::{api::problem::Code, campaign::Campaign};

use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{CampaignState as State, CampaignStep, Reason, Refusal},
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
        return Err(Refusal::CampaignTaken { name: campaign.name }.into());
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
    record_event(connection, now, by, Event::CampaignCreated { campaign: campaign.name }).await?;
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
    id.ok_or_else(|| Refusal::NoCampaign { campaign: name.to_owned() }.into())
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
        return Err(Refusal::CampaignChanged.into());
    }
    let cannot = || Refusal::CampaignInStep { state: row.state, step: row.phase };
    let state = match (command, row.state) {
        (Command::Pause, State::Running) | (Command::Train | Command::Reject | Command::Promote, State::Paused) => {
            State::Paused
        }
        // A manual step also resolves what a stuck campaign waits for.
        (Command::Resume, State::Paused | State::Stuck)
        | (Command::Train | Command::Reject | Command::Promote, State::Running | State::Stuck) => State::Running,
        (Command::Stop, State::Running | State::Paused | State::Stuck) => State::Stopped,
        _ => return Err(cannot().into()),
    };
    // Before the step, which may end as stuck or complete.
    let query = "UPDATE campaigns SET state = $2, reason = NULL, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(id).bind(state).execute(connection.raw()).await?;
    match command {
        Command::Train if row.phase == CampaignStep::Collecting => steps::begin_training(connection, now, &row).await?,
        Command::Reject if row.phase == CampaignStep::Gating => {
            steps::reject(connection, now, &row, Reason::GivenUp).await?;
        }
        Command::Promote if row.phase == CampaignStep::Gating => steps::promote(connection, now, &row, by).await?,
        Command::Train | Command::Reject | Command::Promote => return Err(cannot().into()),
        Command::Resume if row.state == State::Stuck => {
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
            trainings::end_all(connection, id, Reason::CampaignStopped).await?;
            nets::reject_candidates(connection, id).await?;
        }
    }
    let campaign = row.campaign.name.clone();
    record_event(connection, now, by, Event::CampaignCommand { campaign, command }).await?;
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
    if row.state != State::Running {
        return Ok(false);
    }
    let still = |counts: &Counts| (counts.generation, counts.selfplay) == (row.generation, row.selfplay);
    let counts = match counts.filter(still) {
        Some(counts) => counts,
        None => steps::count(connection, &row).await?,
    };
    steps::step(connection, now, &row, bench_signature, counts).await
}
