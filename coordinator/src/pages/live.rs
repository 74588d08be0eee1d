//! Tells pages that something happened.
//!
//! One task asks the database at most once a second what changed, as long as anybody watches, and tells all of them:
//! how many watch costs the database nothing. What is told is a topic, and pages then ask for what they show; events in
//! the memory of this coordinator alone, as those of a live game, are told with [`Live::tell`].
//!
//! A page says of which moment it is: it has the database's `Marks`, and the first that is told to whoever listens are
//! those of now, so that nothing is missed between the two. Who was away says besides with `Last-Event-ID` what it heard
//! last, and is told what came since; if that is not remembered any more, or somebody is too slow to hear all of it, that
//! everything may have changed.

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
    http::answer::{Answer, Refusal},
    service::Service,
    store::{Connection, Outcome},
};

/// So many may watch a coordinator at the same time; others see their pages as they were when they came.
const MOST_WATCHERS: usize = 2_000;

/// So much of what was told is remembered for those who were away.
const REMEMBERED: usize = 256;

/// How often the database is asked.
const EVERY: Duration = Duration::from_secs(1);

/// Games come all the time: pages are told of them at most so often, in milliseconds.
const GAMES_EVERY: i64 = 5 * SECOND;

/// What is told. What is told to one alone has no number.
#[derive(Clone, Debug)]
struct Told {
    number: Option<u64>,
    name: &'static str,
    data: Arc<str>,
}

/// Who watches, and what they were told.
pub struct Live {
    sender: broadcast::Sender<Told>,
    past: Mutex<Past>,
}

#[derive(Default)]
struct Past {
    told: VecDeque<Told>,
    next: u64,
    is_polling: bool,
    /// Tells the numbers of this coordinator from those of the one before.
    run: String,
}

impl Default for Live {
    fn default() -> Self {
        let run = crate::people::secret("").unwrap_or_default();
        let past = Past { run: run.chars().take(8).collect(), ..Past::default() };
        Self { sender: broadcast::channel(REMEMBERED).0, past: Mutex::new(past) }
    }
}

impl Live {
    /// Tells all who watch. `name` is the kind of event; `data` must be one line.
    pub fn tell(&self, name: &'static str, data: impl Into<Arc<str>>) {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Told { number: Some(past.next), name, data: data.into() };
        past.next += 1;
        if past.told.len() == REMEMBERED {
            past.told.pop_front();
        }
        past.told.push_back(told.clone());
        // Nobody may be watching.
        drop(self.sender.send(told));
    }

    /// How many watch.
    #[must_use]
    pub fn watchers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// What comes from now on, and before it what somebody missed who heard this last.
    fn watch(&self, heard: Option<&str>) -> (String, Vec<Told>, broadcast::Receiver<Told>) {
        let past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.sender.subscribe();
        let Some(heard) = heard else { return (past.run.clone(), Vec::new(), receiver) };
        let number = heard.strip_prefix(&format!("{}-", past.run)).and_then(|number| number.parse::<u64>().ok());
        let oldest = past.told.front().and_then(|told| told.number).unwrap_or(past.next);
        let missed = match number {
            Some(number) if number + 1 >= oldest && number < past.next => {
                past.told.iter().filter(|told| told.number > Some(number)).cloned().collect()
            }
            // Whatever it was: look again.
            _ => vec![Told { number: Some(past.next.saturating_sub(1)), ..Told::everything() }],
        };
        (past.run.clone(), missed, receiver)
    }

    /// Whether whoever asks is to poll from now on: nobody else does.
    fn begin(&self) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut past.is_polling, true)
    }

    /// Whether whoever polls may stop: nobody watches.
    fn may_end(&self) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.is_polling = self.sender.receiver_count() > 0;
        !past.is_polling
    }
}

impl Told {
    /// Everything may have changed.
    fn everything() -> Self {
        Self { number: None, name: "changed", data: ALL.into() }
    }
}

/// All topics.
const ALL: &str = r#"["campaigns","games","events"]"#;

/// What tells that something changed, by topics; each is read from the end of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Marks {
    campaigns: i64,
    games: i64,
    events: i64,
}

impl Marks {
    /// As pages and streams have them.
    pub(crate) fn to_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// The marks of now.
pub(crate) async fn marks(service: &Service) -> Outcome<Marks> {
    service.read(|mut connection| Box::pin(async move { read(&mut connection).await })).await
}

async fn read(connection: &mut Connection<'_>) -> Outcome<Marks> {
    let query = "SELECT CAST(COALESCE((SELECT SUM(changed) FROM campaigns), 0)
                             + COALESCE((SELECT MAX(closed) FROM jobs), 0) AS BIGINT),
                        CAST(COALESCE((SELECT MAX(validated) FROM shards), 0)
                             + COALESCE((SELECT MAX(id) FROM shards), 0) AS BIGINT),
                        CAST(COALESCE((SELECT MAX(id) FROM events), 0) AS BIGINT)";
    let (campaigns, games, events) = sqlx::query_as(query).fetch_one(connection.raw()).await?;
    Ok(Marks { campaigns, games, events })
}

