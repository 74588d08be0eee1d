//! The row of a campaign.

use dataset::Digest;
use protocol::campaign::Campaign;
use sqlx::Row as _;

use crate::{
    model::{CampaignState, CampaignStep, Reason, Refusal},
    store::{Connection, StoreError},
};

/// A campaign's row.
#[derive(Clone, Debug)]
pub struct CampaignRow {
    /// Primary key of the row.
    pub id: i64,
    /// The parsed text (TOML) that defines it.
    pub campaign: Campaign,
    /// Its state.
    pub state: CampaignState,
    /// The reason why it waits, for people.
    pub reason: Option<Reason>,
    /// Its step.
    pub phase: CampaignStep,
    /// The generation being played.
    pub generation: i64,
    /// The champion's net; the plain evaluation if none.
    pub champion: Option<Digest>,
    /// Number of rejected candidates of this generation.
    pub candidates: i64,
    /// Positions required before a candidate is trained.
    pub wanted_positions: i64,
    /// Id of the generation's self-play job.
    pub selfplay: Option<i64>,
    /// Id of the candidate's training.
    pub training: Option<i64>,
    /// Id of the job of the candidate's gate.
    pub gate: Option<i64>,
    /// Version of the row, for optimistic locking.
    pub changed: i64,
}

const COLUMNS: &str = "SELECT id, text, state, reason, phase, generation, champion, candidates, wanted_positions,
                              selfplay, training, gate, changed FROM campaigns WHERE id = $1";

/// Locks a campaign until the transaction ends.
///
/// # Errors
///
/// If there is none.
pub async fn lock(connection: &mut Connection<'_>, id: i64) -> Result<CampaignRow, StoreError> {
    let query = connection.for_update(COLUMNS);
    let row = sqlx::query(query).bind(id).fetch_optional(connection.raw()).await?;
    let row = row.ok_or_else(|| Refusal::NoCampaign { campaign: id.to_string() })?;
    read_row(&row)
}

/// Reads a campaign.
///
/// # Errors
///
/// If there is none.
pub async fn read(connection: &mut Connection<'_>, id: i64) -> Result<CampaignRow, StoreError> {
    let row = sqlx::query(COLUMNS).bind(id).fetch_optional(connection.raw()).await?;
    let row = row.ok_or_else(|| Refusal::NoCampaign { campaign: id.to_string() })?;
    read_row(&row)
}

fn read_row(row: &sqlx::any::AnyRow) -> Result<CampaignRow, StoreError> {
    let text: String = row.try_get("text")?;
    let campaign =
        Campaign::from_text(&text).map_err(|error| StoreError::Corrupt(format!("a campaign that is none: {error}")))?;
    let champion: Option<String> = row.try_get("champion")?;
    Ok(CampaignRow {
        id: row.try_get("id")?,
        campaign,
        state: row.try_get("state")?,
        reason: row.try_get("reason")?,
        phase: row.try_get("phase")?,
        generation: row.try_get("generation")?,
        champion: champion.map(|net| net.parse()).transpose().map_err(|_| StoreError::Corrupt("no hash".to_owned()))?,
        candidates: row.try_get("candidates")?,
        wanted_positions: row.try_get("wanted_positions")?,
        selfplay: row.try_get("selfplay")?,
        training: row.try_get("training")?,
        gate: row.try_get("gate")?,
        changed: row.try_get("changed")?,
    })
}
