//! Operations on comparisons, and on what follows from them: audits, disputes, quarantine.

mod claim;
mod conclude;
mod draw_auditors;
mod quarantine;
mod record;
mod review;

pub use claim::ClaimComparisons;
pub use draw_auditors::DrawAuditors;
pub use quarantine::SetQuarantine;
pub use record::RecordComparison;
pub use review::{ReviewShards, finish_reviews, set_quarantine};
