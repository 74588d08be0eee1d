//! Connections: their number, their timeouts and their end.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
};
use tower::ServiceExt as _;

use super::write_timeout::{Addresses, WriteTimeout};
use crate::limits;

/// Open connections at the same time; others wait in the system's queue.
const MAX_CONNECTIONS: usize = 8_192;

/// Open connections of one address, unless a proxy stands in front.
const MAX_CONNECTIONS_PER_ADDRESS: usize = 2_048;

/// Write timeout: a client that reads nothing for so long is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Read timeout of a request's head, against clients that send it byte by byte (Slowloris).
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until `stop`, then drains the requests under way for at most `grace`.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    behind_proxy: bool,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let addresses = Addresses::default();
    let graceful = GracefulShutdown::new();
    // HTTP/1 only: no timeout runs while the builder still detects the version.
    let mut builder = auto::Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(32 << 10);
    loop {
        let permit = Arc::clone(&permits).acquire_owned();
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            accepted = async { (permit.await, listener.accept().await) } => accepted,
        };
        let (Ok(permit), accepted) = accepted else { break };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: others close soon.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let max = if behind_proxy { MAX_CONNECTIONS } else { MAX_CONNECTIONS_PER_ADDRESS };
        let Some(address) = addresses.acquire(limits::sender(peer.ip()), max) else { continue };
        // Disables Nagle's algorithm: responses are sent at once.
        drop(stream.set_nodelay(true));
        let app = app.clone();
        let handler = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer));
            let app = app.clone();
            async move {
                Ok::<_, Infallible>(app.oneshot(request.map(Body::new)).await.unwrap_or_else(|never| match never {}))
            }
        });
        let connection =
            builder.serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), handler).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Broken connections and unreadable requests are not worth a log line.
            drop(connection.await);
            drop((permit, address));
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still under way: their clients will retry");
    }
}
