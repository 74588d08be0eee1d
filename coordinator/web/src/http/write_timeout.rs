//! Write timeout of connections, and their number per address.

use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A stream whose writes time out if the other end reads nothing.
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> WriteTimeout<S> {
    pub(super) const fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, timer: None }
    }

    /// Passes the result of a write on; fails if writes have made no progress for the timeout.
    fn check_timeout<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.timer = None;
            return done;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other end reads nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_timeout(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check_timeout(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.check_timeout(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_timeout(context, done)
    }
}

/// Connections per address.
#[derive(Clone, Default)]
pub(super) struct Addresses(Arc<Mutex<HashMap<String, usize>>>);

impl Addresses {
    /// Counts a connection; none if the address has `max` already.
    pub(super) fn acquire(&self, address: String, max: usize) -> Option<Connected> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(address.clone()).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Connected { all: self.clone(), address })
    }
}

/// A counted connection of an address.
pub(super) struct Connected {
    all: Addresses,
    address: String,
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_disconnected() {
        let (stream, mut other) = duplex(64);
        let mut stream = WriteTimeout::new(stream, Duration::from_millis(50));
        let error = stream.write_all(&[7; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(stream);
        let mut read = Vec::new();
        other.read_to_end(&mut read).await.unwrap();
        assert_eq!(read.len(), 64, "the bytes read before the timeout");
    }

    /// Each byte read restarts the timer: the transfer may last longer than the timeout.
    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_all() {
        let (stream, mut other) = duplex(1);
        let mut stream = WriteTimeout::new(stream, Duration::from_secs(2));
        let reader = tokio::spawn(async move {
            for _ in 0..6 {
                sleep(Duration::from_millis(500)).await;
                other.read_u8().await.unwrap();
            }
        });
        stream.write_all(&[7; 6]).await.unwrap();
        reader.await.unwrap();
    }

    #[test]
    fn connections_per_address_are_limited() {
        let addresses = Addresses::default();
        let own: Vec<_> = (0..3).map_while(|_| addresses.acquire("a".to_owned(), 2)).collect();
        assert_eq!(own.len(), 2);
        assert!(addresses.acquire("b".to_owned(), 2).is_some());
        drop(own);
        assert!(addresses.acquire("a".to_owned(), 2).is_some());
        assert!(addresses.0.lock().unwrap().is_empty(), "closed connections are forgotten");
    }
}
