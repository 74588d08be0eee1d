//! Matches: their standing. [`ops::matches`](crate::ops::matches) creates, decides and rechecks
//! them.

use protocol::campaign::Gate;
use stats::{EloEstimate, Hypotheses, Pentanomial, Sprt};

use crate::{
    gate::{self, Decided, Verdict},
    model::{JobId, JobKind},
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
    /// Whether the test ends the match. If not, all pairs are played, the counts cover them all,
    /// and nothing is decided.
    pub sequential: bool,
    /// Number of pairs between two looks of the test.
    pub batch_pairs: u32,
    /// The result under a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<TimedResult>,
}

impl Standing {
    /// The Elo of the evaluated pairs; none before the first.
    #[must_use]
    pub fn elo(&self) -> Option<EloEstimate> {
        gate::elo(self.sequential.then_some(&self.test), self.verdict.counts)
    }

    /// The verdict and its Elo, to be stored.
    #[must_use]
    pub fn decided(&self) -> Decided {
        Decided { verdict: self.verdict, elo: self.elo() }
    }
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
    let sequential = found.kind == JobKind::Match;
    let verdict = if sequential { gate::judge(&test, gate, &pairs) } else { gate::undecided(&test, counts) };
    let verdict = verdict.map_err(|error| StoreError::Corrupt(format!("a gate without solution: {error}")))?;
    let (counted, batch_pairs) = (pairs.len() as u64, gate.batch_pairs);
    Ok((Standing { verdict, pairs: counted, test, sequential, batch_pairs, timed }, pairs))
}

/// Whether all pairs of a match are counted.
pub(crate) fn is_out(found: &Match, standing: &Standing) -> bool {
    found.game_limit.is_some_and(|limit| standing.pairs as i64 * 2 >= limit)
}

/// Returns the results of all counted pairs without a gap, including those after the decision.
pub async fn counts(connection: &mut Connection<'_>, job: JobId) -> Result<Pentanomial, StoreError> {
    Ok(gate::counts(&counting::pairs(connection, job).await?))
}
