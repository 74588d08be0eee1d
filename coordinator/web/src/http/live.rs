//! Server-sent events about changes.
//!
//! One task polls the database at most once a second, while there are listeners, and notifies all
//! of them. The database's load does not grow with their number. An event names topics; pages then
//! reload their parts. Events from this coordinator's memory, as those of a live game, are sent
//! with [`Live::send`](crate::memory::Live::send).
//!
//! A page carries the database's `Marks` as of its rendering. A stream begins with the current
//! marks, so that no change between the two is lost. After a lost connection, `Last-Event-ID` names
//! the last event received, and the missed events are replayed. If they are no longer in memory, or
//! a listener lags behind, it is notified that everything may have changed.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use coordinator_core::{
    clock::SECOND,
    query,
    reports::marks::{self, Marks},
    store::StoreError,
};
use futures_util::{StreamExt as _, stream};
use protocol::api::problem::Code;

use crate::{
    answer::{ApiError, ApiResult},
    app::App,
    memory::changes::{Message, incoming},
};

/// Listeners at the same time; the pages of others do not update.
const MAX_LISTENERS: usize = 2_000;

/// Polling interval of the database.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum of milliseconds between two events about games, which arrive all the time.
const MIN_GAMES_INTERVAL_MS: i64 = 5 * SECOND;

/// The current marks.
pub(crate) async fn marks(app: &App) -> Result<Marks, StoreError> {
    app.read(query!(|connection| marks::marks(&mut connection).await)).await
}

/// Polls the database for changes since `known`, while there are listeners.
async fn poll(app: App, mut known: Marks) {
    let live = &app.pages.live;
    let mut games_sent = i64::MIN;
    let mut stopping = app.stopping.clone();
    loop {
        if let Ok(found) = marks(&app).await {
            let (now, before) = (app.clock.now().0, known);
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
pub(crate) async fn stream(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    let live = &app.pages.live;
    if live.listeners() >= MAX_LISTENERS {
        return Err(ApiError::new(Code::Busy, "too many watch: load the page again later").retry_after(60));
    }
    let last_id = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // Subscribes before the marks are read: nothing in between is lost.
    let (run, missed, receiver) = live.subscribe(last_id);
    let now = marks(&app).await?;
    if live.start_polling() {
        tokio::spawn(poll(app.clone(), now));
    }
    let first = Message { number: None, name: "state", data: now.to_text().into() };
    let messages = stream::iter([first]).chain(stream::iter(missed)).chain(incoming(receiver, app.stopping.clone()));
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
