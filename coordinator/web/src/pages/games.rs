//! Stored games: the shards of a job, the games of a shard, and a game to step through.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::{
    games::{self, Kept, ListedShard, PAGE},
    model::{JobId, JobKind},
    query, timed,
};
use protocol::api::work::Role;
use serde::Deserialize;
use serde_json::Value;
use xiangqi::{Color, notation::Notation};

use super::{
    page::{Page, Visitor, show},
    viewer::{View, Viewer, notation_name, notation_of},
    words::{Language, fill},
};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/games", get(list))
        .route("/games/{shard}", get(shard))
        .route("/games/{shard}/{number}", get(game))
}

/// Longest game, in plies, that fits into an address of the judge.
const MAX_JUDGE_PLIES: usize = 600;

#[derive(Template)]
#[template(path = "games.html")]
struct GamesPage {
    page: Page,
    shards: Vec<ShardLine>,
    older: Option<String>,
}

struct ShardLine {
    hash: String,
    short: String,
    first: i64,
    last: i64,
    positions: i64,
    outcomes: String,
    reasons: String,
    is_open: bool,
    /// The kind of unprovable games; empty for provable ones.
    mark: String,
}

/// A filter of the list of shards.
#[derive(Deserialize)]
struct OfJob {
    job: Option<JobId>,
    before: Option<i64>,
}

async fn list(State(app): State<App>, Query(of): Query<OfJob>, visitor: Visitor) -> ApiResult<Response> {
    let sees_all = visitor.is(Role::Trainer);
    let found =
        app.report(query!(|connection| games::shards(&mut connection, sees_all, of.job, of.before).await)).await?;
    let words = &visitor.language.words().boards;
    let (title, query) = match of.job {
        Some(job) => (fill(words.games_of_job, job), format!("job={job}&")),
        None => (words.games_title.to_owned(), String::new()),
    };
    let older = (found.len() == PAGE).then(|| found.last()).flatten();
    let older = older.map(|last| visitor.link(&format!("/games?{query}before={}", last.id)));
    let before = of.before.map_or_else(String::new, |before| format!("before={before}"));
    let json = format!("/api/v1/games?{query}{before}");
    let shards = found.iter().map(|shard| line(shard, visitor.language)).collect();
    let json = json.trim_end_matches(['?', '&']).to_owned();
    show(&GamesPage { page: visitor.page("games", title, json), shards, older })
}

fn line(shard: &ListedShard, language: Language) -> ShardLine {
    let counts = |text: &Option<String>| {
        let value = text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(Value::Object(counts)) = value else { return String::new() };
        let mut counts: Vec<_> = counts.iter().filter_map(|(name, count)| Some((name, count.as_u64()?))).collect();
        counts.retain(|(_, count)| *count > 0);
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named = counts.iter().map(|(name, count)| format!("{} {count}", super::words::state(language, name)));
        named.collect::<Vec<_>>().join(" · ")
    };
    ShardLine {
        hash: shard.hash.clone(),
        short: shard.hash.chars().take(12).collect(),
        first: shard.first,
        last: shard.first + shard.games - 1,
        positions: shard.positions,
        outcomes: counts(&shard.outcomes),
        reasons: counts(&shard.reasons),
        is_open: shard.is_open,
        mark: if shard.kind == JobKind::Timed { super::words::state(language, timed::KIND) } else { String::new() },
    }
}

#[derive(Template)]
#[template(path = "shard.html")]
struct ShardPage {
    page: Page,
    shard: String,
    clock: Option<String>,
    reasons: Vec<(String, String, bool)>,
    games: Vec<GameLine>,
    more: Option<String>,
}

struct GameLine {
    number: u64,
    outcome: &'static str,
    reason: String,
    plies: usize,
}

/// A filter of the list of a shard's games.
#[derive(Deserialize)]
struct OfShard {
    reason: Option<String>,
    #[serde(default)]
    skip: usize,
}

async fn shard(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(of): Query<OfShard>,
    visitor: Visitor,
) -> ApiResult<Response> {
    let reason = of.reason.filter(|reason| dataset::Reason::all().any(|known| known.name() == reason));
    let trainer = visitor.is(Role::Trainer);
    let (hash, header, listed, found) = games::list(&app, &name, reason.clone(), of.skip, trainer).await?;
    let words = &visitor.language.words().boards;
    let state = |word: &str| super::words::state(visitor.language, word);
    let base = visitor.link(&format!("/games/{hash}"));
    let mut reasons = vec![(words.any_reason.to_owned(), base.clone(), reason.is_none())];
    reasons.extend(dataset::Reason::all().map(|known| {
        let is_now = reason.as_deref() == Some(known.name());
        (state(known.name()), format!("{base}?reason={}", known.name()), is_now)
    }));
    let query = reason.as_ref().map_or_else(String::new, |reason| format!("reason={reason}&"));
    let more = (found > of.skip.saturating_add(PAGE)).then(|| format!("{base}?{query}skip={}", of.skip + PAGE));
    let games = listed
        .iter()
        .map(|game| GameLine {
            number: game.number,
            outcome: outcome_name(game.outcome, visitor.language),
            reason: state(game.reason.name()),
            plies: game.plies,
        })
        .collect();
    let json = format!("/api/v1/games/{hash}?{query}skip={}", of.skip);
    let page = visitor.page("games", words.games_of_shard, json);
    let clock = header.clock.map(|clock| clock.to_string());
    show(&ShardPage { page, shard: hash.to_string(), clock, reasons, games, more })
}

