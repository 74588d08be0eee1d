//! Nets: their list, and a net's card.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::query;
use coordinator_core::reports::net::{self, Card, Net};
use serde::Deserialize;
use serde_json::Value;

use super::page::{Page, Visitor, show};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/nets", get(list)).route("/nets/{hash}", get(one))
}

#[derive(Template)]
#[template(path = "nets.html")]
struct ListPage {
    page: Page,
    nets: Vec<Net>,
    older: Option<i64>,
}

#[derive(Deserialize)]
struct Older {
    before: Option<i64>,
}

async fn list(State(app): State<App>, visitor: Visitor, Query(older): Query<Older>) -> ApiResult<Response> {
    let nets = app.report(query!(|connection| net::list(&mut connection, older.before, net::PAGE).await)).await?;
    let older = nets.last().filter(|_| nets.len() as i64 == net::PAGE).map(|net| net.created);
    let page = visitor.page("nets", visitor.language.words().main.nets, "/api/v1/nets");
    show(&ListPage { page, nets, older })
}

#[derive(Template)]
#[template(path = "net.html")]
struct NetPage {
    page: Page,
    card: Card,
    /// Key figures of the manifest.
    facts: Vec<(&'static str, String)>,
    manifest: Option<String>,
}

async fn one(State(app): State<App>, visitor: Visitor, Path(hash): Path<String>) -> ApiResult<Response> {
    let card = app.report(query!(|connection| net::card(&mut connection, &hash).await)).await?;
    let page = visitor.page("nets", card.net.name.clone(), format!("/api/v1/nets/{}/card", card.net.net));
    let words = &page.t.campaigns;
    let figure = |path: &str| card.manifest.as_ref().and_then(|manifest| manifest.pointer(path)).cloned();
    let number = |value: Value| value.as_i64().map(|number| page.number(&number));
    let facts = [
        (words.trained_from, figure("/positions").and_then(number)),
        (words.steps, figure("/steps").and_then(number)),
        (words.validation_loss, figure("/validation/loss").and_then(|loss| Some(page.decimal(&loss.as_f64()?, 5)))),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let manifest = card.manifest.as_ref().and_then(|manifest| serde_json::to_string_pretty(manifest).ok());
    show(&NetPage { page, card, facts, manifest })
}
