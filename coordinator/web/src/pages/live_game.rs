//! The live board: the match game marked by a maintainer, as it is played.
//!
//! The board is rendered here for every event and sent whole; the script only inserts it.

use std::{convert::Infallible, time::Duration};

use askama::Template;
use axum::{
    Router,
    extract::State,
    response::{
        IntoResponse as _, Redirect, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{get, post},
};
use board::Board;
use coordinator_core::{
    clock::{SECOND, Time},
    model::JobId,
    ops::live::{UnwatchMatch, WatchMatch},
    timed,
};
use futures_util::stream;
use protocol::api::{problem::Code, work::Role};
use serde::Deserialize;
use serde_json::Value;
use xiangqi::{Color, Fen, Move};

use super::{
    form::Form,
    format,
    page::{Page, Visitor, show},
    viewer::shown_score,
    words::{Boards, Language, fill, state},
};
use crate::{
    answer::{ApiError, ApiResult, Path},
    app::App,
    live::{self, Snapshot},
};

/// Interval of redrawing without an update: the board shows its age.
const REDRAW_INTERVAL: Duration = Duration::from_secs(15);

/// Silence after which a worker may be gone, in milliseconds. A long think is silent too.
const SILENT_AFTER_MS: i64 = 20 * SECOND;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/live-game", get(page))
        .route("/live-game/events", get(events))
        .route("/matches/{job}/live", post(mark))
}

#[derive(Template)]
#[template(path = "live_game.html")]
struct LivePage {
    page: Page,
    board: String,
    /// The match shown, for maintainers.
    watched: Option<JobId>,
}

#[derive(Template)]
#[template(path = "live_board.html")]
struct LiveBoard {
    t: &'static Boards,
    scene: Option<Scene>,
    waiting: String,
}

impl LiveBoard {
    /// Fills a text's placeholder.
    #[allow(clippy::unused_self, reason = "templates call methods")]
    fn fill(&self, text: &str, value: impl std::fmt::Display) -> String {
        fill(text, value)
    }
}

/// The content of the live board.
struct Scene {
    job: i64,
    game: i64,
    rules: String,
    board: String,
    /// Black at the top, Red at the bottom: the board is between them.
    sides: [(usize, Side); 2],
    /// Whether the engines have clocks; otherwise node limits are shown.
    timed: bool,
    moves: Vec<(u32, String, String)>,
    end: Option<String>,
    /// Time of the last update, if that is long ago: the clocks may have run on.
    silent: Option<String>,
}

/// A side's engine.
struct Side {
    class: &'static str,
    title: &'static str,
    name: String,
    /// Remaining time, if there is a clock.
    clock: Option<String>,
    nodes: String,
    limit: String,
    thinks: bool,
    /// The last report; dashes before the first.
    score: String,
    depth: String,
    speed: String,
    variation: String,
}

/// Formats remaining time, with tenths below 20 seconds.
fn clock_of(milliseconds: i64) -> String {
    const HOUR: i64 = 3_600;
    let (seconds, tenths) = (milliseconds / 1_000, milliseconds / 100 % 10);
    match seconds {
        0..20 => format!("0:{seconds:02}.{tenths}"),
        20..HOUR => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / HOUR, seconds / 60 % 60, seconds % 60),
    }
}

/// The form that marks or unmarks a match.
#[derive(Deserialize)]
struct Mark {
    /// Any text marks the match; an empty one unmarks it.
    #[serde(default)]
    begin: String,
}

/// Marks a match for the live board, or removes the mark.
async fn mark(State(app): State<App>, Path(job): Path<JobId>, Form(visitor, mark): Form<Mark>) -> ApiResult<Redirect> {
    let by = Some(visitor.must_be(Role::Maintainer)?.account);
    if mark.begin.is_empty() {
        app.run(UnwatchMatch { job, by }).await?;
    } else {
        app.run(WatchMatch { job, pair: None, by }).await?;
    }
    live::snapshot(&app, &app.live).await?;
    Ok(Redirect::to(&visitor.link("/live-game")))
}

async fn page(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    let snapshot = live::snapshot(&app, &app.live).await?;
    let board = render_board(&snapshot, visitor.language, visitor.now);
    let title = visitor.language.words().boards.live_title;
    show(&LivePage { page: visitor.page("live", title, "/api/v1/live-game"), board, watched: snapshot.watched })
}

