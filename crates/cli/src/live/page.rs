//! The live view as a page: the coordinator's live board, served to browsers by a listener of its
//! own.
//!
//! It answers four addresses and nothing else, and uses nothing but the first line of a request.
//! A viewer gets the newest board when it is ready for one: slow viewers skip boards.

use std::{
    fmt::Write as _,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use board::{Board, escaped};
use xiangqi::Color;

use super::scene::{Scene, Side, clock};

const PAGE: &str = include_str!("../../assets/live.html");
const SCRIPT: &str = include_str!("../../assets/live.js");
const STYLE: &str = include_str!("../../assets/live.css");

/// Connections at the same time; others are closed.
const MAX_VIEWERS: usize = 64;
/// Maximum length of a request.
const MAX_REQUEST_BYTES: u64 = 16_384;
/// Timeout of reading a request, and of writing a board.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of comments that find closed connections.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Pause between two boards of a viewer.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// The listener; it ends with the process.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The number of boards so far, and the last.
    board: Mutex<(u64, Arc<str>)>,
    changed: Condvar,
    viewers: AtomicUsize,
}

impl Server {
    pub(super) fn start(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::Builder::new().name("live page".to_owned()).spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                if accepting.viewers.fetch_add(1, Relaxed) >= MAX_VIEWERS {
                    accepting.viewers.fetch_sub(1, Relaxed);
                    continue;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    // A viewer that is gone needs no answer.
                    let _ = shared.answer(&stream);
                    shared.viewers.fetch_sub(1, Relaxed);
                });
            }
        })?;
        Ok(Self { address, shared })
    }

    /// Shows a board to all viewers.
    pub(super) fn show(&self, board: String) {
        let mut shown = self.shared.board.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = (shown.0 + 1, board.into());
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut request = String::new();
        let mut reader = BufReader::new(stream.take(MAX_REQUEST_BYTES));
        reader.read_line(&mut request)?;
        // The header fields too: closing a connection with unread bytes resets it, and the response
        // may be lost.
        let mut field = String::from(" ");
        while !field.trim_end_matches(['\r', '\n']).is_empty() {
            field.clear();
            reader.read_line(&mut field)?;
        }
        let page;
        let (status, kind, body) = match request.split(' ').take(2).collect::<Vec<_>>()[..] {
            ["GET", "/"] => {
                let board = self.board.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
                let board = if board.is_empty() { "<p>The first game begins soon.</p>" } else { &*board };
                page = PAGE.replace("{board}", board);
                ("200 OK", "text/html", page.as_str())
            }
            ["GET", "/live.js"] => ("200 OK", "text/javascript", SCRIPT),
            ["GET", "/live.css"] => ("200 OK", "text/css", STYLE),
            ["GET", "/board.css"] => ("200 OK", "text/css", board::STYLE),
            ["GET", "/events"] => return self.stream(stream),
            _ => ("404 Not Found", "text/plain", "there is nothing at this address\n"),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
             Content-Security-Policy: default-src 'self'\r\nX-Content-Type-Options: nosniff\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }

    /// Server-sent events: the board now, and after each change.
    fn stream(&self, mut stream: &TcpStream) -> io::Result<()> {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
        )?;
        let mut seen = 0;
        loop {
            let shown = self.board.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.changed.wait_timeout_while(shown, KEEP_ALIVE, |(number, _)| *number == seen);
            let (number, board) = waited.unwrap_or_else(PoisonError::into_inner).0.clone();
            let mut event = String::new();
            if number == seen {
                event.push_str(":\n");
            } else {
                event.push_str("event: board\n");
                for line in board.lines() {
                    let _ = writeln!(event, "data: {line}");
                }
            }
            event.push('\n');
            stream.write_all(event.as_bytes())?;
            seen = number;
            thread::sleep(MIN_INTERVAL);
        }
    }
}

