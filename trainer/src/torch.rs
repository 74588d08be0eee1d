//! The libtorch backend: for graphics cards, and on the CPU as a reference for our own loops.
//!
//! Autograd differentiates the layers, and on the CPU the input layer too. On a card that layer is
//! two products of matrices. The optimiser is the arithmetic of
//! [`optimizer`](crate::optimizer) in tensors. Results agree with the CPU backend to rounding, not
//! to the bit.
//!
//! A card works while the next steps are started: losses are read when they are asked for.
//!
//! Mixed precision: the two layers above the transformer multiply in bfloat16. Its eight
//! significant bits hold an integer activation (up to 127) and a weight (in 64ths) exactly. So
//! under fake quantisation the factors are those of engines, and only sums are rounded. On a card
//! gradients of the input layer have 16 bits. Everything else, and the optimiser's state, stays in
//! 32 bits.
//!
//! Tensor shapes in comments: `B` is the positions of a batch, `W` the transformer's width, `S` the
//! stacks. `F` and `G` are the outputs of the first and second layer.

mod input_layer;
mod inputs;
mod parameters;
pub mod settings;

use nnue::architecture::{ACTIVATION_ONE, SQUARE_SHIFT, SUM_LIMIT, WEIGHT_SHIFT};
use tch::{Device, Kind, Tensor, no_grad};

use crate::{
    backend::{Backend, BackendError, State, Totals},
    batch::Batch,
    loss::Loss,
    model::{Array, Arrays, SUM_ONE, Shape},
    optimizer::Optimizer,
};

use input_layer::{Hidden, Products, bags};
use inputs::{Inputs, ResidentSet};
use parameters::{Effective, Parameters};

/// A net that is trained by libtorch.
pub struct Torch {
    shape: Shape,
    device: Device,
    precision: Precision,
    parameters: Parameters,
    /// The input layer of cards; the CPU has bags.
    products: Option<Products>,
    resident: ResidentSet,
    /// Losses of a card's steps that were not read yet.
    unread: Vec<Tensor>,
}

/// The device to train on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The CPU.
    Cpu,
    /// The CPU, with the code of a card: slow, for tests without one.
    Rehearsal,
    /// The graphics card with this number.
    Cuda(usize),
}

/// The arrays above the input layer.
const LAYERS: [Array; 6] =
    [Array::FirstBias, Array::First, Array::SecondBias, Array::Second, Array::OutputBias, Array::Output];

/// The precision of the layers above the transformer, and of its gradients on a card.
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
            DeviceKind::Cpu | DeviceKind::Rehearsal => Device::Cpu,
            DeviceKind::Cuda(number) => {
                let cards = if tch::Cuda::is_available() { tch::Cuda::device_count() as usize } else { 0 };
                if number >= cards {
                    return Err(BackendError::NoCard { number, cards });
                }
                Device::Cuda(number)
            }
        };
        Ok(Self {
            shape,
            device,
            precision,
            parameters: Parameters::new(shape, optimizer, state, device),
            products: (kind != DeviceKind::Cpu).then(|| Products::new(shape, precision, device)),
            resident: ResidentSet::default(),
            unread: Vec::new(),
        })
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

    /// The outputs of the input layer. On a card they have no history.
    fn hidden(&mut self, inputs: &Inputs, weights: &Effective) -> Hidden {
        match &mut self.products {
            Some(products) => no_grad(|| products.forward(&inputs.active, weights)),
            None => bags(&inputs.active, weights, &self.shape),
        }
    }

    /// The layers above: the values of a batch, `[B]`.
    fn values_of(&self, hidden: &Hidden, inputs: &Inputs, weights: &Effective) -> Tensor {
        let stacks = self.shape.sizes.stacks() as i64;
        // Fake quantisation of activations: floors as the integers do.
        let floor = |value: Tensor, scale: f64| {
            if self.shape.fake_quantisation {
                let rounded = (value.detach() * scale).floor_().g_div_scalar_(f64::from(ACTIVATION_ONE));
                // The gradient passes the rounding unchanged.
                &value + (rounded - value.detach())
            } else {
                value
            }
        };
        let at = inputs.stacks.view([-1, 1, 1]); // [B, 1, 1]
        // Sums of every stack, of which each position selects its own: [B, S, outputs] to [B,
        // outputs].
        let layer = |input: &Tensor, rows: Array, bias: Array| {
            let outputs = weights[bias].size()[1];
            let rows = weights[rows].view([stacks * outputs, -1]);
            let sums = self.linear(input, &rows, &weights[bias].view([-1])).view([-1, stacks, outputs]);
            sums.gather(1, &at.expand([-1, 1, outputs], false), false).squeeze_dim(1)
        };
        let most = f64::from(SUM_LIMIT) / f64::from(SUM_ONE);
        let sum_one = f64::from(SUM_ONE);
        let clip = |sums: &Tensor| floor(sums.clamp(0.0, most), sum_one / f64::from(1_u32 << WEIGHT_SHIFT));
        let mut first = layer(&hidden.activations, Array::First, Array::FirstBias); // [B, F]
        let mut skip = None;
        if self.shape.is_pikafish() {
            let activated = first.size()[1] - 1;
            skip = Some(first.select(1, activated)); // [B]
            first = first.narrow(1, 0, activated); // [B, F - 1]
        }
        let middle = if self.shape.is_fairy() {
            clip(&first) // [B, F]
        } else {
            let squares = first.clamp(-most, most).square();
            let squares = floor(squares, sum_one * sum_one / f64::from(1_u32 << SQUARE_SHIFT));
            Tensor::cat(&[squares, clip(&first)], 1) // [B, 2 F]
        };
        let last = clip(&layer(&middle, Array::Second, Array::SecondBias)); // [B, G]
        // Of every stack: [B, S].
        let outputs = last.linear(&weights[Array::Output], Some(&weights[Array::OutputBias]));
        let values = (outputs + &hidden.head / 2.0).gather(1, &inputs.stacks.unsqueeze(1), false).squeeze_dim(1);
        match skip {
            Some(skip) => values + skip,
            None => values,
        }
    }

    fn losses(inputs: &Inputs, values: &Tensor, loss: Loss) -> Tensor {
        let target = &inputs.score_targets * f64::from(loss.lambda) + &inputs.results * (1.0 - f64::from(loss.lambda));
        let difference = (values / f64::from(loss.scale)).sigmoid() - target;
        difference.abs().pow_tensor_scalar(f64::from(loss.exponent))
    }

    /// The loss of a step, which is read later on a card.
    fn totals(&mut self, loss: Tensor) -> Option<Totals> {
        if self.products.is_none() {
            return Some(Totals { loss: loss.double_value(&[]) });
        }
        self.unread.push(loss);
        None
    }

    /// Trains on a batch; returns its loss.
    fn learn(&mut self, inputs: &Inputs, loss: Loss, learning_rate: f64) -> Tensor {
        let weights = self.parameters.effective();
        let leaf = |tensor: &Tensor| tensor.set_requires_grad(true);
        let below = [Array::Transformer, Array::TransformerBias, Array::Head].map(|array| leaf(&weights[array]));
        let layers = LAYERS.map(|array| leaf(&weights[array]));
        let hidden = self.hidden(inputs, &weights);
        let mut leaves = match self.products {
            Some(_) => [&hidden.activations, &hidden.head].map(leaf).into(),
            None => Vec::from(below),
        };
        leaves.extend(layers);
        let total = Self::losses(inputs, &self.values_of(&hidden, inputs, &weights), loss).sum(Kind::Float);
        let gradients = Tensor::run_backward(&[&total], &leaves, false, false);
        let one = f64::from(self.shape.transformer_one());
        let below = no_grad(|| match &self.products {
            Some(products) => products.gradients(&gradients[0], &gradients[1]),
            None => [&gradients[0] * one, &gradients[1] * one, gradients[2].shallow_clone()],
        });
        let layers = &gradients[gradients.len() - LAYERS.len()..];
        self.parameters.step(below, layers, inputs.stacks.numel(), learning_rate);
        total.detach()
    }
}

