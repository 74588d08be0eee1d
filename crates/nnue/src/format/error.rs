//! Errors of net files.

use std::{io, path::PathBuf};

use crate::{Overflow, Parameters, architecture::SizesError};

/// A rejected net file. The message is complete, so there is no `source`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum NetError {
    #[error("this is not a Chuhe net: it does not begin with `CHUHENET`")]
    Foreign,
    #[error("the net has format version {found}; this program reads versions 1 and 2")]
    Version { found: u32 },
    #[error("the net's inputs have the number {found}; format version 2 knows 1, kings-attackers")]
    Inputs { found: u16 },
    #[error("the net's sizes are not possible: {0}")]
    Sizes(SizesError),
    #[error("the net's {name} scale is {found}; this program's is {expected}")]
    Scale { name: &'static str, found: i32, expected: i32 },
    #[error("the net is of architecture {found:016x}; with these sizes this program's is {expected:016x}")]
    Architecture { found: u64, expected: u64 },
    #[error("the net's description has {found} bytes; it may have {}", Parameters::MAX_DESCRIPTION)]
    LongDescription { found: usize },
    #[error("the net's description is not UTF-8 at its byte {at}")]
    DescriptionNotUtf8 { at: usize },
    #[error("the net ends after {found} of {expected} bytes, within {section}")]
    Truncated { section: Section, expected: usize, found: usize },
    #[error("the net has {found} bytes, {} more than it should", found - expected)]
    TrailingBytes { expected: usize, found: usize },
    #[error("the net is damaged: its checksum is {found:016x}, that of its bytes {expected:016x}")]
    Checksum { expected: u64, found: u64 },
    #[error("the net is refused: {0}")]
    Overflow(Overflow),
}

/// A section of a net file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the format's")]
pub enum Section {
    Header,
    Description,
    TransformerBiases,
    TransformerWeights,
    Head,
    Stack(usize),
    Checksum,
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header => write!(f, "its header"),
            Self::Description => write!(f, "its description"),
            Self::TransformerBiases => write!(f, "the transformer's biases"),
            Self::TransformerWeights => write!(f, "the transformer's weights"),
            Self::Head => write!(f, "the piece-square head"),
            Self::Stack(index) => write!(f, "the layers of stack {index}"),
            Self::Checksum => write!(f, "its checksum"),
        }
    }
}

/// A net file that cannot be loaded. The message is complete, so there is no `source`.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum FileError {
    #[error("cannot read the net {}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{}: {cause}", path.display())]
    Refused { path: PathBuf, cause: NetError },
}
