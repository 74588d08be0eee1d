//! A run on disk: everything that its next step depends on, in one file that is there whole or not at all.
//!
//! It is a safetensors file, which other tools read too; its metadata say what run it is of and how far that is.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{NewFile, training::Place};
use nnue::architecture::{Inputs, Sizes};
use safetensors::{
    Dtype, SafeTensors,
    tensor::{Metadata, TensorView},
};

use crate::{
    backend::State,
    model::{Array, Arrays, Shape},
};

const FORMAT: &str = "chuhe checkpoint 1";

/// A run as it is after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The net.
    pub state: State,
    /// Where the next batch begins.
    pub place: Place,
    /// What the run is of: its recipe, data and sizes. A run goes on only from a checkpoint of its own.
    pub run: String,
    /// The sums that are being collected for the next line of the metrics, and whatever else the run remembers.
    pub progress: BTreeMap<String, String>,
}

/// Why there is no checkpoint.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CheckpointError {
    #[error("{}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{}: {cause}", path.display())]
    Unwritable { path: PathBuf, cause: io::Error },
    #[error("{}: not a checkpoint: {what}", path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("{}: its {array} has the dimensions {found:?}; the recipe's has {expected:?}", path.display())]
    Dimensions { path: PathBuf, array: String, found: Vec<usize>, expected: Vec<usize> },
}

/// What a checkpoint has of each array.
const KINDS: [&str; 4] = ["", ".first-moment", ".second-moment", ".slow"];

impl Checkpoint {
    /// Writes it in place of the one before, which is there until this one is safe on disk.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn write(&self, path: &Path, shape: &Shape) -> Result<(), CheckpointError> {
        let unwritable = |cause| CheckpointError::Unwritable { path: path.to_owned(), cause };
        let bytes = self.to_bytes(shape).map_err(|error| unwritable(io::Error::other(error)))?;
        NewFile::replace(path, &bytes).map_err(unwritable)
    }

    fn to_bytes(&self, shape: &Shape) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let arrays =
            [Some(&self.state.values), Some(&self.state.first), Some(&self.state.second), self.state.slow.as_ref()];
        let mut tensors = Vec::new();
        for (arrays, kind) in arrays.into_iter().zip(KINDS) {
            let Some(arrays) = arrays else { continue };
            for array in Array::ALL {
                let bytes: Vec<u8> = arrays[array].iter().flat_map(|number| number.to_le_bytes()).collect();
                tensors.push((format!("{}{kind}", array.name()), array.dimensions(shape), bytes));
            }
        }
        let mut views = Vec::with_capacity(tensors.len());
        for (name, dimensions, bytes) in &tensors {
            views.push((name, TensorView::new(Dtype::F32, dimensions.clone(), bytes)?));
        }
        // A map without an order would give another file each time: all of it is one text.
        let facts = Facts {
            format: FORMAT.to_owned(),
            run: self.run.clone(),
            steps: self.state.steps,
            pool: self.place.pool,
            sample: self.place.sample,
            progress: self.progress.clone(),
        };
        let facts = serde_json::to_string(&facts).expect("its keys are words");
        safetensors::serialize(views, Some(HashMap::from([("chuhe".to_owned(), facts)])))
    }

    /// What kind of net a checkpoint has. Whether rounding was simulated is not in it.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn shape(path: &Path) -> Result<Shape, CheckpointError> {
        let foreign = |what: String| CheckpointError::Foreign { path: path.to_owned(), what };
        let bytes = fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.to_owned(), cause })?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| foreign(error.to_string()))?;
        facts_of(&metadata).map_err(foreign)?;
        let last = |array: Array, dimensions: usize| {
            let found = metadata.info(array.name()).map(|info| info.shape.clone()).unwrap_or_default();
            if found.len() == dimensions { Ok(found) } else { Err(foreign(format!("it has no {}", array.name()))) }
        };
        let width = last(Array::TransformerBias, 1)?[0];
        let rows = last(Array::Transformer, 2)?[0];
        let inputs = Inputs::ALL.into_iter().find(|inputs| inputs.count() == rows);
        let inputs = inputs.ok_or_else(|| foreign(format!("no net has {rows} inputs")))?;
        let (first, second) = (last(Array::FirstBias, 2)?, last(Array::SecondBias, 2)?);
        let sizes = Sizes::new(width, first[1], second[1], first[0]).map_err(|error| foreign(error.to_string()))?;
        let sizes = sizes.with_inputs(inputs);
        Ok(Shape { sizes, factorised: last(Array::Shared, 2)?[0] > 0, fake_quantisation: false })
    }

    /// Reads one of a net of this shape.
    ///
    /// # Errors
    ///
    /// If it is none, or of another shape.
    ///
    /// # Panics
    ///
    /// Never: four kinds of arrays are four.
    pub fn read(path: &Path, shape: &Shape) -> Result<Self, CheckpointError> {
        let foreign = |what: String| CheckpointError::Foreign { path: path.to_owned(), what };
        let bytes = fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.to_owned(), cause })?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| foreign(error.to_string()))?;
        let facts = facts_of(&metadata).map_err(foreign)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| foreign(error.to_string()))?;
        let mut sets = KINDS.iter().map(|kind| {
            let mut arrays = Arrays::empty();
            for array in Array::ALL {
                let name = format!("{}{kind}", array.name());
                let tensor = tensors.tensor(&name).map_err(|error| foreign(error.to_string()))?;
                let (found, expected) = (tensor.shape().to_vec(), array.dimensions(shape));
                if found != expected || tensor.dtype() != Dtype::F32 {
                    return Err(CheckpointError::Dimensions { path: path.to_owned(), array: name, found, expected });
                }
                let numbers = tensor.data().as_chunks().0;
                arrays[array] = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            }
            Ok(arrays)
        });
        let mut next = || sets.next().expect("there are four kinds");
        let (values, first, second, slow) = (next()?, next()?, next()?, next());
        let has_slow = tensors.tensor(&format!("{}{}", Array::Head.name(), KINDS[3])).is_ok();
        let slow = if has_slow { Some(slow?) } else { None };
        Ok(Self {
            state: State { values, first, second, slow, steps: facts.steps },
            place: Place { pool: facts.pool, sample: facts.sample },
            run: facts.run,
            progress: facts.progress,
        })
    }
}

/// What a checkpoint says of itself.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    format: String,
    run: String,
    steps: u64,
    pool: u64,
    sample: u64,
    progress: BTreeMap<String, String>,
}

fn facts_of(metadata: &Metadata) -> Result<Facts, String> {
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get("chuhe"));
    let text = text.ok_or("it says nothing of a run of Chuhe")?;
    let facts: Facts = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if facts.format == FORMAT { Ok(facts) } else { Err(format!("its format is `{}`, not `{FORMAT}`", facts.format)) }
}
