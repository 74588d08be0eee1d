//! Supervised threads: a panic in one of them ends the worker, and its service manager restarts it.
//! Finished games are on disk.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::events::{Event, Events};

/// Spawns a supervised thread.
pub(crate) fn spawn(name: &str, events: &Events, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (events, own) = (events.clone(), name.to_owned());
    thread::Builder::new().name(name.to_owned()).spawn(move || run(&own, &events, body)).map(drop)
}

fn run(name: &str, events: &Events, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        events.report(Event::Panic(format!("the {name} broke off: {}", panic_message(&*panic))));
    }
}

/// Runs something that may hang, and waits for its end until the timeout.
pub(crate) fn run_within(timeout: Duration, name: &str, body: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel::<()>();
    let run = move || {
        body();
        drop(ended);
    };
    if thread::Builder::new().name(name.to_owned()).spawn(run).is_ok() {
        let _ = end.recv_timeout(timeout);
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|message| (*message).to_owned());
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "the reason is unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_panic_ends_the_worker() {
        let (sender, events) = mpsc::channel();
        let sender = Events(sender);
        run("sender", &sender, || ());
        assert_eq!(events.try_recv().ok(), None);
        run("sender", &sender, || panic!("nothing {}", "left"));
        let detail = "the sender broke off: nothing left".to_owned();
        assert_eq!(events.try_recv().ok(), Some(Event::Panic(detail)));
    }
}
