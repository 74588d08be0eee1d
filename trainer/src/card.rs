//! The manifest of a net for programs, and its card for people.
//!
//! Both describe the run, and neither its time nor its speed: a repeated run gets the same texts.

use std::fmt::{self, Write as _};

use protocol::{
    net::{
        Architecture, Best, Format, Hardware, NetManifest, Quantisation, RecipeText, Seeds, Sha256, Source, Validation,
        Versions,
    },
    recipe::{Activation, Recipe},
};

use crate::{
    batch::Features,
    data::{SourceSummary, TrainingData},
    export::Difference,
    run::{BackendKind, Finished, Kept, Views},
    simd::Level,
};

/// The backend and the machine of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maker {
    /// The backend, with its version where that is not the trainer's.
    pub backend: String,
    /// The instruction set.
    pub instruction_set: String,
    /// The number of training threads.
    pub threads: usize,
}

impl Maker {
    /// A backend on this machine.
    #[must_use]
    pub fn here(backend: String, threads: usize) -> Self {
        let instruction_set = format!("{:?}", Level::best()).to_lowercase();
        Self { backend, instruction_set, threads }
    }
}

/// A net and the run that made it.
pub struct Work<'a> {
    /// The recipe of the run.
    pub recipe: &'a Recipe,
    /// The opened data of the recipe.
    pub data: &'a TrainingData,
    /// The end of the run: the net and its losses.
    pub finished: &'a Finished,
    /// The scale of the net's scores, in centipawns.
    pub scale: f32,
    /// The SHA-256 of the net's file.
    pub net: Sha256,
    /// The training loss of the last line of metrics.
    pub training_loss: Option<f64>,
    /// The error of quantisation.
    pub difference: Difference,
}

/// Builds the manifest of a net.
#[must_use]
pub fn manifest(work: &Work<'_>, maker: Maker) -> NetManifest {
    let Work { recipe, data, finished, .. } = work;
    let protocol::recipe::Architecture { inputs, width, first, second, stacks, activation, .. } = recipe.architecture;
    let source = |it: SourceSummary| Source {
        manifest: (*it.manifest.as_bytes()).into(),
        shards: it.shards as u64,
        positions: it.positions,
        weight: it.weight,
    };
    let Difference { positions, mean, most, lean } = work.difference;
    NetManifest {
        format: Format::One,
        name: recipe.name.clone(),
        net: work.net,
        architecture: Architecture { inputs, width, first, second, stacks, activation },
        parents: finished.parents.iter().map(|parent| (*parent.as_bytes()).into()).collect(),
        data: data.summary().into_iter().map(source).collect(),
        recipe: RecipeText::of(recipe),
        seeds: Seeds { weights: recipe.seeds.weights, order: recipe.seeds.order },
        versions: Versions { chuhe: env!("CARGO_PKG_VERSION").to_owned(), backend: maker.backend },
        hardware: Hardware { instruction_set: maker.instruction_set, threads: maker.threads as u32 },
        steps: finished.state.steps,
        positions: recipe.positions(finished.state.steps),
        scale: work.scale,
        training_loss: work.training_loss,
        validation: Validation {
            loss: finished.validation_loss,
            positions: finished.held_out as u64,
            best: finished.best.map(|best| Best { step: best.step, loss: best.loss }),
        },
        quantisation: Quantisation { mean, most, lean, positions: positions as u64 },
    }
}

/// Renders a net's card: its manifest in Markdown. `description` is the file's own, where it
/// differs from the name.
///
/// # Panics
///
/// Never: a string takes everything.
#[must_use]
pub fn card(manifest: &NetManifest, recipe: &Recipe, kept: Kept, description: Option<&str>) -> String {
    let mut card = String::new();
    write(&mut card, manifest, recipe, kept, description).expect("a string takes everything");
    card
}

fn write(card: &mut String, it: &NetManifest, recipe: &Recipe, kept: Kept, description: Option<&str>) -> fmt::Result {
    let file = kept.name();
    let NetManifest { name, net, architecture, .. } = it;
    let Architecture { width, first, second, stacks, .. } = architecture;
    let inputs = Features::of_recipe(&recipe.architecture).inputs.count();
    writeln!(card, "# {name}\n")?;
    if let Some(description) = description {
        writeln!(card, "{description}\n")?;
    }
    let positions: u64 = it.data.iter().map(|source| source.positions).sum();
    writeln!(card, "A net for xiangqi that learned from games of self-play with {} positions.\n", grouped(positions))?;
    writeln!(card, "| | |\n|---|---|")?;
    writeln!(card, "| file | `{file}.nnue` |\n| SHA-256 | `{net}` |")?;
    match architecture.activation {
        Activation::Pairs => {}
        Activation::Clipped => writeln!(card, "| for | Fairy-Stockfish, under a name that begins with `xiangqi` |")?,
        Activation::PairsSkip => writeln!(card, "| for | Pikafish, as its release of January 2026 |")?,
    }
    let by = if architecture.activation == Activation::Clipped { "the number of pieces" } else { "material" };
    writeln!(card, "| layers | {inputs} inputs → 2 × {width} → {first} → {second} → 1, {stacks} stacks by {by} |")?;
    if architecture.activation == Activation::Pairs {
        writeln!(
            card,
            "| scores | for the side to move, a pawn near 100; share of the point = 1/(1+e^(−score/{:.1})) |",
            it.scale
        )?;
    }
    writeln!(card, "\nAll of this, and the recipe, is in `{file}.json`, where programs read it.\n")?;
    writeln!(card, "## What it learned from\n")?;
    writeln!(card, "| manifest | its SHA-256 | shards | positions | weight |\n|---|---|--:|--:|--:|")?;
    for (source, named) in it.data.iter().zip(&recipe.data.sources) {
        let Source { manifest, shards, positions, weight } = source;
        writeln!(card, "| `{}` | `{manifest}` | {shards} | {} | {weight} |", named.manifest, grouped(*positions))?;
    }
    let one_in = recipe.data.validation_one_in;
    writeln!(card, "\nOne game in {one_in} was held out, whole: it was measured by them and never learned from them.")?;
    match (&recipe.start, &it.parents[..]) {
        (Some(start), [parent, ..]) => writeln!(card, "It began from the {} `{parent}` (SHA-256).", start.kind())?,
        _ => writeln!(card, "It began from nothing, with the weights' seed {}.", it.seeds.weights)?,
    }
    figures(card, it, recipe, kept)?;
    how(card, it, recipe, kept, description)
}

