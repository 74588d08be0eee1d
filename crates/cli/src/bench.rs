//! `chuhe bench`: the engine's signature and its speed.

use std::{io::Write, num::NonZeroUsize, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result};
use engine::{Evaluation, Settings, bench};
use nnue::{Kernel, Net};
use serde::Serialize;

use crate::{Finding, interrupt, parameters, progress::Progress, stopwatch, threads, whole::whole};

/// Search fixed positions to a fixed depth, and print the node count and the speed
///
/// With one thread the node count is the engine's signature, equal on every machine. The last two
/// lines are `nodes <N>` and `nps <N>`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The net to evaluate with [default: the plain evaluation]
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Search threads; with more than one the node count varies from run to run
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true, value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Search depth
    #[arg(long, value_name = "N", default_value_t = bench::DEPTH, allow_negative_numbers = true, value_parser = whole::<u32>(1..=64))]
    depth: u32,
    /// Set parameters of the search, separated by blanks (docs/PARAMETERS.md)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::parse)]
    param: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    /// The net's hash; none for the plain evaluation.
    net: Option<String>,
    /// The kernel that evaluated the net.
    kernel: Option<&'static str>,
    threads: usize,
    depth: u32,
    /// The overridden parameters.
    #[serde(skip_serializing_if = "String::is_empty")]
    parameters: String,
    nodes: u64,
    seconds: f64,
    nps: u64,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_without_result();
        let kernel = Kernel::from_env()?;
        let net = self.net.as_ref().map(Net::from_file).transpose().context("--net")?.map(Arc::new);
        let hash = net.as_ref().map(|net| net.hash().to_string());
        let evaluation = net.map_or(Evaluation::Plain, |net| Evaluation::Net(net, kernel));
        let settings = Settings {
            hash_mebibytes: bench::HASH_MEBIBYTES,
            threads: self.threads.get(),
            evaluation,
            parameters: parameters::joined(&self.param, "--param")?,
        };
        let mut counts = Vec::new();
        let mut progress = Progress::new("positions", Some(bench::positions().len() as u64));
        let (nodes, time) = progress.while_counting(|count| {
            stopwatch::timed(|| {
                bench::run_with(&settings, self.depth, &mut |fen, nodes| {
                    counts.push((fen.clone(), nodes));
                    count();
                })
            })
        });
        drop(progress);
        let nps = stopwatch::rate(nodes, time);
        if self.json {
            let answer = Answer {
                kernel: hash.is_some().then(|| kernel.name()),
                net: hash,
                threads: self.threads.get(),
                depth: self.depth,
                parameters: settings.parameters.to_string(),
                nodes,
                seconds: time.as_secs_f64(),
                nps,
            };
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            for (fen, nodes) in counts {
                writeln!(out, "{nodes:>10} {fen}")?;
            }
            writeln!(out, "seconds {:.3}", time.as_secs_f64())?;
            writeln!(out, "nodes {nodes}")?;
            writeln!(out, "nps {nps}")?;
        }
        Ok(Finding::Holds)
    }
}
