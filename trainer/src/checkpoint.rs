//! Checkpoints: everything that a run's next step depends on, in one atomically written file.
//!
//! The file is in the safetensors format, which other tools read too. Its metadata name the run and
//! its progress, and hold a checksum of everything, which detects flipped bits.

mod progress;

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use dataset::{AtomicFile, training::ReaderPosition};
use nnue::architecture::{Inputs, Sizes};
use protocol::recipe::Activation;
use safetensors::{
    Dtype, SafeTensors,
    tensor::{Metadata, TensorView},
};

use crate::{
    backend::State,
    model::{Array, Arrays, Shape},
};

pub use progress::{Best, LossSum, Progress};

const FORMAT: &str = "chuhe checkpoint 2";

/// A run after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The net and the optimiser's state.
    pub state: State,
    /// The position of the next batch in the data.
    pub place: ReaderPosition,
    /// The identity of the run: a digest of its recipe, data and parents. A run resumes only from
    /// its own checkpoint.
    pub run: String,
    /// The rest of the run's state.
    pub progress: Progress,
}

/// An error of reading or writing a checkpoint.
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

/// The tensors of each array: values, Adam's moments, Lookahead's slow weights, means of values.
const KINDS: [&str; 5] = ["", ".first-moment", ".second-moment", ".slow", ".average"];

impl Checkpoint {
    /// Replaces the checkpoint atomically: the old one stays until the new one is durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn write(&self, path: &Path, shape: &Shape) -> Result<(), CheckpointError> {
        let unwritable = |cause| CheckpointError::Unwritable { path: path.to_owned(), cause };
        let bytes = self.to_bytes(shape).map_err(|error| unwritable(io::Error::other(error)))?;
        AtomicFile::replace(path, &bytes).map_err(unwritable)
    }

    fn to_bytes(&self, shape: &Shape) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let State { values, first, second, slow, average, .. } = &self.state;
        let arrays = [Some(values), Some(first), Some(second), slow.as_ref(), average.as_ref()];
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
        let mut header = Header {
            format: FORMAT.to_owned(),
            check: 0,
            run: self.run.clone(),
            steps: self.state.steps,
            pool: self.place.pool,
            sample: self.place.sample,
            progress: self.progress.clone(),
        };
        header.check = header.check_with(tensors.iter().map(|(_, _, bytes)| &bytes[..]));
        // Metadata of several keys would be written in an unstable order, so all of it is one text.
        safetensors::serialize(views, Some(HashMap::from([("chuhe".to_owned(), header.to_text())])))
    }

    /// Reads the shape of a checkpoint's net. Fake quantisation is not recorded in it.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn shape(path: &Path) -> Result<Shape, CheckpointError> {
        let foreign = |what: String| CheckpointError::Foreign { path: path.to_owned(), what };
        let bytes = fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.to_owned(), cause })?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| foreign(error.to_string()))?;
        parse_header(&metadata).map_err(foreign)?;
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
        let factorised = last(Array::Shared, 2)?[0] > 0;
        let activation = match (last(Array::First, 3)?[2], last(Array::Second, 3)?[2]) {
            (inputs, _) if inputs == 2 * width => Activation::Clipped,
            (_, inputs) if inputs < 2 * first[1] => Activation::PairsSkip,
            _ => Activation::Pairs,
        };
        Ok(Shape { factorised, activation, ..Shape::new(sizes) })
    }

    /// Reads a checkpoint of a net of this shape.
    ///
    /// # Errors
    ///
    /// If it is none, or of another shape.
    pub fn read(path: &Path, shape: &Shape) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|cause| CheckpointError::Unreadable { path: path.to_owned(), cause })?;
        Self::from_bytes(path, &bytes, shape)
    }

    /// Parses the bytes of a checkpoint that were read from `path`.
    ///
    /// # Errors
    ///
    /// If it is none, or of another shape.
    pub fn from_bytes(path: &Path, bytes: &[u8], shape: &Shape) -> Result<Self, CheckpointError> {
        let foreign = |what: String| CheckpointError::Foreign { path: path.to_owned(), what };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| foreign(error.to_string()))?;
        let header = parse_header(&metadata).map_err(foreign)?;
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
        let [values, first, second, slow, average] = KINDS;
        let has = |kind: &str| tensors.tensor(&format!("{}{kind}", Array::Head.name())).is_ok();
        let (values, first, second) = (arrays_of(values)?, arrays_of(first)?, arrays_of(second)?);
        let slow = if has(slow) { Some(arrays_of(slow)?) } else { None };
        let average = if has(average) { Some(arrays_of(average)?) } else { None };
        let (found, said) = (header.check_with(data.into_iter()), header.check);
        if found != said {
            return Err(CheckpointError::Altered { path: path.to_owned(), found, said });
        }
        let state = State { values, first, second, slow, average, steps: header.steps };
        if !state.is_finite() {
            return Err(foreign("it has a number that is none".to_owned()));
        }
        let place = ReaderPosition { pool: header.pool, sample: header.sample };
        Ok(Self { state, place, run: header.run, progress: header.progress })
    }
}

/// The metadata of a checkpoint.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    /// A CRC-32C of this metadata with `check` set to 0, then of all tensors in the order of
    /// [`KINDS`] and [`Array::ALL`].
    check: u32,
    run: String,
    steps: u64,
    pool: u64,
    sample: u64,
    progress: Progress,
}

impl Header {
    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("its keys are words")
    }

    fn check_with<'a>(&self, tensors: impl Iterator<Item = &'a [u8]>) -> u32 {
        let header = Self { check: 0, ..self.clone() }.to_text();
        tensors.fold(crc32c::crc32c(header.as_bytes()), crc32c::crc32c_append)
    }
}

fn parse_header(metadata: &Metadata) -> Result<Header, String> {
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get("chuhe"));
    let text = text.ok_or("it says nothing of a run of Chuhe")?;
    // The format is checked first: other formats have other fields.
    let tag: FormatTag = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if tag.format != FORMAT {
        return Err(format!("its format is `{}`, not `{FORMAT}`", tag.format));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The field that all formats share.
#[derive(serde::Deserialize)]
struct FormatTag {
    format: String,
}
