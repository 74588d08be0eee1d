//! The state file of a tuning run: its plan in the first line, then one line of results for each
//! iteration. The values follow from these whole numbers, so that nothing is lost by rounding.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use selfplay::Adjudication;
use serde::{Deserialize, Serialize};

/// The settings of a run, which every part of it must share.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) format: u32,
    pub(super) bench_signature: u64,
    /// The net's hash; none for the plain evaluation.
    pub(super) net: Option<String>,
    /// The overridden parameters at the start.
    pub(super) parameters: String,
    /// The tuned parameters and their last perturbations.
    pub(super) tuned: Vec<(String, f64)>,
    pub(super) iterations: u64,
    pub(super) pairs: u64,
    pub(super) nodes: u64,
    pub(super) rate: f64,
    pub(super) random_plies: u32,
    pub(super) opening_bound: i32,
    pub(super) seed: u64,
    pub(super) rules: String,
    pub(super) hash_mebibytes: u32,
    pub(super) adjudication: Adjudication,
    pub(super) ply_cap: u32,
}

/// The games of an iteration, from the side of the upper set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Round {
    pub(super) iteration: u64,
    pub(super) won: u64,
    pub(super) drawn: u64,
    pub(super) lost: u64,
}

impl Round {
    /// Won less lost games.
    pub(super) const fn score(&self) -> i64 {
        self.won as i64 - self.lost as i64
    }
}

/// An open state file, locked against a second run.
pub(super) struct State {
    file: File,
    rounds: Vec<Round>,
}

impl State {
    /// Creates the file, or reads what it has. An unfinished last line, of a killed run, is cut.
    pub(super) fn open(path: &Path, plan: &Plan) -> Result<Self> {
        let place = || path.display().to_string();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).with_context(place)?;
        if file.try_lock().is_err() {
            bail!("{}: another run uses it", place());
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(place)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).with_context(place)?;
        }
        let head = serde_json::to_string(plan)?;
        let mut lines = text[..whole].lines();
        match lines.next() {
            None => append(&mut file, &head).with_context(place)?,
            Some(line) if line == head => {}
            Some(line) => bail!("{}: {}", place(), difference(line, &head)),
        }
        let mut rounds = Vec::new();
        for (index, line) in lines.enumerate() {
            let round: Round = serde_json::from_str(line)
                .ok()
                .filter(|round: &Round| round.iteration == index as u64 && round.iteration < plan.iterations)
                .filter(|round| round.won + round.drawn + round.lost == 2 * plan.pairs)
                .with_context(|| format!("{}: line {} is not the result of iteration {index}", place(), index + 2))?;
            rounds.push(round);
        }
        Ok(Self { file, rounds })
    }

    pub(super) fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// Adds an iteration.
    pub(super) fn append(&mut self, round: &Round) -> Result<()> {
        append(&mut self.file, &serde_json::to_string(round)?)?;
        Ok(())
    }
}

/// Writes a line at once, so that a kill leaves at most one unfinished line.
fn append(file: &mut File, line: &str) -> std::io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}

/// The first setting that differs.
fn difference(line: &str, head: &str) -> String {
    let object = |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    let (Ok(theirs), Ok(ours)) = (object(line), object(head)) else {
        return "line 1 is not the plan of a tuning run".to_owned();
    };
    let differing = ours.iter().find(|(key, value)| theirs.get(*key) != Some(value));
    differing.map_or("it is of another run".to_owned(), |(key, value)| {
        let theirs = theirs.get(key).map_or("nothing".to_owned(), ToString::to_string);
        format!("it is of another run: {key} is {theirs} there and {value} here")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            format: 1,
            bench_signature: 1,
            net: None,
            parameters: String::new(),
            tuned: vec![("lmr_base".to_owned(), 60.0)],
            iterations: 3,
            pairs: 1,
            nodes: 10,
            rate: 0.002,
            random_plies: 6,
            opening_bound: 150,
            seed: 1,
            rules: "cxr".to_owned(),
            hash_mebibytes: 1,
            adjudication: Adjudication::default(),
            ply_cap: 100,
        }
    }

    #[test]
    fn a_killed_run_is_resumed() {
        let path = std::env::temp_dir().join(format!("chuhe-tune-state-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let rounds = [0, 1].map(|iteration| Round { iteration, won: 1, drawn: 1, lost: 0 });
        let mut state = State::open(&path, &plan()).unwrap();
        assert!(state.rounds().is_empty());
        let second = State::open(&path, &plan()).map(|_| ()).unwrap_err().to_string();
        assert!(second.ends_with(": another run uses it"), "{second}");
        state.append(&rounds[0]).unwrap();
        drop(state);
        // Killed while it wrote.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"iteration\":1,\"wo").unwrap();
        let mut state = State::open(&path, &plan()).unwrap();
        assert_eq!(state.rounds(), &rounds[..1]);
        state.append(&rounds[1]).unwrap();
        drop(state);
        assert_eq!(State::open(&path, &plan()).unwrap().rounds(), &rounds);

        let error = |plan: Plan| State::open(&path, &plan).map(|_| ()).unwrap_err().to_string();
        let other = error(Plan { nodes: 11, ..plan() });
        assert!(other.ends_with(": it is of another run: nodes is 10 there and 11 here"), "{other}");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{}\n").unwrap();
        let damaged = error(plan());
        assert!(damaged.ends_with(": line 4 is not the result of iteration 2"), "{damaged}");
        std::fs::write(&path, "notes\n").unwrap();
        let foreign = error(plan());
        assert!(foreign.ends_with(": line 1 is not the plan of a tuning run"), "{foreign}");
        std::fs::remove_file(&path).unwrap();
    }
}
