//! The data: number and results of games, rejected shards, training sets.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::{
    clock, query,
    reports::data::{self, Class, Data, Label},
};

use super::{
    charts::{self, Bar},
    format,
    page::{Page, Visitor, show},
    words::Language,
    workers::{Part, Parts},
};
use crate::{
    answer::{ApiResult, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/data", get(data_page))
}

#[derive(Template)]
#[template(path = "data.html")]
struct DataPage {
    page: Page,
    data: Data,
    days: String,
    outcomes: String,
    reasons: String,
    scores: String,
    pieces: String,
    day_count: usize,
    /// Parts of the lists of training sets and of rejected shards.
    parts: Parts,
}

/// Positions by score; the first and the last class are open.
fn scores(language: Language, title: &str, classes: &[Class]) -> String {
    const PAWN: i64 = 100;
    let pawns = |score: i64| format::signed(score as f64 / PAWN as f64, 0);
    let last = classes.len().saturating_sub(1);
    let bar = |(place, class): (usize, &Class)| {
        let name = match place {
            0 => format!("< {}", pawns(class.from + PAWN)),
            place if place == last => format!("≥ {}", pawns(class.from)),
            _ => format!("{} … {}", pawns(class.from), pawns(class.from + PAWN)),
        };
        Bar { name, value: class.positions }
    };
    let bars: Vec<Bar> = classes.iter().enumerate().map(bar).collect();
    let min = classes.first().map_or(0, |class| class.from);
    let at = |score: i64| ((score - min) as f64 / PAWN as f64, pawns(score));
    charts::histogram(language, title, &bars, &[-2_000, -1_000, 0, 1_000, 2_000].map(at))
}

/// Positions by number of pieces, at least the two kings.
fn pieces(language: Language, title: &str, classes: &[Class]) -> String {
    const MIN_PIECES: usize = 2;
    let classes = classes.get(MIN_PIECES..).unwrap_or_default();
    let bars: Vec<Bar> =
        classes.iter().map(|class| Bar { name: class.from.to_string(), value: class.positions }).collect();
    let at = |pieces: i64| ((pieces - MIN_PIECES as i64) as f64 + 0.5, pieces.to_string());
    charts::histogram(language, title, &bars, &[2, 8, 16, 24, 32].map(at))
}

async fn data_page(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    let (now, number) = (app.clock.now(), i64::from(part.page));
    let data = app.report(query!(|connection| data::data(&mut connection, now, number).await)).await?;
    let page = visitor.page("data", visitor.language.words().main.data, format!("/api/v1/data?page={number}"));
    let (words, language) = (&page.t.data_and_admin, visitor.language);
    let bars = |labels: &[Label]| -> Vec<Bar> {
        labels.iter().map(|label| Bar { name: page.state_label(&label.label), value: label.count }).collect()
    };
    let days: Vec<Bar> = data.days.iter().map(|day| Bar { name: clock::date(day.day), value: day.games }).collect();
    show(&DataPage {
        days: charts::columns(language, words.volume, &days),
        outcomes: charts::shares(language, words.outcomes, &bars(&data.outcomes)),
        reasons: charts::shares(language, words.reasons, &bars(&data.reasons)),
        scores: scores(language, words.scores, &data.figures.scores),
        pieces: pieces(language, words.pieces, &data.figures.pieces),
        day_count: days.len(),
        parts: Parts::around(part, data.set_aside.len().max(data.manifests.len())),
        page,
        data,
    })
}
