//! Edits of a running campaign.

use protocol::{api::problem::Code, campaign::Campaign};

use super::{nets, row::lock};
use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{CampaignState, CampaignStep, Refusal},
    store::{Connection, StoreError},
};

/// Changes a campaign's text: description, priority, generations, gate and recipe, unless a running
/// step uses them. The parameters that determine games are fixed. Optimistic locking: `changed` is
/// the version that was edited.
///
/// # Errors
///
/// If the text is invalid, changes a fixed key, or the campaign has changed or is over.
pub async fn edit(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    text: &str,
    changed: i64,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let new = Campaign::from_text(text).map_err(|error| StoreError::rejected(Code::Invalid, error.to_string()))?;
    let row = lock(connection, id).await?;
    if changed != row.changed {
        return Err(Refusal::CampaignChanged.into());
    }
    if matches!(row.state, CampaignState::Stopped | CampaignState::Complete) {
        return Err(Refusal::CampaignOver { state: row.state }.into());
    }
    if let Some(key) = fixed(&row.campaign, &new) {
        return Err(Refusal::FixedKey { key: key.to_owned() }.into());
    }
    if row.phase == CampaignStep::Gating && new.gate != row.campaign.gate {
        return Err(Refusal::GateInUse.into());
    }
    if row.phase == CampaignStep::Training && new.recipe != row.campaign.recipe {
        return Err(Refusal::RecipeInUse.into());
    }
    if let Some(book) = new.gate.book {
        nets::book_must_exist(connection, book).await?;
    }
    let wanted = if row.candidates == 0 { new.generation.positions as i64 } else { row.wanted_positions };
    let query = "UPDATE campaigns SET text = $2, wanted_positions = $3, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(id).bind(new.to_text()).bind(wanted).execute(connection.raw()).await?;
    let query = "UPDATE jobs SET priority = $2 WHERE campaign = $1 AND state <> 'closed'";
    sqlx::query(query).bind(id).bind(i64::from(new.priority)).execute(connection.raw()).await?;
    record_event(connection, now, by, Event::CampaignEdited { campaign: new.name }).await?;
    Ok(())
}

/// Returns the first fixed key that differs.
fn fixed(old: &Campaign, new: &Campaign) -> Option<&'static str> {
    [
        ("name", old.name != new.name),
        ("rules", old.rules != new.rules),
        ("champion", old.champion != new.champion),
        ("seed", old.seed != new.seed),
        ("selfplay", old.selfplay != new.selfplay),
    ]
    .into_iter()
    .find(|(_, differs)| *differs)
    .map(|(key, _)| key)
}
