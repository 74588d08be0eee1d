//! `chuhe-trainer train`: trains a net by a recipe.

use std::{collections::BTreeSet, fs, io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use dataset::{AtomicFile, Digest};

use super::{cores, data, export::Export, read_recipe, terminal::Terminal, threads};
use crate::run::{self, BackendKind, Conditions, Finished, Folder, Kept};

/// Train a net by a recipe, and export it
///
/// The folder `--out` holds the whole run: recipe, checkpoint, metrics, and in the end the net.
/// Killed at any time, the same command resumes from the last checkpoint and ends with the same
/// bytes, whatever the threads or the processor.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The recipe (TOML); see docs/FORMATS.md, and nets/recipes/ for examples
    recipe: PathBuf,
    /// Folder of the run; created if missing
    #[arg(long, value_name = "DIR", required_unless_present = "print_config")]
    out: Option<PathBuf>,
    #[command(flatten)]
    data: data::Arguments,
    /// File with the SHA-256 of shards to exclude, one a line
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// The backend: cpu (the same bits everywhere); built with libtorch also torch, cuda or cuda:N,
    /// and rehearsal, a card's code on the processor
    #[arg(long, value_name = "BACKEND", default_value = "cpu", value_parser = backend_kind)]
    backend: BackendKind,
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
    /// Print the recipe with all defaults, and do nothing
    #[arg(long)]
    print_config: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let recipe = read_recipe(&self.recipe)?;
        if self.print_config {
            write!(out, "{}", recipe.to_text())?;
            return Ok(ExitCode::SUCCESS);
        }
        let backend = self.backend_kind()?;
        backend.prepare_process().context("libtorch's settings: the program cannot restart with them")?;
        let Some(path) = &self.out else { bail!("--out is missing") };
        let data = self.data.open(&recipe, &self.recipe, &self.quarantined()?)?;
        fs::create_dir_all(path).with_context(|| format!("--out {}", path.display()))?;
        let folder = Folder::new(path);
        let threads = self.threads.unwrap_or_else(cores);
        let conditions = Conditions {
            backend,
            threads,
            readers: self.readers,
            cache_bytes: (self.cache as usize) << 20,
            checkpoint_steps: self.checkpoint_steps,
            resident: self.resident,
        };
        if !folder.is_run() {
            let path = folder.recipe();
            AtomicFile::replace(&path, recipe.to_text().as_bytes()).with_context(|| path.display().to_string())?;
        }
        let mut terminal = Terminal::new(self.json);
        let finished = run::train(&recipe, &data, &folder, &conditions, &mut terminal);
        terminal.finish();
        let finished = match finished {
            Err(error) if error.is_divergence() => {
                writeln!(std::io::stderr(), "chuhe-trainer: {error}")?;
                return Ok(ExitCode::FAILURE);
            }
            finished => finished?,
        };
        if finished.state.steps < recipe.steps() {
            let step = finished.saved;
            writeln!(std::io::stderr(), "chuhe-trainer: stopped; the same command resumes from step {step}")?;
            return Ok(ExitCode::SUCCESS);
        }
        let export = Export { recipe: &recipe, data: &data, folder: &folder, threads };
        self.answer(&export, &finished, out)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Exports the nets and prints a summary.
    fn answer(&self, export: &Export<'_>, last: &Finished, out: &mut impl Write) -> Result<()> {
        let Export { recipe, data, folder, threads } = *export;
        let exported = export.write(last, Kept::Last, None)?;
        let best = match last.best {
            // The best checkpoint may have been removed on purpose.
            Some(_) if folder.checkpoint(Kept::Best).exists() => {
                let best = run::finished(recipe, data, folder, Kept::Best, threads)?;
                Some(export.write(&best, Kept::Best, None)?)
            }
            _ => None,
        };
        if self.json {
            let mut answer = serde_json::to_value(&exported)?;
            answer["best"] = serde_json::to_value(best)?;
            writeln!(out, "{answer}")?;
            return Ok(());
        }
        exported.print(out)?;
        if let Some(best) = best {
            writeln!(out, "\nthe best of all epochs")?;
            best.print(out)?;
        }
        Ok(())
    }

    fn backend_kind(&self) -> Result<BackendKind> {
        match (self.backend, self.precision) {
            #[cfg(feature = "torch")]
            (BackendKind::Torch(place, _), Precision::Mixed) => {
                Ok(BackendKind::Torch(place, crate::torch::Precision::Mixed))
            }
            (BackendKind::Cpu, Precision::Mixed) => {
                bail!("--precision mixed is for libtorch: name a --backend that is")
            }
            (backend, _) => Ok(backend),
        }
    }

    fn quarantined(&self) -> Result<BTreeSet<Digest>> {
        let Some(path) = &self.quarantine else { return Ok(BTreeSet::new()) };
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                line.trim().parse().with_context(|| format!("{}, line {}", path.display(), number + 1))
            })
            .collect()
    }
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

/// Parses the backend.
pub(super) fn backend_kind(text: &str) -> Result<BackendKind, String> {
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
