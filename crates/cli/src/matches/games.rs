//! The arguments that matches and tournaments share: limits, openings, rules.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use anyhow::{Context as _, Result};
use selfplay::{Book, Conditions, Filter, OpeningOrder, Openings, TimeControl};
use xiangqi::rules::RuleSet;

use super::entrant::EngineSettings;
use crate::{external::Timeouts, stopwatch::Stopwatch, threads, thresholds::Thresholds, whole::whole};

/// Nodes of the plain evaluation's search that filters openings.
const OPENING_NODES: u64 = 10_000;

/// How games are played.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("limit"))]
pub(crate) struct GameArguments {
    /// Limit each move to N nodes
    #[arg(long, value_name = "N", group = "limit", value_parser = whole::<u64>(1..))]
    nodes: Option<u64>,
    /// Limit each move to MS milliseconds
    #[arg(long, value_name = "MS", group = "limit", value_parser = whole::<u64>(1..))]
    movetime: Option<u64>,
    /// Give each side a clock in seconds: `10+0.1`, without increment `60`, or in periods of 40
    /// moves `40/60`
    #[arg(long, value_name = "CLOCK", group = "limit")]
    tc: Option<TimeControl>,
    /// Milliseconds of grace, per move or per clock, before a game is lost on time
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pub(crate) grace: u64,
    /// Milliseconds of silence beyond its time after which an engine counts as stalled
    #[arg(long, value_name = "MS", default_value_t = 60_000, value_parser = whole::<u64>(1..))]
    watchdog: u64,
    /// Opening book (FEN or EPD, one a line), shuffled by the seed
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Random moves at the start [default: 6, or none with a book]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=200))]
    random_plies: Option<u32>,
    /// Greatest imbalance of random openings, in centipawns, by a short search without a net
    #[arg(long, value_name = "SCORE", default_value_t = 150, value_parser = whole::<i32>(0..=30_000))]
    opening_bound: i32,
    /// The seed of the openings
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole::<u64>(..))]
    pub(crate) seed: u64,
    /// The rulebook: cxr, wxf, axf, wikibook or simple
    #[arg(long, default_value_t)]
    pub(crate) rules: RuleSet,
    /// Hash table size of each engine
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = whole::<u32>(1..=65_536))]
    pub(crate) hash: u32,
    #[command(flatten)]
    pub(crate) thresholds: Thresholds,
    /// Games played in parallel
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    pub(crate) threads: NonZeroUsize,
}

impl GameArguments {
    /// Reads the book, if any.
    pub(crate) fn book(&self) -> Result<Option<Book>> {
        self.book.as_ref().map(|path| Book::from_file(path, self.rules)).transpose().context("--book")
    }

    pub(crate) fn engine_settings<'a>(&self, timer: &'a Stopwatch) -> EngineSettings<'a> {
        let timeouts =
            Timeouts { grace: Duration::from_millis(self.grace), watchdog: Duration::from_millis(self.watchdog) };
        EngineSettings { hash_mebibytes: self.hash as usize, timeouts, timer }
    }

    /// The common limit of all engines, if there is one.
    pub(crate) fn time_control(&self) -> Option<TimeControl> {
        let time = || self.movetime.map(|time| TimeControl::MoveTime(Duration::from_millis(time)));
        self.nodes.map(TimeControl::Nodes).or_else(time).or(self.tc)
    }

    pub(crate) fn conditions(&self, time_controls: [TimeControl; 2], decider: bool) -> Conditions {
        Conditions {
            time_controls,
            decider,
            grace: Duration::from_millis(self.grace),
            adjudication: self.thresholds.adjudication(),
            ply_cap: self.thresholds.ply_cap,
        }
    }

    pub(crate) fn random_plies(&self) -> u32 {
        self.random_plies.unwrap_or(if self.book.is_some() { 0 } else { 6 })
    }

    /// The openings of the pairs in order; a function of the seed.
    pub(crate) fn openings(&self, book: Option<Book>) -> OpeningOrder {
        let plies = self.random_plies();
        let filter = (plies > 0).then_some(Filter { nodes: OPENING_NODES, bound: self.opening_bound });
        OpeningOrder::new(Openings { rules: self.rules, book, plies, filter }, self.seed)
    }

    /// Describes the openings.
    pub(crate) fn openings_name(&self, book: Option<&Book>) -> String {
        match book {
            Some(book) => format!("book {} of {} positions", book.hash(), book.positions().len()),
            None => format!("random openings, seed {}", self.seed),
        }
    }

    /// Describes the limits, rules and openings.
    pub(crate) fn description(&self, limits: &str, decider: bool, book: Option<&Book>) -> String {
        let (grace, rules, openings) = (self.grace, self.rules, self.openings_name(book));
        let decider = if decider { ", deciders" } else { "" };
        format!("{limits}{decider}, grace {grace} ms, {rules} rules, {openings}")
    }
}
