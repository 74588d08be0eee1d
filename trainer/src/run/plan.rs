//! What a recipe means for a run.

use std::path::{Path, PathBuf};

use dataset::Digest;
use nnue::architecture::{Sizes, SizesError};
use protocol::recipe::{self, OptimizerKind, QuantisationMode, Recipe};

use crate::{
    backend::State,
    batch::Features,
    checkpoint::{Checkpoint, CheckpointError},
    data::TrainingData,
    loss::Loss,
    model::{Arrays, Head, Shape, VALUE_ONE},
    optimizer::{Lookahead, Method, Optimizer},
};

/// A recipe that cannot be followed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum PlanError {
    #[error("the recipe's architecture: {0}")]
    Sizes(#[from] SizesError),
    #[error("`start.checkpoint`: {0}")]
    Start(CheckpointError),
}

/// What is learned, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The net.
    pub shape: Shape,
    /// How its numbers move.
    pub optimizer: Optimizer,
    /// The scale of the net's own scores, in hundredths of a pawn.
    pub scale: f32,
    start: Option<PathBuf>,
}

impl Plan {
    /// What a recipe means with its data.
    ///
    /// # Errors
    ///
    /// If no net of this program is like that.
    pub fn new(recipe: &Recipe, data: &TrainingData) -> Result<Self, PlanError> {
        let scale = recipe.loss.output_scale.map_or_else(|| data.mean_scale(), |scale| scale as f32);
        let recipe::Architecture { width, first, second, factorised, .. } = recipe.architecture;
        let Features { inputs, stacks } = Features::of_recipe(&recipe.architecture);
        let sizes = Sizes::new(width as usize, first as usize, second as usize, stacks)?.with_inputs(inputs);
        let fake_quantisation = recipe.quantisation.mode == QuantisationMode::Fake;
        let recipe::Optimizer { kind, beta1, beta2, epsilon, weight_decay } = recipe.optimizer;
        let (method, lookahead) = match kind {
            OptimizerKind::AdamW => (Method::AdamW, None),
            OptimizerKind::RAdam => (Method::RAdam, None),
            OptimizerKind::Ranger { lookahead_steps, lookahead_blend } => {
                let (steps, blend) = (lookahead_steps.into(), lookahead_blend as f32);
                (Method::RAdam, Some(Lookahead { steps, blend }))
            }
        };
        Ok(Self {
            shape: Shape { sizes, factorised, fake_quantisation },
            optimizer: Optimizer { method, beta1, beta2, epsilon, weight_decay, lookahead },
            scale,
            start: recipe.start.as_ref().map(|start| PathBuf::from(&start.checkpoint)),
        })
    }

    /// The name of what a run is of: two runs of one name are the same run.
    pub(super) fn name(recipe: &Recipe, data: &TrainingData) -> String {
        let sources: Vec<_> =
            data.summary().iter().map(|it| format!("{} {} {}", it.manifest, it.shards, it.weight)).collect();
        Digest::of(format!("{}\n{}", recipe.to_text(), sources.join("\n")).as_bytes()).to_string()
    }

    /// The net before the first step.
    pub(super) fn initial_state(&self, recipe: &Recipe) -> Result<State, PlanError> {
        let values = if let Some(start) = &self.start {
            Checkpoint::read(Path::new(start), &self.shape).map_err(PlanError::Start)?.state.values
        } else {
            let head = match recipe.architecture.head {
                recipe::Head::PieceValues => Head::PieceValues,
                recipe::Head::Zero => Head::Zero,
            };
            Arrays::initial(&self.shape, head, recipe.seeds.weights)
        };
        Ok(State::new(&self.shape, values, &self.optimizer))
    }

    /// The files that learning begins with.
    pub(super) fn parents(&self) -> Result<Vec<Digest>, PlanError> {
        let digest = |path: &PathBuf| {
            let bytes = std::fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.clone(), cause });
            Ok(Digest::of(&bytes.map_err(PlanError::Start)?))
        };
        self.start.iter().map(digest).collect()
    }

    /// The loss of an epoch, the first being 0.
    pub(super) fn loss(&self, recipe: &Recipe, epoch: u64) -> Loss {
        let last = u64::from(recipe.schedule.epochs).saturating_sub(1).max(1);
        let part = epoch.min(last) as f64 / last as f64;
        let recipe::Loss { exponent, lambda_start, lambda_end, .. } = recipe.loss;
        let lambda = lambda_start + (lambda_end - lambda_start) * part;
        Loss { exponent: exponent as f32, lambda: lambda as f32, scale: self.scale / VALUE_ONE }
    }

    /// The loss that nets of a recipe are compared by.
    pub(super) fn validation_loss(&self, recipe: &Recipe) -> Loss {
        let recipe::Loss { lambda_start, lambda_end, .. } = recipe.loss;
        let lambda = f64::midpoint(lambda_start, lambda_end) as f32;
        Loss { exponent: 2.0, lambda, scale: self.scale / VALUE_ONE }
    }
}
