//! A batch on its way to where the net is.

use tch::{Device, Kind, Tensor};

use crate::batch::{Batch, MOST_ACTIVE};

/// A batch where the net is.
#[derive(Debug)]
pub(super) struct Inputs {
    /// For each side the inputs that are on, one position after the other.
    pub(super) active: [Tensor; 2],
    /// Where each position's begin.
    pub(super) offsets: Tensor,
    pub(super) stacks: Tensor,
    pub(super) promised: Tensor,
    pub(super) results: Tensor,
}

impl Inputs {
    /// Sends a batch. To a card it is still on its way when this returns: the card's work waits for it, this thread does
    /// not.
    pub(super) fn send(batch: &Batch, device: Device) -> Self {
        let mut offsets = Vec::with_capacity(batch.len());
        let mut sides = [(); 2].map(|()| Vec::with_capacity(batch.len() * MOST_ACTIVE));
        for (active, count) in batch.active.iter().zip(&batch.counts) {
            offsets.push(sides[0].len() as i32);
            for (side, active) in sides.iter_mut().zip(active) {
                // Two bytes each on the way; there are fewer inputs than these can say.
                side.extend(active[..usize::from(*count)].iter().map(|input| *input as i16));
            }
        }
        Self {
            active: sides.map(|side| sent(Tensor::from_slice(&side), device).to_kind(Kind::Int)),
            offsets: sent(Tensor::from_slice(&offsets), device),
            stacks: sent(Tensor::from_slice(&batch.stacks), device).to_kind(Kind::Int64),
            promised: sent(Tensor::from_slice(&batch.promised), device),
            results: sent(Tensor::from_slice(&batch.results), device),
        }
    }
}

/// Copies to a card are made beside everything else only from memory that stays where it is; libtorch gives that back when
/// the copy is done.
fn sent(tensor: Tensor, device: Device) -> Tensor {
    match device {
        Device::Cpu => tensor,
        _ => tensor.pin_memory(device).to_device_(device, tensor.kind(), true, false),
    }
}

/// A batch that was sent before it is learned from.
pub(super) struct Sent {
    /// Where its memory is, and how many positions are there.
    of: (usize, usize),
    inputs: Inputs,
}

impl Sent {
    pub(super) fn new(batch: &Batch, device: Device) -> Self {
        Self { of: Self::name(batch), inputs: Inputs::send(batch, device) }
    }

    /// What was sent, if it was this batch.
    pub(super) fn of(self, batch: &Batch) -> Option<Inputs> {
        (self.of == Self::name(batch)).then_some(self.inputs)
    }

    fn name(batch: &Batch) -> (usize, usize) {
        (batch.active.as_ptr().addr(), batch.len())
    }
}
