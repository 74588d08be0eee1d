//! What can be chosen to learn a run.

use super::{Plan, RunError};
#[cfg(feature = "torch")]
use crate::torch::{Precision, Torch, Where, settings};
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
    #[cfg_attr(not(feature = "torch"), allow(unused_variables, reason = "without libtorch threads change no bit"))]
    pub fn name(self, threads: usize) -> String {
        match self {
            Self::Processor => Self::PROCESSOR.to_owned(),
            #[cfg(feature = "torch")]
            Self::Torch(place, precision) => {
                let place = match place {
                    Where::Processor => format!("on the processor, {threads} threads, {}", settings::in_force()),
                    Where::Card(_) => "on a graphics card".to_owned(),
                };
                let precision = match precision {
                    Precision::Single => "",
                    Precision::Mixed => ", mixed precision",
                };
                format!("libtorch 2.11.0 {place}{precision}")
            }
        }
    }

    /// Sees to it that the process has what the learner needs of its environment; to be called before anything is done, for
    /// the program may begin again.
    ///
    /// # Errors
    ///
    /// If that cannot be had.
    #[cfg_attr(
        not(feature = "torch"),
        allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "without libtorch there is nothing to do")
    )]
    pub fn prepare_process(self) -> std::io::Result<()> {
        match self {
            Self::Processor => Ok(()),
            #[cfg(feature = "torch")]
            Self::Torch(..) => settings::apply(),
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
