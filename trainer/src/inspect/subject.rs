//! What can be looked into: a run, a checkpoint, or a net's file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use nnue::{NetError, Parameters};
use serde::Serialize;

use crate::{
    checkpoint::{Checkpoint, CheckpointError},
    export::{self, ExportError},
    model::{Arrays, Shape},
    run::{Folder, Kept},
};

/// What was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A run's checkpoint, in floating point.
    Checkpoint,
    /// A net's file, in integers.
    Net,
}

/// A net to be looked into.
pub struct Subject {
    /// What it was read from.
    pub kind: Kind,
    /// What kind of net it is.
    pub shape: Shape,
    /// Its numbers as the model has them.
    pub values: Arrays,
    /// Its numbers as engines have them.
    pub parameters: Parameters,
    /// The steps that were made, where that is known.
    pub steps: Option<u64>,
}

/// Why there is nothing to look into.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum SubjectError {
    #[error("{}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("{}: {cause}", path.display())]
    Net { path: PathBuf, cause: NetError },
    #[error("{}: {cause}", path.display())]
    Beyond { path: PathBuf, cause: ExportError },
    #[error("{}: neither the folder of a run, nor a checkpoint, nor a net", .0.display())]
    Foreign(PathBuf),
}

impl Subject {
    /// Reads a net from a run's folder, a checkpoint, or a net's file.
    ///
    /// # Errors
    ///
    /// If it is none of these.
    pub fn read(path: &Path) -> Result<Self, SubjectError> {
        let path = if path.is_dir() { Folder::new(path).checkpoint(Kept::Last) } else { path.to_owned() };
        let bytes = fs::read(&path).map_err(|cause| SubjectError::Unreadable { path: path.clone(), cause })?;
        match Parameters::from_bytes(&bytes) {
            Ok(parameters) => {
                let (shape, values) = export::dequantise(&parameters);
                Ok(Self { kind: Kind::Net, shape, values, parameters, steps: None })
            }
            // After eight bytes of length a safetensors file goes on with an object.
            Err(NetError::Foreign) if bytes.get(8) == Some(&b'{') => {
                let shape = Checkpoint::shape(&path)?;
                let checkpoint = Checkpoint::read(&path, &shape)?;
                let values = checkpoint.state.values;
                let parameters = export::quantise(&shape, &values, "");
                let parameters = parameters.map_err(|cause| SubjectError::Beyond { path, cause })?;
                Ok(Self { kind: Kind::Checkpoint, shape, values, parameters, steps: Some(checkpoint.state.steps) })
            }
            Err(NetError::Foreign) => Err(SubjectError::Foreign(path)),
            Err(cause) => Err(SubjectError::Net { path, cause }),
        }
    }
}
