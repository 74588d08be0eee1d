//! `chuhe-trainer train`: trains a net by a recipe.

use std::{collections::BTreeSet, fs, io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use dataset::{AtomicFile, Digest};

use super::{conditions, data, export::Export, read_recipe, terminal::Terminal};
use crate::run::{self, Finished, Folder, Kept};

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
    #[command(flatten)]
    conditions: conditions::Arguments,
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
        let conditions = self.conditions.prepare()?;
        let Some(path) = &self.out else { bail!("--out is missing") };
        let data = self.data.open(&recipe, &self.recipe, &self.quarantined()?)?;
        fs::create_dir_all(path).with_context(|| format!("--out {}", path.display()))?;
        let folder = Folder::new(path);
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
        let export = Export { recipe: &recipe, data: &data, folder: &folder, threads: conditions.threads };
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
