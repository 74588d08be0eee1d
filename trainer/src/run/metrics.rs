//! The figures of a run, one JSON object a line.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// What is known after a stretch of steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The number of steps made.
    pub step: u64,
    /// The epoch of the last one, from 1.
    pub epoch: u64,
    /// Positions learned from, with repetitions.
    pub positions: u64,
    /// The mean loss since the last line, each batch before its step.
    pub loss: f64,
    /// The loss of the held-out positions, at the end of an epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_loss: Option<f64>,
    /// The learning rate of the last step.
    pub learning_rate: f64,
    /// How much of what was aimed at was the score.
    pub lambda: f32,
}

/// Why figures cannot be kept.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum MetricsError {
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("{}, line {line}: {cause}", path.display())]
    NotMetrics { path: PathBuf, line: usize, cause: serde_json::Error },
}

/// The file of a run's figures.
pub struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens the file of a run that made so many steps; what was written of later ones is cut off.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the file holds something else.
    pub fn open(path: &Path, steps: u64) -> Result<Self, MetricsError> {
        let failed = |cause| MetricsError::File { path: path.to_owned(), cause };
        let kept = if path.exists() {
            let mut kept = String::new();
            for line in Self::read_lines(path)?.into_iter().filter(|line| line.step <= steps) {
                kept.push_str(&json(&line));
            }
            kept
        } else {
            String::new()
        };
        fs::write(path, kept).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Reads the lines of a file. A last one that was cut off in the middle is left out.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or holds something else.
    pub fn read_lines(path: &Path) -> Result<Vec<Line>, MetricsError> {
        let failed = |cause| MetricsError::File { path: path.to_owned(), cause };
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let mut lines = Vec::new();
        let mut text = String::new();
        loop {
            text.clear();
            if reader.read_line(&mut text).map_err(failed)? == 0 || !text.ends_with('\n') {
                return Ok(lines);
            }
            let not_metrics = |cause| MetricsError::NotMetrics { path: path.to_owned(), line: lines.len() + 1, cause };
            let line = serde_json::from_str(&text).map_err(not_metrics)?;
            lines.push(line);
        }
    }

    /// Adds a line.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn add(&mut self, line: &Line) -> Result<(), MetricsError> {
        let written = self.file.write_all(json(line).as_bytes());
        written.map_err(|cause| MetricsError::File { path: self.path.clone(), cause })
    }

    /// Makes sure that all lines are on disk.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn sync(&self) -> Result<(), MetricsError> {
        self.file.sync_all().map_err(|cause| MetricsError::File { path: self.path.clone(), cause })
    }
}

fn json(line: &Line) -> String {
    let mut text = serde_json::to_string(line).expect("its keys are words and its numbers finite or null");
    text.push('\n');
    text
}
