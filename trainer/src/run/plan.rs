//! The plan of a run, derived from its recipe.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dataset::Digest;
use nnue::{
    NetError, Parameters,
    architecture::{Sizes, SizesError},
};
use protocol::recipe::{self, OptimizerKind, QuantisationMode, Recipe};

use crate::{
    batch::Features,
    checkpoint::{Checkpoint, CheckpointError},
    data::TrainingData,
    export,
    loss::Loss,
    model::{Array, Arrays, Head, Shape, VALUE_ONE},
    optimizer::{Lookahead, Method, Optimizer},
};

/// An error of a recipe.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum PlanError {
    #[error("the recipe's architecture: {0}")]
    Sizes(#[from] SizesError),
}

/// The net of a run, and its optimiser.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The net's shape.
    pub shape: Shape,
    /// The optimiser.
    pub optimizer: Optimizer,
    /// The scale of the net's own scores, in centipawns.
    pub scale: f32,
}

impl Plan {
    /// Derives the plan of a recipe with its data.
    ///
    /// # Errors
    ///
    /// If the architecture is not supported.
    pub fn new(recipe: &Recipe, data: &TrainingData) -> Result<Self, PlanError> {
        let scale = recipe.loss.output_scale.map_or_else(|| data.mean_scale(), |scale| scale as f32);
        let recipe::Architecture { width, first, second, factorised, activation, .. } = recipe.architecture;
        let Features { inputs, stacks, .. } = Features::of_recipe(&recipe.architecture);
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
            shape: Shape { sizes, factorised, fake_quantisation, activation },
            optimizer: Optimizer { method, beta1, beta2, epsilon, weight_decay, lookahead },
            scale,
        })
    }

    /// The identity of a run: a digest of its recipe, data and parents.
    pub(super) fn identity(recipe: &Recipe, data: &TrainingData, parents: &[Digest]) -> String {
        let sources = data.summary().into_iter().map(|it| format!("{} {} {}", it.manifest, it.shards, it.weight));
        let parents = parents.iter().map(|parent| format!("from {parent}"));
        let lines: Vec<_> = std::iter::once(recipe.to_text()).chain(sources).chain(parents).collect();
        Digest::of(lines.join("\n").as_bytes()).to_string()
    }

    /// Initial parameters, without a net to start from.
    pub(super) fn initial_values(&self, recipe: &Recipe) -> Arrays {
        let head = match recipe.architecture.head {
            recipe::Head::PieceValues => Head::PieceValues,
            recipe::Head::Zero => Head::Zero,
        };
        Arrays::initial(&self.shape, head, recipe.seeds.weights)
    }

    /// The loss of an epoch, counted from 0. Lambda is interpolated linearly over the epochs.
    pub(super) fn loss(&self, recipe: &Recipe, epoch: u64) -> Loss {
        let last = u64::from(recipe.schedule.epochs).saturating_sub(1).max(1);
        let part = epoch.min(last) as f64 / last as f64;
        let recipe::Loss { exponent, lambda_start, lambda_end, .. } = recipe.loss;
        let lambda = lambda_start + (lambda_end - lambda_start) * part;
        Loss { exponent: exponent as f32, lambda: lambda as f32, scale: self.scale / VALUE_ONE }
    }

    /// The validation loss: squares, with one lambda for all epochs, so that epochs can be
    /// compared.
    pub(super) fn validation_loss(&self, recipe: &Recipe) -> Loss {
        let recipe::Loss { lambda_start, lambda_end, .. } = recipe.loss;
        let lambda = f64::midpoint(lambda_start, lambda_end) as f32;
        Loss { exponent: 2.0, lambda, scale: self.scale / VALUE_ONE }
    }
}

/// The file that a recipe's run starts from.
pub(super) struct Start {
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
    bytes: Vec<u8>,
    /// Whether it is a checkpoint; else a net.
    is_checkpoint: bool,
}

/// An error of the file to start from.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum StartError {
    #[error("{}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("{}: {cause}", path.display())]
    Net { path: PathBuf, cause: NetError },
}

impl Start {
    /// Reads the recipe's file, if it names one; the content is not checked.
    pub(super) fn find(recipe: &Recipe, data: &TrainingData) -> Result<Option<Self>, StartError> {
        let Some(start) = &recipe.start else { return Ok(None) };
        let path = data.named(Path::new(start.file()));
        let is_checkpoint = matches!(start, recipe::Start::Checkpoint(_));
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(Self { digest: Digest::of(&bytes), path, bytes, is_checkpoint })),
            Err(cause) => Err(StartError::Unreadable { path, cause }),
        }
    }

    /// Parses the net, which must be of this shape.
    pub(super) fn values(&self, shape: &Shape) -> Result<Arrays, StartError> {
        if self.is_checkpoint {
            return Ok(Checkpoint::from_bytes(&self.path, &self.bytes, shape)?.state.net().clone());
        }
        let parameters = Parameters::from_bytes(&self.bytes);
        let parameters = parameters.map_err(|cause| StartError::Net { path: self.path.clone(), cause })?;
        let (found, mut values) = export::dequantise(&parameters);
        for array in Array::ALL.into_iter().filter(|array| *array != Array::Shared) {
            let (found, expected) = (array.dimensions(&found), array.dimensions(shape));
            if found != expected {
                let (path, array) = (self.path.clone(), array.name().to_owned());
                return Err(CheckpointError::Dimensions { path, array, found, expected }.into());
            }
        }
        // Its rows hold what was shared.
        values[Array::Shared] = vec![0.0; Array::Shared.len(shape)];
        Ok(values)
    }
}
