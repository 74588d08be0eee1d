//! Minimal HTTP/1.1 for tests: one request per connection, bodies with a length.

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

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, without the length.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A response with a content type.
    #[must_use]
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), kind.to_owned())], body: body.into() }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Serialises the response.
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
    /// Reads a request, and returns it with the bytes of its head.
    ///
    /// # Errors
    ///
    /// If the connection ends early, or the request is malformed.
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

/// A server on this machine, which stops when it is dropped.
pub struct Listener {
    address: SocketAddr,
    end: Arc<AtomicBool>,
}

impl Listener {
    /// Starts a server that calls `serve` for every connection, in a thread of its own.
    ///
    /// # Errors
    ///
    /// If no port is available.
    pub fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> io::Result<Self> {
        Self::start_at("127.0.0.1:0", serve)
    }

    /// The same at a given address.
    ///
    /// # Errors
    ///
    /// If the address is not available.
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

    /// Starts a server that responds to every request.
    ///
    /// # Errors
    ///
    /// If no port is available.
    pub fn answering(response: impl Fn(Request) -> Response + Send + Sync + 'static) -> io::Result<Self> {
        Self::start(move |mut stream| {
            if let Ok((request, _)) = Request::read(&mut stream) {
                let _ = stream.write_all(&response(request).to_bytes());
            }
        })
    }

    /// The server's address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL: `http://127.0.0.1:…`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end.store(true, Relaxed);
        // Wakes the thread, so that the port is released.
        let _ = TcpStream::connect(self.address);
    }
}
