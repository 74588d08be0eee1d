//! The judge's page: any position, list of moves or file of games, judged. The form redirects to an
//! address that holds one game in short form (UCI moves). Where its text says more, or holds many
//! games, the form's response is the page.

use std::sync::LazyLock;

use askama::Template;
use axum::{
    Router,
    body::Bytes,
    extract::Multipart,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use coordinator_core::{
    games::judge::{
        EXAMPLES, JudgeQuery, Judged, JudgedGame, JudgedList, ListedGame, MAX_TEXT_BYTES, Wrong, hint_sentence, judge,
        judge_games, skipped_sentence,
    },
    model::Refusal,
};
use protocol::api::problem::Code;
use serde::Deserialize;
use tokio::task::spawn_blocking;
use xiangqi::{
    Fen,
    notation::reader::{Agreement, Games},
    rules::{Game, RuleSet},
};

use super::{
    page::{Page, Visitor, show},
    viewer::{View, Viewer, notation_name, notation_of},
    words::{Boards, Language, fill, state},
};
use crate::{
    answer::{ApiError, ApiResult, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/judge", get(judgement).post(sent))
}

/// Skipped parts that a page names of one game, and of each game of a list.
const MAX_SKIPPED_SHOWN: usize = 30;
const MAX_SKIPPED_LISTED: usize = 10;
/// Length of the tags that an address keeps, in bytes.
const MAX_TAGS_BYTES: usize = 2_000;

#[derive(Template)]
#[template(path = "judge.html")]
struct JudgePage {
    page: Page,
    fen: String,
    moves: String,
    /// The judged game's position and moves with its tags, for the form that steps.
    line: [String; 2],
    /// The tags of the text besides the players' names.
    tags: Vec<(String, String)>,
    rules: Vec<(&'static str, &'static str, bool)>,
    notations: Vec<(&'static str, &'static str, bool)>,
    chosen_rules: &'static str,
    chosen_notation: &'static str,
    flipped: bool,
    fault: Option<String>,
    viewer: Option<Viewer>,
    names: Option<[String; 2]>,
    counted: u32,
    flip: String,
    surplus: usize,
    notes: Option<Notes>,
    list: Option<List>,
    examples: Vec<(String, String, String)>,
}

/// The notes on a text: its claim, a hint, and its skipped parts.
struct Notes {
    claimed: Option<String>,
    hint: Option<String>,
    skipped: Vec<String>,
    /// The number of all skipped parts, and of those not shown.
    count: usize,
    more: usize,
    /// The address without the notes.
    address: String,
}

/// A judged file.
struct List {
    rows: Vec<Row>,
    sum: Vec<(&'static str, usize)>,
}

/// A game of a judged file.
struct Row {
    number: usize,
    line: usize,
    names: [String; 2],
    judged: Result<RowVerdict, String>,
}

struct RowVerdict {
    address: String,
    claimed: String,
    outcome: String,
    reason: String,
    ply: usize,
    comparison: &'static str,
    class: &'static str,
    /// The first skipped parts, the number of all, and of those not shown.
    hint: Option<String>,
    skipped: Vec<String>,
    count: usize,
    more: usize,
}

/// View options of the judgement.
#[derive(Default, Deserialize)]
struct ViewQuery {
    ply: Option<String>,
    notation: Option<String>,
    flip: Option<String>,
    /// Moves after the game's end, counted when the form was sent.
    surplus: Option<usize>,
}

/// A sent form.
#[derive(Default)]
struct Sent {
    query: JudgeQuery,
    view: ViewQuery,
    file: Bytes,
}

impl Sent {
    async fn read(mut parts: Multipart) -> ApiResult<Self> {
        let unreadable = |_| ApiError::from(Refusal::UnreadableForm);
        let mut sent = Self::default();
        while let Some(field) = parts.next_field().await.map_err(unreadable)? {
            let name = field.name().unwrap_or_default().to_owned();
            if name == "pgn" {
                sent.file = field.bytes().await.map_err(unreadable)?;
                continue;
            }
            let text = field.text().await.map_err(unreadable)?;
            match name.as_str() {
                "fen" => sent.query.fen = text,
                "moves" => sent.query.moves = text,
                "rules" => sent.query.rules = text,
                "notation" => sent.view.notation = Some(text),
                "flip" => sent.view.flip = Some(text),
                "ply" => sent.view.ply = Some(text),
                _ => {}
            }
        }
        Ok(sent)
    }
}

/// Judges the form: one game at its own address, or with what its text says besides; many games as
/// a list.
async fn sent(visitor: Visitor, parts: Multipart) -> ApiResult<Response> {
    let Sent { mut query, view, file } = Sent::read(parts).await?;
    if !file.is_empty() {
        if ![&query.fen, &query.moves].iter().all(|text| text.trim().is_empty()) {
            let fault = Wrong::TwoInputs.sentence(visitor.language == Language::Chinese);
            return shown(&visitor, query, &view, Input::Fault(fault));
        }
        return judge_file(visitor, query, view, file).await;
    }
    if query.fen.trim().is_empty() && Games::new(query.moves.as_bytes()).nth(1).is_some() {
        let text = Bytes::from(std::mem::take(&mut query.moves));
        return judge_file(visitor, query, view, text).await;
    }
    let judged = query.judge();
    match &judged {
        Ok(game) if !game.has_notes() => {
            Ok(Redirect::to(&visitor.link(&address(game, &view, game.surplus))).into_response())
        }
        _ => shown(&visitor, query, &view, Input::Game(Box::new(judged))),
    }
}

async fn judge_file(visitor: Visitor, query: JudgeQuery, view: ViewQuery, file: Bytes) -> ApiResult<Response> {
    let rules = query.rules.clone();
    let judging = spawn_blocking(move || judge_games(&file, &rules));
    let judged = judging.await.map_err(|_| ApiError::new(Code::Internal, "the judging was aborted"))?;
    shown(&visitor, query, &view, Input::List(judged))
}

/// The address of a judgement.
fn address(judged: &Judged, view: &ViewQuery, surplus: usize) -> String {
    let game = &judged.story.game;
    let [fen, moves] = line_of(game, &judged.tags);
    let surplus = (surplus > 0).then(|| surplus.to_string());
    address_of(&fen, &moves, game.rules(), view, surplus.as_ref())
}

fn address_of(fen: &str, moves: &str, rules: RuleSet, view: &ViewQuery, surplus: Option<&String>) -> String {
    let rules = if rules == RuleSet::default() { "" } else { rules.name() };
    let query = [
        ("fen", Some(fen)),
        ("moves", Some(moves)),
        ("rules", Some(rules)),
        ("notation", view.notation.as_deref()),
        ("flip", view.flip.as_deref()),
        ("ply", view.ply.as_deref()),
        ("surplus", surplus.map(String::as_str)),
    ];
    let query =
        query.into_iter().filter_map(|(name, value)| Some((name, value?))).filter(|(_, value)| !value.is_empty());
    format!("/judge?{}", serde_urlencoded::to_string(query.collect::<Vec<_>>()).unwrap_or_default())
}

/// A game's position, empty for the start of a game, and its moves in UCI behind its tags.
fn line_of(game: &Game, tags: &[(String, String)]) -> [String; 2] {
    let start = game.start();
    let fen = if *start == Fen::start() { String::new() } else { start.to_string() };
    [fen, kept_tags(tags) + &game.moves().map(|mv| mv.to_string()).collect::<Vec<_>>().join(" ")]
}

/// The tags that an address keeps, as PGN. Position, rules and notation have their own places.
fn kept_tags(tags: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, value) in tags {
        let tag = format!("[{name} \"{}\"] ", value.replace('\\', "\\\\").replace('"', "\\\""));
        let is_own = ["FEN", "SetUp", "Rules", "Notation"].contains(&name.as_str());
        if !is_own && text.len() + tag.len() <= MAX_TAGS_BYTES {
            text += &tag;
        }
    }
    text
}

async fn judgement(
    Query(query): Query<JudgeQuery>,
    Query(view): Query<ViewQuery>,
    visitor: Visitor,
) -> ApiResult<Response> {
    let has_input = ![&query.fen, &query.moves].iter().all(|text| text.trim().is_empty());
    let input = if has_input { Input::Game(Box::new(query.judge())) } else { Input::None };
    shown(&visitor, query, &view, input)
}

/// The content of a page.
enum Input {
    None,
    Game(Box<Result<Judged, Wrong>>),
    List(Result<JudgedList, Wrong>),
    Fault(String),
}

fn shown(visitor: &Visitor, query: JudgeQuery, options: &ViewQuery, input: Input) -> ApiResult<Response> {
    let words = &visitor.language.words().boards;
    let chinese = visitor.language == Language::Chinese;
    let view = View {
        language: visitor.language,
        ply: options.ply.as_deref().and_then(|ply| ply.parse().ok()),
        notation: notation_of(options.notation.as_deref(), visitor.language),
        flipped: options.flip.is_some(),
    };
    let chosen: Option<RuleSet> = query.rules.parse().ok();
    let notations = [("chinese", words.notation_chinese), ("wxf", "WXF"), ("uci", "UCI")];
    let tagged = [("", words.judge_rules_tagged, chosen.is_none())];
    let rules = RuleSet::ALL.map(|rules| (rules.name(), rules_name(words, rules), Some(rules) == chosen));
    let mut page = JudgePage {
        fen: shortened(query.fen),
        moves: shortened(query.moves),
        line: Default::default(),
        tags: Vec::new(),
        rules: tagged.into_iter().chain(rules).collect(),
        notations: notations.map(|(name, label)| (name, label, name == notation_name(view.notation))).to_vec(),
        chosen_rules: chosen.unwrap_or_default().name(),
        chosen_notation: notation_name(view.notation),
        flipped: view.flipped,
        fault: None,
        viewer: None,
        names: None,
        counted: 0,
        flip: String::new(),
        surplus: 0,
        notes: None,
        list: None,
        examples: examples(visitor, words),
        page: visitor.page("judge", words.judge_title, ""),
    };
    let wrong = match input {
        Input::None => None,
        Input::Game(judged) => match *judged {
            Ok(judged) => {
                page.judged(visitor, &judged, options, &view);
                None
            }
            Err(wrong) => Some(wrong.sentence(chinese)),
        },
        Input::List(Ok(list)) => {
            page.list = Some(List::new(visitor, &list, options));
            None
        }
        Input::List(Err(wrong)) => Some(wrong.sentence(chinese)),
        Input::Fault(fault) => Some(fault),
    };
    page.fault = wrong;
    let mut response = show(&page)?;
    if page.fault.is_some() {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

impl JudgePage {
    fn judged(&mut self, visitor: &Visitor, judged: &Judged, options: &ViewQuery, view: &View) {
        let game = &judged.story.game;
        self.counted = game.limit_counter().counted();
        self.surplus = judged.surplus.max(options.surplus.unwrap_or(0));
        self.line = line_of(game, &judged.tags);
        let tag = |name: &str| judged.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.clone());
        let players = [tag("Red").or_else(|| tag("White")), tag("Black")];
        if players.iter().any(Option::is_some) {
            let [red, black] = players.map(Option::unwrap_or_default);
            self.names = Some(if view.flipped { [red, black] } else { [black, red] });
        }
        let is_shown = |name: &str| !["Red", "White", "Black", "FEN", "SetUp", "Result"].contains(&name);
        self.tags = judged.tags.iter().filter(|(name, _)| is_shown(name)).cloned().collect();
        self.chosen_rules = game.rules().name();
        self.notes = judged.has_notes().then(|| Notes::new(visitor, judged, options, self.surplus));
        let mut viewer = Viewer::new(&judged.story, view);
        viewer.is_form = true;
        self.viewer = Some(viewer);
        let [fen, moves] = &self.line;
        let query = [("fen", fen.as_str()), ("moves", moves), ("rules", self.chosen_rules)];
        self.page.json =
            serde_urlencoded::to_string(query).map(|query| format!("/api/v1/judge?{query}")).unwrap_or_default();
    }
}

impl Notes {
    fn new(visitor: &Visitor, judged: &Judged, options: &ViewQuery, surplus: usize) -> Self {
        let words = &visitor.language.words().boards;
        let chinese = visitor.language == Language::Chinese;
        let claimed = judged.claimed.map(|claimed| outcome_label(visitor.language, claimed));
        let shown = judged.skipped.iter().take(MAX_SKIPPED_SHOWN);
        Self {
            claimed: claimed.map(|claimed| fill(words.judge_claimed, claimed)),
            hint: judged.hint.as_ref().map(|hint| fill(words.judge_hint, hint_sentence(hint, chinese))),
            skipped: shown.map(|part| skipped_sentence(part, chinese)).collect(),
            count: judged.skipped.len(),
            more: judged.skipped.len().saturating_sub(MAX_SKIPPED_SHOWN),
            address: visitor.link(&address(judged, options, surplus)),
        }
    }
}

impl List {
    fn new(visitor: &Visitor, list: &JudgedList, options: &ViewQuery) -> Self {
        let words = &visitor.language.words().boards;
        let rows = list.games.iter().enumerate().map(|(index, game)| Row::new(visitor, index + 1, game, options));
        let sum = list.sum();
        let [comments, variations, glyphs, others] = sum.skipped;
        let sum = vec![
            (words.judge_games, sum.games),
            (words.judge_agrees, sum.agree),
            (words.judge_differs, sum.differ),
            (words.judge_undecided, sum.undecided),
            (words.judge_refused, sum.refused),
            (words.judge_comments, comments),
            (words.judge_variations, variations),
            (words.judge_glyphs, glyphs),
            (words.judge_others, others),
        ];
        Self { rows: rows.collect(), sum }
    }
}

impl Row {
    fn new(visitor: &Visitor, number: usize, game: &ListedGame, options: &ViewQuery) -> Self {
        let language = visitor.language;
        let words = &language.words().boards;
        let verdict = |judged: &JudgedGame| {
            let fen = if judged.start == Fen::start().to_string() { "" } else { judged.start.as_str() };
            let surplus = (judged.surplus > 0).then(|| judged.surplus.to_string());
            let (comparison, class) = match judged.agreement {
                Agreement::Agrees => (words.judge_agrees, "good"),
                Agreement::Differs => (words.judge_differs, "bad"),
                Agreement::Undecided => (words.judge_undecided, "wait"),
            };
            RowVerdict {
                address: visitor.link(&address_of(
                    fen,
                    &(kept_tags(&judged.tags) + &judged.moves.join(" ")),
                    judged.rules,
                    options,
                    surplus.as_ref(),
                )),
                claimed: judged
                    .claimed
                    .map_or_else(|| words.judge_nothing.to_owned(), |it| outcome_label(language, it)),
                outcome: outcome_label(language, judged.outcome),
                reason: judged.reason.map_or_else(String::new, |reason| state(language, reason)),
                ply: judged.moves.len(),
                comparison,
                class,
                skipped: (judged.skipped.iter().take(MAX_SKIPPED_LISTED))
                    .map(|part| skipped_sentence(part, language == Language::Chinese))
                    .collect(),
                hint: judged
                    .hint
                    .as_ref()
                    .map(|hint| fill(words.judge_hint, hint_sentence(hint, language == Language::Chinese))),
                count: judged.skipped.len(),
                more: judged.skipped.len().saturating_sub(MAX_SKIPPED_LISTED),
            }
        };
        let judged = match &game.judged {
            Ok(judged) => Ok(verdict(judged)),
            Err(wrong) => Err(wrong.sentence(language == Language::Chinese)),
        };
        Self { number, line: game.line, names: game.names.clone(), judged }
    }
}

/// The label of an outcome, or of a game that is not over.
fn outcome_label(language: Language, name: &str) -> String {
    if name == "ongoing" { language.words().boards.judge_ongoing.to_owned() } else { state(language, name) }
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
