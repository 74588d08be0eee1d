//! Learning with libtorch: on a graphics card, or on the processor as something to hold our own loops against.
//!
//! The whole net is one graph and autograd makes the gradients; the optimiser is the same arithmetic as
//! [`optimizer`](crate::optimizer), in tensors. Results agree with the processor's to rounding, not to the bit.
//!
//! With mixed precision the two layers above the transformer multiply in bfloat16. Its eight bits hold an activation of
//! the integers (a whole number up to 127) and a weight (as many 64ths) exactly, so that where rounding is simulated
//! the factors are what engines multiply; sums lose what is below their eighth bit. Everything else, and all that
//! the optimiser remembers, stays in 32 bits.

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

use inputs::{Inputs, Sent};

/// A net that libtorch learns.
pub struct Torch {
    shape: Shape,
    optimizer: Optimizer,
    device: Device,
    precision: Precision,
    /// By place in [`Array::ALL`].
    parameters: Vec<Parameter>,
    /// The batch that is learned from next, if it is known.
    sent: Option<Sent>,
    steps: u64,
}

struct Parameter {
    array: Array,
    value: Tensor,
    first: Tensor,
    second: Tensor,
    slow: Option<Tensor>,
}

/// Where to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On the processor.
    Processor,
    /// On the graphics card with this number.
    Card(usize),
}

/// How exactly the layers above the transformer count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// In floats of 32 bits, as everything.
    #[default]
    Single,
    /// In bfloat16.
    Mixed,
}

