//! The libtorch backend: for graphics cards, and on the CPU as a reference for our own loops.
//!
//! The whole net is one graph, differentiated by autograd. The optimiser is the arithmetic of
//! [`optimizer`](crate::optimizer) in tensors. Results agree with the CPU backend to rounding, not
//! to the bit.
//!
//! Mixed precision: the two layers above the transformer multiply in bfloat16. Its eight
//! significant bits hold an integer activation (up to 127) and a weight (in 64ths) exactly. So
//! under fake quantisation the factors are those of engines, and only sums are rounded. Everything
//! else, and the optimiser's state, stays in 32 bits.
//!
//! Tensor shapes in comments: `B` is the positions of a batch, `W` the transformer's width, `S` the
//! stacks. `F` and `G` are the outputs of the first and second layer.

mod inputs;
pub mod settings;

use nnue::architecture::{
    ACTIVATION_ONE, PAIR_SHIFT, PIECE_POINTS, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_ONE, WEIGHT_SHIFT,
};
use tch::{Device, Kind, Tensor, no_grad};

use crate::{
    backend::{Backend, BackendError, State, Totals},
    batch::Batch,
    loss::Loss,
    model::{Array, Arrays, OUTPUT_WEIGHT_ONE, SUM_ONE, Shape},
    optimizer::Optimizer,
};

use inputs::{Inputs, Prefetched};

/// A net that is trained by libtorch.
pub struct Torch {
    shape: Shape,
    optimizer: Optimizer,
    device: Device,
    precision: Precision,
    /// Indexed as [`Array::ALL`].
    parameters: Vec<Parameter>,
    /// The planes of factorised features: for each number of a plane, that of every bucket.
    planes: Vec<Tensor>,
    /// The prefetched next batch.
    prefetched: Option<Prefetched>,
    steps: u64,
}

struct Parameter {
    array: Array,
    value: Tensor,
    first: Tensor,
    second: Tensor,
    slow: Option<Tensor>,
}

/// The device to train on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The CPU.
    Cpu,
    /// The graphics card with this number.
    Cuda(usize),
}

/// The precision of the layers above the transformer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Floats of 32 bits, as everywhere else.
    #[default]
    Single,
    /// bfloat16.
    Mixed,
}

impl Torch {
    /// Resumes a net from its state.
    ///
    /// # Errors
    ///
    /// If there is no such card.
    pub fn new(
        shape: Shape,
        optimizer: Optimizer,
        state: &State,
        kind: DeviceKind,
        precision: Precision,
    ) -> Result<Self, BackendError> {
        let device = match kind {
            DeviceKind::Cpu => Device::Cpu,
            DeviceKind::Cuda(number) => {
                let cards = if tch::Cuda::is_available() { tch::Cuda::device_count() as usize } else { 0 };
                if number >= cards {
                    return Err(BackendError::NoCard { number, cards });
                }
                Device::Cuda(number)
            }
        };
        let tensor = |arrays: &Arrays, array: Array| {
            let dimensions: Vec<i64> = array.dimensions(&shape).iter().map(|it| *it as i64).collect();
            Tensor::from_slice(&arrays[array]).view(dimensions.as_slice()).to_device(device)
        };
        let parameters = Array::ALL.map(|array| Parameter {
            array,
            value: tensor(&state.values, array).set_requires_grad(true),
            first: tensor(&state.first, array),
            second: tensor(&state.second, array),
            slow: state.slow.as_ref().map(|slow| tensor(slow, array)),
        });
        let sharing = shape.sharing();
        let planes = (0..sharing.planes_of_each()).map(|number| {
            let planes: Vec<i64> = sharing.buckets().iter().map(|planes| planes[number] as i64).collect();
            Tensor::from_slice(&planes).to_device(device)
        });
        Ok(Self {
            shape,
            optimizer,
            device,
            precision,
            parameters: parameters.into(),
            planes: planes.collect(),
            prefetched: None,
            steps: state.steps,
        })
    }

    fn value(&self, array: Array) -> &Tensor {
        &self.parameters[array as usize].value
    }

    /// Fake quantisation with a straight-through estimator: the forward pass rounds to multiples of
    /// `1 / scale`, the backward pass treats that as the identity.
    fn fake_quantize(&self, value: &Tensor, scale: f32) -> Tensor {
        if !self.shape.fake_quantisation {
            return value.shallow_clone();
        }
        let rounded = (value * f64::from(scale)).round() / f64::from(scale);
        // The residual is detached, so the gradient passes unchanged.
        value + (rounded - value).detach()
    }

