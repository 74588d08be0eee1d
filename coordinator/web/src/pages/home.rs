//! The home page: current work, its speed, and the strength reached.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::query;
use coordinator_core::reports::overview::{self, Overview, Point};
use serde_json::json;

use super::{
    charts::{self, Interval},
    live_game::render_board,
    page::{Page, Visitor, show},
};
use crate::{answer::ApiResult, app::App, live};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/", get(home))
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    page: Page,
    overview: Overview,
    strength: Strength,
    /// The live board, while a match is shown.
    live: Option<String>,
    /// The champion of the first campaign.
    current: Option<(String, String)>,
}

/// Promotions shown, the newest; the page's JSON has all.
const MAX_POINTS: usize = 100;

/// The strength history: the plot, its numbers for the script, and the points for the table.
pub(super) struct Strength {
    pub(super) svg: String,
    pub(super) numbers: String,
    pub(super) points: Vec<Point>,
    /// Number of earlier promotions, not shown.
    pub(super) earlier: usize,
}

pub(super) fn strength(visitor: &Visitor, mut points: Vec<Point>) -> Strength {
    points.drain(..points.len().saturating_sub(MAX_POINTS));
    let earlier = points.first().map_or(0, |point| point.number - 1);
    // One decimal suffices, and keeps the page short.
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let words = &visitor.language.words().campaigns;
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

async fn home(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    let now = app.clock.now();
    let mut overview = app.report(query!(|connection| overview::overview(&mut connection, now).await)).await?;
    let strength = strength(&visitor, std::mem::take(&mut overview.strength));
    let page = visitor.page("home", visitor.server.clone(), "/api/v1/overview").charted();
    let current = overview.campaigns.iter().find_map(|campaign| {
        let net = campaign.champion.clone()?;
        let name = campaign.champion_name.clone().unwrap_or_else(|| page.brief(&net).to_owned());
        Some((net, name))
    });
    let snapshot = live::snapshot(&app, &app.live).await?;
    let live = snapshot.watched.map(|_| render_board(&snapshot, visitor.language, now));
    show(&HomePage { page, overview, strength, live, current })
}