/// Renders a game with the classes of the coordinator's live board.
pub(super) fn board(scene: &Scene) -> String {
    let [red, black] = &scene.sides;
    let ply = scene.moves.len();
    let marks = [(ply, board::marks_of_check(&scene.position))];
    let title = scene.moves.last().map_or_else(|| "Start".to_owned(), |text| format!("{ply} · {text}"));
    let description = board::in_words(&scene.position, false);
    let drawn = Board {
        position: &scene.position,
        flipped: false,
        last_move: scene.last_move,
        marks: &marks,
        ply,
        title: &title,
        description: &description,
    };
    let sides = [(Color::Red, red), (Color::Black, black)];
    let rows: String = sides.iter().rev().map(|(color, side)| figures(*color, side)).collect();
    let lines: String = sides.iter().rev().map(|(color, side)| expected(*color, side)).collect();
    let end =
        scene.end.iter().map(|end| format!("<p class=\"notice\">{}</p>\n", escaped(end))).collect::<Vec<_>>().concat();
    let moves = scene
        .rows()
        .into_iter()
        .map(|[number, first, second]| {
            format!(
                "<li><span class=\"number\">{number}</span><span class=\"move\">{first}</span>\
                 <span class=\"move\">{second}</span></li>\n"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<p class=\"faint\">{}</p>\n<div class=\"viewer\">\n<div class=\"viewer-board\">\n{}{drawn}\n{}</div>\n\
         <div class=\"viewer-side\">\n{end}<table class=\"engines\">\n<thead><tr><th>Last report</th><th>Score</th>\
         <th>Depth</th><th>Nodes</th><th>Seconds</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n\
         <p class=\"faint\">Score: seen from Red, in pawns</p>\n<h2>Expected line</h2>\n{lines}<h2>Moves</h2>\n\
         <div class=\"movelist\" tabindex=\"0\" role=\"region\" aria-label=\"Moves\"><ol class=\"moves\">\n{moves}\
         </ol></div>\n</div>\n</div>\n",
        escaped(&scene.title),
        engine(Color::Black, black),
        engine(Color::Red, red),
    )
}

/// A class of the style sheet, and a title.
const fn words(color: Color) -> (&'static str, &'static str) {
    match color {
        Color::Red => ("red", "Red"),
        Color::Black => ("black", "Black"),
    }
}

fn engine(color: Color, side: &Side) -> String {
    let (class, title) = words(color);
    let (thinks, word) = if side.thinks { (" thinks", " <small>thinks</small>") } else { ("", "") };
    let clock = side.clock.map(|left| format!("<b>{}</b> ", clock(left))).unwrap_or_default();
    format!(
        "<div class=\"engine {class}{thinks}\"><span class=\"engine-name\"><span class=\"dot {class}\"></span> {title} \
         <b>{}</b>{word}</span><span class=\"engine-clock\">{clock}<small>{}</small></span></div>\n",
        escaped(&side.name),
        escaped(&side.limit)
    )
}

fn figures(color: Color, side: &Side) -> String {
    let (class, title) = words(color);
    let none = || "–".to_owned();
    let cells = side.report.as_ref().map_or_else(
        || [none(), none(), none(), none()],
        |report| {
            let seconds = format!("{:.1}", report.time.as_secs_f64());
            [report.score.clone(), report.depth.to_string(), report.nodes.to_string(), seconds]
        },
    );
    let cells = cells.map(|cell| format!("<td class=\"n\">{cell}</td>")).concat();
    format!("<tr class=\"{class}\"><th scope=\"row\"><span class=\"dot {class}\"></span> {title}</th>{cells}</tr>\n")
}

fn expected(color: Color, side: &Side) -> String {
    let (class, title) = words(color);
    let line = side.report.as_ref().map(|report| report.line.as_str()).filter(|line| !line.is_empty()).unwrap_or("–");
    format!(
        "<p class=\"variation {class}\"><span class=\"dot {class}\"></span> <span class=\"sr\">{title}</span> {}</p>\n",
        escaped(line)
    )
}
