//! Connections for reports: pages, and the JSON of their data.
//!
//! A report may read much. All visitors may ask for one, so reports wait for each other and never
//! delay the requests of programs.

use std::{sync::Arc, time::Duration};

use sqlx::AnyPool;
use tokio::{sync::Semaphore, time::timeout};

use super::error::StoreError;
use crate::model::Refusal;

/// Maximum reports at a time; most of them wait for a connection.
pub const MAX_REPORTS: usize = 48;

/// Maximum time of a report, with its wait for a connection.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The code of a statement that `PostgreSQL` ended at its time limit.
const STATEMENT_TIMEOUT: &str = "57014";

#[derive(Clone)]
pub(super) struct ReportPool {
    pub(super) pool: AnyPool,
    permits: Arc<Semaphore>,
}

impl ReportPool {
    pub(super) fn new(pool: AnyPool) -> Self {
        Self { pool, permits: Arc::new(Semaphore::new(MAX_REPORTS)) }
    }

    /// Runs a report, unless there are too many.
    pub(super) async fn limit<T>(&self, report: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let Ok(_permit) = self.permits.try_acquire() else { return Err(Refusal::ReportsBusy.into()) };
        match timeout(MAX_TIME, report).await {
            Ok(Err(StoreError::Database(sqlx::Error::Database(error))))
                if error.code().as_deref() == Some(STATEMENT_TIMEOUT) =>
            {
                Err(Refusal::ReportSlow.into())
            }
            Ok(result) => result,
            Err(_) => Err(Refusal::ReportSlow.into()),
        }
    }
}
