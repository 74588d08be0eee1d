//! `chuhe-trainer train`: from a recipe to a net.

use std::{collections::BTreeSet, fs, io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use dataset::{Digest, NewFile};

use super::{cores, data, export::Export, read_recipe, terminal::Terminal, threads};
use crate::run::{self, Conditions, Finished, Folder, Kept, Learner};

/// Learn what a recipe says, and write the net that comes of it
///
/// All that the run is lies in the folder `--out`: its recipe, its checkpoint, its figures, and in the end the net. Killed
/// at any time, the same command goes on where the last checkpoint is and ends with the same bytes; neither threads nor
/// processor change one.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The recipe (TOML); docs/FORMATS.md says what can stand in it, nets/recipes/ has examples
    recipe: PathBuf,
    /// The folder of the run; it is made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "print_config")]
    out: Option<PathBuf>,
    #[command(flatten)]
    data: data::Arguments,
    /// A file with the SHA-256 of shards that must not be learned from, one a line
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// What learns: cpu (the same bits everywhere), or torch or cuda or cuda:N where this program has libtorch in it
    #[arg(long, value_name = "BACKEND", default_value = "cpu", value_parser = learner)]
    backend: Learner,
    /// How exactly libtorch counts in the layers above the transformer: float32, or mixed (bfloat16)
    #[arg(long, value_name = "PRECISION", default_value_t)]
    precision: Precision,
    /// How many threads learn [default: as many as there are cores]
    #[arg(long, value_name = "T", value_parser = threads)]
    threads: Option<usize>,
    /// How many threads read
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads)]
    readers: usize,
    /// How much memory may hold positions that were read, so that they need not be read again in each round
    #[arg(long, value_name = "MIB", default_value_t = 2_048)]
    cache: u32,
    /// After how many steps a checkpoint is written, at the latest; one is at the end of each epoch
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_steps: u64,
    /// Print the recipe with all defaults, and do nothing
    #[arg(long)]
    print_config: bool,
    /// Answer as one JSON object
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
        let learner = self.learner()?;
        learner.prepare_process().context("libtorch's settings: the program cannot begin again with them")?;
        let Some(path) = &self.out else { bail!("--out is missing") };
        let data = self.data.open(&recipe, &self.recipe, &self.quarantined()?)?;
        fs::create_dir_all(path).with_context(|| format!("--out {}", path.display()))?;
        let folder = Folder::new(path);
        let threads = self.threads.unwrap_or_else(cores);
        let conditions = Conditions {
            learner,
            threads,
            readers: self.readers,
            cache_bytes: (self.cache as usize) << 20,
            checkpoint_steps: self.checkpoint_steps,
        };
        if !folder.is_run() {
            let path = folder.recipe();
            NewFile::replace(&path, recipe.to_text().as_bytes()).with_context(|| path.display().to_string())?;
        }
        let mut terminal = Terminal::new(self.json);
        let finished = run::train(&recipe, &data, &folder, &conditions, &mut terminal);
        terminal.finish();
        let finished = match finished {
            Err(error) if error.is_of_learning() => {
                writeln!(std::io::stderr(), "chuhe-trainer: {error}")?;
                return Ok(ExitCode::FAILURE);
            }
            finished => finished?,
        };
        if finished.state.steps < recipe.schedule.steps() {
            let step = finished.saved;
            writeln!(std::io::stderr(), "chuhe-trainer: stopped; the same command goes on from step {step}")?;
            return Ok(ExitCode::SUCCESS);
        }
        let export = Export { recipe: &recipe, data: &data, folder: &folder, threads };
        self.answer(&export, &finished, out)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the nets and says what came of it.
    fn answer(&self, export: &Export<'_>, last: &Finished, out: &mut impl Write) -> Result<()> {
        let Export { recipe, data, folder, threads } = *export;
        let exported = export.write(last, Kept::Last, None)?;
        let best = match last.best {
            // Whoever takes it away does not want it.
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

    fn learner(&self) -> Result<Learner> {
        match (self.backend, self.precision) {
            #[cfg(feature = "torch")]
            (Learner::Torch(place, _), Precision::Mixed) => Ok(Learner::Torch(place, crate::torch::Precision::Mixed)),
            (Learner::Processor, Precision::Mixed) => {
                bail!("--precision mixed is for libtorch: name a --backend that is")
            }
            (learner, _) => Ok(learner),
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

/// How exactly libtorch counts.
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

fn learner(text: &str) -> Result<Learner, String> {
    #[cfg(feature = "torch")]
    {
        use crate::torch::{Precision, Where};
        if text == "torch" {
            return Ok(Learner::Torch(Where::Processor, Precision::Single));
        }
        let number = text.strip_prefix("cuda").map(|rest| if rest.is_empty() { ":0" } else { rest });
        if let Some(number) = number.and_then(|rest| rest.strip_prefix(':')?.parse().ok()) {
            return Ok(Learner::Torch(Where::Card(number), Precision::Single));
        }
    }
    match text {
        "cpu" => Ok(Learner::Processor),
        _ if cfg!(feature = "torch") => Err("there are cpu, torch, cuda and cuda:N".to_owned()),
        _ => Err("this program was built without libtorch; there is only cpu".to_owned()),
    }
}
