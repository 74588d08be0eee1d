//! `chuhe-trainer inspect`: statistics of a net's weights and neurons.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use dataset::AtomicFile;

use super::{data, read_recipe};
use crate::{
    batch::{Batch, Features},
    inspect::{Activity, Inspection, Statistics, Subject},
    picture,
};

/// Inspect a run, a checkpoint or a net: the distribution of its weights, and its dead neurons
///
/// With a recipe, or with --manifests for the run's own, the net is also run on held-out positions.
/// It counts how often each neuron is active, and how many positions each layer stack has.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of a run, a checkpoint (.safetensors), or a net (.nnue)
    what: PathBuf,
    /// Recipe of the held-out positions [default: the run's own, if --manifests, --shards or
    /// --server is given]
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    #[command(flatten)]
    data: data::Arguments,
    /// Number of held-out positions
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,
    /// Also draw a picture: histograms, boards, activity
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let subject = Subject::read(&self.what)?;
        let batch = self.batch(Features::of(&subject.shape))?;
        let inspection = Inspection::of(&subject, batch.as_ref());
        if let Some(path) = &self.svg {
            let name = self.what.file_name().map_or_else(|| "net".into(), |name| name.to_string_lossy());
            let svg = picture::net(&name, &subject, &inspection);
            AtomicFile::replace(path, svg.as_bytes()).with_context(|| format!("--svg {}", path.display()))?;
        }
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&inspection)?)?;
        } else {
            print(&inspection, out)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The held-out positions, if a recipe is given.
    fn batch(&self, features: Features) -> Result<Option<Batch>> {
        let own = || {
            let named = self.data.is_named();
            let folder = if self.what.is_dir() { Some(self.what.as_path()) } else { self.what.parent() };
            named.then(|| folder.unwrap_or(Path::new(".")).join("recipe.toml"))
        };
        let Some(path) = self.recipe.clone().or_else(own) else { return Ok(None) };
        let recipe = read_recipe(&path)?;
        let data = self.data.open(&recipe, &path, &BTreeSet::new())?;
        let mut batch = Batch::default();
        for sample in data.held_out_samples(self.positions as usize)? {
            batch.push(&sample, features, 1.0);
        }
        Ok(Some(batch))
    }
}

fn print(inspection: &Inspection, out: &mut impl Write) -> Result<()> {
    writeln!(out, "layers {}", inspection.sizes)?;
    if let Some(steps) = inspection.steps {
        writeln!(out, "steps {steps}")?;
    }
    writeln!(
        out,
        "{:<20}{:>9}{:>11}{:>11}{:>11}{:>11}{:>10}{:>9}",
        "array", "count", "mean", "deviation", "least", "greatest", "at limit", "zero"
    )?;
    for it in &inspection.arrays {
        let Statistics { array, count, mean, deviation, least, greatest, at_limit, zero, .. } = it;
        let (at_limit, zero) = (at_limit * 100.0, zero * 100.0);
        writeln!(
            out,
            "{array:<20}{count:>9}{mean:>11.5}{deviation:>11.5}{least:>11.5}{greatest:>11.5}{at_limit:>9.2}%{zero:>8.2}%"
        )?;
    }
    let it = inspection.unreachable;
    writeln!(
        out,
        "never on by their weights: {} pairs, {} of the first layer, {} of the second",
        it.pairs, it.first, it.second
    )?;
    inspection.activity.iter().try_for_each(|activity| print_activity(activity, out))
}

fn print_activity(activity: &Activity, out: &mut impl Write) -> Result<()> {
    let positions: u64 = activity.positions.iter().sum();
    writeln!(out, "on {positions} positions:")?;
    for layer in &activity.layers {
        writeln!(out, "{:<20}{} of {} neurons never on", layer.layer, layer.never_on, layer.neurons.len())?;
    }
    writeln!(out, "{:<8}{:>10}  {:<14}{:>9}{:>11}{:>8}", "stack", "positions", "layer", "on", "saturated", "mean")?;
    for (stack, positions) in activity.positions.iter().enumerate() {
        for layer in &activity.layers {
            let share = layer.stacks[stack];
            let (on, saturated) = (share.on * 100.0, share.saturated * 100.0);
            writeln!(
                out,
                "{:<8}{positions:>10}  {:<14}{on:>8.2}%{saturated:>10.2}%{:>8.4}",
                stack + 1,
                layer.layer,
                share.mean
            )?;
        }
    }
    Ok(())
}
