//! Supervised threads: a panic in one of them ends the worker, and its service manager restarts it.
//! Finished games are on disk.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use client::Client;
use protocol::api::work::{Failure, FailureKind};

use crate::shared::Shared;

/// Spawns a supervised thread. A panic is reported to the server while games continue.
pub(crate) fn spawn(
    name: &'static str,
    shared: &Arc<Shared>,
    client: &Client,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let (shared, client) = (Arc::clone(shared), client.clone());
    let report = move |worker, detail| {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let _ = client.report(&Failure { worker, kind: FailureKind::Panic, version, detail });
    };
    thread::Builder::new().name(name.to_owned()).spawn(move || run(name, &shared, body, report)).map(drop)
}

fn run(name: &str, shared: &Shared, body: impl FnOnce(), report: impl FnOnce(Option<i64>, String)) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else { return };
    let detail = format!("the {name} broke off: {}", panic_message(&*panic));
    report(shared.read(|state| state.worker), detail.chars().take(4000).collect());
    shared.update(|state| state.fatal = Some(detail));
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|message| (*message).to_owned());
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "the reason is unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_worker_and_is_reported() {
        let shared = Shared::new(Arc::new(client::SystemClock::default()));
        shared.update(|state| state.worker = Some(7));
        let mut reported = None;
        run("sender", &shared, || (), |worker, detail| reported = Some((worker, detail)));
        assert_eq!((&reported, shared.read(|state| state.fatal.clone())), (&None, None));
        run("sender", &shared, || panic!("nothing {}", "left"), |worker, detail| reported = Some((worker, detail)));
        let detail = "the sender broke off: nothing left".to_owned();
        assert_eq!(
            (reported, shared.read(|state| state.fatal.clone())),
            (Some((Some(7), detail.clone())), Some(detail))
        );
    }
}
