//! `chuhe-trainer train`: from a recipe to a net.

use std::{collections::BTreeSet, fs, io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use dataset::{Digest, NewFile};

use super::{cores, data, export::Export, read_recipe, terminal::Terminal, threads};
use crate::run::{self, Conditions, Folder, Learner, RunError};

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
        let Some(path) = &self.out else { bail!("--out is missing") };
        let data = self.data.open(&recipe, &self.recipe, &self.quarantined()?)?;
        fs::create_dir_all(path).with_context(|| format!("--out {}", path.display()))?;
        let folder = Folder::new(path);
        let threads = self.threads.unwrap_or_else(cores);
        let conditions = Conditions {
            learner: self.backend,
            threads,
            readers: self.readers,
            cache_bytes: (self.cache as usize) << 20,
            checkpoint_steps: self.checkpoint_steps,
        };
        let resolved = folder.file("recipe.toml");
        if !run::is_run(path) {
            NewFile::replace(&resolved, recipe.to_text().as_bytes()).with_context(|| resolved.display().to_string())?;
        }
        let mut terminal = Terminal::new(self.json);
        let finished = match run::train(&recipe, &data, &folder, &conditions, &mut terminal) {
            Ok(finished) => finished,
            Err(error @ (RunError::NotANumber { .. } | RunError::Explosion { .. })) => {
                terminal.finish();
                writeln!(std::io::stderr(), "chuhe-trainer: {error}")?;
                return Ok(ExitCode::FAILURE);
            }
            Err(error) => return Err(error.into()),
        };
        terminal.finish();
        if terminal.was_stopped() {
            let steps = finished.state.steps;
            writeln!(std::io::stderr(), "chuhe-trainer: stopped at step {steps}; the same command goes on from there")?;
            return Ok(ExitCode::SUCCESS);
        }
        let export = Export { recipe: &recipe, data: &data, folder: &folder, finished: &finished, threads };
        export.write(None, self.json, out)?;
        Ok(ExitCode::SUCCESS)
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

/// Reads what learns.
pub(super) fn learner(text: &str) -> Result<Learner, String> {
    #[cfg(feature = "torch")]
    {
        use crate::torch::Where;
        if text == "torch" {
            return Ok(Learner::Torch(Where::Processor));
        }
        let number = text.strip_prefix("cuda").map(|rest| if rest.is_empty() { ":0" } else { rest });
        if let Some(number) = number.and_then(|rest| rest.strip_prefix(':')?.parse().ok()) {
            return Ok(Learner::Torch(Where::Card(number)));
        }
    }
    match text {
        "cpu" => Ok(Learner::Processor),
        _ if cfg!(feature = "torch") => Err("there are cpu, torch, cuda and cuda:N".to_owned()),
        _ => Err("this program was built without libtorch; there is only cpu".to_owned()),
    }
}