fn figures(card: &mut String, it: &NetManifest, recipe: &Recipe, kept: Kept) -> fmt::Result {
    let NetManifest { validation, quantisation, .. } = it;
    writeln!(card, "\n## How it went\n\n![losses and learning rate]({})\n", Views::CURVES)?;
    writeln!(card, "| | |\n|---|--:|")?;
    let planned = recipe.steps();
    let steps =
        if it.steps == planned { grouped(planned) } else { format!("{} of {}", grouped(it.steps), grouped(planned)) };
    let of_stage = |number| grouped(recipe.stage(number).schedule.batch.into());
    let batches: Vec<_> = (0..=recipe.stages.len()).map(of_stage).collect();
    writeln!(card, "| steps of {} positions | {steps} |", batches.join(", then "))?;
    writeln!(card, "| positions learned from, with repetitions | {} |", grouped(it.positions))?;
    if let Some(loss) = it.training_loss {
        writeln!(card, "| training loss, last stretch (power {}) | {loss:.6} |", recipe.loss.exponent)?;
    }
    writeln!(
        card,
        "| held-out loss (squares), {} positions | {:.6} |",
        grouped(validation.positions),
        validation.loss
    )?;
    if let Some(Best { step, loss }) = validation.best {
        writeln!(card, "| the least of all epochs, at step {} | {loss:.6} |", grouped(step))?;
    }
    let Quantisation { mean, most, lean, positions } = quantisation;
    writeln!(
        card,
        "| integers against model, {} quiet positions, hundredths of a pawn | mean {mean:.2}, most {most:.2}, lean {lean:+.2} |",
        grouped(*positions)
    )?;
    writeln!(card, "\nA loss says nothing of strength. A match does:\n")?;
    writeln!(card, "```\nchuhe match --a net:{}.nnue --b plain --pairs 1000 --nodes 2000 --sprt 0,10\n```", kept.name())
}

fn how(card: &mut String, it: &NetManifest, recipe: &Recipe, kept: Kept, description: Option<&str>) -> fmt::Result {
    let (name, file) = (&it.name, kept.name());
    writeln!(card, "\n## How to make it again\n")?;
    writeln!(card, "Put the manifests above and their shards into one folder, and there:\n")?;
    writeln!(card, "```\njq -j .recipe.text {file}.json > recipe.toml")?;
    writeln!(card, "chuhe-trainer train recipe.toml --out {name}")?;
    if let Some(description) = description {
        let best = if kept == Kept::Best { " --best" } else { "" };
        let quoted = description.replace('\'', "'\\''");
        writeln!(card, "chuhe-trainer export {name}{best} --manifests . --description '{quoted}'")?;
    }
    writeln!(card, "sha256sum {name}/{file}.nnue\n```\n")?;
    if let Some(start) = &recipe.start {
        writeln!(card, "The {} that it began from must be at `{}` there.", start.kind(), start.file())?;
    }
    if kept == Kept::Best {
        writeln!(card, "This net is of step {}, where the held-out loss was least.", grouped(it.steps))?;
    } else if it.steps < recipe.steps() {
        writeln!(card, "This net is of step {}, where the run was stopped or looked at.", grouped(it.steps))?;
    }
    if it.versions.backend == BackendKind::CPU {
        writeln!(card, "With the same version of the trainer, any machine gets the same bytes.\n")?;
    } else {
        writeln!(card, "Another machine gets a net like it, not the same bytes.\n")?;
    }
    let (Versions { chuhe, backend }, Hardware { instruction_set, threads }) = (&it.versions, &it.hardware);
    writeln!(
        card,
        "Made by chuhe-trainer {chuhe}, backend {backend}, {instruction_set}, {threads} threads, by this recipe:\n"
    )?;
    writeln!(card, "```toml\n{}```", it.recipe.text)
}

/// A count with digits grouped by thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let expected = ["0", "999", "1,000", "12,345", "1,234,567"];
        assert_eq!([0, 999, 1_000, 12_345, 1_234_567].map(grouped), expected);
    }
}
