//! What people see of a game that they watch: one game at a time, at most once a second, and only if the lease says that
//! somebody watches.
//!
//! Nothing hangs on it. What cannot be shown is not shown; no game waits for it, and none is another one for it.

use std::{
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use client::{Client, Error};
use protocol::api::work::Live;
use selfplay::selfplay::Sight;
use xiangqi::Move;

use crate::desk::Desk;

/// How often something is shown.
const EVERY: Duration = Duration::from_secs(1);
/// So many moves of what an engine expects are shown.
const EXPECTED: usize = 24;

/// The window.
#[derive(Debug, Default)]
pub(crate) struct Window(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The game in it: its lease and number.
    game: Option<(String, u64)>,
    /// What is to be shown next.
    next: Option<(String, Live)>,
    /// A lease whose games nobody wants to see after all.
    closed: Option<String>,
}

impl Window {
    /// Opens it for a game, if no other one is in it.
    pub(crate) fn open(&self, lease: &str, number: u64) -> Option<Pane<'_>> {
        let mut state = self.lock();
        if state.game.is_some() || state.closed.as_deref() == Some(lease) {
            return None;
        }
        state.game = Some((lease.to_owned(), number));
        Some(Pane { window: self, lease: lease.to_owned(), number, noted: None })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be shown next.
    fn take(&self) -> Option<(String, Live)> {
        self.lock().next.take()
    }

    /// Nobody wants to see these games.
    fn close(&self, lease: String) {
        self.lock().closed = Some(lease);
    }
}

/// The window while a game is in it.
pub(crate) struct Pane<'a> {
    window: &'a Window,
    lease: String,
    number: u64,
    /// When something was last noted, and how many nodes both had searched then.
    noted: Option<(Duration, u64)>,
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        self.window.lock().game = None;
    }
}

impl Pane<'_> {
    /// Notes what is seen, unless something was just noted. The end of a game is noted in any case.
    pub(crate) fn show(&mut self, sight: &Sight<'_>, now: Duration) {
        if sight.end.is_none() && self.noted.is_some_and(|(at, _)| now < at + EVERY) {
            return;
        }
        let nodes: u64 = sight.nodes.iter().sum();
        let nodes_per_second = self.noted.and_then(|(at, before)| {
            let took = now.saturating_sub(at).as_micros() as u64;
            (nodes.saturating_sub(before) * 1_000_000).checked_div(took)
        });
        self.noted = Some((now, nodes));
        let live = Live {
            game: self.number,
            start: sight.game.start().to_string(),
            moves: listed(sight.game.moves()),
            nodes: sight.nodes,
            remaining: sight.left.map(|left| left.map(|left| left.as_millis() as u64)),
            score: sight.search.and_then(engine::Report::score),
            depth: sight.search.map_or(0, |report| report.depth),
            nodes_per_second: nodes_per_second.unwrap_or(0),
            variation: sight
                .search
                .and_then(|report| report.lines.first())
                .map_or_else(String::new, |line| listed(line.moves.iter().copied().take(EXPECTED))),
            end: sight.end.map(|(outcome, reason)| (outcome.name().to_owned(), reason.name().to_owned())),
        };
        self.window.lock().next = Some((self.lease.clone(), live));
    }
}

fn listed(moves: impl Iterator<Item = Move>) -> String {
    moves.fold(String::new(), |mut text, mv| {
        let gap = if text.is_empty() { "" } else { " " };
        // A text takes all that is written to it.
        let _ = write!(text, "{gap}{mv}");
        text
    })
}

/// Shows what is to be shown until nobody is there any more.
pub(crate) fn show(desk: &Desk, client: &Client) {
    while !desk.look(|state| state.gone) {
        desk.wait(EVERY, |state| state.gone);
        let Some((lease, live)) = desk.window.take() else { continue };
        if let Err(Error::Refused { problem, .. }) = client.show(&lease, &live)
            && !matches!(problem.status, 408 | 429 | 500..)
        {
            desk.window.close(lease);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfplay::{Reason, selfplay::Sight};
    use xiangqi::{
        Fen,
        rules::{Game, Outcome, RuleSet},
    };

    #[test]
    fn one_game_is_seen_at_a_time_and_not_too_often() {
        let window = Window::default();
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let second = Duration::from_secs(1);
        let mut pane = window.open("lease", 4).unwrap();
        assert!(window.open("lease", 5).is_none());
        let left = Some([second * 9, second / 2]);
        let sight = |nodes| Sight { game: &game, search: None, nodes: [nodes, 0], left, end: None };
        pane.show(&sight(1), second);
        pane.show(&sight(2), second + second / 2);
        let (lease, live) = window.take().unwrap();
        assert_eq!((lease.as_str(), live.game, live.nodes), ("lease", 4, [1, 0]));
        assert_eq!(live.remaining, Some([9_000, 500]));
        assert!(window.take().is_none());
        pane.show(&sight(3), second * 2);
        assert_eq!(window.take().unwrap().1.nodes, [3, 0]);
        // The end is seen in any case.
        let end = Some((Outcome::Draw, Reason::PlyCap));
        pane.show(&Sight { end, ..sight(4) }, second * 2);
        assert_eq!(window.take().unwrap().1.end, Some(("draw".to_owned(), "ply_cap".to_owned())));
        drop(pane);
        drop(window.open("lease", 5).unwrap());
        window.close("lease".to_owned());
        assert!(window.open("lease", 6).is_none() && window.open("other", 1).is_some());
    }
}
