//! Operations on validation: every shard is replayed under the arbiter before it counts.

mod accept;
mod claim;
mod reject;

pub use accept::AcceptShard;
pub use claim::{ClaimShards, ReleaseClaims};
pub use reject::RejectShard;
