//! The words of the ledger: ids, states, kinds and rows. They know neither the database nor the
//! wire.

mod comparison;
mod figures;
mod ids;
mod job;
mod lease;
mod player;
mod segment;
mod shard;
mod states;

pub use comparison::{Comparison, Dispute, Evidence, ShardEvidence, ToCompare};
pub use figures::Figures;
pub use ids::*;
pub use job::{Job, OpenJob};
pub use lease::{Lease, LeaseLoad, MAX_GAMES_PER_LEASE, NewLease};
pub use player::Player;
pub use segment::{Holder, Part, Piece, Segment, SegmentEdit, common};
pub use shard::{AuditCandidate, NewShard, ShardToValidate, ToValidate, ValidationReport};
pub use states::*;
