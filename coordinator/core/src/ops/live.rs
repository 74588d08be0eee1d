//! Live matches: the match on show and the lease that reports its moves.
//!
//! A maintainer selects a match. One of its leases at a time is then asked to report moves; when it
//! ends, the next one is. Live games are held in memory only, by `live` of the web.

use dataset::Header;
use protocol::api::problem::Code;
use serde::{Deserialize, Serialize};

use crate::{
    events::{Event, record_event},
    model::{AccountId, JobId, JobState, LeaseId, LeaseState, LeaseToken, Refusal},
    rules::sizing::unit,
    store::{Connection, Jobs, Leases, Nets, Operation, SettingValues, StoreError, Tx},
};

/// The setting that holds it.
const SETTING: &str = "live";

/// The match on show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Id of the match's job.
    pub job: JobId,
    /// The first pair to show; any, if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<i64>,
    /// The reporting lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
}

/// Returns the match on show, if any.
pub async fn watched(connection: &mut Connection<'_>) -> Result<Option<Watched>, StoreError> {
    let text = SettingValues::on(connection.reborrow()).get(SETTING).await?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Reads which match is marked, if it is still being played.
pub async fn marked(connection: &mut Connection<'_>) -> Result<Option<JobId>, StoreError> {
    let Some(watched) = watched(connection).await? else { return Ok(None) };
    let job = Jobs::on(connection.reborrow()).find(watched.job).await?;
    Ok(job.filter(|job| job.state != JobState::Closed).map(|job| job.id))
}

async fn set(connection: &mut Connection<'_>, watched: Option<Watched>) -> Result<(), StoreError> {
    let text = watched.map_or(Ok(String::new()), |watched| serde_json::to_string(&watched));
    let text = text.map_err(|error| StoreError::Corrupt(error.to_string()))?;
    SettingValues::on(connection.reborrow()).set(SETTING, &text).await
}

/// Shows games of this match, from a pair if one is named, instead of any other match.
pub struct WatchMatch {
    /// The match.
    pub job: JobId,
    /// The first pair to show; any, if none.
    pub pair: Option<i64>,
    /// The maintainer.
    pub by: Option<AccountId>,
}

impl Operation for WatchMatch {
    const NAME: &'static str = "watch_match";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let &Self { job, pair, by } = self;
        let found = tx.jobs().find(job).await?.filter(|job| unit(&job.header) > 1);
        let found = found.ok_or(Refusal::NoMatch { job })?;
        if found.state != JobState::Open {
            return Err(Refusal::MatchClosed { job, state: found.state }.into());
        }
        let next = found.frontier / 2;
        if let Some(pair) = pair
            && !(next..=i64::from(u32::MAX)).contains(&pair)
        {
            return Err(Refusal::PairLeased { pair, next }.into());
        }
        let mut connection = tx.connection();
        // A match that is on show already stays with its reporting lease.
        let before = watched(&mut connection).await?.filter(|watched| watched.job == job && pair.is_none());
        let lease = before.and_then(|watched| watched.lease);
        set(&mut connection, Some(Watched { job, pair, lease })).await?;
        record_event(&mut connection, now, by, Event::LiveBegan { job }).await.map(drop)
    }
}

/// Stops showing this match; does nothing if another one is on show.
pub struct UnwatchMatch {
    /// The match.
    pub job: JobId,
    /// The maintainer.
    pub by: Option<AccountId>,
}

impl Operation for UnwatchMatch {
    const NAME: &'static str = "unwatch_match";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let &Self { job, by } = self;
        let mut connection = tx.connection();
        if watched(&mut connection).await?.is_none_or(|watched| watched.job != job) {
            return Ok(());
        }
        set(&mut connection, None).await?;
        record_event(&mut connection, now, by, Event::LiveEnded { job }).await.map(drop)
    }
}

/// Shows a gate that begins, unless another match is on show.
pub(super) async fn show_gate(connection: &mut Connection<'_>, job: JobId) -> Result<(), StoreError> {
    if marked(connection).await?.is_some() {
        return Ok(());
    }
    set(connection, Some(Watched { job, pair: None, lease: None })).await
}

/// Makes a new lease the reporting one, if its match is on show without one.
pub(super) async fn claim(
    connection: &mut Connection<'_>,
    job: JobId,
    lease: LeaseId,
    games: &std::ops::Range<i64>,
) -> Result<bool, StoreError> {
    let Some(watched) = watched(connection).await?.filter(|watched| watched.job == job) else { return Ok(false) };
    if watched.pair.is_some_and(|pair| pair * 2 >= games.end) {
        return Ok(false);
    }
    if let Some(before) = watched.lease
        && Leases::on(connection.reborrow()).is_active(before).await?
    {
        return Ok(false);
    }
    set(connection, Some(Watched { lease: Some(lease), ..watched })).await?;
    Ok(true)
}

/// Whether a lease is the reporting one.
pub(super) async fn is_watched(connection: &mut Connection<'_>, lease: LeaseId) -> Result<bool, StoreError> {
    Ok(watched(connection).await?.is_some_and(|watched| watched.lease == Some(lease)))
}

/// A lease whose games are shown live.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Id of the match's job.
    pub job: JobId,
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
pub async fn scene(
    connection: &mut Connection<'_>,
    account: AccountId,
    token: &LeaseToken,
) -> Result<Scene, StoreError> {
    let lease = Leases::on(connection.reborrow()).with_header(token, account).await?;
    if lease.state != LeaseState::Active {
        return Err(StoreError::rejected(Code::LeaseLost, format!("the lease is {}", lease.state)));
    }
    if lease.job_state == JobState::Closed || !is_watched(connection, lease.id).await? {
        return Err(StoreError::rejected(Code::Conflict, "no one watches these games"));
    }
    let mut names = [None, None];
    let nets = [lease.header.net, lease.header.opponent.and_then(|opponent| opponent.net)];
    for (name, net) in names.iter_mut().zip(nets) {
        if let Some(net) = net {
            let net = net.to_string();
            let known = Nets::on(connection.reborrow()).find_name(&net).await?;
            *name = Some(known.unwrap_or(net));
        }
    }
    let games = lease.numbers.start as u64..lease.numbers.end as u64;
    Ok(Scene { job: lease.job, header: lease.header, games, names })
}
