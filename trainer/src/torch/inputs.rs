//! Transfer of batches to the device.

use tch::{Device, Kind, Tensor};

use crate::batch::{Batch, MAX_ACTIVE};

/// A batch on the device.
#[derive(Debug)]
pub(super) struct Inputs {
    /// For each side, the active inputs of all positions, concatenated.
    pub(super) active: [Tensor; 2],
    /// The offset of each position's first input.
    pub(super) offsets: Tensor,
    pub(super) stacks: Tensor,
    pub(super) score_targets: Tensor,
    pub(super) results: Tensor,
}

impl Inputs {
    /// Sends a batch. Transfers to a card are asynchronous: the card's work waits for them, this
    /// thread does not.
    pub(super) fn send(batch: &Batch, device: Device) -> Self {
        let mut offsets = Vec::with_capacity(batch.len());
        let mut sides = [(); 2].map(|()| Vec::with_capacity(batch.len() * MAX_ACTIVE));
        for (active, count) in batch.active.iter().zip(&batch.counts) {
            offsets.push(sides[0].len() as i32);
            for (side, active) in sides.iter_mut().zip(active) {
                // Sixteen bits in transit, which every input's index fits.
                side.extend(active[..usize::from(*count)].iter().map(|input| *input as i16));
            }
        }
        Self {
            active: sides.map(|side| to_device(Tensor::from_slice(&side), device).to_kind(Kind::Int)),
            offsets: to_device(Tensor::from_slice(&offsets), device),
            stacks: to_device(Tensor::from_slice(&batch.stacks), device).to_kind(Kind::Int64),
            score_targets: to_device(Tensor::from_slice(&batch.score_targets), device),
            results: to_device(Tensor::from_slice(&batch.results), device),
        }
    }
}

/// Asynchronous copies need pinned memory, which libtorch frees after the copy. `pin_memory` would
/// print a warning at every call.
fn to_device(tensor: Tensor, device: Device) -> Tensor {
    match device {
        Device::Cpu => tensor,
        _ => tensor.internal_pin_memory(device).to_device_(device, tensor.kind(), true, false),
    }
}

/// A batch that was sent ahead of its step.
pub(super) struct Prefetched {
    /// The address of the batch's memory, and its length.
    identity: (usize, usize),
    inputs: Inputs,
}

impl Prefetched {
    pub(super) fn new(batch: &Batch, device: Device) -> Self {
        Self { identity: Self::identity(batch), inputs: Inputs::send(batch, device) }
    }

    /// Returns the inputs, if they are those of `batch`.
    pub(super) fn take_if_of(self, batch: &Batch) -> Option<Inputs> {
        (self.identity == Self::identity(batch)).then_some(self.inputs)
    }

    fn identity(batch: &Batch) -> (usize, usize) {
        (batch.active.as_ptr().addr(), batch.len())
    }
}
