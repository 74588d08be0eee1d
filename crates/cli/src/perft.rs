//! `chuhe perft`: counts the tree of legal moves.

use std::{
    io::Write,
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use serde::Serialize;
use xiangqi::{Fen, perft};

use crate::{Finding, interrupt, progress::Progress, stopwatch, threads, whole::whole};

/// Count the leaf positions of all legal move sequences of a length
///
/// Only legal moves count here: games do not end by repetition or by the natural limit. The last
/// line is `nodes <N>`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The position to start from [default: the starting position]
    #[arg(long)]
    fen: Option<String>,
    /// Length of the sequences, in plies
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(0..=32))]
    depth: u32,
    /// Also print the count of each first move
    #[arg(long)]
    divide: bool,
    /// Threads that count
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true, value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    fen: String,
    depth: u32,
    nodes: u64,
    seconds: f64,
    nps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Share>>,
}

#[derive(Serialize)]
struct Share {
    #[serde(rename = "move")]
    mv: String,
    nodes: u64,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_without_result();
        let fen = match &self.fen {
            Some(fen) => fen.parse().context("--fen")?,
            None => Fen::start(),
        };
        let progress = Mutex::new(None);
        let report = |counted, subtrees: usize| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.get_or_insert_with(|| Progress::new("subtrees", Some(subtrees as u64))).set(counted as u64);
        };
        let counting = || perft::divide_with_progress(&fen.position, self.depth, self.threads, report);
        let (shares, time) = stopwatch::timed(counting);
        drop(progress);
        let nodes = if self.depth == 0 { 1 } else { shares.iter().map(|(_, nodes)| nodes).sum() };
        let nps = stopwatch::rate(nodes, time);
        let shares = shares.into_iter().map(|(mv, nodes)| Share { mv: mv.to_string(), nodes });
        if self.json {
            let answer = Answer {
                fen: fen.to_string(),
                depth: self.depth,
                nodes,
                seconds: time.as_secs_f64(),
                nps,
                divide: self.divide.then(|| shares.collect()),
            };
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            if self.divide {
                for share in shares {
                    writeln!(out, "{} {}", share.mv, share.nodes)?;
                }
            }
            writeln!(out, "seconds {:.3}", time.as_secs_f64())?;
            writeln!(out, "nps {nps}")?;
            writeln!(out, "nodes {nodes}")?;
        }
        Ok(Finding::Holds)
    }
}
