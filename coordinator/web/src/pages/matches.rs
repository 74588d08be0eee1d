//! Matches: their list, and a match's standing.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderName, HeaderValue},
    response::Response,
    routing::get,
};
use coordinator_core::{
    model::{JobId, JobState, Refusal},
    query,
    reports::matches::{self, Line, Match, Openings},
    store::StoreError,
    timed,
};
use serde_json::json;
use stats::Decision;

use super::{
    charts::{self, Bar},
    page::{Page, Visitor, show},
    words::{Language, fill},
    workers::{Part, Parts},
};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/matches", get(list))
        .route("/matches/{job}", get(one))
        .route("/matches/{job}/openings", get(openings))
}

#[derive(Template)]
#[template(path = "matches.html")]
struct ListPage {
    page: Page,
    matches: Vec<Line>,
    parts: Parts,
}

#[derive(Template)]
#[template(path = "match.html")]
struct MatchPage {
    page: Page,
    all: Match,
    curve: String,
    numbers: String,
    pentanomial: String,
    left: Option<i64>,
    opening: String,
    /// Number of workers not shown.
    more: i64,
    /// The first pairs, if they are public.
    openings: Openings,
}

#[derive(Template)]
#[template(path = "match_openings.html")]
struct OpeningsPage {
    page: Page,
    job: JobId,
    openings: Openings,
    parts: Parts,
}

impl Page {
    /// The text of a test's decision.
    #[must_use]
    pub(crate) fn decision_label(&self, decision: &Decision) -> &'static str {
        match decision {
            Decision::AcceptH1 => self.t.campaigns.decided_h1,
            Decision::AcceptH0 => self.t.campaigns.decided_h0,
            Decision::Continue => self.t.campaigns.undecided,
        }
    }

    /// The CSS class of a decision.
    #[must_use]
    pub(crate) fn decision_class(&self, decision: &Decision) -> &'static str {
        match decision {
            Decision::AcceptH1 => "good",
            Decision::AcceptH0 => "bad",
            Decision::Continue => "wait",
        }
    }

    /// A pair's points, from halves.
    #[must_use]
    pub(crate) fn points(&self, halves: &u8) -> &'static str {
        ["0", "½", "1", "1½", "2"][usize::from((*halves).min(4))]
    }

    /// The moves of an opening in the visitor's notation.
    #[must_use]
    pub(crate) fn opening<'a>(&self, uci: &'a str, chinese: &'a str) -> &'a str {
        if self.visitor.language == Language::Chinese { chinese } else { uci }
    }

    /// The text of both sides' losses on time.
    #[must_use]
    pub(crate) fn time_losses(&self, timed: &timed::TimedResult) -> String {
        let [own, other] = timed.time_losses;
        self.t.campaigns.time_losses_of.replacen("{}", &own.to_string(), 1).replacen("{}", &other.to_string(), 1)
    }

    /// A net's name, shortened hash, or the plain evaluation.
    #[must_use]
    pub(crate) fn net_label<'a>(&self, hash: &'a Option<String>, name: &'a Option<String>) -> &'a str {
        match (hash, name) {
            (_, Some(name)) => name,
            (Some(hash), None) => self.brief(hash),
            (None, None) => self.t.campaigns.plain,
        }
    }
}

async fn list(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    let number = i64::from(part.page);
    let matches = app.report(query!(|connection| matches::list(&mut connection, number).await)).await?;
    let json = format!("/api/v1/matches?page={number}");
    let page = visitor.page("matches", visitor.language.words().main.matches, json);
    let after = (matches.len() as i64 == matches::PAGE).then_some(part.page.saturating_add(1));
    let parts = Parts { before: part.page.checked_sub(1), after };
    show(&ListPage { page, matches, parts })
}

/// A match whose figures are still being counted: the page reloads itself.
#[derive(Template)]
#[template(path = "match_counting.html")]
struct CountingPage {
    page: Page,
}

