//! The live board: the match game that a maintainer marked, as it is played.
//!
//! The board is made here for every event and sent whole: what the browser's script does is to put it in its place.

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
use futures_util::stream;
use protocol::api::{
    problem::{Code, Problem},
    work::Role,
};
use serde::Deserialize;
use serde_json::Value;
use xiangqi::{Color, Fen, Move};

use super::{
    board::{self, Board},
    form::Form,
    format,
    page::{Page, Visitor, show},
    viewer::shown_score,
    words::{Boards, Language, fill, state},
};
use crate::{
    clock::{SECOND, Time},
    http::answer::{Answer, Path, Refusal},
    live::{self, Sight},
    service::Service,
    timed,
    work::watching,
};

/// While nothing is seen the board is drawn again so often: it says how old it is.
const REDRAWN_EVERY: Duration = Duration::from_secs(15);

/// A worker that said nothing for so long, in milliseconds, may be gone. Those who think long say nothing either.
const SILENT: i64 = 20 * SECOND;

pub(super) fn routes() -> Router<Service> {
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
    /// The match that is shown, for maintainers.
    watched: Option<i64>,
}

#[derive(Template)]
#[template(path = "live_board.html")]
struct LiveBoard {
    t: &'static Boards,
    scene: Option<Scene>,
    waiting: String,
}

impl LiveBoard {
    /// A word with something in its place.
    #[allow(clippy::unused_self, reason = "templates call methods")]
    fn place(&self, word: &str, what: impl std::fmt::Display) -> String {
        fill(word, what)
    }
}

/// What is seen.
struct Scene {
    job: i64,
    game: i64,
    rules: String,
    board: String,
    /// Black above, Red below: the board is before the second.
    sides: [(usize, Side); 2],
    /// Whether its engines have clocks; else nodes stand for them.
    timed: bool,
    moves: Vec<(u32, String, String)>,
    end: Option<String>,
    /// Since when nothing was heard, if that is long ago: the clocks may have run on.
    silent: Option<String>,
}

/// A side's engine.
struct Side {
    class: &'static str,
    title: &'static str,
    name: String,
    /// What is left on its clock, if one runs.
    clock: Option<String>,
    nodes: String,
    limit: String,
    thinks: bool,
    /// What it said last; dashes, if nothing yet.
    score: String,
    depth: String,
    speed: String,
    variation: String,
}

/// What is left on a clock: tenths are told when they matter.
fn clock_of(milliseconds: i64) -> String {
    const HOUR: i64 = 3_600;
    let (seconds, tenths) = (milliseconds / 1_000, milliseconds / 100 % 10);
    match seconds {
        0..20 => format!("0:{seconds:02}.{tenths}"),
        20..HOUR => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / HOUR, seconds / 60 % 60, seconds % 60),
    }
}

/// Whether a match is to be seen.
#[derive(Deserialize)]
struct Mark {
    /// Anything, if it is; else it is to be seen no more.
    #[serde(default)]
    begin: String,
}

/// A maintainer marks a match, or takes the mark away.
async fn mark(
    State(service): State<Service>,
    Path(job): Path<i64>,
    Form(visitor, mark): Form<Mark>,
) -> Answer<Redirect> {
    let by = visitor.must_be(Role::Maintainer)?.account;
    let (now, begins) = (service.clock.now(), !mark.begin.is_empty());
    service
        .write(move |mut connection| {
            Box::pin(async move {
                if begins {
                    watching::watch(&mut connection, now, job, None, Some(by)).await
                } else {
                    watching::unwatch(&mut connection, now, job, Some(by)).await
                }
            })
        })
        .await?;
    live::sight(&service).await?;
    Ok(Redirect::to(&visitor.link("/live-game")))
}

async fn page(State(service): State<Service>, visitor: Visitor) -> Answer<Response> {
    let sight = live::sight(&service).await?;
    let board = drawn(&sight, visitor.language, visitor.now);
    let title = visitor.language.words().boards.live_title;
    show(&LivePage { page: visitor.page("live", title, "/api/v1/live-game"), board, watched: sight.watched })
}

/// The board as it is seen, again and again: when something is seen, and now and then while nothing is.
async fn events(State(service): State<Service>, visitor: Visitor) -> Answer<Response> {
    let Some((mut seen, place)) = service.live.watch(&service) else {
        let problem = Problem::new(Code::Busy, "too many people watch: ask again later");
        return Err(Refusal(problem, Some(30)));
    };
    // What is there is told at once: it may be another than when the page was made.
    live::sight(&service).await?;
    seen.mark_changed();
    let language = visitor.language;
    let (clock, stopping) = (service.clock.clone(), service.stopping.clone());
    let state = (seen, stopping, clock, place);
    let events = stream::unfold(state, move |(mut seen, mut stopping, clock, place)| async move {
        tokio::select! {
            changed = seen.changed() => changed.ok()?,
            () = tokio::time::sleep(REDRAWN_EVERY) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return None,
        }
        let board = drawn(&seen.borrow_and_update(), language, clock.now());
        let event = Event::default().event("board").data(board);
        Some((Ok::<_, Infallible>(event), (seen, stopping, clock, place)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies are not to gather what should be seen at once.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

fn drawn(sight: &Sight, language: Language, now: Time) -> String {
    let t = &language.words().boards;
    let waiting = sight.watched.map_or(t.live_none.to_owned(), |job| fill(t.live_waits, job));
    let board = LiveBoard { t, scene: scene(sight.board(), language, now), waiting };
    board.render().unwrap_or_default()
}

/// What is seen; nothing, if nothing is. It was checked when it came.
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
    let heard = number(&seen["at"]);
    let is_silent = now.0 - heard > SILENT;
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
        let told = &seen[key];
        let limit = match clock {
            Some(clock) => format!("{clock}; {}", state(language, timed::KIND)),
            None => fill(t.live_limit, format::short(language, number(&told["hard_nodes"]))),
        };
        let said = &told["said"];
        let own = said["score"].as_i64().map(|score| if color == Color::Red { score } else { -score });
        let none = || "–".to_owned();
        Side {
            class: key,
            title,
            name: told["name"].as_str().map_or_else(|| t.plain.to_owned(), str::to_owned),
            clock: told["remaining"].as_i64().map(clock_of),
            nodes: format::short(language, number(&told["nodes"])),
            limit,
            thinks: turn == color && !is_over && !is_silent,
            score: own.map_or_else(none, |score| shown_score(score as i32)),
            depth: said["depth"].as_i64().map_or_else(none, |depth| depth.to_string()),
            speed: said["nodes_per_second"].as_i64().map_or_else(none, |speed| format::short(language, speed)),
            variation: texts(&said["variation"]).join(" "),
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
        silent: is_silent.then(|| fill(t.live_silent, format::ago(language, now, heard))),
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

/// Moves by twos, each with its number.
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
