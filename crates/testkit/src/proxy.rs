//! A proxy that injects network faults.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::http::{Listener, Request, Response};

/// A fault injected into one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// The request is lost.
    DropRequest,
    /// The request arrives; the response is lost.
    DropResponse,
    /// The request arrives late.
    Delay(Duration),
    /// The request's body is cut after this many bytes.
    CutRequest(usize),
    /// The response is cut after this many bytes.
    CutResponse(usize),
    /// The request arrives twice; the second response is returned.
    Duplicate,
    /// A proxy's error with this status.
    Error(u16),
    /// A proxy's 429 with this `Retry-After` in seconds.
    TooMany(u32),
    /// A captive portal's page with the status 200.
    Page,
}

impl Fault {
    /// Returns a random fault for ten of `of` requests; `random` returns random numbers.
    pub fn any(of: u64, mut random: impl FnMut() -> u64) -> Self {
        match random() % of {
            0 => Self::DropRequest,
            1 => Self::DropResponse,
            2 => Self::Delay(Duration::from_millis(random() % 500)),
            3 => Self::CutRequest((random() % 600) as usize),
            4 => Self::CutResponse((random() % 300) as usize),
            5 => Self::Duplicate,
            6 => Self::Error(500),
            7 => Self::Error(502),
            8 => Self::TooMany(1),
            9 => Self::Page,
            _ => Self::None,
        }
    }
}

/// Forwards requests to a server with the faults that `fault` chooses; requests are counted from 0.
///
/// # Errors
///
/// If no port is available.
pub fn start(server: SocketAddr, fault: impl FnMut(u64, &Request) -> Fault + Send + 'static) -> io::Result<Listener> {
    let fault = Arc::new(Mutex::new((0, fault)));
    Listener::start(move |mut stream| {
        let Ok((request, head)) = Request::read(&mut stream) else { return };
        let fault = {
            let mut state = fault.lock().unwrap_or_else(PoisonError::into_inner);
            let number = state.0;
            state.0 += 1;
            (state.1)(number, &request)
        };
        if let Some(response) = forward_with(server, &head, &request.body, fault) {
            let _ = stream.write_all(&response);
        }
    })
}

fn forward_with(server: SocketAddr, head: &[u8], body: &[u8], fault: Fault) -> Option<Vec<u8>> {
    let forward = |body: &[u8]| exchange(server, head, body, false).ok();
    match fault {
        Fault::DropRequest => None,
        Fault::DropResponse => forward(body).and(None),
        Fault::Delay(time) => {
            thread::sleep(time);
            forward(body)
        }
        Fault::CutRequest(bytes) if bytes < body.len() => {
            let _ = exchange(server, head, &body[..bytes], true);
            None
        }
        Fault::None | Fault::CutRequest(_) => forward(body),
        Fault::CutResponse(bytes) => forward(body).map(|response| response[..response.len().min(bytes)].to_vec()),
        Fault::Duplicate => forward(body).and_then(|_| forward(body)),
        Fault::Error(status) => Some(Response::new(status, "text/html", "<html>out of order</html>").to_bytes()),
        Fault::TooMany(seconds) => {
            let response = Response::new(429, "text/html", "<html>too many</html>").with("retry-after", seconds);
            Some(response.to_bytes())
        }
        Fault::Page => Some(Response::new(200, "text/html", "<html>Welcome to the hotel</html>").to_bytes()),
    }
}

/// One exchange. Only a cut request ends with a shutdown of the write half: real servers take one
/// for a disconnect.
fn exchange(server: SocketAddr, head: &[u8], body: &[u8], is_cut: bool) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(head)?;
    stream.write_all(body)?;
    if is_cut {
        stream.shutdown(std::net::Shutdown::Write)?;
    }
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(response)
}
