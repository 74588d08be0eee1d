//! What people see of a worker that runs.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::Arc,
    time::Duration,
};

use client::Clock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    keeper::Screen,
    status::{ASKING, Doing, JobSnapshot, Snapshot},
};

/// How often one sees how things stand where lines stay.
const EVERY: Duration = Duration::from_mins(5);

/// The right screen for standard error: live lines on a terminal, else one line at a time.
#[must_use]
pub(crate) fn screen(clock: Arc<dyn Clock>) -> Box<dyn Screen> {
    if !io::stderr().is_terminal() {
        return Box::new(Lines { clock, shown: None });
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(2));
    bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    Box::new(Terminal(bar))
}

/// How often one sees another reason.
const ANOTHER: Duration = Duration::from_mins(1);

struct Terminal(ProgressBar);

impl Screen for Terminal {
    fn line(&mut self, text: &str) {
        self.0.println(text);
    }

    fn show(&mut self, snapshot: &Snapshot) {
        self.0.set_message(lines(snapshot).join("\n"));
        self.0.tick();
    }
}

struct Lines {
    clock: Arc<dyn Clock>,
    shown: Option<(Duration, Doing, Option<String>)>,
}

impl Screen for Lines {
    fn line(&mut self, text: &str) {
        // Nobody may be reading any more; the games go on.
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn show(&mut self, snapshot: &Snapshot) {
        let now = self.clock.now();
        let same = self.shown.as_ref().is_some_and(|(when, doing, reason)| {
            now < *when + patience(reason.as_deref(), snapshot.reason.as_deref()) && *doing == snapshot.doing
        });
        // The first games say more than the first moment.
        if same || (snapshot.doing == Doing::Playing && snapshot.games == 0) {
            return;
        }
        self.shown = Some((now, snapshot.doing, snapshot.reason.clone()));
        self.line(&lines(snapshot).join("; "));
    }
}

/// How long what was shown with one reason stands before another is shown.
fn patience(shown: Option<&str>, reason: Option<&str>) -> Duration {
    match shown {
        _ if shown == reason => EVERY,
        // The first reason is what whoever has just started it waits for.
        Some(ASKING) => Duration::ZERO,
        // Others may come and go by the second.
        _ => ANOTHER,
    }
}

/// How things stand: a line for all, then one for each lease.
#[must_use]
pub(crate) fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { doing, games, games_accepted, outbox, refused, .. } = snapshot;
    let mut head = vec![format!("{}: {games} games", doing.name())];
    if let (Some(positions), Some(nodes)) = (snapshot.positions_per_second, snapshot.nodes_per_second) {
        head.push(format!("{positions:.0} positions/s"));
        head.push(format!("{} nodes/s", thousands(nodes)));
    }
    head.push(format!("{games_accepted} accepted"));
    if *outbox > 0 {
        head.push(format!("{outbox} results in the outbox"));
    }
    if *refused > 0 {
        head.push(format!("{refused} results refused"));
    }
    let mut lines = vec![head.join(", ")];
    lines.extend(snapshot.jobs.iter().map(job_line));
    lines.extend(snapshot.reason.clone());
    lines.extend(snapshot.outbox_reason.clone());
    lines
}

fn job_line(job: &JobSnapshot) -> String {
    let JobSnapshot { kind, games, finished, at_hand, seconds_left, .. } = job;
    let net = job.net.as_ref().map_or("plain evaluation", |net| net.get(..12).unwrap_or(net));
    format!("  {kind} ({net}): {finished} of {games} games, {at_hand} at hand, {} min left", seconds_left / 60)
}

fn thousands(number: f64) -> String {
    if number < 10_000.0 { format!("{number:.0}") } else { format!("{:.0}k", number / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_shown_at_once_and_others_now_and_then() {
        let [one, other] = [Some("No games could be had: it is away."), Some("The server has no games now: none.")];
        assert_eq!(patience(Some(ASKING), one), Duration::ZERO);
        assert_eq!(patience(one, one), EVERY);
        assert_eq!(patience(Some(ASKING), Some(ASKING)), EVERY);
        assert_eq!(patience(one, other), ANOTHER);
        assert_eq!(patience(one, Some(ASKING)), ANOTHER);
    }
}
