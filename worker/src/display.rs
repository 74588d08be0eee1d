//! Status display for the worker's terminal or log.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::Arc,
    time::Duration,
};

use client::Clock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    sentence::count,
    status::{ASKING_REASON, Contributions, Doing, JobSnapshot, Screen, Snapshot},
};

/// Interval of unchanged status lines in a log.
const REPEAT_INTERVAL: Duration = Duration::from_mins(5);

/// Returns the display for standard error: live lines on a terminal, else one line at a time.
#[must_use]
pub(crate) fn screen(clock: Arc<dyn Clock>) -> Box<dyn Screen> {
    if !io::stderr().is_terminal() {
        return Box::new(Lines { clock, shown: None });
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(2));
    bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    Box::new(Terminal(bar))
}

/// Interval of lines that differ only in their reason.
const NEW_REASON_INTERVAL: Duration = Duration::from_mins(1);

struct Terminal(ProgressBar);

impl Screen for Terminal {
    fn line(&mut self, text: &str) {
        self.0.println(text);
    }

    fn show(&mut self, snapshot: &Snapshot) {
        self.0.set_message(lines(snapshot).join("\n"));
        self.0.tick();
    }

    fn is_watched(&self) -> bool {
        true
    }
}

struct Lines {
    clock: Arc<dyn Clock>,
    shown: Option<(Duration, Doing, Option<String>)>,
}

impl Screen for Lines {
    fn line(&mut self, text: &str) {
        // The reader may be gone; games continue.
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn show(&mut self, snapshot: &Snapshot) {
        let now = self.clock.now();
        let same = self.shown.as_ref().is_some_and(|(when, doing, reason)| {
            now < *when + min_interval(reason.as_deref(), snapshot.reason.as_deref()) && *doing == snapshot.doing
        });
        // A status without games says little.
        if same || (snapshot.doing == Doing::Playing && snapshot.games == 0) {
            return;
        }
        self.shown = Some((now, snapshot.doing, snapshot.reason.clone()));
        self.line(&lines(snapshot).join("; "));
    }
}

/// Minimum interval between a line with the old reason and one with the new.
fn min_interval(shown: Option<&str>, reason: Option<&str>) -> Duration {
    match shown {
        _ if shown == reason => REPEAT_INTERVAL,
        // The first reason is news to the owner, who has just started the worker.
        Some(ASKING_REASON) => Duration::ZERO,
        // Others may change every second.
        _ => NEW_REASON_INTERVAL,
    }
}

/// Formats the status: one line for the worker, one per lease, reasons, and the owner's
/// contribution.
#[must_use]
pub(crate) fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { doing, games, games_accepted, outbox, refused, .. } = snapshot;
    let mut head = vec![format!("{}: {games} games", doing.name())];
    head.extend(speed(snapshot.positions_per_second, snapshot.nodes_per_second));
    head.push(format!("{games_accepted} accepted"));
    if *outbox > 0 {
        head.push(format!("{} in the spool", count(*outbox, "result")));
    }
    if *refused > 0 {
        head.push(format!("{} refused", count(*refused, "result")));
    }
    let mut lines = vec![head.join(", ")];
    lines.extend(snapshot.jobs.iter().map(job_line));
    lines.extend(snapshot.reason.clone());
    lines.extend(snapshot.outbox_reason.clone());
    lines.extend(snapshot.contribution.as_ref().map(contribution_line));
    lines.extend(snapshot.promotion_seconds.map(promotion_line));
    lines
}

fn contribution_line(contribution: &Contributions) -> String {
    let Contributions { account, today, total, rank, page } = contribution;
    let rank = rank.map_or_else(String::new, |rank| format!(", place {rank}"));
    format!("{account}: {} games today, {} in all{rank}; {page}", today.games, total.games)
}

fn promotion_line(seconds: u64) -> String {
    let about = match seconds / 60 {
        0..2 => "a minute".to_owned(),
        minutes @ 2..120 => format!("{minutes} min"),
        minutes if minutes < 48 * 60 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / 60 / 24),
    };
    format!("The next net may be promoted in about {about}.")
}

fn speed(positions: Option<f64>, nodes: Option<f64>) -> Option<String> {
    let (positions, nodes) = positions.zip(nodes)?;
    Some(format!("{positions:.0} positions/s, {} nodes/s", thousands(nodes)))
}

