//! The home page: what runs, how fast, and how strong it became.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use serde_json::json;

use super::{
    charts::{self, Interval},
    page::{Page, Visitor, show},
};
use crate::{
    http::answer::Answer,
    reports::overview::{self, Overview, Point},
    service::Service,
};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/", get(home))
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    page: Page,
    overview: Overview,
    strength: Strength,
    /// The net of the campaign that comes first.
    current: Option<(String, String)>,
}

/// The strength history: a picture, its numbers for the script, and those for the table.
pub(super) struct Strength {
    pub(super) svg: String,
    pub(super) numbers: String,
    pub(super) points: Vec<Point>,
}

pub(super) fn strength(visitor: &Visitor, points: Vec<Point>) -> Strength {
    let words = &visitor.language.words().loops;
    let all: Vec<Interval> =
        points.iter().map(|point| Interval { value: point.elo, low: point.low, high: point.high }).collect();
    let numbers = json!({
        "x": (1..=points.len()).collect::<Vec<_>>(),
        "lines": [{ "label": "Elo", "values": points.iter().map(|point| point.elo).collect::<Vec<_>>() }],
        "low": points.iter().map(|point| point.low).collect::<Vec<_>>(),
        "high": points.iter().map(|point| point.high).collect::<Vec<_>>(),
    });
    let svg = charts::intervals(visitor.language, words.strength, words.promoted_nets, &all);
    Strength { svg, numbers: numbers.to_string(), points }
}

async fn home(State(service): State<Service>, visitor: Visitor) -> Answer<Response> {
    let now = service.clock.now();
    let mut overview = service
        .read(move |mut connection| Box::pin(async move { overview::overview(&mut connection, now).await }))
        .await?;
    let strength = strength(&visitor, std::mem::take(&mut overview.strength));
    let page = visitor.page("home", visitor.server.clone(), "/api/v1/overview").charted();
    let current = overview.campaigns.iter().find_map(|campaign| {
        let net = campaign.champion.clone()?;
        let name = campaign.champion_name.clone().unwrap_or_else(|| page.brief(&net).to_owned());
        Some((net, name))
    });
    show(&HomePage { page, overview, strength, current })
}
