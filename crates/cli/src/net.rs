//! `chuhe net`: what a net's file holds, whether it is sound, and what the net says of a position.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use dataset::NewFile;
use nnue::{
    Evaluator, FileError, Kernel, Net, Parameters,
    architecture::{Inputs, Sizes},
};
use serde::Serialize;
use xiangqi::{Color, Fen};

use crate::Finding;

/// Look into the files of nets
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

/// Say what a net is: its hash, its inputs and sizes, its description
#[derive(Debug, clap::Args)]
struct Info {
    /// The net
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

/// Say whether nets are sound: whole, of an architecture that this program knows, and proved not to overflow
///
/// Prints a line for each; exits 1 if one is refused.
#[derive(Debug, clap::Args)]
struct Check {
    /// The nets
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Answer as one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Say what a net thinks of positions without searching, in hundredths of a pawn
#[derive(Debug, clap::Args)]
struct Eval {
    /// The net
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A position; may be given several times [default: the starting position]
    #[arg(long, value_name = "FEN")]
    fen: Vec<Fen>,
    /// Answer as one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Write a net that knows what pieces are worth and nothing else: to measure speed with, or to try things out
///
/// Its layers hold small random numbers, so that it costs what a trained net costs.
#[derive(Debug, clap::Args)]
struct Untrained {
    /// The file to write; nothing is written over
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What it sees: kings (pieces by the place of the own king) or kings-attackers (also by what is left to attack with)
    #[arg(long, value_name = "NAME", default_value_t = Inputs::Kings)]
    inputs: Inputs,
    /// The transformer's sums for each side
    #[arg(long, value_name = "N", default_value_t = 512)]
    width: usize,
    /// The first layer's sums
    #[arg(long, value_name = "N", default_value_t = 16)]
    first: usize,
    /// The second layer's sums
    #[arg(long, value_name = "N", default_value_t = 32)]
    second: usize,
    /// How many stacks of layers there are
    #[arg(long, value_name = "N", default_value_t = 8)]
    stacks: usize,
    /// The seed of its random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Zeros instead of random numbers: what it says is material alone
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
struct Opinion<'a> {
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
                // A file that cannot be read is no unsound net.
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
                answer(out, &Opinion { fen: &text, score, red })?;
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
        NewFile::write(&self.file, &bytes)?;
        writeln!(out, "{} {}", Net::from_bytes(&bytes)?.hash(), self.file.display())?;
        Ok(Finding::Holds)
    }
}
