//! `chuhe-trainer export`: from a run to a net's file, with its manifest and its card.

use std::{collections::BTreeSet, io::Write, path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use dataset::NewFile;
use nnue::{Net, Parameters};
use protocol::recipe::Recipe;

use super::{cores, data, read_recipe};
use crate::{
    batch::{Batch, Features},
    card::{self, Maker, Work},
    data::TrainingData,
    export::{self, Difference},
    inspect::Activity,
    run::{self, Finished, Folder, Metrics, Plan},
};

/// Write the net of a run as it stands
///
/// Into the run's folder go `net.nnue`, its manifest `net.json`, which says what made it, and its card `net.md`, which says
/// the same to people.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of the run
    run: PathBuf,
    /// The recipe that it follows [default: recipe.toml in its folder; then name --manifests]
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    #[command(flatten)]
    data: data::Arguments,
    /// What the net's file says of itself [default: the recipe's name]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Positions that integers and model are compared on.
const COMPARED: usize = 10_000;

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let folder = Folder::new(&self.run);
        let path = self.recipe.clone().unwrap_or_else(|| folder.file("recipe.toml"));
        let recipe = read_recipe(&path)?;
        let data = self.data.open(&recipe, &path, &BTreeSet::new())?;
        let threads = cores();
        let finished = run::finished(&recipe, &data, &folder, threads)?;
        let export = Export { recipe: &recipe, data: &data, folder: &folder, finished: &finished, threads };
        export.write(self.description.as_deref(), self.json, out)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a run has come to.
pub(crate) struct Export<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) data: &'a TrainingData,
    pub(crate) folder: &'a Folder,
    pub(crate) finished: &'a Finished,
    pub(crate) threads: usize,
}

impl Export<'_> {
    /// Rounds what was learned, compares, and writes net, manifest and card into the run's folder.
    pub(crate) fn write(&self, description: Option<&str>, json: bool, out: &mut impl Write) -> Result<()> {
        let Self { recipe, data, folder, finished, threads } = *self;
        let plan = Plan::new(recipe, data)?;
        let samples = data.held_out_samples(COMPARED)?;
        let mut batch = Batch::default();
        for sample in &samples {
            batch.push(sample, Features::of(plan.shape.sizes), plan.scale);
        }
        let values = run::values_of(&plan, &finished.state.values, &batch, threads)?;
        let words = description.unwrap_or(&recipe.name);
        if words.len() > Parameters::MAX_DESCRIPTION {
            bail!("--description has {} bytes; a net's may have {}", words.len(), Parameters::MAX_DESCRIPTION);
        }
        let learned = &finished.state.values;
        let on = Activity::of(&export::quantise(&plan.shape, learned, words)?, &batch).layers.swap_remove(0).neurons;
        let ordered = export::order_by_activity(&plan.shape, learned, &on);
        let parameters = export::quantise(&plan.shape, &ordered, words)?;
        let net = Arc::new(Net::new(&parameters)?);
        let difference = export::compare(&net, &samples, &values);
        let steps = finished.state.steps;
        let lines = Metrics::read_lines(&folder.file("metrics.jsonl"))?;
        let training_loss = lines.iter().rfind(|line| line.step <= steps).map(|line| line.loss);
        let maker = Maker::here(finished.learner.clone(), threads);
        let (scale, net_hash) = (plan.scale, *net.hash().as_bytes());
        let work = Work { recipe, data, finished, scale, net: net_hash, training_loss, difference };
        let manifest = card::manifest(&work, maker);
        let card = card::card(&manifest, recipe, description);
        // The net last: where it is, what is said of it is there too.
        let path = folder.file("net.nnue");
        for (path, bytes) in [
            (folder.file("net.json"), manifest.to_text().into_bytes()),
            (folder.file("net.md"), card.into_bytes()),
            (path.clone(), parameters.to_bytes()),
        ] {
            NewFile::replace(&path, &bytes).with_context(|| path.display().to_string())?;
        }
        let Difference { positions, mean, most, lean } = difference;
        if json {
            let answer = serde_json::json!({
                "net": net.hash().to_string(), "file": path, "steps": steps,
                "validation_loss": finished.validation_loss, "held_out": finished.held_out, "difference": difference,
            });
            writeln!(out, "{answer}")?;
        } else {
            writeln!(out, "steps {steps}")?;
            writeln!(out, "validation loss {:.6} over {} positions", finished.validation_loss, finished.held_out)?;
            writeln!(
                out,
                "integers against model, {positions} positions: mean {mean:.2}, greatest {most:.2}, lean {lean:.2} hundredths of a pawn"
            )?;
            writeln!(out, "file {}", path.display())?;
            writeln!(out, "net {}", net.hash())?;
        }
        Ok(())
    }
}
