//! Limits of one side of a match, and the decider.

use std::time::Duration;

use crate::whole::whole;

use anyhow::{Context as _, Result};
use selfplay::TimeControl;

/// Limits that differ from the common one.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("limit_of_a"), group = clap::ArgGroup::new("limit_of_b"))]
pub(super) struct SideLimits {
    /// Limit each move of A to N nodes, instead of the common limit
    #[arg(long, value_name = "N", group = "limit_of_a", value_parser = whole::<u64>(1..))]
    a_nodes: Option<u64>,
    /// Limit each move of A to MS milliseconds
    #[arg(long, value_name = "MS", group = "limit_of_a", value_parser = whole::<u64>(1..))]
    a_movetime: Option<u64>,
    /// Give A this clock
    #[arg(long, value_name = "CLOCK", group = "limit_of_a")]
    a_tc: Option<TimeControl>,
    /// Limit each move of B to N nodes, instead of the common limit
    #[arg(long, value_name = "N", group = "limit_of_b", value_parser = whole::<u64>(1..))]
    b_nodes: Option<u64>,
    /// Limit each move of B to MS milliseconds
    #[arg(long, value_name = "MS", group = "limit_of_b", value_parser = whole::<u64>(1..))]
    b_movetime: Option<u64>,
    /// Give B this clock
    #[arg(long, value_name = "CLOCK", group = "limit_of_b")]
    b_tc: Option<TimeControl>,
    /// Play deciders of the Asian rules: Black has two thirds of its limit, and a draw is Black's
    /// win
    #[arg(long)]
    pub(super) decider: bool,
}

impl SideLimits {
    /// The time controls of A and B.
    pub(super) fn time_controls(&self, common: Option<TimeControl>) -> Result<[TimeControl; 2]> {
        let own = |side: char, nodes: Option<u64>, time: Option<u64>, clock| {
            let time = time.map(|time| TimeControl::MoveTime(Duration::from_millis(time)));
            nodes.map(TimeControl::Nodes).or(time).or(clock).or(common).with_context(|| {
                format!("no limit for --{side}: give --nodes, --movetime or --tc, or --{side}-nodes and the like")
            })
        };
        Ok([own('a', self.a_nodes, self.a_movetime, self.a_tc)?, own('b', self.b_nodes, self.b_movetime, self.b_tc)?])
    }
}
