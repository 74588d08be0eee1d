//! Operations on comparisons, and on what follows from them: audits, disputes, quarantine.

mod claim;
mod conclude;
mod quarantine;
mod record;

pub use claim::ClaimComparisons;
pub use quarantine::SetQuarantine;
pub use record::RecordComparison;
