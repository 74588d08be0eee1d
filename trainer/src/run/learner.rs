//! What can be chosen to learn a run.

use super::{Plan, RunError};
#[cfg(feature = "torch")]
use crate::torch::{Precision, Torch, Where};
use crate::{
    backend::{Backend, State},
    cpu::Cpu,
};

/// What learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Learner {
    /// The processor, with the same bits everywhere.
    #[default]
    Processor,
    /// libtorch.
    #[cfg(feature = "torch")]
    Torch(Where, Precision),
}

impl Learner {
    /// What it is called in checkpoints and manifests: with everything that a bit of what it learns depends on, but for
    /// the instruction set.
    #[must_use]
    #[cfg_attr(not(feature = "torch"), allow(unused_variables, reason = "on the processor threads change no bit"))]
    pub fn name(self, threads: usize) -> String {
        match self {
            Self::Processor => Self::PROCESSOR.to_owned(),
            #[cfg(feature = "torch")]
            Self::Torch(place, precision) => {
                let precision = match precision {
                    Precision::Single => "",
                    Precision::Mixed => ", mixed precision",
                };
                match place {
                    Where::Processor => format!("libtorch 2.11.0 on the processor, {threads} threads{precision}"),
                    Where::Card(_) => format!("libtorch 2.11.0 on a graphics card{precision}"),
                }
            }
        }
    }

    /// What the processor is called.
    pub const PROCESSOR: &str = "cpu";

    /// Takes up a net where its state says it is.
    pub(super) fn begin(self, plan: &Plan, state: &State, threads: usize) -> Result<Box<dyn Backend>, RunError> {
        Ok(match self {
            Self::Processor => Box::new(Cpu::new(plan.shape, plan.optimizer, state, threads)?),
            #[cfg(feature = "torch")]
            Self::Torch(place, precision) => {
                tch::set_num_threads(threads as i32);
                Box::new(Torch::new(plan.shape, plan.optimizer, state, place, precision)?)
            }
        })
    }
}
