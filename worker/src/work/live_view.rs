//! Live view: reports the position of a watched game, one game at a time, at most once per second.
//!
//! Best effort: an update that cannot be sent is dropped. No game waits for it or is changed by it.

use std::{
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use client::Client;
use protocol::api::work::Live;
use selfplay::selfplay::GameSnapshot;
use xiangqi::Move;

use super::{job::Job, state::Work};

/// Minimum interval between updates.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum length of the reported variation.
const MAX_VARIATION_MOVES: usize = 24;

/// The live view of all leases.
#[derive(Debug, Default)]
pub(crate) struct LiveView(Mutex<LiveState>);

#[derive(Debug, Default)]
struct LiveState {
    /// The reported game: lease and number.
    game: Option<(String, u64)>,
    /// The next update.
    next: Option<(String, Live)>,
}

impl LiveView {
    /// Starts the feed of a game, unless another is running.
    pub(crate) fn open(&self, lease: &str, number: u64) -> Option<LiveFeed<'_>> {
        let mut state = self.lock();
        if state.game.is_some() {
            return None;
        }
        state.game = Some((lease.to_owned(), number));
        Some(LiveFeed { view: self, lease: lease.to_owned(), number, last_update: None })
    }

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends updates until the worker has ended.
    pub(crate) fn run(&self, work: &Work, client: &Client) {
        while !work.read(|state| state.is_stopped) {
            work.wait(UPDATE_INTERVAL, |state| state.is_stopped);
            let Some((lease, live)) = self.take() else { continue };
            let is_declined = |job: &Job| job.lease.token == lease && !job.lease.live;
            // The game at hand may be one of a declined lease.
            if !work.read(|state| state.jobs.iter().any(is_declined))
                && client.show(&lease, &live).is_err_and(|error| !error.is_transient())
            {
                decline(work, &lease);
            }
        }
    }

    /// Takes the next update.
    fn take(&self) -> Option<(String, Live)> {
        self.lock().next.take()
    }
}

/// Shows no more games of a lease: the server has declined them.
fn decline(work: &Work, lease: &str) {
    work.update(|state| {
        let declined = state.jobs.iter_mut().filter(|job| job.lease.token == lease);
        declined.for_each(|job| job.lease.live = false);
    });
}

/// Feed of the reported game.
pub(crate) struct LiveFeed<'a> {
    view: &'a LiveView,
    lease: String,
    number: u64,
    /// Time and node count of the last update.
    last_update: Option<(Duration, u64)>,
}

impl Drop for LiveFeed<'_> {
    fn drop(&mut self) {
        self.view.lock().game = None;
    }
}

impl LiveFeed<'_> {
    /// Queues an update, at most one per interval. The end of a game is always queued.
    pub(crate) fn show(&mut self, snapshot: &GameSnapshot<'_>, now: Duration) {
        if snapshot.end.is_none() && self.last_update.is_some_and(|(at, _)| now < at + UPDATE_INTERVAL) {
            return;
        }
        let nodes: u64 = snapshot.nodes.iter().sum();
        let nodes_per_second = self.last_update.and_then(|(at, before)| {
            let took = now.saturating_sub(at).as_micros() as u64;
            (nodes.saturating_sub(before) * 1_000_000).checked_div(took)
        });
        self.last_update = Some((now, nodes));
        let live = Live {
            game: self.number,
            start: snapshot.game.start().to_string(),
            moves: move_list(snapshot.game.moves()),
            nodes: snapshot.nodes,
            remaining: snapshot.left.map(|left| left.map(|left| left.as_millis() as u64)),
            score: snapshot.search.and_then(engine::Report::score),
            depth: snapshot.search.map_or(0, |report| report.depth),
            nodes_per_second: nodes_per_second.unwrap_or(0),
            variation: snapshot
                .search
                .and_then(|report| report.lines.first())
                .map_or_else(String::new, |line| move_list(line.moves.iter().copied().take(MAX_VARIATION_MOVES))),
            end: snapshot.end.map(|(outcome, reason)| (outcome.name().to_owned(), reason.name().to_owned())),
        };
        self.view.lock().next = Some((self.lease.clone(), live));
    }
}

fn move_list(moves: impl Iterator<Item = Move>) -> String {
    moves.fold(String::new(), |mut text, mv| {
        let separator = if text.is_empty() { "" } else { " " };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{separator}{mv}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfplay::{Reason, selfplay::GameSnapshot};
    use xiangqi::{
        Fen,
        rules::{Game, Outcome, RuleSet},
    };

    #[test]
    fn one_game_is_shown_at_a_time_at_a_limited_rate() {
        let view = LiveView::default();
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let second = Duration::from_secs(1);
        let mut feed = view.open("lease", 4).unwrap();
        assert!(view.open("lease", 5).is_none());
        let left = Some([second * 9, second / 2]);
        let snapshot = |nodes| GameSnapshot { game: &game, search: None, nodes: [nodes, 0], left, end: None };
        feed.show(&snapshot(1), second);
        feed.show(&snapshot(2), second + second / 2);
        let (lease, live) = view.take().unwrap();
        assert_eq!((lease.as_str(), live.game, live.nodes), ("lease", 4, [1, 0]));
        assert_eq!(live.remaining, Some([9_000, 500]));
        assert!(view.take().is_none());
        feed.show(&snapshot(3), second * 2);
        assert_eq!(view.take().unwrap().1.nodes, [3, 0]);
        // The end is always reported.
        let end = Some((Outcome::Draw, Reason::PlyCap));
        feed.show(&GameSnapshot { end, ..snapshot(4) }, second * 2);
        assert_eq!(view.take().unwrap().1.end, Some(("draw".to_owned(), "ply_cap".to_owned())));
        drop(feed);
        drop(view.open("lease", 5).unwrap());
    }
}
