//! HTTP/1.1 as far as tests need it: one question a connection, bodies with a length.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET` and so on.
    pub method: String,
    /// The address without the server.
    pub path: String,
    /// In small letters.
    pub headers: BTreeMap<String, String>,
    /// What came with it.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// `200` and so on.
    pub status: u16,
    /// Beside the length.
    pub headers: Vec<(String, String)>,
    /// What goes with it.
    pub body: Vec<u8>,
}

impl Answer {
    /// An answer of a kind.
    #[must_use]
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), kind.to_owned())], body: body.into() }
    }

    /// With another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// As it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("HTTP/1.1 {} Whatever\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend(format!("{name}: {value}\r\n").bytes());
        }
        bytes.extend(format!("content-length: {}\r\nconnection: close\r\n\r\n", self.body.len()).bytes());
        bytes.extend(&self.body);
        bytes
    }
}

impl Request {
    /// Reads a question; its head as it came comes too.
    ///
    /// # Errors
    ///
    /// If the connection ends before the question, or it is none.
    pub fn read(stream: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut stream = BufReader::new(stream);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_until(b'\n', &mut head)? == 0 || head.len() > 1 << 16 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        let mut lines = text.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let fields = lines.filter_map(|line| line.split_once(':'));
        let headers: BTreeMap<_, _> =
            fields.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok((Self { method, path, headers, body }, head))
    }
}

/// Listens on this machine until it is dropped.
pub struct Listener {
    address: SocketAddr,
    end: Arc<AtomicBool>,
}

impl Listener {
    /// Gives every connection to `serve`, in a thread of its own.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> io::Result<Self> {
        Self::start_at("127.0.0.1:0", serve)
    }

    /// The same at a certain address.
    ///
    /// # Errors
    ///
    /// If it cannot be had.
    pub fn start_at(address: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let end = Arc::new(AtomicBool::new(false));
        let (ended, serve) = (Arc::clone(&end), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address, end })
    }

    /// Answers every question.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub fn answering(answer: impl Fn(Request) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        Self::start(move |mut stream| {
            if let Ok((request, _)) = Request::read(&mut stream) {
                let _ = stream.write_all(&answer(request).to_bytes());
            }
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as text: `http://127.0.0.1:…`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end.store(true, Relaxed);
        // Wakes the thread up, so that the port is free.
        let _ = TcpStream::connect(self.address);
    }
}
