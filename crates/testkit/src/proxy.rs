//! A bad network between two programs.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::http::{Answer, Listener, Request};

/// What happens to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It does not arrive.
    DropQuestion,
    /// It arrives; the answer does not.
    DropAnswer,
    /// It arrives later.
    Delay(Duration),
    /// Only so many bytes of its body arrive.
    CutQuestion(usize),
    /// Only so many bytes of the answer come back.
    CutAnswer(usize),
    /// It arrives twice; the second answer comes back.
    Twice,
    /// An error of somebody in between.
    Error(u16),
    /// Somebody in between asks for patience, so many seconds long.
    TooMany(u32),
    /// A page that says that all is well, and is none of the server's.
    Page,
}

impl Fault {
    /// What happens to a question where of so many ten meet with something; `roll` gives random numbers.
    pub fn any(of: u64, mut roll: impl FnMut() -> u64) -> Self {
        match roll() % of {
            0 => Self::DropQuestion,
            1 => Self::DropAnswer,
            2 => Self::Delay(Duration::from_millis(roll() % 500)),
            3 => Self::CutQuestion((roll() % 600) as usize),
            4 => Self::CutAnswer((roll() % 300) as usize),
            5 => Self::Twice,
            6 => Self::Error(500),
            7 => Self::Error(502),
            8 => Self::TooMany(1),
            9 => Self::Page,
            _ => Self::None,
        }
    }
}

/// Hands questions on to a server, and does to each what `fault` says; questions are counted from 0.
///
/// # Errors
///
/// If no port can be had.
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
        if let Some(answer) = pass_on(server, &head, &request.body, fault) {
            let _ = stream.write_all(&answer);
        }
    })
}

fn pass_on(server: SocketAddr, head: &[u8], body: &[u8], fault: Fault) -> Option<Vec<u8>> {
    let forward = |body: &[u8]| exchange(server, head, body, false).ok();
    match fault {
        Fault::DropQuestion => None,
        Fault::DropAnswer => forward(body).and(None),
        Fault::Delay(time) => {
            thread::sleep(time);
            forward(body)
        }
        Fault::CutQuestion(bytes) if bytes < body.len() => {
            let _ = exchange(server, head, &body[..bytes], true);
            None
        }
        Fault::None | Fault::CutQuestion(_) => forward(body),
        Fault::CutAnswer(bytes) => forward(body).map(|answer| answer[..answer.len().min(bytes)].to_vec()),
        Fault::Twice => forward(body).and_then(|_| forward(body)),
        Fault::Error(status) => Some(Answer::new(status, "text/html", "<html>out of order</html>").to_bytes()),
        Fault::TooMany(seconds) => {
            let answer = Answer::new(429, "text/html", "<html>too many</html>").with("retry-after", seconds);
            Some(answer.to_bytes())
        }
        Fault::Page => Some(Answer::new(200, "text/html", "<html>Welcome to the hotel</html>").to_bytes()),
    }
}

/// One exchange. Who has nothing more to say says so only if something is missing: real servers take it for a hanging up.
fn exchange(server: SocketAddr, head: &[u8], body: &[u8], is_cut: bool) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(head)?;
    stream.write_all(body)?;
    if is_cut {
        stream.shutdown(std::net::Shutdown::Write)?;
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}
