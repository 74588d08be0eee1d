//! Signals that stop a program.

use std::sync::Arc;

use tokio::{
    signal::{ctrl_c, unix},
    sync::watch,
};

/// Returns a channel that becomes true on SIGTERM or Ctrl-C.
#[must_use]
pub fn stop_signal() -> (Arc<watch::Sender<bool>>, watch::Receiver<bool>) {
    let (stop, stopped) = watch::channel(false);
    let stop = Arc::new(stop);
    let signalled = Arc::clone(&stop);
    tokio::spawn(async move {
        let terminate = async {
            match unix::signal(unix::SignalKind::terminate()) {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = ctrl_c() => {}
            () = terminate => {}
        }
        signalled.send_replace(true);
    });
    (stop, stopped)
}
