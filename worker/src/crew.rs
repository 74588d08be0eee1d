//! The threads without which a worker would seem to run and do nothing: one that breaks off ends the worker, which whoever
//! watches over it then starts again. What is finished is on disk.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use client::Client;
use protocol::api::work::{Failure, FailureKind};

use crate::desk::Desk;

/// Starts one. The server is told if it breaks off; that takes as long as it takes, while games go on.
pub(crate) fn start(
    name: &'static str,
    desk: &Arc<Desk>,
    client: &Client,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let (desk, client) = (Arc::clone(desk), client.clone());
    let tell = move |worker, detail| {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let _ = client.report(&Failure { worker, kind: FailureKind::Panic, version, detail });
    };
    thread::Builder::new().name(name.to_owned()).spawn(move || run(name, &desk, body, tell)).map(drop)
}

fn run(name: &str, desk: &Desk, body: impl FnOnce(), tell: impl FnOnce(Option<i64>, String)) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else { return };
    let why = format!("the {name} broke off: {}", words_of(&*panic));
    tell(desk.look(|state| state.worker), why.chars().take(4000).collect());
    desk.change(|state| state.fatal = Some(why));
}

/// What somebody said who broke off.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "nobody knows why".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_breaks_off_ends_the_worker_and_the_server_is_told() {
        let desk = Desk::new(Arc::new(client::SystemClock::default()));
        desk.change(|state| state.worker = Some(7));
        let mut told = None;
        run("sender", &desk, || (), |worker, why| told = Some((worker, why)));
        assert_eq!((&told, desk.look(|state| state.fatal.clone())), (&None, None));
        run("sender", &desk, || panic!("nothing {}", "left"), |worker, why| told = Some((worker, why)));
        let why = "the sender broke off: nothing left".to_owned();
        assert_eq!((told, desk.look(|state| state.fatal.clone())), (Some((Some(7), why.clone())), Some(why)));
    }
}
