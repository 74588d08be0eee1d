//! The result of a timed match.

use dataset::{Clock, Header};
use serde::Serialize;
use stats::{EloEstimate, Pentanomial};

use crate::{
    gate,
    model::JobId,
    store::{Connection, StoreError, counting},
};

/// The result of a timed match.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimedResult {
    /// The clock of both sides.
    pub clock: Clock,
    /// Always true: the games are not reproducible.
    pub unprovable: bool,
    /// Elo with its interval; none before the first pair.
    pub elo: Option<EloEstimate>,
    /// Losses on time of the net under test and of the reference.
    pub time_losses: [u64; 2],
}

/// Returns the result of a timed match with these counts; none for other matches.
pub(crate) async fn result(
    connection: &mut Connection<'_>,
    job: JobId,
    header: &Header,
    counts: Pentanomial,
) -> Result<Option<TimedResult>, StoreError> {
    let Some(clock) = header.clock else { return Ok(None) };
    let elo = gate::elo(None, counts);
    let time_losses = counting::time_losses(connection, job).await?;
    Ok(Some(TimedResult { clock, unprovable: true, elo, time_losses }))
}
