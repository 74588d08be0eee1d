//! The file of an inspected net: a run's folder, a checkpoint, or a net.

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

/// The kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A run's checkpoint, in floating point.
    Checkpoint,
    /// A net's file, in integers.
    Net,
}

/// A net to inspect.
pub struct Subject {
    /// The kind of file that it was read from.
    pub kind: Kind,
    /// The net's shape.
    pub shape: Shape,
    /// The parameters in floating point.
    pub values: Arrays,
    /// The parameters in integers.
    pub parameters: Parameters,
    /// The training steps, if known.
    pub steps: Option<u64>,
}

/// An error of reading a net to inspect.
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
    #[error("{}: a net for {engine}; only nets of our engine can be inspected", path.display())]
    ForeignEngine { path: PathBuf, engine: &'static str },
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
            // A safetensors file holds an object after eight bytes of length.
            Err(NetError::Foreign) if bytes.get(8) == Some(&b'{') => {
                let shape = Checkpoint::shape(&path)?;
                if let Some(engine) = shape.foreign_engine() {
                    return Err(SubjectError::ForeignEngine { path, engine: engine.name });
                }
                let checkpoint = Checkpoint::read(&path, &shape)?;
                let values = checkpoint.state.net().clone();
                let parameters = export::quantise(&shape, &values, "");
                let parameters = parameters.map_err(|cause| SubjectError::Beyond { path, cause })?;
                Ok(Self { kind: Kind::Checkpoint, shape, values, parameters, steps: Some(checkpoint.state.steps) })
            }
            Err(NetError::Foreign) => Err(SubjectError::Foreign(path)),
            Err(cause) => Err(SubjectError::Net { path, cause }),
        }
    }
}
