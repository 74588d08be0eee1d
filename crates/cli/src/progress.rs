//! The progress of a long command: counts on a terminal, and the end by Ctrl-C.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use selfplay::Timer as _;

use crate::{
    interrupt::{self, Interrupted},
    live_line::LiveLine,
    stopwatch::Stopwatch,
};

/// Interval between two updates of the line, and before the first: quick commands show none.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

/// The count of a loop, shown as one updated line on a terminal and nowhere else.
pub(crate) struct Progress {
    /// The counted things, such as `games`.
    noun: &'static str,
    total: Option<u64>,
    /// Counted before this run, as by an interrupted one.
    before: u64,
    done: u64,
    line: LiveLine<'static>,
    timer: Stopwatch,
    shown: Duration,
}

impl Progress {
    /// Begins to count.
    pub(crate) fn new(noun: &'static str, total: Option<u64>) -> Self {
        Self {
            noun,
            total,
            before: 0,
            done: 0,
            line: LiveLine::new(),
            timer: Stopwatch::start(),
            shown: Duration::ZERO,
        }
    }

    /// Counts what an earlier run has done: it has no part in the speed.
    pub(crate) fn resume(&mut self, count: u64) {
        (self.before, self.done) = (count, count);
    }

    /// Counts for a command that writes a file when it is whole. Ctrl-C is an error, so that no
    /// partial file is left.
    ///
    /// # Errors
    ///
    /// If the command is interrupted.
    pub(crate) fn add(&mut self, count: u64) -> Result<(), Interrupted> {
        self.count(count);
        if interrupt::is_requested() { Err(Interrupted(interrupt::NOTHING_WRITTEN.to_owned())) } else { Ok(()) }
    }

    /// Shows the count of everything so far.
    pub(crate) fn set(&mut self, done: u64) {
        self.count(done.saturating_sub(self.done));
    }

    /// Runs `work`, which counts by calls of its argument. The line is also updated between them,
    /// for things that take seconds each.
    pub(crate) fn while_counting<T>(&mut self, work: impl FnOnce(&dyn Fn()) -> T) -> T {
        let (counted, counts) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                loop {
                    match counts.recv_timeout(UPDATE_INTERVAL) {
                        Ok(()) => self.count(1),
                        Err(RecvTimeoutError::Timeout) => self.count(0),
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            });
            let result = work(&|| _ = counted.send(()));
            drop(counted);
            result
        })
    }

    /// Prints a permanent line.
    pub(crate) fn announce(&mut self, line: &str) -> io::Result<()> {
        self.line.announce(line)
    }

    /// Counts.
    pub(crate) fn count(&mut self, count: u64) {
        self.done += count;
        let now = self.timer.now();
        if now >= self.shown + UPDATE_INTERVAL {
            self.shown = now;
            let line = || text(self.noun, self.done, self.before, self.total, now);
            // Progress that cannot be shown is no failure of the command.
            let _ = self.line.show(line);
        }
    }
}

/// Formats `games 131/20000  3.3/s  left 1:41:07`.
fn text(noun: &str, done: u64, before: u64, total: Option<u64>, elapsed: Duration) -> String {
    let rate = (done - before) as f64 / elapsed.as_secs_f64();
    let rate = if rate.is_finite() { rate } else { 0.0 };
    let shown_rate = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    let Some(total) = total else { return format!("{noun} {done}  {shown_rate}/s") };
    let left = total.saturating_sub(done) as f64 / rate;
    let left = if left.is_finite() { format!("  left {}", clock(left)) } else { String::new() };
    format!("{noun} {done}/{total}  {shown_rate}/s{left}")
}

/// A time as `1:02:03`.
pub(crate) fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_count_speed_and_rest() {
        let text = |done, before, total, seconds| text("games", done, before, total, Duration::from_secs(seconds));
        assert_eq!(text(131, 0, Some(20_000), 40), "games 131/20000  3.3/s  left 1:41:07");
        // What an earlier run did says nothing about the speed.
        assert_eq!(text(131, 121, Some(231), 1), "games 131/231  10/s  left 0:00:10");
        assert_eq!(text(500, 0, None, 2), "games 500  250/s");
        assert_eq!(text(0, 0, Some(9), 0), "games 0/9  0.0/s");
    }
}
