//! `chuhe net`: inspects and checks net files, and evaluates positions.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use dataset::AtomicFile;
use nnue::{
    Evaluator, FileError, Kernel, Net, Parameters,
    architecture::{Inputs, Sizes},
};
use serde::Serialize;
use xiangqi::{Color, Fen};

use crate::{Finding, whole::whole};

/// Inspect, check and create net files
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Info(Info),
    Check(Check),
    Eval(Eval),
    Untrained(Untrained),
}

/// Print a net's hash, inputs, sizes and description
#[derive(Debug, clap::Args)]
struct Info {
    /// File of the net
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Check nets: whole, of a known architecture, and proved not to overflow
///
/// Prints a line for each; exits 1 if one is refused.
#[derive(Debug, clap::Args)]
struct Check {
    /// Files of the nets
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Print a net's static evaluation of positions, in centipawns
#[derive(Debug, clap::Args)]
struct Eval {
    /// File of the net
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A position; may be repeated [default: the starting position]
    #[arg(long, value_name = "FEN")]
    fen: Vec<Fen>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Write a net that knows only piece values, to measure speed or to try things out
///
/// Its layers hold small random numbers, so that it costs what a trained net costs.
#[derive(Debug, clap::Args)]
struct Untrained {
    /// File to write; existing files are not overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Inputs: kings (pieces by the own king's point) or kings-attackers (also by the attackers
    /// left)
    #[arg(long, value_name = "NAME", default_value_t = Inputs::Kings)]
    inputs: Inputs,
    /// Width of the transformer, for each side
    #[arg(long, value_name = "N", default_value_t = 512)]
    width: usize,
    /// Neurons of the first layer
    #[arg(long, value_name = "N", default_value_t = 16)]
    first: usize,
    /// Neurons of the second layer
    #[arg(long, value_name = "N", default_value_t = 32)]
    second: usize,
    /// Number of layer stacks
    #[arg(long, value_name = "N", default_value_t = 8)]
    stacks: usize,
    /// Seed of its random numbers
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole::<u64>(..))]
    seed: u64,
    /// Zeros instead of random numbers: the evaluation is material alone
    #[arg(long, conflicts_with = "seed")]
    only_material: bool,
}

#[derive(Serialize)]
struct Facts<'a> {
    hash: String,
    architecture: String,
    inputs: &'static str,
    width: usize,
    first: usize,
    second: usize,
    stacks: usize,
    bytes: u64,
    description: &'a str,
}

#[derive(Serialize)]
struct Verdict<'a> {
    file: &'a Path,
    sound: bool,
    hash: Option<String>,
    fault: Option<String>,
}

#[derive(Serialize)]
struct EvalAnswer<'a> {
    fen: &'a str,
    /// For the side to move.
    score: i32,
    /// For Red.
    red: i32,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        match &self.command {
            Command::Info(info) => info.run(out),
            Command::Check(check) => check.run(out),
            Command::Eval(eval) => eval.run(out),
            Command::Untrained(untrained) => untrained.run(out),
        }
    }
}

fn answer(out: &mut impl Write, answer: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    Ok(writeln!(out)?)
}

impl Info {
    fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let net = Net::from_file(&self.file)?;
        let sizes = net.sizes();
        let bytes = fs::metadata(&self.file).with_context(|| self.file.display().to_string())?.len();
        let facts = Facts {
            hash: net.hash().to_string(),
            architecture: format!("{:016x}", sizes.architecture_id()),
            inputs: sizes.inputs().name(),
            width: sizes.width(),
            first: sizes.first(),
            second: sizes.second(),
            stacks: sizes.stacks(),
            bytes,
            description: net.description(),
        };
        if self.json {
            answer(out, &facts)?;
        } else {
            let Facts { hash, architecture, inputs, width, first, second, stacks, bytes, description } = facts;
            writeln!(out, "hash          {hash}")?;
            writeln!(
                out,
                "architecture  {architecture}: {inputs}, {width} a side, layers {first} and {second}, {stacks} stacks"
            )?;
            writeln!(out, "bytes         {bytes}")?;
            writeln!(out, "description   {}", description.escape_debug())?;
        }
        Ok(Finding::Holds)
    }
}

impl Check {
    fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let mut finding = Finding::Holds;
        for file in &self.files {
            let (hash, fault) = match Net::from_file(file) {
                Ok(net) => (Some(net.hash().to_string()), None),
                Err(FileError::Refused { cause, .. }) => (None, Some(cause.to_string())),
                // An unreadable file is an error, not an unsound net.
                Err(error @ FileError::Unreadable { .. }) => return Err(error.into()),
            };
            if fault.is_some() {
                finding = Finding::Fails;
            }
            if self.json {
                answer(out, &Verdict { file, sound: fault.is_none(), hash, fault })?;
            } else if let Some(fault) = fault {
                writeln!(out, "refused  {}: {fault}", file.display())?;
            } else {
                writeln!(out, "sound    {}: {}", file.display(), hash.unwrap_or_default())?;
            }
        }
        Ok(finding)
    }
}

impl Eval {
    fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let mut evaluator = Evaluator::new(Arc::new(Net::from_file(&self.file)?), Kernel::from_env()?);
        let start = [Fen::start()];
        let fens = if self.fen.is_empty() { &start[..] } else { &self.fen };
        for fen in fens {
            evaluator.reset(&fen.position);
            let score = evaluator.evaluate(&fen.position);
            let red = if fen.position.turn() == Color::Red { score } else { -score };
            let text = fen.to_string();
            if self.json {
                answer(out, &EvalAnswer { fen: &text, score, red })?;
            } else {
                writeln!(out, "{score:>6} for the side to move in {text}")?;
            }
        }
        Ok(Finding::Holds)
    }
}

impl Untrained {
    fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let sizes = Sizes::new(self.width, self.first, self.second, self.stacks)?;
        let sizes = sizes.with_inputs(self.inputs);
        let parameters = if self.only_material {
            Parameters::only_piece_values(sizes)
        } else {
            Parameters::from_piece_values(sizes, self.seed)
        };
        let bytes = parameters.to_bytes();
        AtomicFile::write(&self.file, &bytes)?;
        writeln!(out, "{} {}", Net::from_bytes(&bytes)?.hash(), self.file.display())?;
        Ok(Finding::Holds)
    }
}
