//! What the pages show, as JSON: read only, and by whoever signed in to the pages as well.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    routing::get,
};
use protocol::api::work::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{answer::Answer, auth::Sender, files};
use crate::{
    campaigns,
    choices::Key,
    reports::{campaign, data, matches, net, overview, people},
    service::Service,
};

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/overview", get(overview_report))
        .route("/campaigns/{name}/progress", get(campaign_progress))
        .route("/matches", get(matches_list))
        .route("/matches/{job}/details", get(match_details))
        .route("/nets/{hash}/card", get(net_card))
        .route("/curves/{hash}", get(files::curves))
        .route("/data", get(data_report))
        .route("/machines", get(machines))
        .route("/people/{name}", get(person))
        .route("/settings", get(settings))
        .route("/failures", get(failures))
        .route("/audits", get(audits))
        .route("/deliveries", get(deliveries))
}

/// Runs a read and answers with its JSON.
macro_rules! read {
    ($service:expr, |$connection:ident| $report:expr) => {{
        let report = $service.read(move |mut connection| {
            Box::pin(async move {
                let $connection = &mut connection;
                $report.await
            })
        });
        Ok(Json(json!(report.await?)))
    }};
}

async fn overview_report(State(service): State<Service>) -> Answer<Json<Value>> {
    let now = service.clock.now();
    read!(service, |c| overview::overview(c, now))
}

async fn campaign_progress(State(service): State<Service>, Path(name): Path<String>) -> Answer<Json<Value>> {
    let report = service.read(move |mut connection| {
        let name = name.clone();
        Box::pin(async move {
            let id = campaigns::by_name(&mut connection, &name).await?;
            campaign::progress(&mut connection, id).await
        })
    });
    Ok(Json(json!(report.await?)))
}

async fn matches_list(State(service): State<Service>) -> Answer<Json<Value>> {
    read!(service, |c| matches::list(c))
}

async fn match_details(State(service): State<Service>, Path(job): Path<i64>) -> Answer<Json<Value>> {
    read!(service, |c| matches::details(c, job))
}

async fn net_card(State(service): State<Service>, Path(hash): Path<String>) -> Answer<Json<Value>> {
    let report = service.read(move |mut connection| {
        let hash = hash.clone();
        Box::pin(async move { net::card(&mut connection, &hash).await })
    });
    Ok(Json(json!(report.await?)))
}

async fn data_report(State(service): State<Service>) -> Answer<Json<Value>> {
    let now = service.clock.now();
    read!(service, |c| data::data(c, now))
}

/// Which rows, counted in pages from 0.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    page: i64,
}

/// Maintainers see what is everybody's, others what is their own.
fn own(sender: &Sender) -> Option<i64> {
    (sender.0.role < Role::Maintainer).then_some(sender.0.account)
}

async fn machines(State(service): State<Service>, sender: Sender, Query(page): Query<Page>) -> Answer<Json<Value>> {
    let own = own(&sender);
    read!(service, |c| people::machines(c, own, page.page))
}

async fn person(State(service): State<Service>, Path(name): Path<String>) -> Answer<Json<Value>> {
    let report = service.read(move |mut connection| {
        let name = name.clone();
        Box::pin(async move { people::person(&mut connection, &name).await })
    });
    Ok(Json(json!(report.await?.2)))
}

async fn settings(State(service): State<Service>, sender: Sender) -> Answer<Json<Value>> {
    sender.must_be(Role::Maintainer)?;
    let (chosen, it) = (service.choices().await?, &service.settings);
    let chosen: serde_json::Map<_, _> =
        Key::ALL.into_iter().map(|key| (key.name().to_owned(), chosen.value(key).into())).collect();
    Ok(Json(json!({
        "chosen": chosen, "name": it.name, "least_worker": it.least_worker, "bench_signature": it.bench_signature,
        "mirror": it.mirror, "least_free_bytes": it.least_free_bytes, "most_waiting": it.most_waiting,
        "quota_bytes": it.quota_bytes, "most_requests": it.most_requests,
        "requests_per_second": it.requests_per_second, "burst": it.burst, "behind_proxy": it.behind_proxy,
    })))
}

async fn failures(State(service): State<Service>, sender: Sender) -> Answer<Json<Value>> {
    let own = own(&sender);
    read!(service, |c| people::failures(c, own))
}

async fn audits(State(service): State<Service>, sender: Sender) -> Answer<Json<Value>> {
    sender.must_be(Role::Maintainer)?;
    read!(service, |c| people::audits(c))
}

async fn deliveries(State(service): State<Service>, sender: Sender) -> Answer<Json<Value>> {
    let account = sender.0.account;
    read!(service, |c| people::deliveries(c, account))
}
