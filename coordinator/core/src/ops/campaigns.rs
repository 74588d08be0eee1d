//! Operations on campaigns.

mod advance;
mod begin_training;
mod command;
mod create;
mod edit;
mod freeze;
mod gate_net;
mod missing_audits;
mod prepare;
mod roll_back;
mod steps;

pub use advance::AdvanceCampaign;
pub use command::CommandCampaign;
pub use create::CreateCampaign;
pub use edit::EditCampaign;
pub use freeze::DropUnusedParts;
pub use gate_net::GateNet;
pub use prepare::Prepared;
pub use roll_back::RollBackCampaign;
pub(in crate::ops) use steps::{add_candidate, add_job};