fn counting(visitor: &Visitor, job: JobId) -> ApiResult<Response> {
    const REFRESH_SECONDS: HeaderValue = HeaderValue::from_static("2");
    let title = fill(visitor.language.words().boards.live_pair, job);
    let mut response =
        show(&CountingPage { page: visitor.page("matches", title, format!("/api/v1/matches/{job}/details")) })?;
    response.headers_mut().insert(HeaderName::from_static("refresh"), REFRESH_SECONDS);
    Ok(response)
}

async fn one(State(app): State<App>, visitor: Visitor, Path(job): Path<JobId>) -> ApiResult<Response> {
    let all = match matches::details(&app, &app.pages.matches, job).await {
        Err(StoreError::Rejected(Refusal::BeingCounted)) => {
            return counting(&visitor, job);
        }
        all => all?,
    };
    // Games of an open match are hidden.
    let pairs = match all.line.state {
        JobState::Closed => matches::openings(&app, job, 0).await.ok(),
        JobState::Open | JobState::Paused => None,
    };
    let none = Openings { shard: None, is_open: false, pairs: Vec::new(), has_more: false };
    let pairs = pairs.unwrap_or(none);
    let page = visitor.page("matches", String::new(), format!("/api/v1/matches/{job}/details")).charted();
    let words = &page.t.campaigns;
    let own = page.net_label(&all.line.net, &all.line.net_name);
    let other = page.net_label(&all.line.opponent, &all.line.opponent_name);
    let title = format!("{own} – {other}");
    let verdict = all.standing.verdict;
    // Three decimals suffice, and keep the page short.
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let line = |label: &str, values: Vec<f64>, bound: bool| json!({ "label": label, "values": values.into_iter().map(rounded).collect::<Vec<_>>(), "bound": bound });
    let flat = |value: f64| vec![value; all.curve.len()];
    let numbers = json!({
        "x": all.curve.iter().map(|point| point.0).collect::<Vec<_>>(),
        "lines": [
            line(words.llr, all.curve.iter().map(|point| point.1).collect(), false),
            line("H1", flat(verdict.bounds.1), true),
            line("H0", flat(verdict.bounds.0), true),
        ],
    });
    let names = ["0", "½", "1", "1½", "2"];
    let bars = names.iter().zip(verdict.counts.cells());
    let bars: Vec<Bar> = bars.map(|(name, &value)| Bar { name: (*name).to_owned(), value: value as i64 }).collect();
    let openings = &all.header.openings;
    let mut opening = vec![page.fill(words.openings_plies, openings.plies)];
    opening.extend(openings.book.map(|book| page.fill(words.openings_book, page.brief(&book.to_string()))));
    opening.extend(openings.filter.map(|filter| page.fill(words.openings_filter, filter.bound)));
    let left = all.outlook.map(|outlook| outlook.games_to_go.round() as i64);
    let page = Page { title, ..page }.with_json(words.openings, format!("/api/v1/matches/{job}/openings"));
    show(&MatchPage {
        curve: charts::curve(
            visitor.language,
            page.t.campaigns.llr_curve,
            page.t.campaigns.pairs_about,
            &all.curve,
            verdict.bounds,
        ),
        numbers: numbers.to_string(),
        pentanomial: charts::columns(visitor.language, page.t.campaigns.pentanomial, &bars),
        left,
        openings: pairs,
        more: (all.worker_count - all.workers.len()) as i64,
        opening: opening.join(if visitor.language == Language::Chinese { "，" } else { ", " }),
        all,
        page,
    })
}

async fn openings(
    State(app): State<App>,
    visitor: Visitor,
    Path(job): Path<JobId>,
    Query(part): Query<Part>,
) -> ApiResult<Response> {
    let openings = matches::openings(&app, job, i64::from(part.page)).await?;
    let title = fill(visitor.language.words().campaigns.openings_of, job);
    let json = format!("/api/v1/matches/{job}/openings?page={}", part.page);
    let after = openings.has_more.then_some(part.page.saturating_add(1));
    let parts = Parts { before: part.page.checked_sub(1), after };
    show(&OpeningsPage { page: visitor.page("matches", title, json), job, openings, parts })
}
