//! The page of the judge: any position or list of moves, judged. All that is asked stands in its address: what is sent by
//! its form is written anew in few letters, as moves of UCI, for addresses are not to be long.

use std::sync::LazyLock;

use askama::Template;
use axum::{
    Router,
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
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
    games::judge::{Asked, EXAMPLES, Judged, MOST_TEXT, judge},
    http::answer::{Answer, Query, Refusal},
    service::Service,
};

pub(super) fn routes() -> Router<Service> {
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

/// How it is to be seen.
#[derive(Deserialize)]
struct Seen {
    ply: Option<String>,
    notation: Option<String>,
    flip: Option<String>,
    /// How many moves came after the end when it was sent.
    surplus: Option<usize>,
}

/// What the form sends is judged at an address of its own.
async fn sent(visitor: Visitor, body: Bytes) -> Answer<Response> {
    let unreadable = |_| Refusal::new(Code::BadRequest, UNREADABLE);
    let asked: Asked = serde_urlencoded::from_bytes(&body).map_err(unreadable)?;
    let seen: Seen = serde_urlencoded::from_bytes(&body).map_err(unreadable)?;
    match asked.judge() {
        Ok(judged) => Ok(Redirect::to(&visitor.link(&address(&asked, &seen, &judged))).into_response()),
        Err(_) => shown(asked, &seen, &visitor),
    }
}

/// Where what was judged is shown.
fn address(asked: &Asked, seen: &Seen, judged: &Judged) -> String {
    let game = &judged.story.game;
    let start = game.start();
    let fen = if *start == Fen::start() { String::new() } else { start.to_string() };
    let moves: Vec<_> = game.moves().map(|mv| mv.to_string()).collect();
    let surplus = (judged.surplus > 0).then(|| judged.surplus.to_string());
    let query = [
        ("fen", Some(&fen)),
        ("moves", Some(&moves.join(" "))),
        ("rules", Some(&asked.rules)),
        ("notation", seen.notation.as_ref()),
        ("flip", seen.flip.as_ref()),
        ("ply", seen.ply.as_ref()),
        ("surplus", surplus.as_ref()),
    ];
    let query =
        query.into_iter().filter_map(|(name, value)| Some((name, value?))).filter(|(_, value)| !value.is_empty());
    format!("/judge?{}", serde_urlencoded::to_string(query.collect::<Vec<_>>()).unwrap_or_default())
}

async fn judgement(Query(asked): Query<Asked>, Query(seen): Query<Seen>, visitor: Visitor) -> Answer<Response> {
    shown(asked, &seen, &visitor)
}

fn shown(asked: Asked, seen: &Seen, visitor: &Visitor) -> Answer<Response> {
    let words = &visitor.language.words().boards;
    let view = View {
        language: visitor.language,
        ply: seen.ply.as_deref().and_then(|ply| ply.parse().ok()),
        notation: notation_of(seen.notation.as_deref(), visitor.language),
        flipped: seen.flip.is_some(),
    };
    let is_asked = ![&asked.fen, &asked.moves].iter().all(|text| text.trim().is_empty());
    let judged = is_asked.then(|| asked.judge());
    let (mut fault, mut viewer, mut surplus, mut counted) = (None, None, 0, 0);
    match judged {
        None => {}
        Some(Ok(judged)) => {
            counted = judged.story.game.limit_counter().counted();
            let mut shown = Viewer::new(&judged.story, &view);
            shown.is_form = true;
            (viewer, surplus) = (Some(shown), judged.surplus.max(seen.surplus.unwrap_or(0)));
        }
        Some(Err(wrong)) => fault = Some(wrong.sentence(visitor.language == Language::Chinese)),
    }
    let chosen: RuleSet = asked.rules.parse().unwrap_or_default();
    let notations = [("chinese", words.notation_chinese), ("wxf", "WXF"), ("uci", "UCI")];
    let json = if viewer.is_some() {
        let query = [("fen", &*asked.fen), ("moves", &*asked.moves), ("rules", chosen.name())];
        serde_urlencoded::to_string(query).map(|query| format!("/api/v1/judge?{query}")).unwrap_or_default()
    } else {
        String::new()
    };
    let is_wrong = fault.is_some();
    let page = JudgePage {
        fen: shortened(asked.fen),
        moves: shortened(asked.moves),
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

/// What was too long to be judged is not sent back whole.
fn shortened(text: String) -> String {
    if text.len() <= MOST_TEXT { text } else { text.chars().take(300).collect() }
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
    let verdict = |example: &crate::games::judge::Example| {
        let judged = judge(example.fen, example.moves, example.rules.name()).ok();
        let end = judged.and_then(|judged| judged.story.end);
        end.map_or_else(Default::default, |end| [end.explanation.english, end.explanation.chinese])
    };
    EXAMPLES.iter().map(verdict).collect()
});

fn examples(visitor: &Visitor, words: &Boards) -> Vec<(String, String, String)> {
    let language = usize::from(visitor.language == Language::Chinese);
    let example = |(example, verdicts): (&crate::games::judge::Example, &[String; 2])| {
        let (fen, moves) = (example.fen.replace(' ', "+"), example.moves.replace(' ', "+"));
        let link = visitor.link(&format!("/judge?rules={}&fen={fen}&moves={moves}", example.rules.name()));
        (fill(words.judge_example, example.number), verdicts[language].clone(), link)
    };
    EXAMPLES.iter().zip(VERDICTS.iter()).map(example).collect()
}
