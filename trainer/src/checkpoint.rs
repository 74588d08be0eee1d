//! A run on disk: everything that its next step depends on, in one file that is there whole or not at all.
//!
//! It is a safetensors file, which other tools read too; its metadata say what run it is of and how far that is, and have a
//! check of everything: a bit that the disk turned over is found.

mod progress;

use std::{
    collections::HashMap,
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

pub use progress::{Best, Progress, Stretch};

const FORMAT: &str = "chuhe checkpoint 2";

/// A run as it is after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The net.
    pub state: State,
    /// Where the next batch begins.
    pub place: Place,
    /// What the run is of: its recipe, its data, what it began with. A run goes on only from a checkpoint of its own.
    pub run: String,
    /// What else the run remembers.
    pub progress: Progress,
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
    #[error("{}: its {array} has the dimensions {found:?}; the recipe's has {expected:?}: it is of a net of another shape", path.display())]
    Dimensions { path: PathBuf, array: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("{}: it was altered: its check is {found:08x}, not the {said:08x} that it says", path.display())]
    Altered { path: PathBuf, found: u32, said: u32 },
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
        let mut facts = Facts {
            format: FORMAT.to_owned(),
            check: 0,
            run: self.run.clone(),
            steps: self.state.steps,
            pool: self.place.pool,
            sample: self.place.sample,
            progress: self.progress.clone(),
        };
        facts.check = facts.check_with(tensors.iter().map(|(_, _, bytes)| &bytes[..]));
        // A map without an order would give another file each time: all of it is one text.
        safetensors::serialize(views, Some(HashMap::from([("chuhe".to_owned(), facts.to_text())])))
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
    pub fn read(path: &Path, shape: &Shape) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.to_owned(), cause })?;
        Self::from_bytes(path, &bytes, shape)
    }

    /// Reads one that was read from `path`.
    ///
    /// # Errors
    ///
    /// If it is none, or of another shape.
    pub fn from_bytes(path: &Path, bytes: &[u8], shape: &Shape) -> Result<Self, CheckpointError> {
        let foreign = |what: String| CheckpointError::Foreign { path: path.to_owned(), what };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| foreign(error.to_string()))?;
        let facts = facts_of(&metadata).map_err(foreign)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| foreign(error.to_string()))?;
        let mut data = Vec::new();
        let mut arrays_of = |kind: &str| {
            let mut arrays = Arrays::empty();
            for array in Array::ALL {
                let name = format!("{}{kind}", array.name());
                let tensor = tensors.tensor(&name).map_err(|error| foreign(error.to_string()))?;
                let (found, expected) = (tensor.shape().to_vec(), array.dimensions(shape));
                if found != expected {
                    return Err(CheckpointError::Dimensions { path: path.to_owned(), array: name, found, expected });
                }
                if tensor.dtype() != Dtype::F32 {
                    return Err(foreign(format!("its {name} is not of floats of 32 bits")));
                }
                let numbers = tensor.data().as_chunks().0;
                arrays[array] = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                data.push(tensor.data());
            }
            Ok(arrays)
        };
        let [values, first, second, slow] = KINDS;
        let has_slow = tensors.tensor(&format!("{}{slow}", Array::Head.name())).is_ok();
        let (values, first, second) = (arrays_of(values)?, arrays_of(first)?, arrays_of(second)?);
        let slow = if has_slow { Some(arrays_of(slow)?) } else { None };
        let (found, said) = (facts.check_with(data.into_iter()), facts.check);
        if found != said {
            return Err(CheckpointError::Altered { path: path.to_owned(), found, said });
        }
        let state = State { values, first, second, slow, steps: facts.steps };
        if !state.is_finite() {
            return Err(foreign("it has a number that is none".to_owned()));
        }
        let place = Place { pool: facts.pool, sample: facts.sample };
        Ok(Self { state, place, run: facts.run, progress: facts.progress })
    }
}

/// What a checkpoint says of itself.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    format: String,
    /// A CRC-32C of these facts with a zero in its place, and of all tensors in the order of [`KINDS`] and [`Array::ALL`].
    check: u32,
    run: String,
    steps: u64,
    pool: u64,
    sample: u64,
    progress: Progress,
}

impl Facts {
    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("its keys are words")
    }

    fn check_with<'a>(&self, tensors: impl Iterator<Item = &'a [u8]>) -> u32 {
        let facts = Self { check: 0, ..self.clone() }.to_text();
        tensors.fold(crc32c::crc32c(facts.as_bytes()), crc32c::crc32c_append)
    }
}

fn facts_of(metadata: &Metadata) -> Result<Facts, String> {
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get("chuhe"));
    let text = text.ok_or("it says nothing of a run of Chuhe")?;
    // What it is first: another format has other facts.
    let named: Named = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if named.format != FORMAT {
        return Err(format!("its format is `{}`, not `{FORMAT}`", named.format));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// What every format says.
#[derive(serde::Deserialize)]
struct Named {
    format: String,
}
