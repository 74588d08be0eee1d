//! Publication of the status, on threads of their own: a disk that hangs, or a terminal that is
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
use crate::{messages::Messages, monitor::Monitor, schedule::PauseFile};

/// Interval of `status.json`, unless the activity changes.
const FILE_INTERVAL: Duration = Duration::from_secs(2);
/// Timeout of each last publication.
const END_TIMEOUT: Duration = Duration::from_secs(1);

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

/// Unpublished status of a thread.
#[derive(Default)]
struct Pending {
    snapshot: Option<Snapshot>,
    is_ended: bool,
}

/// A thread that publishes the latest status.
struct Latest {
    pending: Arc<Monitor<Pending>>,
    /// Closed by the end of the thread.
    end: Receiver<()>,
}

impl Latest {
    /// Starts the thread. `publish` is called with each status, and without one at the end.
    fn start(
        name: &str,
        clock: &Arc<dyn Clock>,
        mut publish: impl FnMut(Option<&Snapshot>) + Send + 'static,
    ) -> io::Result<Self> {
        let pending = Arc::new(Monitor::new(Pending::default(), Arc::clone(clock)));
        let (ended, end) = mpsc::channel::<()>();
        let next = Arc::clone(&pending);
        let run = move || {
            let take = |pending: &mut Pending| {
                let is_due = pending.snapshot.is_some() || pending.is_ended;
                is_due.then(|| (pending.snapshot.take(), pending.is_ended))
            };
            loop {
                let Some((snapshot, is_ended)) = next.take(Duration::MAX, take) else { continue };
                if let Some(snapshot) = snapshot {
                    publish(Some(&snapshot));
                }
                if is_ended {
                    publish(None);
                    drop((publish, ended));
                    return;
                }
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { pending, end })
    }
}

/// Publishes messages and status: on the screen, and in a file. Each has its thread; that of the
/// file also looks at the pause file.
pub(crate) struct Publisher([Latest; 2]);

impl Publisher {
    /// Starts the threads.
    pub(crate) fn start(
        mut screen: Box<dyn Screen>,
        root: PathBuf,
        messages: Arc<Messages>,
        clock: &Arc<dyn Clock>,
        mut pause_file: PauseFile,
    ) -> io::Result<Self> {
        let show = move |snapshot: Option<&Snapshot>| {
            messages.take().iter().for_each(|line| screen.line(line));
            if let Some(snapshot) = snapshot {
                screen.show(snapshot);
            }
        };
        let (mut written, now) = (None, Arc::clone(clock));
        let write = move |snapshot: Option<&Snapshot>| {
            pause_file.look();
            let Some(snapshot) = snapshot else { return Snapshot::remove(&root) };
            let now = now.now();
            if written.is_none_or(|(at, doing)| doing != snapshot.doing || now >= at + FILE_INTERVAL) {
                written = Some((now, snapshot.doing));
                snapshot.write(&root);
            }
        };
        Ok(Self([Latest::start("screen", clock, show)?, Latest::start("files", clock, write)?]))
    }

    /// Publishes the messages and this status, which replaces an unpublished one.
    pub(crate) fn publish(&self, snapshot: &Snapshot) {
        for latest in &self.0 {
            latest.pending.update(|pending| pending.snapshot = Some(snapshot.clone()));
        }
    }

    /// Publishes the rest, and removes the status file.
    pub(crate) fn end(&self) {
        for latest in &self.0 {
            latest.pending.update(|pending| pending.is_ended = true);
        }
        for latest in &self.0 {
            let _ = latest.end.recv_timeout(END_TIMEOUT);
        }
    }
}