impl Torch {
    /// Takes up a net where its state says it is.
    ///
    /// # Errors
    ///
    /// If there is no such card.
    pub fn new(
        shape: Shape,
        optimizer: Optimizer,
        state: &State,
        place: Where,
        precision: Precision,
    ) -> Result<Self, BackendError> {
        let device = match place {
            Where::Processor => Device::Cpu,
            Where::Card(number) => {
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
        Ok(Self { shape, optimizer, device, precision, parameters: parameters.into(), sent: None, steps: state.steps })
    }

    fn value(&self, array: Array) -> &Tensor {
        &self.parameters[array as usize].value
    }

    /// The numbers of an array as they count: rounded, where rounding is simulated.
    fn counted(&self, value: &Tensor, one: f32) -> Tensor {
        if !self.shape.fake_quantisation {
            return value.shallow_clone();
        }
        let rounded = (value * f64::from(one)).round() / f64::from(one);
        // The gradient passes as if nothing had been rounded.
        value + (rounded - value).detach()
    }

    /// The sums of a layer.
    fn product(&self, input: &Tensor, rows: &Tensor, bias: &Tensor) -> Tensor {
        match self.precision {
            Precision::Single => input.linear(rows, Some(bias)),
            Precision::Mixed => {
                let one = f64::from(ACTIVATION_ONE);
                let (input, rows) = ((input * one).to_kind(Kind::BFloat16), rows.to_kind(Kind::BFloat16));
                input.linear(&rows, None::<Tensor>).to_kind(Kind::Float) / one + bias
            }
        }
    }

    /// The values of positions.
    fn forward(&self, inputs: &Inputs) -> Tensor {
        const ONE: f64 = TRANSFORMER_ONE as f64;
        let sizes = self.shape.sizes;
        let (width, stacks) = (sizes.width() as i64, sizes.stacks() as i64);
        let floor = |value: Tensor, one: f64| {
            if self.shape.fake_quantisation {
                let rounded = (&value * one).floor() / f64::from(ACTIVATION_ONE);
                &value + (rounded - &value).detach()
            } else {
                value
            }
        };
        let mut table = self.value(Array::Transformer).shallow_clone();
        let sharing = self.shape.sharing();
        for number in 0..sharing.planes_of_each() {
            let planes: Vec<i64> = sharing.buckets().iter().map(|planes| planes[number] as i64).collect();
            let shared = self.value(Array::Shared).view([-1, PIECE_POINTS as i64, width]);
            let shared = shared.index_select(0, &Tensor::from_slice(&planes).to_device(self.device));
            table = &table + shared.view([-1, width]);
        }
        let table = self.counted(&table, TRANSFORMER_ONE.into());
        let bias = self.counted(self.value(Array::TransformerBias), TRANSFORMER_ONE.into());
        let bag = |table: &Tensor, active: &Tensor| {
            // Mode 0 sums the rows of a bag.
            Tensor::embedding_bag(table, active, &inputs.offsets, false, 0, false, None::<Tensor>, false).0
        };
        let pairs = inputs.active.each_ref().map(|active| {
            let sums = (bag(&table, active) + &bias).clamp(0.0, 1.0);
            let halves = sums.chunk(2, 1);
            floor(&halves[0] * &halves[1], ONE * ONE / f64::from(1_u32 << PAIR_SHIFT))
        });
        let head = inputs.active.each_ref().map(|active| bag(self.value(Array::Head), active));
        let pairs = Tensor::cat(&pairs, 1);
        let at = inputs.stacks.view([-1, 1, 1]);
        // Every stack's sums, of which each position takes its own.
        let layer = |input: &Tensor, rows: Array, bias: Array, outputs: usize| {
            let outputs = outputs as i64;
            let rows = self.counted(self.value(rows), WEIGHT_ONE as f32).view([stacks * outputs, -1]);
            let bias = self.counted(self.value(bias), SUM_ONE).view([-1]);
            let sums = self.product(input, &rows, &bias).view([-1, stacks, outputs]);
            sums.gather(1, &at.expand([-1, 1, outputs], false), false).squeeze_dim(1)
        };
        let most = f64::from(SUM_LIMIT) / f64::from(SUM_ONE);
        let sum_one = f64::from(SUM_ONE);
        let clip = |sums: &Tensor| floor(sums.clamp(0.0, most), sum_one / f64::from(1_u32 << WEIGHT_SHIFT));
        let first = layer(&pairs, Array::First, Array::FirstBias, sizes.first());
        let squares = first.clamp(-most, most).square();
        let squares = floor(squares, sum_one * sum_one / f64::from(1_u32 << SQUARE_SHIFT));
        let middle = Tensor::cat(&[squares, clip(&first)], 1);
        let last = clip(&layer(&middle, Array::Second, Array::SecondBias, sizes.second()));
        let weights = self.counted(self.value(Array::Output), OUTPUT_WEIGHT_ONE).index_select(0, &inputs.stacks);
        let output = (last * weights).sum_dim_intlist(1, false, Kind::Float)
            + self.value(Array::OutputBias).index_select(0, &inputs.stacks);
        let [own, enemy] = head;
        let head = (own - enemy).gather(1, &inputs.stacks.unsqueeze(1), false).squeeze_dim(1);
        output + head / 2.0
    }

    fn losses(inputs: &Inputs, values: &Tensor, loss: Loss) -> Tensor {
        let target = &inputs.promised * f64::from(loss.lambda) + &inputs.results * (1.0 - f64::from(loss.lambda));
        let difference = (values / f64::from(loss.scale)).sigmoid() - target;
        difference.abs().pow_tensor_scalar(f64::from(loss.exponent))
    }

    fn move_parameters(&mut self, learning_rate: f64) {
        self.steps += 1;
        let step = self.optimizer.step(self.steps, learning_rate);
        let numbers = step.numbers();
        no_grad(|| {
            for parameter in &mut self.parameters {
                if parameter.value.numel() == 0 {
                    continue;
                }
                let gradient = parameter.value.grad();
                let Parameter { array, value, first, second, slow } = parameter;
                let _ = first.g_mul_scalar_(numbers.beta1).g_add_(&(&gradient * (1.0 - numbers.beta1)));
                let _ = second.g_mul_scalar_(numbers.beta2).g_add_(&(gradient.square() * (1.0 - numbers.beta2)));
                let by = match numbers.root {
                    Some(root) => &*first * numbers.rate / (second.sqrt() / root + numbers.epsilon),
                    None => &*first * numbers.rate,
                };
                let limit = f64::from(array.limit(&self.shape));
                let moved = (&*value * numbers.keep - by).clamp(-limit, limit);
                let moved = match (numbers.blend, slow) {
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
        let sent = self.sent.take().and_then(|sent| sent.of(batch));
        let inputs = sent.unwrap_or_else(|| Inputs::send(batch, self.device));
        let losses = Self::losses(&inputs, &self.forward(&inputs), loss);
        let total = losses.sum(Kind::Float);
        (&total / batch.len() as f64).backward();
        self.move_parameters(learning_rate);
        // A card is still at work on all of this, and is not waited for before the loss is asked for.
        self.sent = next.map(|next| Sent::new(next, self.device));
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

    fn state(&self) -> State {
        State {
            values: self.arrays(|it| &it.value),
            first: self.arrays(|it| &it.first),
            second: self.arrays(|it| &it.second),
            slow: self.optimizer.lookahead.map(|_| self.arrays(|it| it.slow.as_ref().unwrap_or(&it.value))),
            steps: self.steps,
        }
    }
}
