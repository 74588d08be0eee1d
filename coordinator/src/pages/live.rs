//! Server-sent events about changes.
//!
//! One task polls the database at most once a second, while there are listeners, and notifies all
//! of them. The database's load does not grow with their number. An event names topics; pages then
//! reload their parts. Events from this coordinator's memory, as those of a live game, are sent
//! with [`Live::send`].
//!
//! A page carries the database's `Marks` as of its rendering. A stream begins with the current
//! marks, so that no change between the two is lost. After a lost connection, `Last-Event-ID` names
//! the last event received, and the missed events are replayed. If they are no longer in memory, or
//! a listener lags behind, it is notified that everything may have changed.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt as _, stream};
use protocol::api::problem::{Code, Problem};
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use crate::{
    clock::SECOND,
    http::answer::{ApiError, ApiResult},
    service::Service,
    store::{Connection, StoreError},
};

/// Listeners at the same time; the pages of others do not update.
const MAX_LISTENERS: usize = 2_000;

/// Events kept for replay.
const REPLAY_CAPACITY: usize = 256;

/// Polling interval of the database.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum of milliseconds between two events about games, which arrive all the time.
const MIN_GAMES_INTERVAL_MS: i64 = 5 * SECOND;

/// An event. Events to a single listener have no number.
#[derive(Clone, Debug)]
struct Message {
    number: Option<u64>,
    name: &'static str,
    data: Arc<str>,
}

/// The listeners, and the recent events.
pub struct Live {
    sender: broadcast::Sender<Message>,
    past: Mutex<Past>,
}

#[derive(Default)]
struct Past {
    messages: VecDeque<Message>,
    next: u64,
    is_polling: bool,
    /// Distinguishes the event numbers of this process from an earlier one's.
    run: String,
}

impl Default for Live {
    fn default() -> Self {
        let run = crate::people::secret("").unwrap_or_default();
        let past = Past { run: run.chars().take(8).collect(), ..Past::default() };
        Self { sender: broadcast::channel(REPLAY_CAPACITY).0, past: Mutex::new(past) }
    }
}

impl Live {
    /// Notifies all listeners. `name` is the kind of event; `data` must be one line.
    pub fn send(&self, name: &'static str, data: impl Into<Arc<str>>) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let message = Message { number: Some(past.next), name, data: data.into() };
        past.next += 1;
        if past.messages.len() == REPLAY_CAPACITY {
            past.messages.pop_front();
        }
        past.messages.push_back(message.clone());
        // Without listeners this fails, harmlessly.
        drop(self.sender.send(message));
    }

    /// Number of listeners.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Subscribes a listener. Also returns the run's name and the events missed since `last_id`.
    fn subscribe(&self, last_id: Option<&str>) -> (String, Vec<Message>, broadcast::Receiver<Message>) {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.sender.subscribe();
        let Some(last_id) = last_id else { return (past.run.clone(), Vec::new(), receiver) };
        let number = last_id.strip_prefix(&format!("{}-", past.run)).and_then(|number| number.parse::<u64>().ok());
        let oldest = past.messages.front().and_then(|message| message.number).unwrap_or(past.next);
        let missed = match number {
            Some(number) if number + 1 >= oldest && number < past.next => {
                past.messages.iter().filter(|message| message.number > Some(number)).cloned().collect()
            }
            // Unknown or too old: everything may have changed.
            _ => vec![Message { number: Some(past.next.saturating_sub(1)), ..Message::everything() }],
        };
        (past.run.clone(), missed, receiver)
    }

    /// Whether the caller is to start polling: no task does yet.
    fn start_polling(&self) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut past.is_polling, true)
    }

    /// Whether polling stops: there are no listeners.
    fn stop_polling(&self) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.is_polling = self.sender.receiver_count() > 0;
        !past.is_polling
    }
}

impl Message {
    /// The message that everything may have changed.
    fn everything() -> Self {
        Self { number: None, name: "changed", data: ALL.into() }
    }
}

/// All topics.
const ALL: &str = r#"["campaigns","games","events"]"#;

/// Change markers by topic; each is read from the end of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Marks {
    campaigns: i64,
    games: i64,
    events: i64,
}

impl Marks {
    /// JSON for pages and streams.
    pub(crate) fn to_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// The current marks.
pub(crate) async fn marks(service: &Service) -> Result<Marks, StoreError> {
    service.read(|mut connection| Box::pin(async move { read(&mut connection).await })).await
}

async fn read(connection: &mut Connection<'_>) -> Result<Marks, StoreError> {
    let query = "SELECT CAST(COALESCE((SELECT SUM(changed) FROM campaigns), 0)
                             + COALESCE((SELECT MAX(closed) FROM jobs), 0) AS BIGINT),
                        CAST(COALESCE((SELECT MAX(validated) FROM shards), 0)
                             + COALESCE((SELECT MAX(id) FROM shards), 0) AS BIGINT),
                        CAST(COALESCE((SELECT MAX(id) FROM events), 0) AS BIGINT)";
    let (campaigns, games, events) = sqlx::query_as(query).fetch_one(connection.raw()).await?;
    Ok(Marks { campaigns, games, events })
}

