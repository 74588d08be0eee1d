//! The live view of a match: one running game at a time, in the terminal and as a page.
//!
//! A game is shown from its beginning to its end, then the next one that begins. No game waits for
//! a viewer of the page or is changed by one.

mod page;
mod scene;
mod text;

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};
use selfplay::{Conditions, Timer as _, WatchedGame, Watcher};
use xiangqi::{
    Color, Piece,
    notation::{Notation, simplified_name},
};

use crate::{matches::record::round, stopwatch::Stopwatch};
use page::Server;
use scene::{Report, Scene, Side};

/// Minimum interval between two drawings of a game, whose moves may be faster.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);

/// The script of boards and moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Script {
    /// Simplified characters, and moves such as 马二进三
    Chinese,
    /// Traditional characters, and moves such as 馬二進三
    Traditional,
    /// Letters of FEN, and moves such as h2e2
    Letters,
}

impl Script {
    /// The text of a piece, or of an empty point: two columns.
    fn point(self, piece: Option<Piece>) -> String {
        match (self, piece) {
            (Self::Chinese, Some(piece)) => simplified_name(piece).to_string(),
            (Self::Traditional, Some(piece)) => board::character(piece).to_string(),
            (Self::Chinese | Self::Traditional, None) => "＋".to_owned(),
            (Self::Letters, Some(piece)) => format!("{} ", piece.letter()),
            (Self::Letters, None) => ". ".to_owned(),
        }
    }

    const fn river(self) -> &'static str {
        match self {
            Self::Chinese => "      楚河      汉界",
            Self::Traditional => "      楚河      漢界",
            Self::Letters => "   - - - - - - - - -",
        }
    }

    const fn notation(self) -> Notation {
        match self {
            Self::Chinese => Notation::ChineseSimplified,
            Self::Traditional => Notation::ChineseTraditional,
            Self::Letters => Notation::Uci,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct LiveArguments {
    /// Show a running game: its board on a terminal, otherwise a line per move
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, require_equals = true, default_missing_value = "chinese")]
    live: Option<Script>,
    /// Serve the running game as a page at this address, as in `127.0.0.1:8080`
    #[arg(long, value_name = "ADDRESS")]
    live_page: Option<String>,
}

impl LiveArguments {
    /// Starts the live view, if any was requested.
    pub(crate) fn start<'a>(&self, timer: &'a Stopwatch) -> Result<Option<LiveView<'a>>> {
        let server = match &self.live_page {
            Some(address) => Some(Server::start(address).with_context(|| format!("--live-page: {address}"))?),
            None => None,
        };
        if self.live.is_none() && server.is_none() {
            return Ok(None);
        }
        let state = Mutex::default();
        let script = self.live.unwrap_or(Script::Letters);
        let output = self.live.map(|_| io::stderr().is_terminal());
        Ok(Some(LiveView { script, is_terminal: output, server, timer, state }))
    }
}

/// The live view.
pub(crate) struct LiveView<'a> {
    script: Script,
    /// Whether standard error is a terminal; none if nothing is printed.
    is_terminal: Option<bool>,
    server: Option<Server>,
    timer: &'a Stopwatch,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The encounter whose games are shown.
    terms: Option<Terms>,
    /// The shown game: its pair, and whether it is the second.
    game: Option<(u64, bool)>,
    /// The last reports of both sides, by [`Color::index`].
    reports: [Option<Report>; 2],
    drawn_at: Option<Duration>,
    /// The lines of the last drawing on a terminal, which the next one replaces.
    drawn_lines: usize,
    /// The last line of the drawing: the standing of the match.
    standing: String,
}

/// The engines of a match.
struct Terms {
    names: [String; 2],
    conditions: Conditions,
    prefix: String,
}

impl LiveView<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the names of A and B and their conditions. `prefix` stands before the number of a game.
    pub(crate) fn set_match(&self, names: &[String; 2], conditions: Conditions, prefix: String) {
        self.lock().terms = Some(Terms { names: names.clone(), conditions, prefix });
    }

    /// The address of the page, if there is one.
    pub(crate) fn address(&self) -> Option<String> {
        self.server.as_ref().map(|server| format!("http://{}/", server.address))
    }

    /// Whether it draws boards on a terminal, and shows the standing below.
    pub(crate) fn draws(&self) -> bool {
        self.is_terminal == Some(true)
    }

    /// Sets the line below the board.
    pub(crate) fn set_standing(&self, line: &str) {
        line.clone_into(&mut self.lock().standing);
    }

    /// Keeps the last drawing: another line follows it.
    pub(crate) fn release(&self) {
        self.lock().drawn_lines = 0;
    }

    fn scene(&self, state: &State, watched: &WatchedGame<'_>) -> Option<Scene> {
        let Terms { names, conditions, prefix } = state.terms.as_ref()?;
        let controls = conditions.by_color(watched.second);
        let turn = watched.game.position().turn();
        let side = |color: Color| {
            let is_a = (color == Color::Red) != watched.second;
            Side {
                name: names[usize::from(!is_a)].clone(),
                limit: controls[color.index()].to_string(),
                clock: watched.left.map(|left| left[color.index()]),
                thinks: turn == color && watched.ending.is_none(),
                report: state.reports[color.index()].clone(),
            }
        };
        let title = format!("game {prefix}{}", round(watched.pair, watched.second));
        Some(Scene::new(title, watched, self.script.notation(), [side(Color::Red), side(Color::Black)]))
    }

    fn draw(&self, state: &mut State, scene: &Scene) -> io::Result<()> {
        if let Some(server) = &self.server {
            server.show(page::board(scene));
        }
        let mut out = io::stderr().lock();
        match self.is_terminal {
            Some(true) => {
                let mut lines = text::board(scene, self.script);
                lines.push(state.standing.clone());
                let lines: Vec<_> = lines.iter().map(|line| text::clipped(line)).collect();
                let back =
                    if state.drawn_lines > 0 { format!("\x1b[{}A\r\x1b[J", state.drawn_lines) } else { String::new() };
                state.drawn_lines = lines.len();
                writeln!(out, "{back}{}", lines.join("\n"))
            }
            Some(false) => writeln!(out, "{}", text::line(scene)),
            None => Ok(()),
        }
    }
}

impl Watcher for LiveView<'_> {
    fn show(&self, watched: &WatchedGame<'_>) {
        let mut state = self.lock();
        let this = (watched.pair, watched.second);
        let begins = state.game.is_none() && watched.moves.is_empty() && watched.ending.is_none();
        if begins {
            state.game = Some(this);
            state.reports = [None, None];
        } else if state.game != Some(this) {
            return;
        }
        if let Some(played) = watched.moves.last().filter(|_| watched.ending.is_none()) {
            let mover = !watched.game.position().turn();
            state.reports[mover.index()] = Some(Report::new(watched, played.note, self.script.notation()));
        }
        let now = self.timer.now();
        let is_soon = state.drawn_at.is_some_and(|at| now < at + DRAW_INTERVAL);
        if is_soon && !begins && watched.ending.is_none() && self.is_terminal != Some(false) {
            return;
        }
        state.drawn_at = Some(now);
        if let Some(scene) = self.scene(&state, watched) {
            // The match does not depend on the view, and standard error may be closed.
            let _ = self.draw(&mut state, &scene);
        }
        if watched.ending.is_some() {
            state.game = None;
        }
    }
}
