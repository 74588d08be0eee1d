//! Read models for people and programs: the database's content as JSON.

pub mod campaign;
pub mod data;
pub mod health;
pub mod log;
pub mod marks;
pub mod matches;
pub mod net;
pub mod overview;
pub mod people;
pub mod sprt;

use serde_json::{Value, json};

use crate::{
    matches as standings,
    model::{CampaignId, CampaignKey, Reason},
    store::{Campaigns, Connection, Leases, StoreError, counting},
};

/// Events per page.
const PAGE: i64 = 100;

/// All campaigns, the newest first.
pub async fn campaigns(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    let query = "SELECT id FROM campaigns ORDER BY id DESC LIMIT 200";
    let ids: Vec<CampaignId> = sqlx::query_scalar(query).fetch_all(connection.raw()).await?;
    let mut all = Vec::new();
    for id in ids {
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
    let id = row.id.0;
    let selfplay = match row.selfplay {
        Some(job) => {
            let tally = counting::tally(connection, job).await?;
            let playing = Leases::on(connection.reborrow()).playing(Some(job)).await?;
            json!({ "job": job, "games": tally.games, "positions": tally.positions, "playing": playing })
        }
        None => Value::Null,
    };
    let gate = match row.gate {
        Some(job) => {
            let standing = standings::standing(connection, job.0).await?;
            let playing = Leases::on(connection.reborrow()).playing(Some(job)).await?;
            json!({ "job": job, "standing": standing, "playing": playing })
        }
        None => Value::Null,
    };
    let decided = matches::decided(connection, id).await?;
    let promotions = "SELECT COUNT(*) FROM promotions WHERE campaign = $1 AND kind <> 'rollback'";
    let promotions: i64 = sqlx::query_scalar(promotions).bind(id).fetch_one(connection.raw()).await?;
    let training = match row.training {
        Some(training) => {
            let query = "SELECT state, trainer, progress, candidate, reason FROM trainings WHERE id = $1";
            type Row = (String, Option<String>, Option<String>, Option<String>, Option<Reason>);
            let (state, trainer, progress, candidate, reason): Row =
                sqlx::query_as(query).bind(training).fetch_one(connection.raw()).await?;
            let progress = progress.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            json!({ "training": training, "state": state, "trainer": trainer, "progress": progress,
                    "candidate": candidate, "reason": reason.map(|reason| reason.to_string()) })
        }
        None => Value::Null,
    };
    let report = json!({
        "campaign": row.plan.name, "about": row.plan.about, "state": row.state,
        "reason": row.reason.map(|reason| reason.to_string()),
        "phase": row.phase, "generation": row.generation, "champion": row.champion, "candidates": row.candidates,
        "wanted_positions": row.wanted_positions, "selfplay": selfplay, "training": training, "gate": gate,
        "decided": decided, "promotions": promotions,
    });
    Ok((row.changed, report))
}

/// The thousand newest nets, the newest first.
pub async fn nets(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    Ok(json!(net::list(connection, None, 1_000).await?))
}

/// The contributors with the most validated games: names and totals only.
pub async fn ranking(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    let query = "SELECT accounts.name, CAST(SUM(contributions.games) AS BIGINT) AS played,
                        CAST(SUM(contributions.positions) AS BIGINT)
                 FROM contributions JOIN accounts ON accounts.id = contributions.account
                 GROUP BY accounts.id, accounts.name ORDER BY played DESC, accounts.id LIMIT 1000";
    let rows: Vec<(String, i64, i64)> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    Ok(rows
        .into_iter()
        .map(|(name, games, positions)| json!({ "account": name, "games": games, "positions": positions }))
        .collect())
}

/// The events, the newest first.
pub async fn events(connection: &mut Connection<'_>, before: Option<i64>) -> Result<Value, StoreError> {
    let query = "SELECT events.id, at, kind, accounts.name, subject, text FROM events
                 LEFT JOIN accounts ON accounts.id = events.account WHERE events.id < $1 ORDER BY events.id DESC LIMIT $2";
    type Row = (i64, i64, String, Option<String>, String, String);
    let query = sqlx::query_as(query).bind(before.unwrap_or(i64::MAX)).bind(PAGE);
    let rows: Vec<Row> = query.fetch_all(connection.raw()).await?;
    let event = |(id, at, kind, by, subject, text): Row| json!({ "event": id, "at": at, "kind": kind, "by": by, "subject": subject, "text": text });
    Ok(rows.into_iter().map(event).collect())
}

/// Workers of one account or of all, with private fields for owners and maintainers.
pub async fn workers(connection: &mut Connection<'_>, account: Option<i64>) -> Result<Value, StoreError> {
    let query = "SELECT workers.id, accounts.name, workers.name, version, threads, system, nodes_per_second, trusted,
                        blocked, last_seen,
                        (SELECT COUNT(*) FROM shards WHERE shards.worker = workers.id AND shards.state = 'rejected')
                 FROM workers JOIN accounts ON accounts.id = workers.account
                 WHERE $1 < 0 OR workers.account = $1 ORDER BY last_seen DESC, workers.id LIMIT 2000";
    type Row = (i64, String, String, String, i64, String, Option<i64>, i64, Option<Reason>, i64, i64);
    let query = sqlx::query_as(query).bind(account.unwrap_or(-1));
    let rows: Vec<Row> = query.fetch_all(connection.raw()).await?;
    let worker = |(id, owner, name, version, threads, system, speed, trusted, blocked, seen, rejected): Row| {
        json!({ "worker": id, "account": owner, "name": name, "version": version, "threads": threads,
                "system": system, "nodes_per_second": speed, "trusted": trusted != 0,
                "blocked": blocked.map(|reason| reason.to_string()),
                "last_seen": seen, "rejected": rejected })
    };
    Ok(rows.into_iter().map(worker).collect())
}

/// All accounts.
pub async fn accounts(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    let query = "SELECT id, name, role, state, message, created, clean_games FROM accounts ORDER BY id LIMIT 10000";
    type Row = (i64, String, String, String, Option<Reason>, i64, i64);
    let rows: Vec<Row> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let account = |(id, name, role, state, message, created, clean): Row| {
        json!({ "account": id, "name": name, "role": role, "state": state, "message": message.map(|reason| reason.to_string()), "created": created,
                "clean_games": clean })
    };
    Ok(rows.into_iter().map(account).collect())
}

/// An account's tokens, without their secrets.
pub async fn tokens(connection: &mut Connection<'_>, account: i64) -> Result<Value, StoreError> {
    let query = "SELECT id, name, prefix, role, created, last_used, expires, revoked FROM tokens
                 WHERE account = $1 ORDER BY id LIMIT 1000";
    type Row = (i64, String, String, String, i64, Option<i64>, Option<i64>, Option<i64>);
    let rows: Vec<Row> = sqlx::query_as(query).bind(account).fetch_all(connection.raw()).await?;
    let token = |(id, name, prefix, role, created, used, expires, revoked): Row| {
        json!({ "token": id, "name": name, "begins": prefix, "role": role, "created": created, "last_used": used,
                "expires": expires, "revoked": revoked })
    };
    Ok(rows.into_iter().map(token).collect())
}