    /// A fully connected layer: `[B, in]` and `[out, in]` give `[B, out]`.
    fn linear(&self, input: &Tensor, rows: &Tensor, bias: &Tensor) -> Tensor {
        match self.precision {
            Precision::Single => input.linear(rows, Some(bias)),
            Precision::Mixed => {
                let one = f64::from(ACTIVATION_ONE);
                let (input, rows) = ((input * one).to_kind(Kind::BFloat16), rows.to_kind(Kind::BFloat16));
                input.linear(&rows, None::<Tensor>).to_kind(Kind::Float) / one + bias
            }
        }
    }

    /// Forward pass: the values of a batch, `[B]`.
    fn forward(&self, inputs: &Inputs) -> Tensor {
        const ONE: f64 = TRANSFORMER_ONE as f64;
        let sizes = self.shape.sizes;
        let (width, stacks) = (sizes.width() as i64, sizes.stacks() as i64);
        // Fake quantisation of activations: floors as the integers do.
        let floor = |value: Tensor, scale: f64| {
            if self.shape.fake_quantisation {
                let rounded = (&value * scale).floor() / f64::from(ACTIVATION_ONE);
                &value + (rounded - &value).detach()
            } else {
                value
            }
        };
        // Factorised features: shared rows are added to each bucket's rows, [inputs, W].
        let mut table = self.value(Array::Transformer).shallow_clone();
        for planes in &self.planes {
            let shared = self.value(Array::Shared).view([-1, PIECE_POINTS as i64, width]);
            table = &table + shared.index_select(0, planes).view([-1, width]);
        }
        let table = self.fake_quantize(&table, TRANSFORMER_ONE.into());
        let bias = self.fake_quantize(self.value(Array::TransformerBias), TRANSFORMER_ONE.into());
        let bag = |table: &Tensor, active: &Tensor| {
            // Mode 0 sums the rows of a bag: [B, columns of the table].
            Tensor::embedding_bag(table, active, &inputs.offsets, false, 0, false, None::<Tensor>, false).0
        };
        let pairs = inputs.active.each_ref().map(|active| {
            let sums = (bag(&table, active) + &bias).clamp(0.0, 1.0); // [B, W]
            let halves = sums.chunk(2, 1); // 2 × [B, W / 2]
            floor(&halves[0] * &halves[1], ONE * ONE / f64::from(1_u32 << PAIR_SHIFT))
        });
        let head = inputs.active.each_ref().map(|active| bag(self.value(Array::Head), active)); // 2 × [B, S]
        let pairs = Tensor::cat(&pairs, 1); // [B, W]
        let at = inputs.stacks.view([-1, 1, 1]); // [B, 1, 1]
        // Sums of every stack, of which each position selects its own: [B, S, outputs] to [B,
        // outputs].
        let layer = |input: &Tensor, rows: Array, bias: Array, outputs: usize| {
            let outputs = outputs as i64;
            let rows = self.fake_quantize(self.value(rows), WEIGHT_ONE as f32).view([stacks * outputs, -1]);
            let bias = self.fake_quantize(self.value(bias), SUM_ONE).view([-1]);
            let sums = self.linear(input, &rows, &bias).view([-1, stacks, outputs]);
            sums.gather(1, &at.expand([-1, 1, outputs], false), false).squeeze_dim(1)
        };
        let most = f64::from(SUM_LIMIT) / f64::from(SUM_ONE);
        let sum_one = f64::from(SUM_ONE);
        let clip = |sums: &Tensor| floor(sums.clamp(0.0, most), sum_one / f64::from(1_u32 << WEIGHT_SHIFT));
        let first = layer(&pairs, Array::First, Array::FirstBias, sizes.first());
        let squares = first.clamp(-most, most).square();
        let squares = floor(squares, sum_one * sum_one / f64::from(1_u32 << SQUARE_SHIFT));
        let middle = Tensor::cat(&[squares, clip(&first)], 1); // [B, 2 F]
        let last = clip(&layer(&middle, Array::Second, Array::SecondBias, sizes.second())); // [B, G]
        let weights = self.fake_quantize(self.value(Array::Output), OUTPUT_WEIGHT_ONE).index_select(0, &inputs.stacks);
        let output = (last * weights).sum_dim_intlist(1, false, Kind::Float)
            + self.value(Array::OutputBias).index_select(0, &inputs.stacks);
        let [own, enemy] = head;
        let head = (own - enemy).gather(1, &inputs.stacks.unsqueeze(1), false).squeeze_dim(1);
        output + head / 2.0
    }

