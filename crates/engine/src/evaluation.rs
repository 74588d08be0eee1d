//! The static evaluation of a search.

use std::sync::Arc;

use nnue::{Kernel, Net, plain};
use xiangqi::{Move, Position};

use crate::score::{MAX_EVALUATION, Score};

/// A static evaluation, shared by threads.
#[derive(Clone, Debug, Default)]
pub enum Evaluation {
    /// The hand-crafted evaluation of generation zero: material, piece-square values, mobility,
    /// king safety.
    #[default]
    Plain,
    /// An NNUE net; the kernel changes only the speed.
    Net(Arc<Net>, Kernel),
    /// An experimental evaluation.
    #[cfg(feature = "experiments")]
    Experiment(Arc<dyn Experiment>),
}

/// An evaluation for comparisons. Never used in games for training.
#[cfg(feature = "experiments")]
pub trait Experiment: std::fmt::Debug + Send + Sync {
    /// Returns one thread's evaluator: position to score for the side to move, in hundredths of a
    /// pawn.
    fn evaluator(&self) -> Box<dyn FnMut(&Position) -> Score + Send>;
}

/// One thread's evaluator, which follows the line of a search.
pub(crate) enum Evaluator {
    Plain,
    Net(Box<nnue::Evaluator>),
    #[cfg(feature = "experiments")]
    Experiment(Box<dyn FnMut(&Position) -> Score + Send>),
}

impl Evaluator {
    pub(crate) fn new(evaluation: &Evaluation) -> Self {
        match evaluation {
            Evaluation::Plain => Self::Plain,
            Evaluation::Net(net, kernel) => Self::Net(Box::new(nnue::Evaluator::new(Arc::clone(net), *kernel))),
            #[cfg(feature = "experiments")]
            Evaluation::Experiment(experiment) => Self::Experiment(experiment.evaluator()),
        }
    }

    /// Restarts at a position.
    pub(crate) fn reset(&mut self, position: &Position) {
        if let Self::Net(evaluator) = self {
            evaluator.reset(position);
        }
    }

    /// Records a move about to be made. Null moves are not recorded.
    pub(crate) fn push(&mut self, before: &Position, mv: Move) {
        if let Self::Net(evaluator) = self {
            evaluator.push(before, mv);
        }
    }

    /// Removes the last recorded move.
    pub(crate) fn pop(&mut self) {
        if let Self::Net(evaluator) = self {
            evaluator.pop();
        }
    }

    pub(crate) fn evaluate(&mut self, position: &Position) -> Score {
        let score = match self {
            Self::Plain => plain::evaluate(position),
            Self::Net(evaluator) => evaluator.evaluate(position),
            #[cfg(feature = "experiments")]
            Self::Experiment(evaluate) => evaluate(position),
        };
        score.clamp(-MAX_EVALUATION, MAX_EVALUATION)
    }
}
