//! The words of the ledger: ids, states, kinds, rows, events and refusals. They know neither the
//! database nor the wire.

mod account;
mod campaign;
mod comparison;
mod event;
mod figures;
mod ids;
mod job;
mod lease;
mod player;
mod reason;
mod refusal;
mod segment;
mod shard;
mod standing;
mod states;

pub use account::{Account, AccountKey, Authority, Identity, Review, Session, Token};
pub use campaign::{Campaign, CampaignKey, NewNet, Training};
pub use comparison::{Comparison, Dispute, DisputedGame, Evidence, ShardEvidence, ToCompare};
pub use event::{AccountChange, Event, Stall};
pub use figures::Figures;
pub use ids::*;
pub use job::{ChangedJob, Job, JobCounts, OpenJob};
pub use lease::{Lease, LeaseLoad, MAX_GAMES_PER_LEASE, NewLease, Playing};
pub use player::{Auditor, Fleet, Player, WorkerKey};
pub use reason::Reason;
pub use refusal::Refusal;
pub use segment::{HeldGames, Holder, Part, Piece, Segment, SegmentEdit, common, uncovered};
pub use shard::{
    AuditCandidate, EarlierUpload, GateShard, GateShare, NewShard, Proof, ShardToValidate, ToValidate, ValidationReport,
};
pub use standing::{Fault, Standing};
pub use states::*;
