//! The native part of the Python package `chuhe`: the arbiter, notations, and shards. The part in
//! Python, `chuhe/__init__.py`, makes arrays and objects of what this returns.

#![allow(clippy::needless_pass_by_value, reason = "arguments are converted from Python")]
#![allow(clippy::unnecessary_wraps, reason = "the macros' code")]

mod arrays;

use std::{fmt::Display, path::PathBuf, str::FromStr};

use dataset::{
    Record,
    shard::{self, FileSource, ShardError},
};
use pyo3::{
    exceptions::{PyOSError, PyValueError},
    prelude::*,
    types::{PyBytes, PyDict},
};
use xiangqi::{
    Fen, Move,
    notation::Notation,
    rules::{Game, Judgement, RuleSet},
};

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Parses a name of a rule set or notation; the error quotes it.
fn named<T: FromStr<Err: Display>>(name: &str) -> PyResult<T> {
    name.parse().map_err(|error| wrong(format!("`{name}`: {error}")))
}

/// Judges moves: the position after them, its legal moves, and the verdict or `None`.
#[pyfunction]
fn judge<'py>(
    py: Python<'py>,
    fen: Option<&str>,
    moves: Vec<String>,
    rules: &str,
    notation: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let judged = Judgement::of(fen, moves, named(rules)?, named(notation)?).map_err(wrong)?;
    let answer = PyDict::new(py);
    answer.set_item("fen", judged.fen)?;
    answer.set_item("legal_moves", judged.legal_moves)?;
    let verdict = judged.verdict.map(|verdict| {
        let dict = PyDict::new(py);
        dict.set_item("outcome", verdict.outcome.name())?;
        dict.set_item("reason", verdict.reason.name())?;
        dict.set_item("ply", verdict.ply)?;
        dict.set_item("english", verdict.english)?;
        dict.set_item("chinese", verdict.chinese)?;
        PyResult::Ok(dict)
    });
    answer.set_item("verdict", verdict.transpose()?)?;
    Ok(answer)
}

/// Writes moves, legal one after another from a position, in another notation.
#[pyfunction]
fn convert(fen: Option<&str>, moves: Vec<String>, source: &str, target: &str) -> PyResult<Vec<String>> {
    let (source, target): (Notation, Notation) = (named(source)?, named(target)?);
    let start = fen.map_or_else(|| Ok(Fen::start()), str::parse).map_err(wrong)?;
    let mut position = start.position;
    let mut written = Vec::with_capacity(moves.len());
    for (index, text) in moves.iter().enumerate() {
        let mv = position.parse_move_in(text, source);
        let mv = mv.map_err(|error| wrong(format!("move {}: {error}", index + 1)))?;
        written.push(position.format_move(mv, target));
        _ = position.make(mv);
    }
    Ok(written)
}

/// The names of the rule sets, notations and reasons.
#[pyfunction]
fn names() -> (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>) {
    (
        RuleSet::ALL.map(RuleSet::name).to_vec(),
        Notation::ALL.map(Notation::name).to_vec(),
        dataset::Reason::all().map(dataset::Reason::name).collect(),
    )
}

/// A file of games.
#[pyclass(frozen)]
struct Shard(shard::Shard<FileSource>);

/// A game as Python gets it: number, start, opening moves, moves, scores, outcome, reason.
type GameParts = (u64, String, Vec<String>, Vec<String>, Vec<Option<i32>>, &'static str, &'static str);

#[pymethods]
impl Shard {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        shard::open(path).map(Self).map_err(|error| {
            let text = format!("{error}: {}", error.source);
            if matches!(error.source, ShardError::Io(_)) { PyOSError::new_err(text) } else { wrong(text) }
        })
    }

    /// The header as JSON.
    fn header(&self) -> PyResult<String> {
        serde_json::to_string(self.0.header()).map_err(wrong)
    }

    fn games(&self) -> u64 {
        self.0.games()
    }

    fn positions(&self) -> u64 {
        self.0.positions()
    }

    fn blocks(&self) -> usize {
        self.0.index().len()
    }

    fn game(&self, py: Python<'_>, number: u64) -> PyResult<GameParts> {
        let record = py.detach(|| self.0.game(number)).map_err(wrong)?;
        Ok(parts(number, &record))
    }

    /// The games of a block.
    fn block_games(&self, py: Python<'_>, block: usize) -> PyResult<Vec<GameParts>> {
        py.detach(|| {
            let mut games = Vec::new();
            self.block(block)?.read(|number, record| games.push(parts(number, &record))).map_err(wrong)?;
            Ok(games)
        })
    }

    /// The columns of a block's positions as little-endian bytes, by name.
    fn block_arrays<'py>(&self, py: Python<'py>, block: usize) -> PyResult<Bound<'py, PyDict>> {
        let columns = py.detach(|| {
            let block = self.block(block)?;
            arrays::Columns::of(&block).map_err(wrong)
        })?;
        let dict = PyDict::new(py);
        for (name, bytes) in columns.into_bytes() {
            dict.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(dict)
    }
}

impl Shard {
    fn block(&self, block: usize) -> PyResult<shard::Block<'_>> {
        if block >= self.0.index().len() {
            return Err(wrong(format!("there is no block {block}; there are {}", self.0.index().len())));
        }
        self.0.block(block).map_err(wrong)
    }
}

fn parts(number: u64, record: &Record) -> GameParts {
    let texts = |moves: &mut dyn Iterator<Item = Move>| moves.map(|mv| mv.to_string()).collect();
    (
        number,
        record.opening.start.to_string(),
        texts(&mut record.opening.moves.iter().copied()),
        texts(&mut record.moves.iter().map(|scored| scored.mv)),
        record.moves.iter().map(|scored| scored.score).collect(),
        record.outcome.name(),
        record.reason.name(),
    )
}

/// The positions after each move, the first one included, as FEN; a move after the end is an error.
#[pyfunction]
fn fens(fen: Option<&str>, moves: Vec<String>, rules: &str) -> PyResult<Vec<String>> {
    let start: Fen = fen.map_or_else(|| Ok(Fen::start()), str::parse).map_err(wrong)?;
    let mut game = Game::new(start, named(rules)?);
    let mut written = vec![game.fen().to_string()];
    for (index, text) in moves.iter().enumerate() {
        let mv = game.position().parse_move(text);
        game.push(mv.map_err(|error| wrong(format!("move {}: {error}", index + 1)))?).map_err(wrong)?;
        written.push(game.fen().to_string());
    }
    Ok(written)
}

#[pymodule]
fn _chuhe(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(judge, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(fens, module)?)?;
    module.add_function(wrap_pyfunction!(names, module)?)?;
    module.add_class::<Shard>()
}
