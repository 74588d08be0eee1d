//! Events: what threads report to the supervisor.

use std::sync::mpsc::Sender;

/// An event that the supervisor reacts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A command of the owner is queued.
    Command,
    /// The last lease that was wanted is done.
    LeasesDone,
    /// All leases are done during a shutdown.
    Idle,
    /// This version has replaced the program.
    Updated(String),
    /// A panic ends the worker.
    Panic(String),
    /// An error ends the worker.
    Fatal(String),
}

/// Where threads report events.
#[derive(Clone, Debug)]
pub(crate) struct Events(pub(crate) Sender<Event>);

impl Events {
    /// Reports an event. Without a supervisor the worker has ended.
    pub(crate) fn report(&self, event: Event) {
        let _ = self.0.send(event);
    }
}