fn outcome_name(outcome: xiangqi::rules::Outcome, language: Language) -> &'static str {
    use xiangqi::rules::Outcome;
    let words = &language.words().boards;
    match outcome {
        Outcome::RedWins => words.red_wins,
        Outcome::BlackWins => words.black_wins,
        Outcome::Draw => words.draw,
    }
}

#[derive(Template)]
#[template(path = "game.html")]
struct GamePage {
    page: Page,
    viewer: Viewer,
    /// The players above and below the board, if the page names them there.
    names: Option<[String; 2]>,
    counted: u32,
    flip: String,
    red: String,
    black: String,
    notations: Vec<(&'static str, &'static str, String, bool)>,
    pgn: String,
    judge: String,
    previous: Option<String>,
    next: Option<String>,
    shard: String,
    rules: &'static str,
    clock: Option<String>,
    job: Option<JobId>,
    seed: u64,
}

/// View options of a game.
#[derive(Deserialize)]
struct ViewQuery {
    ply: Option<usize>,
    notation: Option<String>,
    flip: Option<String>,
}

async fn game(
    State(app): State<App>,
    Path((name, number)): Path<(String, u64)>,
    Query(query): Query<ViewQuery>,
    visitor: Visitor,
) -> ApiResult<Response> {
    let kept = games::read(&app, &name, number, visitor.is(Role::Trainer)).await?;
    let view = View {
        language: visitor.language,
        ply: query.ply,
        notation: notation_of(query.notation.as_deref(), visitor.language),
        flipped: query.flip.is_some(),
    };
    show(&game_page(&visitor, &kept, &view))
}

fn game_page(visitor: &Visitor, kept: &Kept, view: &View) -> GamePage {
    let words = &visitor.language.words().boards;
    let usual = notation_of(None, visitor.language);
    let suffix = |notation: Notation, flipped: bool| {
        let notation = if notation == usual { String::new() } else { format!("&notation={}", notation_name(notation)) };
        notation + if flipped { "&flip=1" } else { "" }
    };
    let mut viewer = Viewer::new(&kept.story, view);
    viewer.suffix = suffix(view.notation, view.flipped);
    let at = format!("?ply={}", viewer.ply);
    let notations =
        [(Notation::ChineseSimplified, words.notation_chinese), (Notation::Wxf, "WXF"), (Notation::Uci, "UCI")];
    let notations = notations.map(|(notation, label)| {
        let link = format!("{at}{}", suffix(notation, view.flipped));
        (notation_name(notation), label, link, notation == view.notation)
    });
    let name = |side: Color| match &kept.players[side.index()] {
        player if player.net.is_none() => words.plain.to_owned(),
        player => player.label(),
    };
    let (red, black) = (name(Color::Red), name(Color::Black));
    let shard = kept.shard.to_string();
    let link = |number: u64| kept.numbers.contains(&number).then(|| visitor.link(&format!("/games/{shard}/{number}")));
    let judge = judge_link(visitor, kept);
    let api = format!("/api/v1/games/{shard}/{}", kept.number);
    GamePage {
        names: None,
        counted: 0,
        flip: format!("{at}{}", suffix(view.notation, !view.flipped)),
        red,
        black,
        notations: notations.to_vec(),
        pgn: format!("{api}/pgn?notation={}", view.notation.name()),
        judge,
        previous: kept.number.checked_sub(1).and_then(link),
        next: kept.number.checked_add(1).and_then(link),
        shard: shard.clone(),
        rules: kept.header.rules.name(),
        clock: kept.header.clock.map(|clock| clock.to_string()),
        job: kept.job,
        seed: kept.header.seed_of(kept.number),
        page: visitor.page("games", fill(words.game_of, kept.number), api),
        viewer,
    }
}

/// A link to judge the game under other rules; empty if it is too long for an address.
fn judge_link(visitor: &Visitor, kept: &Kept) -> String {
    let game = &kept.story.game;
    if game.len() > MAX_JUDGE_PLIES {
        return String::new();
    }
    let moves: Vec<_> = game.moves().map(|mv| mv.to_string()).collect();
    let start = game.start().to_string().replace(' ', "+");
    visitor.link(&format!("/judge?rules={}&fen={start}&moves={}", kept.header.rules.name(), moves.join("+")))
}
