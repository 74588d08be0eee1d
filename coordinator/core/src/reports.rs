//! Reports for people and programs: the read models of the store, and what is composed of them.

pub mod campaign;
pub mod matches;
pub mod sprt;
pub mod standing;

use serde_json::{Value, json};

pub use crate::store::reports::{data, health, log, marks, net, overview, people, trust};
use crate::{
    matches as standings,
    model::CampaignKey,
    store::{
        Campaigns, Connection, Leases, StoreError, Trainings, counting,
        reports::{campaign as rows, matches as lines},
    },
};

/// All campaigns, the newest first.
pub async fn campaigns(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    let mut all = Vec::new();
    for id in rows::newest(connection).await? {
        all.push(campaign(connection, &id.into()).await?.1);
    }
    Ok(json!(all))
}

/// A campaign's report and its revision.
///
/// # Errors
///
/// If there is none.
pub async fn campaign(connection: &mut Connection<'_>, key: &CampaignKey) -> Result<(i64, Value), StoreError> {
    let row = Campaigns::on(connection.reborrow()).get(key).await?;
    let selfplay = match row.selfplay {
        Some(job) => {
            let tally = counting::tally_of_generation(connection, row.id, row.generation).await?;
            let playing = Leases::on(connection.reborrow()).playing(Some(job)).await?;
            json!({ "job": job, "games": tally.games, "positions": tally.positions, "playing": playing })
        }
        None => Value::Null,
    };
    let gate = match row.gate {
        Some(job) => {
            let standing = standings::standing(connection, job).await?;
            let playing = Leases::on(connection.reborrow()).playing(Some(job)).await?;
            json!({ "job": job, "standing": standing, "playing": playing })
        }
        None => Value::Null,
    };
    let training = match row.training {
        Some(training) => {
            let found = Trainings::on(connection.reborrow()).get(training).await?;
            let progress = found.progress.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            json!({ "training": training, "state": found.state, "trainer": found.trainer, "progress": progress,
                    "candidate": found.candidate, "reason": found.reason.map(|reason| reason.to_string()) })
        }
        None => Value::Null,
    };
    let report = json!({
        "campaign": row.plan.name, "about": row.plan.about, "state": row.state,
        "reason": row.reason.map(|reason| reason.to_string()),
        "phase": row.phase, "generation": row.generation, "champion": row.champion, "candidates": row.candidates,
        "wanted_positions": row.wanted_positions, "selfplay": selfplay, "training": training, "gate": gate,
        "decided": lines::decided(connection, row.id).await?,
        "promotions": rows::promotions(connection, row.id).await?,
    });
    Ok((row.changed, report))
}
