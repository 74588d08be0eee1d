//! The choice of a backend.

use super::{Plan, RunError};
#[cfg(feature = "torch")]
use crate::torch::{DeviceKind, Precision, Torch, settings};
use crate::{
    backend::{Backend, State},
    cpu::Cpu,
    model::Arrays,
};

/// The choice of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendKind {
    /// The CPU, with the same bits everywhere.
    #[default]
    Cpu,
    /// libtorch.
    #[cfg(feature = "torch")]
    Torch(DeviceKind, Precision),
}

impl BackendKind {
    /// The name in checkpoints and manifests. It holds everything that the trained bits depend on,
    /// except the instruction set.
    #[must_use]
    #[cfg_attr(not(feature = "torch"), allow(unused_variables, reason = "without libtorch threads change no bit"))]
    pub fn name(self, threads: usize) -> String {
        match self {
            Self::Cpu => Self::CPU.to_owned(),
            #[cfg(feature = "torch")]
            Self::Torch(place, precision) => {
                let processor = |what| format!("{what}, {threads} threads, {}", settings::in_force());
                let place = match place {
                    DeviceKind::Cpu => processor("on the processor"),
                    DeviceKind::Rehearsal => processor("as on a graphics card, but on the processor"),
                    DeviceKind::Cuda(_) => "on a graphics card, dense inputs".to_owned(),
                };
                let precision = match precision {
                    Precision::Single => "",
                    Precision::Mixed => ", mixed precision",
                };
                format!("libtorch 2.11.0 {place}{precision}")
            }
        }
    }

    /// Prepares the process's environment for the backend. Must be called first, because the
    /// program may restart.
    ///
    /// # Errors
    ///
    /// If the program cannot restart.
    #[cfg_attr(
        not(feature = "torch"),
        allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "without libtorch there is nothing to do")
    )]
    pub fn prepare_process(self) -> std::io::Result<()> {
        match self {
            Self::Cpu => Ok(()),
            #[cfg(feature = "torch")]
            Self::Torch(..) => settings::apply(),
        }
    }

    /// A backend that only computes values: the CPU, unless it does not know the net.
    pub(super) fn evaluating(plan: &Plan, values: &Arrays, threads: usize) -> Result<Box<dyn Backend>, RunError> {
        let state = State::new(&plan.shape, values.clone(), &plan.optimizer);
        #[cfg(feature = "torch")]
        if plan.shape.is_pikafish() {
            return Self::Torch(DeviceKind::Cpu, Precision::Single).begin(plan, &state, threads);
        }
        Self::Cpu.begin(plan, &state, threads)
    }

    /// The name of the CPU backend.
    pub const CPU: &str = "cpu";

    /// Resumes a net from its state.
    pub(super) fn begin(self, plan: &Plan, state: &State, threads: usize) -> Result<Box<dyn Backend>, RunError> {
        Ok(match self {
            Self::Cpu => Box::new(Cpu::new(plan.shape, plan.optimizer, state, threads)?),
            #[cfg(feature = "torch")]
            Self::Torch(place, precision) => {
                tch::set_num_threads(threads as i32);
                Box::new(Torch::new(plan.shape, plan.optimizer, state, place, precision)?)
            }
        })
    }
}
