//! What of a campaign may be changed while it runs.

use protocol::{api::problem::Code, campaign::Campaign};

use super::{lock, nets};
use crate::{
    clock::Time,
    events::{Event, note},
    store::{Connection, Failure, Outcome},
};

/// Changes a campaign's text. Its description, priority, generations, gate and recipe may change, as far as nothing is
/// under way that was begun with them; what its games are a function of stays. `changed` is what the person saw.
///
/// # Errors
///
/// If the text is no campaign, changes something else, or the campaign has changed or is over.
pub async fn edit(
    connection: &mut Connection<'_>,
    now: Time,
    id: i64,
    text: &str,
    changed: i64,
    by: Option<i64>,
) -> Outcome<()> {
    let new = Campaign::from_text(text).map_err(|error| Failure::refused(Code::Invalid, error.to_string()))?;
    let row = lock(connection, id).await?;
    if changed != row.changed {
        return Err(Failure::refused(Code::PreconditionFailed, "the campaign has changed meanwhile: look again"));
    }
    if matches!(row.state.as_str(), "stopped" | "complete") {
        return Err(Failure::refused(Code::Conflict, format!("the campaign is {}", row.state)));
    }
    if let Some(key) = fixed(&row.campaign, &new) {
        return Err(Failure::refused(Code::Invalid, format!("`{key}` cannot be changed: begin another campaign")));
    }
    if row.phase == "gating" && new.gate != row.campaign.gate {
        return Err(Failure::refused(Code::Conflict, "`gate` cannot be changed while its match is played"));
    }
    if row.phase == "training" && new.recipe != row.campaign.recipe {
        return Err(Failure::refused(Code::Conflict, "`recipe` cannot be changed while a net is trained"));
    }
    if let Some(book) = new.gate.book {
        nets::book_must_exist(connection, book).await?;
    }
    let wanted = if row.candidates == 0 { new.generation.positions as i64 } else { row.wanted_positions };
    let query = "UPDATE campaigns SET text = $2, wanted_positions = $3, changed = changed + 1 WHERE id = $1";
    sqlx::query(query).bind(id).bind(new.to_text()).bind(wanted).execute(connection.raw()).await?;
    let query = "UPDATE jobs SET priority = $2 WHERE campaign = $1 AND state <> 'closed'";
    sqlx::query(query).bind(id).bind(i64::from(new.priority)).execute(connection.raw()).await?;
    let subject = format!("campaign:{}", new.name);
    let text = "its text was changed".to_owned();
    note(connection, now, Event { kind: "campaign_edited", account: by, subject, text }).await?;
    Ok(())
}

/// The first key that differs and may not.
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
