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
    work::{Shutdown, Work},
};

/// Interval of requests for the account's contributions.
const REFRESH_INTERVAL: Duration = Duration::from_mins(15);
/// The same until the first games of the day are counted.
const FIRST_REFRESH_INTERVAL: Duration = Duration::from_mins(1);

/// Last report of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The account and its contributions.
    pub(crate) me: Option<Me>,
    /// Time of the next promotion, since 1970.
    pub(crate) promotion_at: Option<Duration>,
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
        let is_new = accepted > 0 && self.known().me.is_none_or(|me| me.today.games == 0);
        let interval = if is_new { FIRST_REFRESH_INTERVAL } else { REFRESH_INTERVAL };
        let is_due = self.asked_at.is_none_or(|asked| now >= asked + interval);
        if !is_due || is_away || work.read(|state| state.shutdown != Shutdown::Running) {
            return;
        }
        self.asked_at = Some(now);
        let (client, known, is_watched) = (self.client.clone(), Arc::clone(&self.known), self.is_watched);
        let since_1970 = work.clock().since_1970();
        let request = move || {
            let Ok(me) = client.me() else { return };
            let left = if is_watched { outlook::request(&client, since_1970) } else { None };
            let promotion_at = left.map(|left| since_1970 + left);
            *known.lock().unwrap_or_else(PoisonError::into_inner) = Known { me: Some(me), promotion_at };
        };
        let _ = thread::Builder::new().name("account".to_owned()).spawn(request);
    }
}
