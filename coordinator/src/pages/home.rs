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

/// So many promotions are shown, the newest: the JSON of the page has more.
const MOST_SHOWN: usize = 100;

/// The strength history: a picture, its numbers for the script, and those for the table.
pub(super) struct Strength {
    pub(super) svg: String,
    pub(super) numbers: String,
    pub(super) points: Vec<Point>,
    /// How many promotions came before those that are shown.
    pub(super) earlier: usize,
}

pub(super) fn strength(visitor: &Visitor, mut points: Vec<Point>) -> Strength {
    points.drain(..points.len().saturating_sub(MOST_SHOWN));
    let earlier = points.first().map_or(0, |point| point.number - 1);
    // Nobody sees more digits, and each would be there for every point.
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let words = &visitor.language.words().loops;
    let all: Vec<Interval> =
        points.iter().map(|point| Interval { value: point.elo, low: point.low, high: point.high }).collect();
    let numbers = json!({
        "x": points.iter().map(|point| point.number).collect::<Vec<_>>(),
        "lines": [{ "label": "Elo", "values": points.iter().map(|point| rounded(point.elo)).collect::<Vec<_>>() }],
        "low": points.iter().map(|point| rounded(point.low)).collect::<Vec<_>>(),
        "high": points.iter().map(|point| rounded(point.high)).collect::<Vec<_>>(),
    });
    let svg = charts::intervals(visitor.language, words.strength, words.promoted_nets, &all, earlier);
    Strength { svg, numbers: numbers.to_string(), points, earlier }
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
