//! Supervised threads: a panic in one of them ends the worker, and its service manager restarts it.
//! Finished games are on disk.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use protocol::api::work::FailureKind;

use crate::{
    report::Reporter,
    supervisor::events::{Event, Events},
};

/// Spawns a supervised thread. A panic is reported to the server while games continue.
pub(crate) fn spawn(
    name: &'static str,
    events: &Events,
    reporter: &Arc<Reporter>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let (events, reporter) = (events.clone(), Arc::clone(reporter));
    let report = move |detail: &str| reporter.report(FailureKind::Panic, detail);
    thread::Builder::new().name(name.to_owned()).spawn(move || run(name, &events, body, report)).map(drop)
}

fn run(name: &str, events: &Events, body: impl FnOnce(), report: impl FnOnce(&str)) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else { return };
    let detail = format!("the {name} broke off: {}", panic_message(&*panic));
    report(&detail);
    events.report(Event::Fatal(detail));
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
    fn a_panic_ends_the_worker_and_is_reported() {
        let (sender, events) = mpsc::channel();
        let sender = Events(sender);
        let mut reported = None;
        run("sender", &sender, || (), |detail| reported = Some(detail.to_owned()));
        assert_eq!((&reported, events.try_recv().ok()), (&None, None));
        run("sender", &sender, || panic!("nothing {}", "left"), |detail| reported = Some(detail.to_owned()));
        let detail = "the sender broke off: nothing left".to_owned();
        assert_eq!((reported, events.try_recv().ok()), (Some(detail.clone()), Some(Event::Fatal(detail))));
    }
}
