//! What can learn: one interface for the processor and for libtorch.

use crate::{
    batch::Batch,
    loss::Loss,
    model::{Arrays, Shape},
    optimizer::Optimizer,
};

/// A net in the middle of being learned: everything that the next step depends on, but for the data.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The numbers.
    pub values: Arrays,
    /// Their mean gradients.
    pub first: Arrays,
    /// The means of their squares.
    pub second: Arrays,
    /// The slow weights of a lookahead.
    pub slow: Option<Arrays>,
    /// How many steps were made.
    pub steps: u64,
}

impl State {
    /// Before the first step.
    #[must_use]
    pub fn new(shape: &Shape, values: Arrays, optimizer: &Optimizer) -> Self {
        let slow = optimizer.lookahead.map(|_| values.clone());
        Self { values, first: Arrays::zero(shape), second: Arrays::zero(shape), slow, steps: 0 }
    }

    /// Whether all of it are numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        [&self.values, &self.first, &self.second].into_iter().chain(&self.slow).all(Arrays::is_finite)
    }
}

/// What is counted over a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The sum of the losses of all positions.
    pub loss: f64,
}

/// Why a backend cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum BackendError {
    #[error("the threads cannot be had: {0}")]
    Threads(String),
    #[error("there is no graphics card {number}; libtorch sees {cards}")]
    NoCard { number: usize, cards: usize },
}

/// Something that learns.
pub trait Backend {
    /// Learns from a batch. The loss is that before the step.
    fn step(&mut self, batch: &Batch, loss: Loss, learning_rate: f64) -> Totals;

    /// Learns from a batch while the one that follows is brought to where the net is, where that takes time. What follows
    /// must be what is learned from next, unchanged.
    fn step_ahead(&mut self, batch: &Batch, next: Option<&Batch>, loss: Loss, learning_rate: f64) -> Totals {
        let _ = next;
        self.step(batch, loss, learning_rate)
    }

    /// The loss of a batch; its values are appended.
    fn evaluate(&mut self, batch: &Batch, loss: Loss, values: &mut Vec<f32>) -> Totals;

    /// Everything that the next step depends on.
    fn state(&self) -> State;
}
