//! Connections: how many, how long they may take to say what they want, and how they end.

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

use super::{
    limits,
    patience::{Addresses, Impatient},
};

/// So many connections are open at the same time; others wait in the system's queue.
const MOST_CONNECTIONS: usize = 8_192;

/// So many of one address, unless a proxy stands before all.
const MOST_OF_ADDRESS: usize = 2_048;

/// Who takes nothing of an answer for so long gets no more of it.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// A request's head must be there after so long. Who sends it a byte at a time holds up nobody else.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// Answers until it is told to stop; then lets what is under way end, for so long.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    behind_proxy: bool,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let addresses = Addresses::default();
    let graceful = GracefulShutdown::new();
    // Of one version alone: as long as it is not known which it is, no time runs.
    let mut builder = auto::Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(32 << 10);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            accepted = async { (place.await, listener.accept().await) } => accepted,
        };
        let (Ok(place), accepted) = accepted else { break };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // No more files, most likely: some are closed soon.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let most = if behind_proxy { MOST_CONNECTIONS } else { MOST_OF_ADDRESS };
        let Some(address) = addresses.enter(limits::sender(peer.ip()), most) else { continue };
        // Without it the system waits for more to say.
        drop(stream.set_nodelay(true));
        let app = app.clone();
        let answer = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer));
            let app = app.clone();
            async move {
                Ok::<_, Infallible>(app.oneshot(request.map(Body::new)).await.unwrap_or_else(|never| match never {}))
            }
        });
        let connection =
            builder.serve_connection(TokioIo::new(Impatient::new(stream, READ_WITHIN)), answer).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Who breaks off, or says nothing that can be read, is not worth a word.
            drop(connection.await);
            drop((place, address));
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still under way: their senders will send them again");
    }
}
