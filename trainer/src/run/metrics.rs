//! The metrics of a run, one JSON object a line.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// The tries to lock the file after the first one, and the delay before each.
const MAX_LOCK_TRIES: u32 = 5;
const LOCK_DELAY: Duration = Duration::from_millis(20);

/// A line of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Steps so far.
    pub step: u64,
    /// The epoch of the last step, from 1.
    pub epoch: u64,
    /// Positions trained on, with repetitions.
    pub positions: u64,
    /// The mean training loss since the last line, each batch before its step.
    pub loss: f64,
    /// The held-out loss, at the end of an epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation_loss: Option<f64>,
    /// The least held-out loss so far; its checkpoint is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best_validation_loss: Option<f64>,
    /// The learning rate of the last step.
    pub learning_rate: f64,
    /// The weight of the score in the target.
    pub lambda: f32,
}

/// An error of the metrics file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum MetricsError {
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("{}, line {line}: {cause}", path.display())]
    NotMetrics { path: PathBuf, line: usize, cause: serde_json::Error },
    #[error("{}: another process is at work on this run", .0.display())]
    InUse(PathBuf),
}

/// The metrics file of a run, which is also the run's lock.
pub struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Whether another process is at work on the run.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn is_in_use(path: &Path) -> Result<bool, MetricsError> {
        match File::open(path) {
            Ok(file) => Ok(matches!(file.try_lock(), Err(TryLockError::WouldBlock))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(MetricsError::File { path: path.to_owned(), cause }),
        }
    }

    /// Opens and locks the file of a run after `steps` steps; lines of later steps are cut off.
    ///
    /// # Errors
    ///
    /// If the disk fails, the file holds something else, or another process has locked it.
    pub fn open(path: &Path, steps: u64) -> Result<Self, MetricsError> {
        let failed = |cause| MetricsError::File { path: path.to_owned(), cause };
        let file = OpenOptions::new().create(true).append(true).read(true).open(path).map_err(failed)?;
        let mut tries = 0;
        // One that asks `is_in_use` has the lock for a moment.
        let locked = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if tries < MAX_LOCK_TRIES => thread::sleep(LOCK_DELAY),
                locked => break locked,
            }
            tries += 1;
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(MetricsError::InUse(path.to_owned())),
            // Not every file system supports locks.
            Err(TryLockError::Error(cause)) if cause.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        let mut kept = 0;
        for line in (Lines { path, reader: BufReader::new(&file), number: 0 }) {
            let (line, length) = line?;
            if line.step > steps {
                break;
            }
            kept += length as u64;
        }
        // Truncation rewrites nothing, so a full disk loses nothing.
        file.set_len(kept).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Reads the lines of a file, without a partial last one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds something else.
    pub fn read_lines(path: &Path) -> Result<Vec<Line>, MetricsError> {
        let file = File::open(path).map_err(|cause| MetricsError::File { path: path.to_owned(), cause })?;
        Lines { path, reader: BufReader::new(&file), number: 0 }.map(|line| line.map(|(line, _)| line)).collect()
    }

    /// Appends a line.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn add(&mut self, line: &Line) -> Result<(), MetricsError> {
        let written = self.file.write_all(json(line).as_bytes());
        written.map_err(|cause| MetricsError::File { path: self.path.clone(), cause })
    }

    /// Makes all lines durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn sync(&self) -> Result<(), MetricsError> {
        self.file.sync_all().map_err(|cause| MetricsError::File { path: self.path.clone(), cause })
    }
}

/// The whole lines of a file, each with its length in bytes.
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<&'a File>,
    number: usize,
}

impl Iterator for Lines<'_> {
    type Item = Result<(Line, usize), MetricsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        self.number += 1;
        match self.reader.read_line(&mut text) {
            Ok(_) if !text.ends_with('\n') => None,
            Ok(length) => Some(match serde_json::from_str(&text) {
                Ok(line) => Ok((line, length)),
                Err(cause) => Err(MetricsError::NotMetrics { path: self.path.to_owned(), line: self.number, cause }),
            }),
            Err(cause) => Some(Err(MetricsError::File { path: self.path.to_owned(), cause })),
        }
    }
}

fn json(line: &Line) -> String {
    let mut text = serde_json::to_string(line).expect("its keys are words and its numbers finite or null");
    text.push('\n');
    text
}