/// Polls the database for changes since `known`, while there are listeners.
async fn poll(service: Service, mut known: Marks) {
    let live = &service.pages.live;
    let mut games_sent = i64::MIN;
    let mut stopping = service.stopping.clone();
    loop {
        if let Ok(found) = marks(&service).await {
            let (now, before) = (service.clock.now().0, known);
            let sends_games = before.games != found.games && now.saturating_sub(games_sent) >= MIN_GAMES_INTERVAL_MS;
            let topics = [
                ("campaigns", before.campaigns != found.campaigns),
                ("games", sends_games),
                ("events", before.events != found.events),
            ];
            let topics: Vec<_> = topics.into_iter().filter(|(_, changed)| *changed).map(|(topic, _)| topic).collect();
            if !topics.is_empty() {
                live.send("changed", serde_json::json!(topics).to_string());
            }
            // Unsent changes stay pending.
            let games = if sends_games || before.games == found.games { found.games } else { before.games };
            known = Marks { games, ..found };
            if sends_games {
                games_sent = now;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if live.stop_polling() {
            return;
        }
    }
}

/// Server-sent events: `state` with the current marks, then `changed` with a list of topics
/// (`campaigns`, `games`, `events`), and the events of live games.
pub(crate) async fn stream(State(service): State<Service>, headers: HeaderMap) -> ApiResult<Response> {
    let live = &service.pages.live;
    if live.listeners() >= MAX_LISTENERS {
        let problem = Problem::new(Code::Busy, "too many watch: load the page again later");
        return Err(ApiError(problem, Some(60)));
    }
    let last_id = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // Subscribes before the marks are read: nothing in between is lost.
    let (run, missed, receiver) = live.subscribe(last_id);
    let now = marks(&service).await?;
    if live.start_polling() {
        tokio::spawn(poll(service.clone(), now));
    }
    let first = Message { number: None, name: "state", data: now.to_text().into() };
    let messages =
        stream::iter([first]).chain(stream::iter(missed)).chain(incoming(receiver, service.stopping.clone()));
    let events = messages.map(move |message| {
        let event = Event::default().event(message.name).data(&*message.data);
        Ok::<_, Infallible>(
            message.number.map_or_else(|| event.clone(), |number| event.clone().id(format!("{run}-{number}"))),
        )
    });
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(20));
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Disables nginx's buffering.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The stream of new messages.
fn incoming(receiver: broadcast::Receiver<Message>, stopping: watch::Receiver<bool>) -> impl Stream<Item = Message> {
    stream::unfold((receiver, stopping), |(mut receiver, mut stopping)| async move {
        let message = tokio::select! {
            // Shutdown takes precedence over pending messages.
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => return None,
            received = receiver.recv() => match received {
                Ok(message) => message,
                // The listener lagged behind the channel.
                Err(broadcast::error::RecvError::Lagged(_)) => Message::everything(),
                Err(broadcast::error::RecvError::Closed) => return None,
            },
        };
        Some((message, (receiver, stopping)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returning_listener_gets_the_missed_events() {
        let live = Live::default();
        let missed =
            |last_id: Option<&str>| live.subscribe(last_id).1.iter().map(|message| message.data.to_string()).collect();
        for number in 0..3 {
            live.send("game", number.to_string());
        }
        let run = live.subscribe(None).0;
        let nothing: Vec<String> = missed(None);
        assert!(nothing.is_empty(), "a new listener has the current page");
        let since: Vec<String> = missed(Some(&format!("{run}-0")));
        assert_eq!(since, ["1", "2"]);
        let nothing: Vec<String> = missed(Some(&format!("{run}-2")));
        assert!(nothing.is_empty());
        for stranger in ["", "another-1", &format!("{run}-77"), &format!("{run}-x")] {
            let all: Vec<String> = missed(Some(stranger));
            assert_eq!(all, [ALL], "{stranger}");
        }
    }

    #[tokio::test]
    async fn a_slow_listener_is_notified_that_everything_may_have_changed() {
        let live = Live::default();
        let receiver = live.subscribe(None).2;
        for number in 0..REPLAY_CAPACITY + 7 {
            live.send("game", number.to_string());
        }
        let (stop, stopping) = watch::channel(false);
        let mut messages = Box::pin(incoming(receiver, stopping));
        let first = messages.next().await.expect("the stream continues");
        assert_eq!((first.name, &*first.data), ("changed", ALL));
        let next = messages.next().await.expect("the stream continues");
        assert_eq!((next.name, &*next.data), ("game", "7"));
        stop.send_replace(true);
        assert!(messages.next().await.is_none(), "a stopping coordinator ends its streams");
    }

    #[test]
    fn one_task_polls_while_there_are_listeners() {
        let live = Live::default();
        let listener = live.subscribe(None).2;
        assert!(live.start_polling() && !live.start_polling());
        assert!(!live.stop_polling());
        drop(listener);
        assert!(live.stop_polling() && live.start_polling());
    }
}