/// Server-sent events: the board after each update, and from time to time without one.
async fn events(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    let Some((mut seen, permit)) = app.live.subscribe(&app) else {
        return Err(ApiError::new(Code::Busy, "too many people watch: ask again later").retry_after(30));
    };
    // The current board is sent at once: it may be newer than the page.
    live::snapshot(&app, &app.live).await?;
    seen.mark_changed();
    let language = visitor.language;
    let (clock, stopping) = (app.clock.clone(), app.stopping.clone());
    let state = (seen, stopping, clock, permit);
    let events = stream::unfold(state, move |(mut seen, mut stopping, clock, permit)| async move {
        tokio::select! {
            changed = seen.changed() => changed.ok()?,
            () = tokio::time::sleep(REDRAW_INTERVAL) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return None,
        }
        let board = render_board(&seen.borrow_and_update(), language, clock.now());
        let event = Event::default().event("board").data(board);
        Some((Ok::<_, Infallible>(event), (seen, stopping, clock, permit)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Disables buffering in reverse proxies.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

pub(super) fn render_board(snapshot: &Snapshot, language: Language, now: Time) -> String {
    let t = &language.words().boards;
    let waiting = snapshot.watched.map_or(t.live_none.to_owned(), |job| fill(t.live_waits, job));
    let board = LiveBoard { t, scene: scene(snapshot.board(), language, now), waiting };
    board.render().unwrap_or_default()
}

/// Converts a snapshot's board, which was checked on arrival; none without a board.
fn scene(seen: &Value, language: Language, now: Time) -> Option<Scene> {
    let t = &language.words().boards;
    let chinese = language == Language::Chinese;
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let texts = |value: &Value| -> Vec<String> {
        let list = value[if chinese { "chinese" } else { "uci" }].as_array();
        list.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let fen: Fen = seen["fen"].as_str()?.parse().ok()?;
    let start: Fen = seen["start"].as_str()?.parse().ok()?;
    let last_move: Option<Move> =
        seen["moves"]["uci"].as_array().and_then(|moves| moves.last()?.as_str()?.parse().ok());
    let is_over = !seen["end"].is_null();
    let updated = number(&seen["at"]);
    let is_silent = now.0 - updated > SILENT_AFTER_MS;
    let turn = fen.position.turn();
    let ply = seen["moves"]["uci"].as_array().map_or(0, Vec::len);
    let moves = texts(&seen["moves"]);
    let marks = [(ply, board::marks_of_check(&fen.position))];
    let title = moves.last().map_or(t.beginning.to_owned(), |text| format!("{ply} · {text}"));
    let board = Board {
        position: &fen.position,
        flipped: false,
        last_move,
        marks: &marks,
        ply,
        title: &title,
        description: &board::in_words(&fen.position, chinese),
    };
    let clock = serde_json::from_value::<Option<dataset::Clock>>(seen["clock"].clone()).ok().flatten();
    let side = |color: Color| {
        let (key, title) = if color == Color::Red { ("red", t.red) } else { ("black", t.black) };
        let player = &seen[key];
        let limit = match clock {
            Some(clock) => format!("{clock}; {}", state(language, timed::KIND)),
            None => fill(t.live_limit, format::short(language, number(&player["hard_nodes"]))),
        };
        let engine = &player["said"];
        let own = engine["score"].as_i64().map(|score| if color == Color::Red { score } else { -score });
        let none = || "–".to_owned();
        Side {
            class: key,
            title,
            name: player["name"].as_str().map_or_else(|| t.plain.to_owned(), str::to_owned),
            clock: player["remaining"].as_i64().map(clock_of),
            nodes: format::short(language, number(&player["nodes"])),
            limit,
            thinks: turn == color && !is_over && !is_silent,
            score: own.map_or_else(none, |score| shown_score(score as i32)),
            depth: engine["depth"].as_i64().map_or_else(none, |depth| depth.to_string()),
            speed: engine["nodes_per_second"].as_i64().map_or_else(none, |speed| format::short(language, speed)),
            variation: texts(&engine["variation"]).join(" "),
        }
    };
    let end = seen["end"]["reason"].as_str().map(|reason| {
        let outcome = match seen["end"]["outcome"].as_str() {
            Some("red_wins") => t.red_wins,
            Some("black_wins") => t.black_wins,
            _ => t.draw,
        };
        fill(t.live_over, format!("{outcome}, {}", state(language, reason)))
    });
    Some(Scene {
        silent: is_silent.then(|| fill(t.live_silent, format::ago(language, now, updated))),
        job: number(&seen["match"]),
        game: number(&seen["game"]),
        rules: seen["rules"].as_str().unwrap_or_default().to_owned(),
        board: board.to_string(),
        sides: [(0, side(Color::Black)), (1, side(Color::Red))],
        timed: clock.is_some(),
        moves: pairs(&start, moves),
        end,
    })
}

/// Rows of two moves, with their number.
fn pairs(start: &Fen, moves: Vec<String>) -> Vec<(u32, String, String)> {
    let mut rows: Vec<(u32, String, String)> = Vec::new();
    let mut number = start.move_number;
    let mut side = start.position.turn();
    for text in moves {
        if side == Color::Red {
            rows.push((number, text, String::new()));
        } else {
            match rows.last_mut() {
                Some(row) => row.2 = text,
                None => rows.push((number, "…".to_owned(), text)),
            }
            number += 1;
        }
        side = !side;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::clock_of;

    #[test]
    fn clocks_are_read_as_players_do() {
        let read = [0, 950, 19_999, 20_000, 272_100, 3_599_999, 3_600_000, 5_025_000].map(clock_of);
        assert_eq!(read, ["0:00.0", "0:00.9", "0:19.9", "0:20", "4:32", "59:59", "1:00:00", "1:23:45"]);
    }
}
