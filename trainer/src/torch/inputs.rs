//! Transfer of batches to the device.

use tch::{Device, Kind, Tensor};

use crate::batch::{Batch, MAX_ACTIVE};

/// Positions on the device.
#[derive(Debug)]
pub(super) struct Inputs {
    /// `[2B, 32]`: the active inputs of both sides in turn. Where there is none it has the number
    /// of inputs.
    pub(super) active: Tensor,
    pub(super) stacks: Tensor,
    pub(super) score_targets: Tensor,
    pub(super) results: Tensor,
}

impl Inputs {
    /// Sends a batch of a net with so many inputs. Transfers to a card are asynchronous: the card's
    /// work waits for them, this thread does not.
    pub(super) fn send(batch: &Batch, inputs: usize, device: Device) -> Self {
        Self::packed(batch, inputs, device).unpacked()
    }

    /// As [`send`](Self::send), in 137 bytes a position: each one is a row of `active`.
    fn packed(batch: &Batch, inputs: usize, device: Device) -> Self {
        // Sixteen bits, which every input's index fits.
        let mut active = vec![inputs as i16; batch.len() * 2 * MAX_ACTIVE];
        let rows = active.chunks_exact_mut(MAX_ACTIVE).zip(batch.active.as_flattened());
        for (number, (row, active)) in rows.enumerate() {
            for (place, input) in row.iter_mut().zip(&active[..usize::from(batch.counts[number / 2])]) {
                *place = *input as i16;
            }
        }
        let active = Tensor::from_slice(&active).view([-1, 2 * MAX_ACTIVE as i64]);
        Self {
            active: to_device(active, device),
            stacks: to_device(Tensor::from_slice(&batch.stacks), device),
            score_targets: to_device(Tensor::from_slice(&batch.score_targets), device),
            results: to_device(Tensor::from_slice(&batch.results), device),
        }
    }

    fn unpacked(self) -> Self {
        Self {
            active: self.active.view([-1, MAX_ACTIVE as i64]).to_kind(Kind::Int64),
            stacks: self.stacks.to_kind(Kind::Int64),
            ..self
        }
    }
}

/// Positions that the device keeps.
#[derive(Debug, Default)]
pub(super) struct ResidentSet {
    /// Batches in memory that are not on the device yet.
    parts: Vec<Inputs>,
    all: Option<Inputs>,
}

impl ResidentSet {
    pub(super) fn add(&mut self, batch: &Batch, inputs: usize) {
        self.parts.push(Inputs::packed(batch, inputs, Device::Cpu));
    }

    /// The positions with these numbers, in the order in which they were added.
    pub(super) fn pick(&mut self, numbers: &[i64], device: Device) -> Inputs {
        let Self { parts, all } = self;
        let all = all.get_or_insert_with(|| {
            // Joined in memory, so that the device has each once.
            let joined = |of: fn(&Inputs) -> &Tensor| {
                Tensor::cat(&parts.iter().map(of).collect::<Vec<_>>(), 0).to_device(device)
            };
            let all = Inputs {
                active: joined(|it| &it.active),
                stacks: joined(|it| &it.stacks),
                score_targets: joined(|it| &it.score_targets),
                results: joined(|it| &it.results),
            };
            parts.clear();
            all
        });
        let numbers = to_device(Tensor::from_slice(numbers), device);
        let pick = |from: &Tensor| from.index_select(0, &numbers);
        let picked = Inputs {
            active: pick(&all.active),
            stacks: pick(&all.stacks),
            score_targets: pick(&all.score_targets),
            results: pick(&all.results),
        };
        picked.unpacked()
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
