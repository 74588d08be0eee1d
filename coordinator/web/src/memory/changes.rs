//! The listeners of changes, and the recent events.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use coordinator_core::people;
use futures_util::{Stream, stream};
use tokio::sync::{broadcast, watch};

/// Events kept for replay.
const REPLAY_CAPACITY: usize = 256;

/// All topics.
const ALL: &str = r#"["campaigns","games","events"]"#;

/// An event. Events to a single listener have no number.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) number: Option<u64>,
    pub(crate) name: &'static str,
    pub(crate) data: Arc<str>,
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
        let run = people::secret("").unwrap_or_default();
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
    pub(crate) fn subscribe(&self, last_id: Option<&str>) -> (String, Vec<Message>, broadcast::Receiver<Message>) {
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
    pub(crate) fn start_polling(&self) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut past.is_polling, true)
    }

    /// Whether polling stops: there are no listeners.
    pub(crate) fn stop_polling(&self) -> bool {
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

/// The stream of new messages.
pub(crate) fn incoming(
    receiver: broadcast::Receiver<Message>,
    stopping: watch::Receiver<bool>,
) -> impl Stream<Item = Message> {
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
    use futures_util::StreamExt as _;

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
