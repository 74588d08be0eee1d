//! The owner's account at the server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use client::{Client, ServerAddress};
use protocol::api::work::Me;

use super::outlook;
use crate::{
    delivery::Delivery,
    work::{Work, WorkState},
};

/// Interval of requests for the account's contributions.
const REFRESH_INTERVAL: Duration = Duration::from_mins(15);
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;
/// The same until the first games of the day are counted.
const FIRST_REFRESH_INTERVAL: Duration = Duration::from_mins(1);

/// Last report of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The account and its contributions.
    pub(crate) me: Option<Me>,
    /// The day of the report, since 1970 (UTC).
    day: u64,
    /// The first report of the day.
    first: Option<FirstReport>,
    /// Time of the next promotion, since 1970.
    pub(crate) promotion_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct FirstReport {
    today: u64,
    total: u64,
    /// Games of this worker that the server had accepted.
    accepted: u64,
}

impl Known {
    /// Records a report, at a time when the server had `accepted` so many games of this worker.
    fn update(&mut self, me: Me, accepted: u64, day: u64) {
        let is_same_day = self.me.as_ref().is_some_and(|last| last.today.games <= me.today.games);
        if !is_same_day || self.first.is_none() {
            self.first = Some(FirstReport { today: me.today.games, total: me.total.games, accepted });
        }
        (self.me, self.day) = (Some(me), day);
    }

    /// Begins a new day (since 1970, UTC) at midnight, also while the server is away.
    fn begin_day(&mut self, day: u64, accepted: u64) {
        let total = self.with_own_games(accepted).map(|me| me.total.games);
        if let (Some(me), Some(total)) = (self.me.as_mut().filter(|_| day > self.day), total) {
            me.today.games = 0;
            me.today.positions = 0;
            (self.day, self.first) = (day, Some(FirstReport { today: 0, total, accepted }));
        }
    }

    /// Returns the account with the games of this worker that the server has accepted since the
    /// first report of the day. It counts them when they are validated, minutes later.
    pub(crate) fn with_own_games(&self, accepted: u64) -> Option<Me> {
        let (mut me, first) = (self.me.clone()?, self.first?);
        let own = accepted.saturating_sub(first.accepted);
        me.today.games = me.today.games.max(first.today + own);
        me.total.games = me.total.games.max(first.total + own);
        Some(me)
    }
}

/// The account, refreshed in the background.
pub(crate) struct Account {
    client: Client,
    known: Arc<Mutex<Known>>,
    asked_at: Option<Duration>,
    /// A person looks: the next promotion is requested too.
    is_watched: bool,
}

impl Account {
    pub(crate) fn new(client: Client, is_watched: bool) -> Self {
        Self { client, known: Arc::default(), asked_at: None, is_watched }
    }

    /// Returns the last report.
    pub(crate) fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn server(&self) -> &ServerAddress {
        self.client.server_address()
    }

    /// Requests the contributions again if they are due.
    pub(crate) fn refresh(&mut self, work: &Work, delivery: &Delivery) {
        let now = work.clock().now();
        let (accepted, is_away) = delivery.read(|state| (state.receipts.accepted, state.send_error.is_some()));
        let since_1970 = work.clock().since_1970();
        let day = since_1970.as_secs() / SECONDS_PER_DAY;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).begin_day(day, accepted);
        let is_new = accepted > 0 && self.known().me.is_none_or(|me| me.today.games == 0);
        let interval = if is_new { FIRST_REFRESH_INTERVAL } else { REFRESH_INTERVAL };
        let is_due = self.asked_at.is_none_or(|asked| now >= asked + interval);
        if !is_due || is_away || work.read(WorkState::is_shutting_down) {
            return;
        }
        self.asked_at = Some(now);
        let (client, known, is_watched) = (self.client.clone(), Arc::clone(&self.known), self.is_watched);
        let request = move || {
            let Ok(me) = client.me() else { return };
            let left = if is_watched { outlook::request(&client, since_1970) } else { None };
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.promotion_at = left.map(|left| since_1970 + left);
            known.update(me, accepted, day);
        };
        let _ = thread::Builder::new().name("account".to_owned()).spawn(request);
    }
}

#[cfg(test)]
mod tests {
    use protocol::api::work::{Contribution, Role};

    use super::*;

    fn me(today: u64, total: u64) -> Me {
        let of = |games| Contribution { games, positions: 0 };
        let page = "/people/ann".to_owned();
        Me { account: "ann".to_owned(), role: Role::Volunteer, today: of(today), total: of(total), rank: None, page }
    }

    #[test]
    fn own_games_count_before_the_server_counts_them_and_only_once() {
        let mut known = Known::default();
        assert_eq!(known.with_own_games(5), None);
        // The first report came after 2 games of this run.
        known.update(me(10, 100), 2, 7);
        let shown = |known: &Known, accepted| known.with_own_games(accepted).map(|me| (me.today.games, me.total.games));
        assert_eq!(shown(&known, 2), Some((10, 100)));
        assert_eq!(shown(&known, 9), Some((17, 107)));
        // The server has counted four of the seven.
        known.update(me(14, 104), 9, 7);
        assert_eq!(shown(&known, 10), Some((18, 108)));
        // Another machine of the account has played too.
        known.update(me(40, 130), 10, 7);
        assert_eq!(shown(&known, 11), Some((40, 130)));
        // Midnight by the server's clock.
        known.update(me(0, 130), 12, 7);
        assert_eq!(shown(&known, 15), Some((3, 133)));
        // Midnight without the server.
        known.begin_day(7, 15);
        assert_eq!(shown(&known, 15), Some((3, 133)));
        known.begin_day(8, 15);
        assert_eq!(shown(&known, 15), Some((0, 133)));
        assert_eq!(shown(&known, 17), Some((2, 135)));
        known.update(me(1, 134), 17, 8);
        assert_eq!(shown(&known, 18), Some((3, 136)));
    }
}
