//! Live matches: the match on show and the lease that reports its moves.
//!
//! A maintainer selects a match. One of its leases at a time is then asked to report moves; when it
//! ends, the next one is. Live games are held in memory only, by `live` of the web.

use dataset::Header;
use protocol::api::problem::Code;
use serde::{Deserialize, Serialize};

use super::header_of;
use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{JobId, Refusal},
    store::{Connection, SettingValues, StoreError},
};

/// The setting that holds it.
const SETTING: &str = "live";

/// The match on show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Id of the match's job.
    pub job: i64,
    /// The first pair to show; any, if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<i64>,
    /// The reporting lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<i64>,
}

/// Returns the match on show, if any.
pub async fn watched(connection: &mut Connection<'_>) -> Result<Option<Watched>, StoreError> {
    let text = SettingValues::on(connection.reborrow()).get(SETTING).await?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Reads which match is marked, if it is still being played.
pub async fn marked(connection: &mut Connection<'_>) -> Result<Option<i64>, StoreError> {
    let Some(watched) = watched(connection).await? else { return Ok(None) };
    let query = "SELECT id FROM jobs WHERE id = $1 AND state <> 'closed'";
    Ok(sqlx::query_scalar(query).bind(watched.job).fetch_optional(connection.raw()).await?)
}

async fn set(connection: &mut Connection<'_>, watched: Option<Watched>) -> Result<(), StoreError> {
    let text = watched.map_or(Ok(String::new()), |watched| serde_json::to_string(&watched));
    let text = text.map_err(|error| StoreError::Corrupt(error.to_string()))?;
    SettingValues::on(connection.reborrow()).set(SETTING, &text).await
}

/// Shows games of this match, from a pair if one is named, instead of any other match.
///
/// # Errors
///
/// If there is no such match, or it is over.
pub async fn watch(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    pair: Option<i64>,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let query = "SELECT state, header, frontier FROM jobs WHERE id = $1";
    let row: Option<(String, String, i64)> = sqlx::query_as(query).bind(job).fetch_optional(connection.raw()).await?;
    let none = || Refusal::NoMatch { job };
    let (state, header, frontier) = row.ok_or_else(none)?;
    if header_of(&header)?.opponent.is_none() {
        return Err(none().into());
    }
    if state != "open" {
        return Err(Refusal::MatchClosed { job, state: state.parse()? }.into());
    }
    if let Some(pair) = pair
        && !(frontier / 2..=i64::from(u32::MAX)).contains(&pair)
    {
        return Err(Refusal::PairLeased { pair, next: frontier / 2 }.into());
    }
    set(connection, Some(Watched { job, pair, lease: None })).await?;
    record_event(connection, now, by, Event::LiveBegan { job: JobId(job) }).await?;
    Ok(())
}

/// Stops showing this match; does nothing if another one is on show.
pub async fn unwatch(connection: &mut Connection<'_>, now: Time, job: i64, by: Option<i64>) -> Result<(), StoreError> {
    if watched(connection).await?.is_none_or(|watched| watched.job != job) {
        return Ok(());
    }
    set(connection, None).await?;
    record_event(connection, now, by, Event::LiveEnded { job: JobId(job) }).await?;
    Ok(())
}

/// Makes a new lease the reporting one, if its match is on show without one.
pub(super) async fn claim(
    connection: &mut Connection<'_>,
    job: i64,
    lease: i64,
    games: &std::ops::Range<i64>,
) -> Result<bool, StoreError> {
    let Some(watched) = watched(connection).await?.filter(|watched| watched.job == job) else { return Ok(false) };
    if watched.pair.is_some_and(|pair| pair * 2 >= games.end) {
        return Ok(false);
    }
    if let Some(before) = watched.lease {
        let query = "SELECT COUNT(*) FROM leases WHERE id = $1 AND state = 'active'";
        let active: i64 = sqlx::query_scalar(query).bind(before).fetch_one(connection.raw()).await?;
        if active > 0 {
            return Ok(false);
        }
    }
    set(connection, Some(Watched { lease: Some(lease), ..watched })).await?;
    Ok(true)
}

/// Whether a lease is the reporting one.
pub(super) async fn is_watched(connection: &mut Connection<'_>, lease: i64) -> Result<bool, StoreError> {
    Ok(watched(connection).await?.is_some_and(|watched| watched.lease == Some(lease)))
}

/// A lease whose games are shown live.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Id of the match's job.
    pub job: i64,
    /// The header that determines its games.
    pub header: Header,
    /// Numbers of its games.
    pub games: std::ops::Range<u64>,
    /// Names of the job's own net and the opponent's; none for the plain evaluation.
    pub names: [Option<String>; 2],
}

/// Returns the scene of a lease of this account.
///
/// # Errors
///
/// If it is not the account's, is over, or is not on show.
pub async fn scene(connection: &mut Connection<'_>, account: i64, token: &str) -> Result<Scene, StoreError> {
    let query = "SELECT leases.id, leases.account, leases.state, leases.first, leases.games, leases.job, jobs.header,
                        jobs.state
                 FROM leases JOIN jobs ON jobs.id = leases.job WHERE leases.token = $1";
    type Row = (i64, i64, String, i64, i64, i64, String, String);
    let row: Option<Row> = sqlx::query_as(query).bind(token.to_owned()).fetch_optional(connection.raw()).await?;
    let row = row.ok_or_else(|| StoreError::rejected(Code::NotFound, "there is no such lease"))?;
    let (lease, owner, state, first, games, job, header, job_state) = row;
    if owner != account {
        return Err(StoreError::rejected(Code::NotOwner, "the lease belongs to another account"));
    }
    if state != "active" {
        return Err(StoreError::rejected(Code::LeaseLost, format!("the lease is {state}")));
    }
    if job_state == "closed" || !is_watched(connection, lease).await? {
        return Err(StoreError::rejected(Code::Conflict, "no one watches these games"));
    }
    let header = header_of(&header)?;
    let mut names = [None, None];
    let nets = [header.net, header.opponent.and_then(|opponent| opponent.net)];
    for (name, net) in names.iter_mut().zip(nets) {
        if let Some(net) = net {
            let query = "SELECT name FROM nets WHERE hash = $1";
            let query = sqlx::query_scalar(query).bind(net.to_string());
            *name = Some(query.fetch_optional(connection.raw()).await?.unwrap_or_else(|| net.to_string()));
        }
    }
    Ok(Scene { job, header, games: first as u64..(first + games) as u64, names })
}