    fn losses(inputs: &Inputs, values: &Tensor, loss: Loss) -> Tensor {
        let target = &inputs.score_targets * f64::from(loss.lambda) + &inputs.results * (1.0 - f64::from(loss.lambda));
        let difference = (values / f64::from(loss.scale)).sigmoid() - target;
        difference.abs().pow_tensor_scalar(f64::from(loss.exponent))
    }

    fn optimizer_step(&mut self, learning_rate: f64) {
        self.steps += 1;
        let step = self.optimizer.step(self.steps, learning_rate);
        let coefficients = step.coefficients();
        no_grad(|| {
            for parameter in &mut self.parameters {
                if parameter.value.numel() == 0 {
                    continue;
                }
                let gradient = parameter.value.grad();
                let Parameter { array, value, first, second, slow } = parameter;
                // Adam's moments.
                let _ = first.g_mul_scalar_(coefficients.beta1).g_add_(&(&gradient * (1.0 - coefficients.beta1)));
                let _ =
                    second.g_mul_scalar_(coefficients.beta2).g_add_(&(gradient.square() * (1.0 - coefficients.beta2)));
                let by = match coefficients.bias_correction {
                    Some(root) => &*first * coefficients.scaled_rate / (second.sqrt() / root + coefficients.epsilon),
                    None => &*first * coefficients.scaled_rate,
                };
                // Decoupled weight decay and weight clipping.
                let limit = f64::from(array.limit(&self.shape));
                let moved = (&*value * coefficients.weight_scale - by).clamp(-limit, limit);
                // Lookahead: synchronise the slow and the fast weights.
                let moved = match (coefficients.blend, slow) {
                    (Some(blend), Some(slow)) => {
                        let followed = &*slow + (moved - &*slow) * blend;
                        slow.copy_(&followed);
                        followed
                    }
                    _ => moved,
                };
                value.copy_(&moved);
                value.zero_grad();
            }
        });
    }

    fn arrays(&self, pick: impl Fn(&Parameter) -> &Tensor) -> Arrays {
        let mut arrays = Arrays::empty();
        for parameter in &self.parameters {
            let tensor = pick(parameter).detach().to_device(Device::Cpu).contiguous().view([-1]);
            let mut numbers = vec![0.0_f32; tensor.numel()];
            tensor.copy_data(&mut numbers, tensor.numel());
            arrays[parameter.array] = numbers;
        }
        arrays
    }
}

impl Backend for Torch {
    fn step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Totals {
        self.step_ahead(batch, None, loss, learning_rate)
    }

    fn step_ahead(&mut self, batch: &Batch, next: Option<&Batch>, loss: Loss, learning_rate: f64) -> Totals {
        let prefetched = self.prefetched.take().and_then(|prefetched| prefetched.take_if_of(batch));
        let inputs = prefetched.unwrap_or_else(|| Inputs::send(batch, self.device));
        let losses = Self::losses(&inputs, &self.forward(&inputs), loss);
        let total = losses.sum(Kind::Float);
        (&total / batch.len() as f64).backward();
        self.optimizer_step(learning_rate);
        // The card is still busy; reading the loss below waits for it, so the next batch is sent
        // first.
        self.prefetched = next.map(|next| Prefetched::new(next, self.device));
        Totals { loss: total.double_value(&[]) }
    }

    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals {
        no_grad(|| {
            let inputs = Inputs::send(batch, self.device);
            let found = self.forward(&inputs);
            let total = Self::losses(&inputs, &found, loss).sum(Kind::Double);
            let found = found.to_device(Device::Cpu).contiguous();
            let from = values.len();
            values.resize(from + batch.len(), 0.0);
            found.copy_data(&mut values[from..], batch.len());
            Totals { loss: total.double_value(&[]) }
        })
    }

    fn values(&self) -> Arrays {
        self.arrays(|it| &it.value)
    }

    fn state(&self) -> State {
        State {
            values: self.values(),
            first: self.arrays(|it| &it.first),
            second: self.arrays(|it| &it.second),
            slow: self.optimizer.lookahead.map(|_| self.arrays(|it| it.slow.as_ref().unwrap_or(&it.value))),
            average: None,
            steps: self.steps,
        }
    }
}
