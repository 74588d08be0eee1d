//! Work for workers, from lease to verdict.
//!
//! A job is a series of numbered games; each is a function of the job's header and its number.
//! Below the job's frontier, every number lies in exactly one *segment*: open, leased, or held by a
//! shard. So each game counts once. A *lease* is a range of numbers for one worker. A *shard* is
//! the uploaded result for that range or its beginning. Shards are received, then validated by
//! replay. Only games held by a validated shard count.
//!
//! Games that arrive twice are compared. Equal games are a free audit. Different ones are a
//! *dispute*, which a trusted worker settles by playing them a third time. The outvoted account is
//! quarantined. Its games pass to shards with the same numbers, or are played again.
//!
//! Every function here runs on a connection in a transaction; the caller supplies the time. Lock
//! order: the job, then its rows.

pub mod audit;
pub mod comparisons;
pub mod counting;
pub mod figures;
pub mod leases;
pub mod leasing;
pub mod notices;
pub mod quarantine;
pub mod receiving;
pub mod validating;
pub mod watching;

pub(crate) mod segments;
mod totals;

use dataset::{Header, Time};
use sqlx::Row as _;

use crate::store::{Connection, StoreError};

/// Maximum games per lease.
const MAX_GAMES_PER_LEASE: i64 = 4_096;

/// Assumed moves per game before any was measured.
pub(crate) const DEFAULT_MOVES_PER_GAME: i64 = 100;

/// A job's header and progress.
#[derive(Clone, Debug)]
pub(crate) struct JobRow {
    pub(crate) id: i64,
    pub(crate) state: String,
    pub(crate) header: Header,
    pub(crate) game_limit: Option<i64>,
    pub(crate) frontier: i64,
    /// Estimated cost of a game, in the unit of [`cost_per_position`].
    pub(crate) nodes_per_game: i64,
}

impl JobRow {
    /// Games that belong together: 2 in a match, where pairs share an opening.
    pub(crate) fn unit(&self) -> i64 {
        if self.header.opponent.is_some() { 2 } else { 1 }
    }
}

/// Locks a job until the transaction ends.
pub(crate) async fn lock_job(connection: &mut Connection<'_>, job: i64) -> Result<JobRow, StoreError> {
    let query =
        connection.for_update("SELECT id, state, header, game_limit, frontier, nodes_per_game FROM jobs WHERE id = $1");
    let row = sqlx::query(query).bind(job).fetch_one(connection.raw()).await?;
    let header: String = row.try_get("header")?;
    Ok(JobRow {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        header: header_of(&header)?,
        game_limit: row.try_get("game_limit")?,
        frontier: row.try_get("frontier")?,
        nodes_per_game: row.try_get("nodes_per_game")?,
    })
}

/// Parses a job's header.
pub(crate) fn header_of(text: &str) -> Result<Header, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt(format!("a header that is none: {error}")))
}

/// Cost of a position: nodes, or under a clock milliseconds of a thread. A soft limit adds a third,
/// because the iteration is finished.
pub(crate) fn cost_per_position(header: &Header) -> i64 {
    match header.clock.map(|clock| clock.time) {
        Some(Time::Move { milliseconds }) => i64::from(milliseconds).max(1),
        // Each move uses a part of both sides' base time.
        Some(Time::Game { base_milliseconds, increment_milliseconds }) => {
            (i64::from(increment_milliseconds) + 2 * i64::from(base_milliseconds) / DEFAULT_MOVES_PER_GAME).max(1)
        }
        None => nodes_per_position(header),
    }
}

fn nodes_per_position(header: &Header) -> i64 {
    let nodes = |soft: Option<u64>, hard: u64| soft.map_or(hard, |soft| (soft + soft / 3).min(hard));
    let own = nodes(header.settings.soft_nodes, header.settings.hard_nodes);
    let nodes = header.opponent.as_ref().map_or(own, |other| own.midpoint(nodes(other.soft_nodes, other.hard_nodes)));
    nodes.clamp(1, i64::MAX as u64 / 1_000_000) as i64
}
