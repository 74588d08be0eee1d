//! What searches evaluate with.

use std::sync::Arc;

use nnue::{Kernel, Net, plain};
use xiangqi::{Move, Position};

use crate::score::{MOST_EVALUATION, Score};

/// A way to evaluate positions, shared by threads.
#[derive(Clone, Debug, Default)]
pub enum Evaluation {
    /// Material, places, mobility and king safety: for generation zero.
    #[default]
    Plain,
    /// A net, on an instruction set; which one changes nothing but the speed.
    Net(Arc<Net>, Kernel),
    /// Something else, for experiments.
    #[cfg(feature = "experiments")]
    Experiment(Arc<dyn Experiment>),
}

/// An evaluation that is held against others. No game that anybody learns from is played with one.
#[cfg(feature = "experiments")]
pub trait Experiment: std::fmt::Debug + Send + Sync {
    /// One thread's evaluator: the score of a position for the side to move, in hundredths of a pawn.
    fn evaluator(&self) -> Box<dyn FnMut(&Position) -> Score + Send>;
}

/// One thread's evaluator. It follows the line of a search.
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

    /// Begins anew at a position.
    pub(crate) fn reset(&mut self, position: &Position) {
        if let Self::Net(evaluator) = self {
            evaluator.reset(position);
        }
    }

    /// Follows a move that is about to be made. Passed turns need not be followed.
    pub(crate) fn push(&mut self, before: &Position, mv: Move) {
        if let Self::Net(evaluator) = self {
            evaluator.push(before, mv);
        }
    }

    /// Follows a move that is taken back.
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
        score.clamp(-MOST_EVALUATION, MOST_EVALUATION)
    }
}
