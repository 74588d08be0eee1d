//! Matches: their standing. [`ops::matches`](crate::ops::matches) creates, decides and rechecks
//! them.

use protocol::campaign::Gate;
use stats::{Hypotheses, Pentanomial, Sprt};

use crate::{
    gate::{self, Verdict},
    model::JobId,
    store::{Connection, Jobs, Match, StoreError, counting},
    timed::result::{self, TimedResult},
};

/// The standing of a match.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Standing {
    /// The test's current verdict.
    pub verdict: Verdict,
    /// Number of counted pairs, without a gap.
    pub pairs: u64,
    /// The SPRT with its hypotheses and error rates.
    pub test: Sprt,
    /// Number of pairs between two looks of the test.
    pub batch_pairs: u32,
    /// The result under a clock. The test then decides nothing, and the counts cover all pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<TimedResult>,
}

/// Returns the SPRT of a gate.
///
/// # Errors
///
/// If the gate's parameters are invalid.
pub fn test_of(gate: &Gate) -> Result<Sprt, StoreError> {
    let corrupt = |error: stats::SprtError| StoreError::Corrupt(format!("a gate that is none: {error}"));
    let hypotheses = Hypotheses::new(gate.elo0, gate.elo1).map_err(corrupt)?;
    Sprt::new(gate.model, hypotheses).with_error_rates(gate.alpha, gate.beta).map_err(corrupt)
}

/// Returns the standing of a match.
///
/// # Errors
///
/// If the job is no match.
pub async fn standing(connection: &mut Connection<'_>, job: JobId) -> Result<Standing, StoreError> {
    Ok(standing_and_pairs(connection, job).await?.0)
}

/// Returns the standing of a match and its pairs.
///
/// # Errors
///
/// If the job is no match.
pub(crate) async fn standing_and_pairs(
    connection: &mut Connection<'_>,
    job: JobId,
) -> Result<(Standing, Vec<u8>), StoreError> {
    let found = Jobs::on(connection.reborrow()).get_match(job).await?;
    standing_of(connection, &found).await
}

/// The same of a match that was read.
pub(crate) async fn standing_of(
    connection: &mut Connection<'_>,
    found: &Match,
) -> Result<(Standing, Vec<u8>), StoreError> {
    let (gate, job) = (&found.gate, found.job);
    let test = test_of(gate)?;
    let pairs = counting::pairs(connection, job).await?;
    let counts = gate::counts(&pairs);
    let timed = result::result(connection, job, &found.header, counts).await?;
    let verdict =
        if timed.is_some() { gate::undecided(&test, counts) } else { gate::judge(&test, gate.batch_pairs, &pairs) };
    let verdict = verdict.map_err(|error| StoreError::Corrupt(format!("a gate without solution: {error}")))?;
    let standing = Standing { verdict, pairs: pairs.len() as u64, test, batch_pairs: gate.batch_pairs, timed };
    Ok((standing, pairs))
}

/// Whether all pairs of a match are counted.
pub(crate) fn is_out(found: &Match, standing: &Standing) -> bool {
    found.game_limit.is_some_and(|limit| standing.pairs as i64 * 2 >= limit)
}

/// Returns the results of all counted pairs without a gap, including those after the decision.
pub async fn counts(connection: &mut Connection<'_>, job: JobId) -> Result<Pentanomial, StoreError> {
    Ok(gate::counts(&counting::pairs(connection, job).await?))
}
