//! The interface of training backends: the CPU's and libtorch's.

use crate::{
    batch::Batch,
    loss::Loss,
    model::{Arrays, Shape},
    optimizer::Optimizer,
};

/// The state of a training: everything that the next step depends on, except the data.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The parameters.
    pub values: Arrays,
    /// Adam's first moments: moving averages of the gradients.
    pub first: Arrays,
    /// Adam's second moments: moving averages of the squared gradients.
    pub second: Arrays,
    /// Lookahead's slow weights.
    pub slow: Option<Arrays>,
    /// The mean of the weights, if the recipe asks for it. Backends do not know it.
    pub average: Option<Arrays>,
    /// Steps so far.
    pub steps: u64,
}

impl State {
    /// The state before the first step.
    #[must_use]
    pub fn new(shape: &Shape, values: Arrays, optimizer: &Optimizer) -> Self {
        let slow = optimizer.lookahead.map(|_| values.clone());
        Self { values, first: Arrays::zero(shape), second: Arrays::zero(shape), slow, average: None, steps: 0 }
    }

    /// The net that is validated and exported: the mean of the weights, or the last ones.
    #[must_use]
    pub fn net(&self) -> &Arrays {
        self.average.as_ref().unwrap_or(&self.values)
    }

    /// Whether all values are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        [&self.values, &self.first, &self.second]
            .into_iter()
            .chain(&self.slow)
            .chain(&self.average)
            .all(Arrays::is_finite)
    }
}

/// Totals over a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The sum of the losses of all positions.
    pub loss: f64,
}

/// An error of a backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum BackendError {
    #[error("the threads cannot be had: {0}")]
    Threads(String),
    #[error("there is no graphics card {number}; libtorch sees {cards}")]
    NoCard { number: usize, cards: usize },
    #[error("a net for {0} is learned by libtorch: name a `--backend` that has it")]
    NeedsLibtorch(&'static str),
    #[error("`--resident` keeps positions on libtorch's device: name a `--backend` that has one")]
    KeepsNone,
}

/// A backend that trains a net.
pub trait Backend {
    /// Trains on a batch. The returned loss is from before the step.
    fn step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Totals;

    /// As [`step`](Self::step), but a device that is still at work returns no loss:
    /// [`unread_losses`](Self::unread_losses) waits for it.
    fn begin_step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Option<Totals> {
        Some(self.step(batch, loss, learning_rate))
    }

    /// Forgets the positions that the device keeps, and makes room for others.
    ///
    /// # Errors
    ///
    /// If the backend keeps none.
    fn begin_resident(&mut self) -> Result<(), BackendError> {
        Err(BackendError::KeepsNone)
    }

    /// Keeps the positions of a batch on the device, after those before.
    fn add_resident(&mut self, batch: &Batch) {
        let _ = batch;
    }

    /// As [`begin_step`](Self::begin_step), on positions that the device keeps. They are numbered
    /// in the order in which they were added.
    ///
    /// # Panics
    ///
    /// If the backend keeps none.
    fn step_on_resident(&mut self, numbers: &[i64], loss: Loss, learning_rate: f64) -> Option<Totals> {
        let _ = (numbers, loss, learning_rate);
        panic!("this backend keeps no positions");
    }

    /// The losses of the steps that returned none, in their order, each once.
    fn unread_losses(&mut self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the loss of a batch and appends its values.
    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals;

    /// The weights.
    fn values(&self) -> Arrays {
        self.state().values
    }

    /// Everything that the next step depends on.
    fn state(&self) -> State;
}
