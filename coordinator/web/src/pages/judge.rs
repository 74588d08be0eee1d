//! The judge's page: any position or list of moves, judged. The form redirects to an address that
//! holds the query in short form (UCI moves).

use std::sync::LazyLock;

use askama::Template;
use axum::{
    Router,
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use coordinator_core::games::judge::{EXAMPLES, JudgeQuery, Judged, MAX_TEXT_BYTES, judge};
use protocol::api::problem::Code;
use serde::Deserialize;
use xiangqi::{Fen, rules::RuleSet};

use super::{
    form::UNREADABLE,
    page::{Page, Visitor, show},
    viewer::{View, Viewer, notation_name, notation_of},
    words::{Boards, Language, fill},
};
use crate::{
    app::App,
    http::answer::{ApiError, ApiResult, Query},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/judge", get(judgement).post(sent))
}

#[derive(Template)]
#[template(path = "judge.html")]
struct JudgePage {
    page: Page,
    fen: String,
    moves: String,
    rules: Vec<(&'static str, &'static str, bool)>,
    notations: Vec<(&'static str, &'static str, bool)>,
    chosen_rules: String,
    chosen_notation: &'static str,
    flipped: bool,
    fault: Option<String>,
    viewer: Option<Viewer>,
    names: Option<[String; 2]>,
    counted: u32,
    flip: String,
    surplus: usize,
    examples: Vec<(String, String, String)>,
}

/// View options of the judgement.
#[derive(Deserialize)]
struct ViewQuery {
    ply: Option<String>,
    notation: Option<String>,
    flip: Option<String>,
    /// Moves after the game's end, counted when the form was sent.
    surplus: Option<usize>,
}

/// Redirects the form to the address of its judgement.
async fn sent(visitor: Visitor, body: Bytes) -> ApiResult<Response> {
    let unreadable = |_| ApiError::new(Code::BadRequest, UNREADABLE);
    let query: JudgeQuery = serde_urlencoded::from_bytes(&body).map_err(unreadable)?;
    let view: ViewQuery = serde_urlencoded::from_bytes(&body).map_err(unreadable)?;
    match query.judge() {
        Ok(judged) => Ok(Redirect::to(&visitor.link(&address(&query, &view, &judged))).into_response()),
        Err(_) => shown(query, &view, &visitor),
    }
}

/// The address of a judgement.
fn address(query: &JudgeQuery, view: &ViewQuery, judged: &Judged) -> String {
    let game = &judged.story.game;
    let start = game.start();
    let fen = if *start == Fen::start() { String::new() } else { start.to_string() };
    let moves: Vec<_> = game.moves().map(|mv| mv.to_string()).collect();
    let surplus = (judged.surplus > 0).then(|| judged.surplus.to_string());
    let query = [
        ("fen", Some(&fen)),
        ("moves", Some(&moves.join(" "))),
        ("rules", Some(&query.rules)),
        ("notation", view.notation.as_ref()),
        ("flip", view.flip.as_ref()),
        ("ply", view.ply.as_ref()),
        ("surplus", surplus.as_ref()),
    ];
    let query =
        query.into_iter().filter_map(|(name, value)| Some((name, value?))).filter(|(_, value)| !value.is_empty());
    format!("/judge?{}", serde_urlencoded::to_string(query.collect::<Vec<_>>()).unwrap_or_default())
}

async fn judgement(
    Query(query): Query<JudgeQuery>,
    Query(view): Query<ViewQuery>,
    visitor: Visitor,
) -> ApiResult<Response> {
    shown(query, &view, &visitor)
}

fn shown(query: JudgeQuery, options: &ViewQuery, visitor: &Visitor) -> ApiResult<Response> {
    let words = &visitor.language.words().boards;
    let view = View {
        language: visitor.language,
        ply: options.ply.as_deref().and_then(|ply| ply.parse().ok()),
        notation: notation_of(options.notation.as_deref(), visitor.language),
        flipped: options.flip.is_some(),
    };
    let has_input = ![&query.fen, &query.moves].iter().all(|text| text.trim().is_empty());
    let judged = has_input.then(|| query.judge());
    let (mut fault, mut viewer, mut surplus, mut counted) = (None, None, 0, 0);
    match judged {
        None => {}
        Some(Ok(judged)) => {
            counted = judged.story.game.limit_counter().counted();
            let mut shown = Viewer::new(&judged.story, &view);
            shown.is_form = true;
            (viewer, surplus) = (Some(shown), judged.surplus.max(options.surplus.unwrap_or(0)));
        }
        Some(Err(wrong)) => fault = Some(wrong.sentence(visitor.language == Language::Chinese)),
    }
    let chosen: RuleSet = query.rules.parse().unwrap_or_default();
    let notations = [("chinese", words.notation_chinese), ("wxf", "WXF"), ("uci", "UCI")];
    let json = if viewer.is_some() {
        let query = [("fen", &*query.fen), ("moves", &*query.moves), ("rules", chosen.name())];
        serde_urlencoded::to_string(query).map(|query| format!("/api/v1/judge?{query}")).unwrap_or_default()
    } else {
        String::new()
    };
    let is_wrong = fault.is_some();
    let page = JudgePage {
        fen: shortened(query.fen),
        moves: shortened(query.moves),
        rules: RuleSet::ALL.map(|rules| (rules.name(), rules_name(words, rules), rules == chosen)).to_vec(),
        notations: notations.map(|(name, label)| (name, label, name == notation_name(view.notation))).to_vec(),
        chosen_rules: chosen.name().to_owned(),
        chosen_notation: notation_name(view.notation),
        flipped: view.flipped,
        fault,
        viewer,
        names: None,
        counted,
        flip: String::new(),
        surplus,
        examples: examples(visitor, words),
        page: visitor.page("judge", words.judge_title, json),
    };
    let mut response = show(&page)?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

/// Shortens text that was too long to be judged.
fn shortened(text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES { text } else { text.chars().take(300).collect() }
}

const fn rules_name(words: &Boards, rules: RuleSet) -> &'static str {
    match rules {
        RuleSet::Cxr => words.rules_cxr,
        RuleSet::Wxf => words.rules_wxf,
        RuleSet::Axf => words.rules_axf,
        RuleSet::Wikibook => words.rules_wikibook,
        RuleSet::Simple => words.rules_simple,
    }
}

/// The verdicts of the examples, in English and Chinese. They never change.
static VERDICTS: LazyLock<Vec<[String; 2]>> = LazyLock::new(|| {
    let verdict = |example: &coordinator_core::games::judge::Example| {
        let judged = judge(example.fen, example.moves, example.rules.name()).ok();
        let end = judged.and_then(|judged| judged.story.end);
        end.map_or_else(Default::default, |end| [end.explanation.english, end.explanation.chinese])
    };
    EXAMPLES.iter().map(verdict).collect()
});

fn examples(visitor: &Visitor, words: &Boards) -> Vec<(String, String, String)> {
    let language = usize::from(visitor.language == Language::Chinese);
    let example = |(example, verdicts): (&coordinator_core::games::judge::Example, &[String; 2])| {
        let (fen, moves) = (example.fen.replace(' ', "+"), example.moves.replace(' ', "+"));
        let link = visitor.link(&format!("/judge?rules={}&fen={fen}&moves={moves}", example.rules.name()));
        (fill(words.judge_example, example.number), verdicts[language].clone(), link)
    };
    EXAMPLES.iter().zip(VERDICTS.iter()).map(example).collect()
}
