//! How runs are made, for all commands that train.

use anyhow::{Context as _, Result, bail};

use super::{cores, threads};
use crate::run::{BackendKind, Conditions};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// The backend: cpu (the same bits everywhere); built with libtorch also torch, cuda or cuda:N,
    /// and rehearsal, a card's code on the processor
    #[arg(long, value_name = "BACKEND", default_value = "cpu", value_parser = backend)]
    backend: Backend,
    /// Precision of libtorch: float32, or mixed, with 16 bits in the layers and in some gradients
    #[arg(long, value_name = "PRECISION", default_value_t)]
    precision: Precision,
    /// Threads that train [default: one per core]
    #[arg(long, value_name = "T", value_parser = threads)]
    threads: Option<usize>,
    /// Threads that read shards
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads)]
    readers: usize,
    /// Memory for decoded positions, so that later epochs need not decode them again. It has no
    /// effect on a streamed set that is larger
    #[arg(long, value_name = "MIB", default_value_t = 2_048)]
    cache: u32,
    /// Steps between checkpoints [default: one a minute]; one is also written at the end of each
    /// epoch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_steps: Option<u64>,
    /// Keep all positions on libtorch's device (137 bytes each), and draw them one by one
    #[arg(long)]
    resident: bool,
}

impl Arguments {
    /// The conditions, for which the process is prepared. It may restart, so this comes first.
    pub(super) fn prepare(&self) -> Result<Conditions> {
        let backend = match (self.backend.kind, self.precision) {
            #[cfg(feature = "torch")]
            (BackendKind::Torch(place, _), Precision::Mixed) => {
                BackendKind::Torch(place, crate::torch::Precision::Mixed)
            }
            (BackendKind::Cpu, Precision::Mixed) => {
                bail!("--precision mixed is for libtorch: name a --backend that is")
            }
            (backend, _) => backend,
        };
        backend.prepare_process().context("libtorch's settings: the program cannot restart with them")?;
        Ok(Conditions {
            backend,
            threads: self.threads.unwrap_or_else(cores),
            readers: self.readers,
            cache_bytes: (self.cache as usize) << 20,
            checkpoint_steps: self.checkpoint_steps,
            resident: self.resident,
        })
    }

    /// The backend as it was given.
    pub(super) fn backend(&self) -> &str {
        &self.backend.name
    }
}

/// A backend, and its name for people.
#[derive(Clone, Debug)]
struct Backend {
    name: String,
    kind: BackendKind,
}

/// The precision of libtorch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Precision {
    #[default]
    Float32,
    Mixed,
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Float32 => "float32",
            Self::Mixed => "mixed",
        })
    }
}

fn backend(text: &str) -> Result<Backend, String> {
    Ok(Backend { name: text.to_owned(), kind: backend_kind(text)? })
}

fn backend_kind(text: &str) -> Result<BackendKind, String> {
    #[cfg(feature = "torch")]
    {
        use crate::torch::{DeviceKind, Precision};
        let on_processor = match text {
            "torch" => Some(DeviceKind::Cpu),
            "rehearsal" => Some(DeviceKind::Rehearsal),
            _ => None,
        };
        if let Some(place) = on_processor {
            return Ok(BackendKind::Torch(place, Precision::Single));
        }
        let number = text.strip_prefix("cuda").map(|rest| if rest.is_empty() { ":0" } else { rest });
        if let Some(number) = number.and_then(|rest| rest.strip_prefix(':')?.parse().ok()) {
            return Ok(BackendKind::Torch(DeviceKind::Cuda(number), Precision::Single));
        }
    }
    match text {
        "cpu" => Ok(BackendKind::Cpu),
        _ if cfg!(feature = "torch") => Err("there are cpu, torch, cuda, cuda:N and rehearsal".to_owned()),
        _ => Err("this program was built without libtorch; there is only cpu".to_owned()),
    }
}
