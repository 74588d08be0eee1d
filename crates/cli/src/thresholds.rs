//! Adjudication flags, which self-play and matches share.

use engine::Score;
use selfplay::{Adjudication, DrawRule, WinRule};

use crate::whole::whole;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Thresholds {
    /// Adjudicate a win when both sides agree on at least SCORE centipawns for PLIES plies in a row
    /// [default: never]
    #[arg(long, value_name = "SCORE,PLIES", value_parser = win)]
    adjudicate_win: Option<WinRule>,
    /// Adjudicate a draw after ply FROM when no score exceeds SCORE for PLIES plies in a row
    /// [default: never]
    #[arg(long, value_name = "SCORE,PLIES,FROM", value_parser = draw)]
    adjudicate_draw: Option<DrawRule>,
    /// End games in a draw after this many plies
    #[arg(long, value_name = "PLIES", default_value_t = 1000, value_parser = whole::<u32>(1..=100_000))]
    pub(crate) ply_cap: u32,
}

impl Thresholds {
    pub(crate) const fn adjudication(&self) -> Adjudication {
        Adjudication { win: self.adjudicate_win, draw: self.adjudicate_draw }
    }
}

fn numbers<const N: usize>(text: &str, form: &str) -> Result<[u32; N], String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= 30_000);
    let numbers: Option<Vec<_>> = text.split(',').map(number).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("expected {form}, whole numbers up to 30000"))
}

fn win(text: &str) -> Result<WinRule, String> {
    let [score, plies] = numbers(text, "SCORE,PLIES")?;
    Ok(WinRule { score: at_least_one(score)? as Score, plies: at_least_one(plies)? })
}

fn draw(text: &str) -> Result<DrawRule, String> {
    let [score, plies, from_ply] = numbers(text, "SCORE,PLIES,FROM")?;
    Ok(DrawRule { score: score as Score, plies: at_least_one(plies)?, from_ply })
}

fn at_least_one(number: u32) -> Result<u32, String> {
    if number == 0 { Err("a zero would end every game".to_owned()) } else { Ok(number) }
}