/// Asks the database what changed since it was so, as long as anybody watches.
async fn poll(service: Service, mut known: Marks) {
    let live = &service.pages.live;
    let mut games_told = i64::MIN;
    let mut stopping = service.stopping.clone();
    loop {
        if let Ok(found) = marks(&service).await {
            let (now, before) = (service.clock.now().0, known);
            let tells_games = before.games != found.games && now.saturating_sub(games_told) >= GAMES_EVERY;
            let topics = [
                ("campaigns", before.campaigns != found.campaigns),
                ("games", tells_games),
                ("events", before.events != found.events),
            ];
            let topics: Vec<_> = topics.into_iter().filter(|(_, changed)| *changed).map(|(topic, _)| topic).collect();
            if !topics.is_empty() {
                live.tell("changed", serde_json::json!(topics).to_string());
            }
            // What is not told yet stays new.
            let games = if tells_games || before.games == found.games { found.games } else { before.games };
            known = Marks { games, ..found };
            if tells_games {
                games_told = now;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if live.may_end() {
            return;
        }
    }
}

/// Server-sent events: first `state` with the marks of now, then `changed` with a list of topics (`campaigns`, `games`,
/// `events`), and those of live games.
pub(crate) async fn stream(State(service): State<Service>, headers: HeaderMap) -> Answer<Response> {
    let live = &service.pages.live;
    if live.watchers() >= MOST_WATCHERS {
        let problem = Problem::new(Code::Busy, "too many watch: load the page again later");
        return Err(Refusal(problem, Some(60)));
    }
    let heard = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // Whoever listens does so before it is read how things are: between the two nothing is lost.
    let (run, missed, receiver) = live.watch(heard);
    let now = marks(&service).await?;
    if live.begin() {
        tokio::spawn(poll(service.clone(), now));
    }
    let first = Told { number: None, name: "state", data: now.to_text().into() };
    let told = stream::iter([first]).chain(stream::iter(missed)).chain(coming(receiver, service.stopping.clone()));
    let events = told.map(move |told| {
        let event = Event::default().event(told.name).data(&*told.data);
        Ok::<_, Infallible>(
            told.number.map_or_else(|| event.clone(), |number| event.clone().id(format!("{run}-{number}"))),
        )
    });
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(20));
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// What is told from now on.
fn coming(receiver: broadcast::Receiver<Told>, stopping: watch::Receiver<bool>) -> impl Stream<Item = Told> {
    stream::unfold((receiver, stopping), |(mut receiver, mut stopping)| async move {
        let told = tokio::select! {
            // Who stops does not go on because there is more to say.
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => return None,
            told = receiver.recv() => match told {
                Ok(told) => told,
                // Too slow to hear all of it.
                Err(broadcast::error::RecvError::Lagged(_)) => Told::everything(),
                Err(broadcast::error::RecvError::Closed) => return None,
            },
        };
        Some((told, (receiver, stopping)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_away_is_told_what_came_since() {
        let live = Live::default();
        let heard = |heard: Option<&str>| live.watch(heard).1.iter().map(|told| told.data.to_string()).collect();
        for number in 0..3 {
            live.tell("game", number.to_string());
        }
        let run = live.watch(None).0;
        let nothing: Vec<String> = heard(None);
        assert!(nothing.is_empty(), "who is new sees the page as it is");
        let since: Vec<String> = heard(Some(&format!("{run}-0")));
        assert_eq!(since, ["1", "2"]);
        let nothing: Vec<String> = heard(Some(&format!("{run}-2")));
        assert!(nothing.is_empty());
        for stranger in ["", "another-1", &format!("{run}-77"), &format!("{run}-x")] {
            let all: Vec<String> = heard(Some(stranger));
            assert_eq!(all, [ALL], "{stranger}");
        }
    }

    #[tokio::test]
    async fn who_is_too_slow_is_told_that_everything_may_have_changed() {
        let live = Live::default();
        let receiver = live.watch(None).2;
        for number in 0..REMEMBERED + 7 {
            live.tell("game", number.to_string());
        }
        let (stop, stopping) = watch::channel(false);
        let mut coming = Box::pin(coming(receiver, stopping));
        let first = coming.next().await.expect("the stream goes on");
        assert_eq!((first.name, &*first.data), ("changed", ALL));
        let next = coming.next().await.expect("the stream goes on");
        assert_eq!((next.name, &*next.data), ("game", "7"));
        stop.send_replace(true);
        assert!(coming.next().await.is_none(), "a coordinator that stops lets nobody wait");
    }

    #[test]
    fn one_task_polls_while_somebody_watches() {
        let live = Live::default();
        let watcher = live.watch(None).2;
        assert!(live.begin() && !live.begin());
        assert!(!live.may_end());
        drop(watcher);
        assert!(live.may_end() && live.begin());
    }
}
