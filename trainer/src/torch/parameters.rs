//! The parameters of a net in one tensor, so that a step of the optimiser is a few kernels.

use nnue::architecture::PIECE_POINTS;
use tch::{Device, Kind, Tensor, no_grad};

use crate::{
    model::{Array, Arrays, Shape},
    optimizer::Optimizer,
};

/// The parameters and the optimiser's state, each as the elements of all arrays in a row.
pub(super) struct Parameters {
    shape: Shape,
    optimizer: Optimizer,
    pub(super) steps: u64,
    pub(super) values: Tensor,
    pub(super) first: Tensor,
    pub(super) second: Tensor,
    pub(super) slow: Option<Tensor>,
    /// The least and the largest value of each element.
    limits: [Tensor; 2],
    /// `[buckets, planes]`, 1 where rows of a plane are added to those of a bucket.
    membership: Tensor,
}

/// The arrays that a forward pass reads, indexed as [`Array::ALL`]. Under fake quantisation they
/// are rounded. Shared rows are added to the transformer's, in which 1.0 is
/// [`Shape::transformer_one`].
pub(super) struct Effective(Vec<Tensor>);

impl std::ops::Index<Array> for Effective {
    type Output = Tensor;

    fn index(&self, array: Array) -> &Tensor {
        &self.0[array as usize]
    }
}

impl Parameters {
    pub(super) fn new(shape: Shape, optimizer: Optimizer, state: &crate::backend::State, device: Device) -> Self {
        let flat = |arrays: &Arrays| {
            let numbers: Vec<f32> = Array::ALL.iter().flat_map(|array| &arrays[*array]).copied().collect();
            Tensor::from_slice(&numbers).to_device(device)
        };
        let most: Vec<f32> = Array::ALL.iter().flat_map(|array| vec![array.limit(&shape); array.len(&shape)]).collect();
        let most = Tensor::from_slice(&most).to_device(device);
        let sharing = shape.sharing();
        let membership =
            Tensor::zeros([shape.sizes.inputs().buckets() as i64, sharing.planes() as i64], (Kind::Float, Device::Cpu));
        for (bucket, planes) in (0..).zip(sharing.buckets()) {
            for plane in planes {
                let _ = membership.get(bucket).get(*plane as i64).fill_(1.0);
            }
        }
        Self {
            shape,
            optimizer,
            steps: state.steps,
            values: flat(&state.values),
            first: flat(&state.first),
            second: flat(&state.second),
            slow: state.slow.as_ref().map(flat),
            limits: [-&most, most],
            membership: membership.to_device(device),
        }
    }

    /// The part of a tensor of all elements that is an array.
    fn part(&self, of: &Tensor, array: Array) -> Tensor {
        let before = Array::ALL.iter().take_while(|other| **other != array).map(|other| other.len(&self.shape));
        let dimensions: Vec<i64> = array.dimensions(&self.shape).iter().map(|it| *it as i64).collect();
        of.narrow(0, before.sum::<usize>() as i64, array.len(&self.shape) as i64).view(dimensions.as_slice())
    }

    /// Rows of a bucket, or of a plane, as one row.
    const fn planes(&self) -> [i64; 2] {
        [-1, PIECE_POINTS as i64 * self.shape.sizes.width() as i64]
    }

    /// The elements of all arrays in memory.
    pub(super) fn arrays(&self, of: &Tensor) -> Arrays {
        let mut arrays = Arrays::empty();
        for array in Array::ALL {
            let part = self.part(of, array).to_device(Device::Cpu).contiguous().view([-1]);
            arrays[array] = vec![0.0; part.numel()];
            part.copy_data(&mut arrays[array], part.numel());
        }
        arrays
    }

    /// Fake quantisation: rounds to multiples of `1 / scale`.
    fn rounded(&self, value: Tensor, scale: f32) -> Tensor {
        if !self.shape.fake_quantisation {
            return value;
        }
        let scale = f64::from(scale);
        (value * scale).round_().g_div_scalar_(scale)
    }

    /// The arrays that the forward pass reads.
    pub(super) fn effective(&self) -> Effective {
        no_grad(|| {
            let one = f64::from(self.shape.transformer_one());
            let of = |array| {
                let value = self.part(&self.values, array);
                match array {
                    Array::Transformer => {
                        let shared = self.part(&self.values, Array::Shared).view(self.planes());
                        let rows = value.view(self.planes()).addmm(&self.membership, &shared).view_as(&value);
                        let rows = match self.shape.merged_limit() {
                            Some(limit) => rows.clamp(f64::from(-limit), f64::from(limit)),
                            None => rows,
                        };
                        self.rounded(rows * one, 1.0)
                    }
                    Array::TransformerBias => self.rounded(value * one, 1.0),
                    Array::Shared | Array::Head | Array::OutputBias => value,
                    _ => self.rounded(value, self.shape.scale(array) as f32),
                }
            };
            Effective(Array::ALL.map(of).into())
        })
    }

    /// Steps along gradients, summed over so many positions: those of the transformer's rows and
    /// biases and of the head, and those of the arrays above.
    pub(super) fn step(&mut self, below: [Tensor; 3], layers: &[Tensor], positions: usize, learning_rate: f64) {
        self.steps += 1;
        let step = self.optimizer.step(self.steps, learning_rate).coefficients();
        no_grad(|| {
            let [rows, bias, head] = below;
            let shared = self.membership.tr().mm(&rows.view(self.planes()));
            let all = [&bias, &rows, &shared, &head].into_iter().chain(layers).map(|it| it.reshape([-1]));
            let gradient = Tensor::cat(&all.collect::<Vec<_>>(), 0).g_div_scalar_(positions as f64);
            // Adam's moments.
            let _ = self.first.lerp_(&gradient, 1.0 - step.beta1);
            let _ = self.second.lerp_(&gradient.square(), 1.0 - step.beta2);
            let by = match step.bias_correction {
                Some(root) => &self.first / self.second.sqrt().g_div_scalar_(root).g_add_scalar_(step.epsilon),
                None => self.first.copy(),
            };
            // Decoupled weight decay and weight clipping.
            let [least, most] = &self.limits;
            let mut values = self.values.g_mul_scalar_(step.weight_scale);
            let _ = values.g_sub_(&(by * step.scaled_rate)).clamp_tensor_(Some(least), Some(most));
            // Lookahead: synchronise the slow and the fast weights.
            if let (Some(blend), Some(slow)) = (step.blend, &mut self.slow) {
                let _ = slow.lerp_(&self.values, blend);
                self.values.copy_(slow);
            }
        });
    }
}
