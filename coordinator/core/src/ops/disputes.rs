//! Operations on comparisons, and on what follows from them: audits, disputes, rulings, quarantine.

mod claim;
mod claim_games;
mod conclude;
mod draw_auditors;
mod quarantine;
mod record;
mod review;
mod rule;

pub use claim::ClaimComparisons;
pub use claim_games::{ClaimDisputes, ClaimUnchecked, ClaimedGame, PassCheck, PostponeGame};
pub use draw_auditors::DrawAuditors;
pub use quarantine::SetQuarantine;
pub use record::RecordComparison;
pub use review::{ReviewShards, finish_reviews, set_quarantine};
pub use rule::{RecordRuling, Ruled};
