//! `chuhe-trainer export`: writes a run's net, with its manifest and its card.

use std::{collections::BTreeSet, io::Write, path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use dataset::AtomicFile;
use nnue::{Net, Parameters};
use protocol::{net::Sha256, recipe::Recipe};
use serde::Serialize;

use super::{cores, data, read_recipe};
use crate::{
    batch::{Batch, Features},
    card::{self, Maker, Work},
    data::TrainingData,
    export::{self, Difference},
    foreign::ForeignNet,
    inspect::Activity,
    run::{self, Finished, Folder, Kept, Metrics, Plan},
};

/// Export the net of a run
///
/// Writes `net.nnue`, its manifest `net.json` for programs and its card `net.md` for people into
/// the run's folder; with --best `best.nnue`, `best.json` and `best.md`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of the run
    run: PathBuf,
    /// Export the epoch with the least held-out loss
    #[arg(long)]
    best: bool,
    /// The recipe of the run [default: recipe.toml in its folder; then name --manifests]
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    #[command(flatten)]
    data: data::Arguments,
    /// The description in the net's file [default: the recipe's name]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Positions on which the quantised net is compared with the model.
const COMPARED_POSITIONS: usize = 10_000;

/// Mean error of quantisation, in centipawns, from which a warning is printed.
const LARGE_QUANTISATION_ERROR: f64 = 3.0;

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let folder = Folder::new(&self.run);
        let path = self.recipe.clone().unwrap_or_else(|| folder.recipe());
        let recipe = read_recipe(&path)?;
        let data = self.data.open(&recipe, &path, &BTreeSet::new())?;
        let kept = if self.best { Kept::Best } else { Kept::Last };
        let export = Export { recipe: &recipe, data: &data, folder: &folder, threads: cores() };
        let finished = run::finished(&recipe, &data, &folder, kept, export.threads)?;
        let exported = export.write(&finished, kept, self.description.as_deref())?;
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&exported)?)?;
        } else {
            exported.print(out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The export of a run.
pub(crate) struct Export<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) data: &'a TrainingData,
    pub(crate) folder: &'a Folder,
    pub(crate) threads: usize,
}

/// A summary of the exported net.
#[derive(Debug, Serialize)]
pub(crate) struct Exported {
    net: String,
    file: PathBuf,
    steps: u64,
    validation_loss: f64,
    held_out: usize,
    difference: Difference,
}

impl Export<'_> {
    /// Quantises the net, measures the error, and writes net, manifest and card into the run's
    /// folder.
    pub(crate) fn write(&self, finished: &Finished, kept: Kept, description: Option<&str>) -> Result<Exported> {
        let Self { recipe, data, folder, threads } = *self;
        let words = description.unwrap_or(&recipe.name);
        if words.len() > Parameters::MAX_DESCRIPTION {
            bail!("--description has {} bytes; a net's may have {}", words.len(), Parameters::MAX_DESCRIPTION);
        }
        let plan = Plan::new(recipe, data)?;
        let samples = data.quiet_samples(COMPARED_POSITIONS)?;
        let mut batch = Batch::default();
        for sample in &samples {
            batch.push(sample, Features::of(&plan.shape), plan.scale);
        }
        let learned = finished.state.net();
        let values = run::values_of(&plan, learned, &batch, threads)?;
        let (bytes, difference) = if plan.shape.foreign_engine().is_some() {
            let net = ForeignNet::quantise(&plan.shape, learned)?;
            (net.to_bytes(words), net.compare(&plan.shape, &batch, &values))
        } else {
            let integers = export::quantise(&plan.shape, learned, words)?;
            let on = Activity::of(&integers, &batch).layers.swap_remove(0).neurons;
            let ordered = export::order_by_activity(&plan.shape, learned, &on);
            let parameters = export::quantise(&plan.shape, &ordered, words)?;
            let net = Arc::new(Net::new(&parameters)?);
            (parameters.to_bytes(), export::compare(&net, &samples, &values))
        };
        let net = Sha256::of(&bytes);
        let steps = finished.state.steps;
        let lines = Metrics::read_lines(&folder.metrics())?;
        let training_loss = lines.iter().rfind(|line| line.step <= steps).map(|line| line.loss);
        let maker = Maker::here(finished.backend.clone(), threads);
        let work = Work { recipe, data, finished, scale: plan.scale, net, training_loss, difference };
        let manifest = card::manifest(&work, maker);
        let card = card::card(&manifest, recipe, kept, description);
        // The net is written last, so that a net never lacks its manifest and card.
        let path = folder.net(kept, "nnue");
        for (path, bytes) in [
            (folder.net(kept, "json"), manifest.to_text().into_bytes()),
            (folder.net(kept, "md"), card.into_bytes()),
            (path.clone(), bytes),
        ] {
            AtomicFile::replace(&path, &bytes).with_context(|| path.display().to_string())?;
        }
        // A closed standard error is no reason to stop.
        if difference.positions < COMPARED_POSITIONS {
            let _ = writeln!(
                std::io::stderr(),
                "chuhe-trainer: {}: compared with the model on {} positions instead of {COMPARED_POSITIONS}: the held-out games have no more quiet ones",
                path.display(),
                difference.positions
            );
        }
        if difference.mean >= LARGE_QUANTISATION_ERROR {
            let what = if plan.shape.fake_quantisation {
                "more was clipped than learning knows of"
            } else {
                "with `quantisation.mode = \"fake\"` they would be nearer"
            };
            let _ = writeln!(
                std::io::stderr(),
                "chuhe-trainer: {}: its integers are {:.2} hundredths of a pawn from the model; {what}",
                path.display(),
                difference.mean
            );
        }
        let Finished { validation_loss, held_out, .. } = *finished;
        Ok(Exported { net: net.to_string(), file: path, steps, validation_loss, held_out, difference })
    }
}

impl Exported {
    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        let Self { net, file, steps, validation_loss, held_out, difference } = self;
        let Difference { positions, mean, most, lean } = difference;
        writeln!(out, "steps {steps}")?;
        writeln!(out, "validation loss {validation_loss:.6} over {held_out} positions")?;
        writeln!(
            out,
            "integers against model, {positions} quiet positions: mean {mean:.2}, greatest {most:.2}, lean {lean:.2} hundredths of a pawn"
        )?;
        writeln!(out, "file {}", file.display())?;
        writeln!(out, "net {net}")?;
        Ok(())
    }
}
