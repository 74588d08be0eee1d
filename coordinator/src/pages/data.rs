//! The games: how many, how they ended, what was refused; training sets.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};

use super::{
    charts::{self, Bar},
    format,
    page::{Page, Visitor, show},
};
use crate::{
    http::answer::Answer,
    reports::data::{self, Data, Label},
    service::Service,
};

pub(super) fn routes() -> Router<Service> {
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
    day_count: usize,
}

async fn data_page(State(service): State<Service>, visitor: Visitor) -> Answer<Response> {
    let now = service.clock.now();
    let data =
        service.read(move |mut connection| Box::pin(async move { data::data(&mut connection, now).await })).await?;
    let page = visitor.page("data", visitor.language.words().main.data, "/api/v1/data");
    let words = &page.t.river;
    let bars = |labels: &[Label]| -> Vec<Bar> {
        labels.iter().map(|label| Bar { name: page.word(&label.label), value: label.count }).collect()
    };
    let days: Vec<Bar> = data.days.iter().map(|day| Bar { name: format::date(day.day), value: day.games }).collect();
    show(&DataPage {
        days: charts::columns(words.volume, &days),
        outcomes: charts::shares(words.outcomes, &bars(&data.outcomes)),
        reasons: charts::shares(words.reasons, &bars(&data.reasons)),
        day_count: days.len(),
        page,
        data,
    })
}
