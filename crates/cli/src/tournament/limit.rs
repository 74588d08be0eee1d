//! Limits as one argument, and the odds of an engine.

use std::{str::FromStr, time::Duration};

use selfplay::TimeControl;

/// Parses `nodes=N`, `movetime=MS` or `tc=CLOCK`.
pub(super) fn limit(text: &str) -> Result<TimeControl, String> {
    let expected = || format!("`{text}` is no limit: nodes=N, movetime=MS or tc=CLOCK");
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    let number = || value.parse().ok().filter(|number| *number > 0).ok_or_else(expected);
    match name {
        "nodes" => Ok(TimeControl::Nodes(number()?)),
        "movetime" => Ok(TimeControl::MoveTime(Duration::from_millis(number()?))),
        "tc" => value.parse::<TimeControl>().map_err(|error| error.to_string()),
        _ => Err(expected()),
    }
}

/// An engine, by its number from 1, and its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odds {
    pub(super) number: usize,
    pub(super) limit: TimeControl,
}

impl FromStr for Odds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, rest) = text.split_once(':').ok_or("expected NUMBER:LIMIT, as in `2:nodes=500`")?;
        let number = number.parse().map_err(|_| format!("`{number}` is not the number of an engine"))?;
        Ok(Self { number, limit: limit(rest)? })
    }
}