impl Backend for Torch {
    fn step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Totals {
        let totals = self.begin_step(batch, loss, learning_rate);
        totals.unwrap_or_else(|| Totals { loss: self.unread.pop().map_or(0.0, |loss| loss.double_value(&[])) })
    }

    fn begin_step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Option<Totals> {
        let inputs = Inputs::send(batch, self.shape.sizes.inputs().count(), self.device);
        let total = self.learn(&inputs, loss, learning_rate);
        self.totals(total)
    }

    fn begin_resident(&mut self) -> Result<(), BackendError> {
        self.resident = ResidentSet::default();
        Ok(())
    }

    fn add_resident(&mut self, batch: &Batch) {
        self.resident.add(batch, self.shape.sizes.inputs().count());
    }

    fn step_on_resident(&mut self, numbers: &[i64], loss: Loss, learning_rate: f64) -> Option<Totals> {
        let inputs = self.resident.pick(numbers, self.device);
        let total = self.learn(&inputs, loss, learning_rate);
        self.totals(total)
    }

    fn unread_losses(&mut self) -> Vec<f64> {
        if self.unread.is_empty() {
            return Vec::new();
        }
        let losses = Tensor::stack(&std::mem::take(&mut self.unread), 0).to_kind(Kind::Double).to_device(Device::Cpu);
        let mut read = vec![0.0; losses.numel()];
        losses.copy_data(&mut read, losses.numel());
        read
    }

    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals {
        no_grad(|| {
            let inputs = Inputs::send(batch, self.shape.sizes.inputs().count(), self.device);
            let weights = self.parameters.effective();
            let hidden = self.hidden(&inputs, &weights);
            let found = self.values_of(&hidden, &inputs, &weights);
            let total = Self::losses(&inputs, &found, loss).sum(Kind::Double);
            let found = found.to_device(Device::Cpu).contiguous();
            let from = values.len();
            values.resize(from + batch.len(), 0.0);
            found.copy_data(&mut values[from..], batch.len());
            Totals { loss: total.double_value(&[]) }
        })
    }

    fn values(&self) -> Arrays {
        self.parameters.arrays(&self.parameters.values)
    }

    fn state(&self) -> State {
        let Parameters { values, first, second, slow, steps, .. } = &self.parameters;
        let arrays = |of| self.parameters.arrays(of);
        State {
            values: arrays(values),
            first: arrays(first),
            second: arrays(second),
            slow: slow.as_ref().map(arrays),
            average: None,
            steps: *steps,
        }
    }
}
