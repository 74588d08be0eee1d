//! Campaigns: generation after generation, from games to a promoted net.
//!
//! ```text
//! collecting ──▶ training ──▶ gating ──▶ promoted: the next generation
//!     ▲                          │
//!     └────── rejected: more games, another candidate ─┘
//! ```
//!
//! Where a campaign stands is in its row. [`drive`] takes it one step on, if it can be, in one transaction that holds
//! the row: any coordinator may call it at any time, and a crash between two steps costs nothing.

pub mod matches;
pub mod nets;
pub mod trainings;

mod edit;
mod steps;

pub use edit::edit;
pub use steps::Counts;

use dataset::Digest;
use protocol::{api::problem::Code, campaign::Campaign};
use sqlx::Row as _;

use crate::{
    clock::Time,
    events::{Event, note},
    store::{Connection, Failure, Outcome},
};

/// A campaign's row.
#[derive(Clone, Debug)]
pub struct CampaignRow {
    /// Its number.
    pub id: i64,
    /// What it does.
    pub campaign: Campaign,
    /// Whether it does anything: running, paused, stuck, stopped, complete.
    pub state: String,
    /// Why it waits for a person.
    pub reason: Option<String>,
    /// What it does now: collecting, training, gating.
    pub phase: String,
    /// The generation whose games are played now.
    pub generation: i64,
    /// The net that plays; the plain evaluation if none.
    pub champion: Option<Digest>,
    /// How many candidates of this generation were rejected.
    pub candidates: i64,
    /// How many positions a candidate is trained from.
    pub wanted_positions: i64,
    /// The job that plays for this generation.
    pub selfplay: Option<i64>,
    /// The training of the candidate.
    pub training: Option<i64>,
    /// Its match.
    pub gate: Option<i64>,
    /// Counts changes.
    pub changed: i64,
}

/// A new campaign, which begins at once.
///
/// # Errors
///
/// If there is one of that name, or a net or book that it names is not here.
pub async fn create(connection: &mut Connection<'_>, now: Time, text: &str, by: Option<i64>) -> Outcome<i64> {
    let campaign = Campaign::from_text(text).map_err(|error| Failure::refused(Code::Invalid, error.to_string()))?;
    let query = "SELECT COUNT(*) FROM campaigns WHERE name = $1";
    let taken: i64 = sqlx::query_scalar(query).bind(campaign.name.clone()).fetch_one(connection.raw()).await?;
    if taken > 0 {
        return Err(Failure::refused(Code::Conflict, format!("there is a campaign {} already", campaign.name)));
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
    note(connection, now, Event { kind: "campaign_created", account: by, subject, text }).await?;
    Ok(id)
}

/// The numbers of all campaigns that may go on.
///
/// # Errors
///
/// If the database fails.
pub async fn running(connection: &mut Connection<'_>) -> Outcome<Vec<i64>> {
    let query = "SELECT id FROM campaigns WHERE state = 'running' ORDER BY id";
    Ok(sqlx::query_scalar(query).fetch_all(connection.raw()).await?)
}

/// A campaign by its name.
///
/// # Errors
///
/// If there is none.
pub async fn by_name(connection: &mut Connection<'_>, name: &str) -> Outcome<i64> {
    let query = "SELECT id FROM campaigns WHERE name = $1";
    let id: Option<i64> = sqlx::query_scalar(query).bind(name.to_owned()).fetch_optional(connection.raw()).await?;
    id.ok_or_else(|| Failure::refused(Code::NotFound, format!("there is no campaign {name}")))
}

const COLUMNS: &str = "SELECT id, text, state, reason, phase, generation, champion, candidates, wanted_positions,
                              selfplay, training, gate, changed FROM campaigns WHERE id = $1";

/// A campaign, which nobody else changes until the transaction ends.
///
/// # Errors
///
/// If there is none.
pub async fn lock(connection: &mut Connection<'_>, id: i64) -> Outcome<CampaignRow> {
    let query = connection.locking(COLUMNS);
    let row = sqlx::query(query).bind(id).fetch_optional(connection.raw()).await?;
    let row = row.ok_or_else(|| Failure::refused(Code::NotFound, format!("there is no campaign {id}")))?;
    read_row(&row)
}

/// A campaign.
///
/// # Errors
///
/// If there is none.
pub async fn read(connection: &mut Connection<'_>, id: i64) -> Outcome<CampaignRow> {
    let row = sqlx::query(COLUMNS).bind(id).fetch_optional(connection.raw()).await?;
    let row = row.ok_or_else(|| Failure::refused(Code::NotFound, format!("there is no campaign {id}")))?;
    read_row(&row)
}

fn read_row(row: &sqlx::any::AnyRow) -> Outcome<CampaignRow> {
    let text: String = row.try_get("text")?;
    let campaign =
        Campaign::from_text(&text).map_err(|error| Failure::Broken(format!("a campaign that is none: {error}")))?;
    let champion: Option<String> = row.try_get("champion")?;
    Ok(CampaignRow {
        id: row.try_get("id")?,
        campaign,
        state: row.try_get("state")?,
        reason: row.try_get("reason")?,
        phase: row.try_get("phase")?,
        generation: row.try_get("generation")?,
        champion: champion.map(|net| net.parse()).transpose().map_err(|_| Failure::Broken("no hash".to_owned()))?,
        candidates: row.try_get("candidates")?,
        wanted_positions: row.try_get("wanted_positions")?,
        selfplay: row.try_get("selfplay")?,
        training: row.try_get("training")?,
        gate: row.try_get("gate")?,
        changed: row.try_get("changed")?,
    })
}

/// What a person can tell a campaign to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// No new games.
    Pause,
    /// Go on; also where it got stuck.
    Resume,
    /// For good.
    Stop,
    /// Train a net from what there is.
    Train,
    /// Give the candidate up.
    Reject,
    /// Promote the candidate whatever the gate says.
    Promote,
}

