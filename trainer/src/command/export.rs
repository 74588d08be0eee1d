//! `chuhe-trainer export`: from a run to a net's file.

use std::{io::Write, path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result};
use nnue::{Net, Parameters};
use protocol::recipe::Recipe;

use super::{cores, read_recipe};
use crate::{
    batch::Batch,
    checkpoint::write_whole,
    data::TrainingData,
    export::{self, Difference},
    model::{Arrays, Shape},
    run::{self, Finished, Folder, Plan},
};

/// Write the net of a run as it stands
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of the run
    run: PathBuf,
    /// The recipe that it follows, whose data the integers are compared on
    #[arg(long, value_name = "FILE")]
    recipe: PathBuf,
    /// Where the shards are [default: beside their manifest]
    #[arg(long, value_name = "DIR")]
    shards: Option<PathBuf>,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Positions that integers and model are compared on.
const COMPARED: usize = 10_000;

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let recipe = read_recipe(&self.recipe)?;
        let beside = self.recipe.parent().unwrap_or(std::path::Path::new("."));
        let data = TrainingData::open(&recipe, beside, self.shards.as_deref(), &std::collections::BTreeSet::new())?;
        let folder = Folder::new(&self.run);
        let plan = Plan::new(&recipe, &data)?;
        let state = crate::checkpoint::Checkpoint::read(&folder.checkpoint(), &plan.shape)?.state;
        let finished = Finished { state, validation_loss: f64::NAN, held_out: 0 };
        write(&recipe, &data, &folder, &finished, cores(), self.json, out)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Rounds what a run has learned, compares, and writes it into the run's folder.
pub(super) fn write(
    recipe: &Recipe,
    data: &TrainingData,
    folder: &Folder,
    finished: &Finished,
    threads: usize,
    json: bool,
    out: &mut impl Write,
) -> Result<()> {
    let plan = Plan::new(recipe, data)?;
    let samples = data.held_out_samples(COMPARED)?;
    let mut batch = Batch::default();
    for sample in &samples {
        batch.push(sample, plan.shape.sizes.stacks(), plan.scale);
    }
    let values = run::values_of(&plan, &finished.state.values, &batch, threads)?;
    let parameters = quantise(recipe, &plan.shape, &finished.state.values)?;
    let net = Arc::new(Net::new(&parameters)?);
    let difference = export::compare(&net, &samples, &values);
    let path = folder.file("net.nnue");
    write_whole(&path, &parameters.to_bytes()).with_context(|| path.display().to_string())?;
    let Difference { positions, mean, most, lean } = difference;
    if json {
        let answer = serde_json::json!({
            "net": net.hash().to_string(), "file": path, "steps": finished.state.steps,
            "validation_loss": finished.validation_loss, "held_out": finished.held_out, "difference": difference,
        });
        writeln!(out, "{answer}")?;
    } else {
        writeln!(out, "steps {}", finished.state.steps)?;
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

fn quantise(recipe: &Recipe, shape: &Shape, values: &Arrays) -> Result<Parameters> {
    Ok(export::quantise(shape, values, &recipe.name)?)
}
