//! Operations on workers.

mod block;
mod register;
mod report_failure;
mod trust;

pub use block::BlockWorker;
pub use register::{MAX_THREADS, RegisterWorker};
pub use report_failure::ReportFailure;
pub use trust::TrustWorker;