/// Tells a campaign to do something. `changed` is what the person saw: who saw something older is refused.
///
/// # Errors
///
/// If it cannot do that now, or has changed.
pub async fn command(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    command: Command,
    changed: Option<i64>,
    by: Option<i64>,
) -> Outcome<()> {
    let row = lock(connection, id).await?;
    if changed.is_some_and(|changed| changed != row.changed) {
        return Err(Failure::refused(Code::PreconditionFailed, "the campaign has changed meanwhile: look again"));
    }
    let cannot = || {
        let detail = format!("the campaign is {} and {}: it cannot do that now", row.state, row.phase);
        Failure::refused(Code::Conflict, detail)
    };
    let state = match (command, row.state.as_str()) {
        (Command::Pause, "running") | (Command::Train | Command::Reject | Command::Promote, "paused") => "paused",
        // Whoever takes a step by hand has done what a campaign that is stuck waits for.
        (Command::Resume, "paused" | "stuck")
        | (Command::Train | Command::Reject | Command::Promote, "running" | "stuck") => "running",
        (Command::Stop, "running" | "paused" | "stuck") => "stopped",
        _ => return Err(cannot()),
    };
    // Before the step, which may end elsewhere: stuck, or complete.
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
            // Whoever resumes wants it to try again.
            let query = "UPDATE campaigns SET candidates = 0, training = CASE phase WHEN 'training' THEN NULL
                         ELSE training END, phase = CASE phase WHEN 'training' THEN 'collecting' ELSE phase END
                         WHERE id = $1";
            sqlx::query(query).bind(id).execute(connection.raw()).await?;
        }
        // What is open again after that, the campaign's next step says.
        Command::Resume => {}
        Command::Pause => steps::rest(connection, now, &row, "paused").await?,
        Command::Stop => {
            steps::rest(connection, now, &row, "closed").await?;
            trainings::end_all(connection, id, "the campaign was stopped").await?;
            nets::give_up_candidates(connection, id).await?;
        }
    }
    let subject = format!("campaign:{}", row.campaign.name);
    let text = format!("{command:?}").to_lowercase();
    note(connection, now, Event { kind: "campaign_command", account: by, subject, text }).await?;
    Ok(())
}

/// Takes a campaign a step on, if it can be; whether it was.
///
/// # Errors
///
/// If the database fails.
pub async fn drive(connection: &mut Connection<'_>, now: Time, id: i64, bench_signature: u64) -> Outcome<bool> {
    drive_with(connection, now, id, bench_signature, None).await
}

/// What the generation of a campaign has, for [`drive_with`]: to count many uploads takes a while, in which nobody else
/// should have to wait before he may write.
///
/// # Errors
///
/// If the database fails.
pub async fn count(connection: &mut Connection<'_>, id: i64) -> Outcome<Counts> {
    let row = read(connection, id).await?;
    steps::count(connection, &row).await
}

/// [`drive`] with what was counted just before. Were games taken away since, a net may be trained from a few too few.
///
/// # Errors
///
/// If the database fails.
pub async fn drive_with(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    bench_signature: u64,
    counts: Option<Counts>,
) -> Outcome<bool> {
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