fn job_line(job: &JobSnapshot) -> String {
    let JobSnapshot { kind, games, finished, at_hand, seconds_left, .. } = job;
    let net = job.net.as_ref().map_or("plain evaluation", |net| net.get(..12).unwrap_or(net));
    let speed = speed(job.positions_per_second, job.nodes_per_second).map_or_else(String::new, |speed| speed + ", ");
    format!(
        "  {kind} ({net}): {finished} of {games} games, {at_hand} at hand, {speed}lease ends in {} min",
        seconds_left / 60
    )
}

fn thousands(number: f64) -> String {
    if number < 10_000.0 { format!("{number:.0}") } else { format!("{:.0}k", number / 1000.0) }
}

#[cfg(test)]
mod tests {
    use protocol::api::work::Contribution;

    use super::*;

    #[test]
    fn every_known_field_is_shown() {
        let done = |games| Contribution { games, positions: 0 };
        let mut snapshot = Snapshot {
            version: "0.1.0".to_owned(),
            process: 1,
            server: "https://games.example.org".to_owned(),
            name: "attic".to_owned(),
            doing: Doing::Playing,
            reason: None,
            cores: 2,
            jobs: vec![
                JobSnapshot {
                    kind: "self-play".to_owned(),
                    net: Some("0123456789abcdef".to_owned()),
                    games: 40,
                    finished: 38,
                    at_hand: 1,
                    seconds_left: 700,
                    positions_per_second: Some(61.2),
                    nodes_per_second: Some(301_000.0),
                },
                JobSnapshot {
                    kind: "match".to_owned(),
                    net: None,
                    games: 8,
                    finished: 0,
                    at_hand: 1,
                    seconds_left: 899,
                    positions_per_second: None,
                    nodes_per_second: None,
                },
            ],
            games: 138,
            positions: 9000,
            nodes: 45_000_000,
            positions_per_second: Some(122.0),
            nodes_per_second: Some(602_000.0),
            games_accepted: 96,
            games_refused: 4,
            outbox: 2,
            outbox_reason: Some("Results wait: it is away.".to_owned()),
            refused: 1,
            idle_seconds: 0.0,
            contribution: Some(Contributions {
                account: "ann".to_owned(),
                today: done(96),
                total: done(4200),
                rank: Some(3),
                page: "https://games.example.org/people/ann".to_owned(),
            }),
            promotion_seconds: Some(3 * 3600 + 59),
        };
        let expected = [
            "playing: 138 games, 122 positions/s, 602k nodes/s, 96 accepted, 2 results in the spool, 1 result refused",
            "  self-play (0123456789ab): 38 of 40 games, 1 at hand, 61 positions/s, 301k nodes/s, lease ends in 11 min",
            "  match (plain evaluation): 0 of 8 games, 1 at hand, lease ends in 14 min",
            "Results wait: it is away.",
            "ann: 96 games today, 4200 in all, place 3; https://games.example.org/people/ann",
            "The next net may be promoted in about 3 h.",
        ];
        assert_eq!(lines(&snapshot), expected);
        snapshot = Snapshot {
            doing: Doing::Resting,
            reason: Some("Resting: the machine runs on its battery.".to_owned()),
            jobs: Vec::new(),
            positions_per_second: None,
            nodes_per_second: None,
            outbox: 0,
            outbox_reason: None,
            refused: 0,
            contribution: None,
            promotion_seconds: None,
            ..snapshot
        };
        let expected = ["resting: 138 games, 96 accepted", "Resting: the machine runs on its battery."];
        assert_eq!(lines(&snapshot), expected);
    }

    #[test]
    fn the_first_reason_is_shown_at_once_and_others_at_intervals() {
        let [one, other] = [Some("No games could be had: it is away."), Some("No games for now: none.")];
        assert_eq!(min_interval(Some(ASKING_REASON), one), Duration::ZERO);
        assert_eq!(min_interval(one, one), REPEAT_INTERVAL);
        assert_eq!(min_interval(Some(ASKING_REASON), Some(ASKING_REASON)), REPEAT_INTERVAL);
        assert_eq!(min_interval(one, other), NEW_REASON_INTERVAL);
        assert_eq!(min_interval(one, Some(ASKING_REASON)), NEW_REASON_INTERVAL);
    }
}
