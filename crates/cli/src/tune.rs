//! `chuhe tune`: SPSA of the search's parameters.

mod chart;
mod run;
mod state;

use std::{collections::BTreeMap, io::Write, num::NonZeroUsize, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result, bail};
use engine::{Evaluation, Parameters, bench, tune::Parameter};
use nnue::{Kernel, Net};
use serde::Serialize;
use xiangqi::rules::RuleSet;

use crate::{Finding, interrupt, parameters, progress::Progress, threads, thresholds::Thresholds, whole::whole};
use run::Run;
use state::{Plan, State};

/// Iterations between two writings of the chart and two lines of progress.
const REPORT_PERIOD: usize = 20;

/// Tune parameters of the search by SPSA: two opposite perturbations play each other
///
/// Each iteration moves all named parameters at once, with random signs, and plays pairs of games
/// at fixed nodes between the set and its opposite. The gains follow Spall's power laws.
///
/// The state file has the results of all iterations. The same command resumes a run from it, also
/// after a kill, and then plays what an uninterrupted run would have played.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Parameters to tune (docs/PARAMETERS.md); C is the perturbation of the last iteration
    /// [default: the parameter's step]
    #[arg(required = true, value_name = "NAME[=C]", value_parser = target)]
    names: Vec<Target>,
    /// State file: created, or resumed
    #[arg(long, value_name = "FILE")]
    state: PathBuf,
    /// Iterations
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=10_000_000))]
    iterations: u64,
    /// Game pairs of an iteration
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u64>(1..=10_000))]
    pairs: u64,
    /// Limit each move to N nodes
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    nodes: u64,
    /// Step of the last iteration for each game won more than lost, as a part of the perturbation
    #[arg(long, value_name = "R", default_value_t = 0.002, value_parser = rate)]
    rate: f64,
    /// Set the parameters to start from, separated by blanks [default: the defaults]
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::parse)]
    param: Vec<String>,
    /// The net that plays [default: the plain evaluation]
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Random moves at the start
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = whole::<u32>(0..=200))]
    random_plies: u32,
    /// Greatest imbalance of random openings, in centipawns, by a short search without a net
    #[arg(long, value_name = "SCORE", default_value_t = 150, value_parser = whole::<i32>(0..=30_000))]
    opening_bound: i32,
    /// Seed of perturbations and openings
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole::<u64>(..))]
    seed: u64,
    /// The rulebook: cxr, wxf, axf, wikibook or simple
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// Hash table size
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = whole::<u32>(1..=65_536))]
    hash: u32,
    #[command(flatten)]
    thresholds: Thresholds,
    /// Games played in parallel; they change nothing but the duration
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Write a chart of the values (SVG), replaced every 20 iterations
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A parameter to tune, and its last perturbation.
type Target = (&'static Parameter, f64);

fn target(text: &str) -> Result<Target, String> {
    let (name, perturbation) = text.split_once('=').map_or((text, None), |(name, end)| (name, Some(end)));
    let Some(parameter) = Parameter::find(name) else {
        return Err(format!("there is no parameter `{name}` (docs/PARAMETERS.md lists them)"));
    };
    let Some(end) = perturbation else { return Ok((parameter, f64::from(parameter.step))) };
    let limit = f64::from(parameter.max - parameter.min);
    let end = end.parse().ok().filter(|end| *end > 0.0 && *end <= limit);
    end.map(|end| (parameter, end)).ok_or_else(|| format!("a perturbation of {name} is above 0 and at most {limit}"))
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0).ok_or_else(|| "a rate is above 0 and at most 1".into())
}

#[derive(Serialize)]
struct Answer {
    iterations: u64,
    games: u64,
    /// All parameters that differ from their defaults, rounded.
    parameters: String,
    values: BTreeMap<&'static str, Found>,
}

#[derive(Serialize)]
struct Found {
    start: i32,
    value: f64,
    rounded: i32,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        for (index, (parameter, _)) in self.names.iter().enumerate() {
            if self.names[..index].iter().any(|(earlier, _)| earlier.name == parameter.name) {
                bail!("{}: it is named twice", parameter.name);
            }
        }
        let kernel = Kernel::from_env()?;
        let net = self.net.as_ref().map(Net::from_file).transpose().context("--net")?.map(Arc::new);
        let start = parameters::joined(&self.param, "--param")?;
        let plan = self.plan(net.as_ref().map(|net| net.hash().to_string()), &start);
        let mut state = State::open(&self.state, &plan).context("--state")?;
        let evaluation = net.map_or(Evaluation::Plain, |net| Evaluation::Net(net, kernel));
        let mut run = Run::new(self, start, evaluation);
        for round in state.rounds() {
            run.update(round);
        }
        let resumed = run.history.len();
        let mut progress = Progress::new("iterations", Some(self.iterations));
        if resumed > 0 {
            progress.resume(resumed as u64);
            progress.announce(&format!("resumed after {resumed} iterations"))?;
        }
        let state_file = self.state.display();
        interrupt::exit_with(format!("finished iterations are kept in {state_file}; the same command continues"));
        for index in resumed as u64..self.iterations {
            let round = run.play(index)?;
            state.append(&round).context("--state")?;
            run.update(&round);
            if run.history.len().is_multiple_of(REPORT_PERIOD) {
                progress.announce(&format!("iteration {}/{}: {}", index + 1, self.iterations, run.parameters()))?;
                run.draw()?;
            }
            progress.count(1);
        }
        drop(progress);
        run.draw()?;
        run.answer().print(self.json, out)?;
        Ok(Finding::Holds)
    }

    fn plan(&self, net: Option<String>, start: &Parameters) -> Plan {
        Plan {
            format: 1,
            bench_signature: bench::SIGNATURE,
            net,
            parameters: start.to_string(),
            tuned: self.names.iter().map(|(parameter, end)| (parameter.name.to_owned(), *end)).collect(),
            iterations: self.iterations,
            pairs: self.pairs,
            nodes: self.nodes,
            rate: self.rate,
            random_plies: self.random_plies,
            opening_bound: self.opening_bound,
            seed: self.seed,
            rules: self.rules.name().to_owned(),
            hash_mebibytes: self.hash,
            adjudication: self.thresholds.adjudication(),
            ply_cap: self.thresholds.ply_cap,
        }
    }
}

impl Answer {
    fn print(&self, json: bool, out: &mut impl Write) -> Result<()> {
        if json {
            serde_json::to_writer(&mut *out, self)?;
            writeln!(out)?;
            return Ok(());
        }
        for (name, Found { start, value, rounded }) in &self.values {
            writeln!(out, "{name} {start} -> {rounded} ({value:.2})")?;
        }
        writeln!(out, "games {} in {} iterations", self.games, self.iterations)?;
        let parameters = if self.parameters.is_empty() { "(defaults)" } else { &self.parameters };
        writeln!(out, "parameters {parameters}")?;
        Ok(())
    }
}
