//! Connections: how many an address has, and who does not read what he asked for.

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

/// A stream that gives up if the other end takes nothing of what is written.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> Impatient<S> {
    pub(super) const fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waits: None }
    }

    /// What became of an attempt to write; a failure, if for a while nothing has become of any.
    fn tried<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(waits.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other end reads nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.tried(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.tried(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.tried(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.tried(context, done)
    }
}

/// How many connections each address has.
#[derive(Clone, Default)]
pub(super) struct Addresses(Arc<Mutex<HashMap<String, usize>>>);

impl Addresses {
    /// A connection more; none, if the address has so many.
    pub(super) fn enter(&self, address: String, most: usize) -> Option<Connected> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(address.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Connected { all: self.clone(), address })
    }
}

/// A connection of an address.
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
    async fn who_reads_nothing_is_left() {
        let (stream, mut other) = duplex(64);
        let mut stream = Impatient::new(stream, Duration::from_millis(50));
        let error = stream.write_all(&[7; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(stream);
        let mut read = Vec::new();
        other.read_to_end(&mut read).await.unwrap();
        assert_eq!(read.len(), 64, "what was taken before is there");
    }

    /// Every byte that is taken gives more time, which all together is longer than the patience.
    #[tokio::test(start_paused = true)]
    async fn who_is_slow_gets_all() {
        let (stream, mut other) = duplex(1);
        let mut stream = Impatient::new(stream, Duration::from_secs(2));
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
    fn an_address_has_so_many_connections() {
        let addresses = Addresses::default();
        let own: Vec<_> = (0..3).map_while(|_| addresses.enter("a".to_owned(), 2)).collect();
        assert_eq!(own.len(), 2);
        assert!(addresses.enter("b".to_owned(), 2).is_some());
        drop(own);
        assert!(addresses.enter("a".to_owned(), 2).is_some());
        assert!(addresses.0.lock().unwrap().is_empty(), "who is gone is forgotten");
    }
}
