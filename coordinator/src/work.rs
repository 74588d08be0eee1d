//! Games to play, from the lease to the verdict.
//!
//! A job is a series of numbered games, each a function of the job's header and its number. Below the job's frontier
//! every number lies in exactly one *segment*, which is open, leased, or held by a shard: that is how a game is counted
//! once. A *lease* is a range of numbers for one worker; a *shard* is what came back, for all of the range or its
//! beginning. Shards are received, then validated by replay; only what a validated shard holds counts.
//!
//! Who comes late, or plays games that others have played too, is compared: equal games are an audit that costs
//! nothing, different ones a *dispute*, in which a trusted worker plays them a third time. Who is found to be wrong is
//! quarantined, and what it holds goes to others who played the same games, or is played again.
//!
//! Everything here is a function on a connection in a transaction, and the time is said by whoever calls. Rows are
//! locked in one order: the job, then what belongs to it.

pub mod audit;
pub mod counting;
pub mod figures;
pub mod leases;
pub mod leasing;
pub mod notices;
pub mod quarantine;
pub mod receiving;
pub mod validating;
pub mod watching;

mod segments;
mod totals;

use dataset::{Header, Time};
use sqlx::Row as _;

use crate::store::{Connection, Failure, Outcome};

/// No lease has more games.
const MOST_GAMES: i64 = 4_096;

/// How many moves a game has, as long as nothing is known.
pub(crate) const USUAL_MOVES: i64 = 100;

/// What plays: its header, and what is known of the job.
#[derive(Clone, Debug)]
pub(crate) struct JobRow {
    pub(crate) id: i64,
    pub(crate) state: String,
    pub(crate) header: Header,
    pub(crate) game_limit: Option<i64>,
    pub(crate) frontier: i64,
    /// What a game costs, as far as is known, in what [`cost_per_position`] says.
    pub(crate) nodes_per_game: i64,
}

impl JobRow {
    /// Games that belong together: of a match, both of a pair.
    pub(crate) fn unit(&self) -> i64 {
        if self.header.opponent.is_some() { 2 } else { 1 }
    }
}

/// A job, which nobody else changes until the transaction ends.
pub(crate) async fn lock_job(connection: &mut Connection<'_>, job: i64) -> Outcome<JobRow> {
    let query =
        connection.locking("SELECT id, state, header, game_limit, frontier, nodes_per_game FROM jobs WHERE id = $1");
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

/// A job's header as the database holds it.
pub(crate) fn header_of(text: &str) -> Outcome<Header> {
    serde_json::from_str(text).map_err(|error| Failure::Broken(format!("a header that is none: {error}")))
}

/// What a position costs: nodes, of which after a soft limit an iteration is finished; under a clock, milliseconds of a
/// thread.
pub(crate) fn cost_per_position(header: &Header) -> i64 {
    match header.clock.map(|clock| clock.time) {
        Some(Time::Move { milliseconds }) => i64::from(milliseconds).max(1),
        // Of both sides' time at the start each move uses a part.
        Some(Time::Game { base_milliseconds, increment_milliseconds }) => {
            (i64::from(increment_milliseconds) + 2 * i64::from(base_milliseconds) / USUAL_MOVES).max(1)
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
