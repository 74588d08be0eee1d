//! Matches: standing, games and workers.

mod openings;
mod played;
mod workers;

use dataset::Header;
use serde::Serialize;
use stats::{EloEstimate, Outlook};

use crate::{
    matches::Standing,
    model::{JobId, Playing},
    query,
    service::Service,
    store::{Jobs, Leases, StoreError, reports::matches as rows},
};
pub use openings::{Openings, openings};
pub use played::{Memory, ReadTimeouts};
pub use workers::Worker;

pub use crate::store::reports::matches::{Line, PAGE, list};

/// A match in detail.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    /// Summary, as in lists.
    #[serde(flatten)]
    pub line: Line,
    /// Results so far, and the verdict of the SPRT on them.
    pub standing: Standing,
    /// Elo of H0 and of H1.
    pub hypotheses: (f64, f64),
    /// Games being played.
    pub playing: Playing,
    /// Maximum number of pairs.
    pub most_pairs: i64,
    /// Elo of the evaluated pairs.
    pub elo: Option<EloEstimate>,
    /// Expected number of further games, while the match is played.
    pub outlook: Option<Outlook>,
    /// The log-likelihood ratio by number of pairs.
    pub curve: Vec<(u64, f64)>,
    /// The workers with the most pairs, and outliers.
    pub workers: Vec<Worker>,
    /// Number of workers with pairs of the match.
    pub worker_count: usize,
    /// The header of its games.
    pub header: Header,
}

/// Reads a match in detail.
///
/// # Errors
///
/// If the match does not exist.
pub async fn details(service: &Service, memory: &Memory, job: JobId) -> Result<Match, StoreError> {
    let played = memory.read(service, job).await?;
    service
        .report(query!(|connection| {
            let c = &mut connection;
            let line = rows::get(c, job).await?;
            let found = Jobs::on(c.reborrow()).get_match(job).await?;
            let shown = workers::notable(&played.workers);
            Ok(Match {
                outlook: played.outlook.filter(|_| line.closed.is_none()),
                line,
                standing: played.standing.clone(),
                hypotheses: (found.gate.elo0, found.gate.elo1),
                playing: Leases::on(c.reborrow()).playing(Some(job)).await?,
                most_pairs: i64::from(found.gate.most_pairs),
                elo: played.elo,
                curve: played.curve.clone(),
                workers: workers::named(c, &shown).await?,
                worker_count: played.workers.len(),
                header: found.header,
            })
        }))
        .await
}

/// A page (counted from 0) of a match's workers, by number of pairs.
///
/// # Errors
///
/// If the match does not exist.
pub async fn all_workers(
    service: &Service,
    memory: &Memory,
    job: JobId,
    page: usize,
) -> Result<Vec<Worker>, StoreError> {
    let played = memory.read(service, job).await?;
    let part = workers::page(&played.workers, page);
    service.report(query!(|connection| workers::named(&mut connection, &part).await)).await
}
