//! Publication of the status, on a thread of its own: a disk that hangs, or a terminal that is
//! stopped, blocks nothing else.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use client::Clock;

use super::snapshot::Snapshot;
use crate::{messages::Messages, monitor::Monitor};

/// Interval of `status.json`, unless the activity changes.
const FILE_INTERVAL: Duration = Duration::from_secs(2);
/// Timeout of the last publication.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Display of messages and status.
pub trait Screen: Send {
    /// Prints a message.
    fn line(&mut self, text: &str);
    /// Shows the current status.
    fn show(&mut self, snapshot: &Snapshot);
    /// Returns whether a person looks at it.
    fn is_watched(&self) -> bool {
        false
    }
}

/// Unpublished status.
#[derive(Default)]
struct Pending {
    snapshot: Option<Snapshot>,
    is_ended: bool,
}

/// Publishes messages and the latest status.
pub(crate) struct Publisher {
    pending: Arc<Monitor<Pending>>,
    /// Closed by the end of the thread.
    end: Receiver<()>,
}

impl Publisher {
    /// Starts the thread.
    pub(crate) fn start(
        mut screen: Box<dyn Screen>,
        root: PathBuf,
        messages: Arc<Messages>,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let pending = Arc::new(Monitor::new(Pending::default(), Arc::clone(&clock)));
        let (ended, end) = mpsc::channel::<()>();
        let next = Arc::clone(&pending);
        let publish = move || {
            let mut written = None;
            loop {
                let take = |pending: &mut Pending| {
                    let is_due = pending.snapshot.is_some() || pending.is_ended;
                    is_due.then(|| (pending.snapshot.take(), pending.is_ended))
                };
                let Some((snapshot, is_ended)) = next.take(Duration::MAX, take) else { continue };
                messages.take().iter().for_each(|line| screen.line(line));
                if let Some(snapshot) = snapshot {
                    let now = clock.now();
                    if written.is_none_or(|(at, doing)| doing != snapshot.doing || now >= at + FILE_INTERVAL) {
                        written = Some((now, snapshot.doing));
                        snapshot.write(&root);
                    }
                    screen.show(&snapshot);
                }
                if is_ended {
                    Snapshot::remove(&root);
                    drop((screen, ended));
                    return;
                }
            }
        };
        thread::Builder::new().name("status".to_owned()).spawn(publish)?;
        Ok(Self { pending, end })
    }

    /// Publishes the messages and this status, which replaces an unpublished one.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        self.pending.update(|pending| pending.snapshot = Some(snapshot));
    }

    /// Publishes the rest, and removes the status file.
    pub(crate) fn end(&self) {
        self.pending.update(|pending| pending.is_ended = true);
        let _ = self.end.recv_timeout(END_TIMEOUT);
    }
}
