//! Liveness, readiness, and metrics for Prometheus.

use std::fmt::Write as _;

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::limits::BOUNDS;
use crate::{service::Service, work::validating};

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// Readiness probe: each fault is a line of the response.
pub(super) async fn ready(State(service): State<Service>) -> Response {
    let mut wrong = Vec::new();
    if *service.stopping.borrow() {
        wrong.push("the coordinator is stopping".to_owned());
    }
    let database = service
        .read(|mut connection| {
            Box::pin(async move { Ok(sqlx::query("SELECT 1").execute(connection.raw()).await.map(drop)?) })
        })
        .await;
    if let Err(error) = database {
        tracing::error!(%error, "the database does not answer");
        wrong.push("the database does not answer".to_owned());
    }
    wrong.extend(service.policy().no_selfplay);
    if wrong.is_empty() {
        return "ready\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, wrong.join("\n") + "\n").into_response()
}

pub(super) async fn metrics(State(service): State<Service>) -> Response {
    let now = service.clock.now().0;
    let counts = service
        .read(move |mut connection| {
            Box::pin(async move {
                let c = &mut connection;
                let backlog = validating::backlog(c).await?;
                let mut counts = vec![("chuhe_shards_waiting".to_owned(), backlog)];
                let query = "SELECT COUNT(*) FROM workers WHERE last_seen > $1";
                let active: i64 = sqlx::query_scalar(query).bind(now - 3_600_000).fetch_one(c.raw()).await?;
                counts.push(("chuhe_workers_active".to_owned(), active));
                let query = "SELECT COUNT(*) FROM leases WHERE state = 'active'";
                counts.push(("chuhe_leases_active".to_owned(), sqlx::query_scalar(query).fetch_one(c.raw()).await?));
                let query = "SELECT state, CAST(SUM(shards) AS BIGINT), CAST(SUM(games) AS BIGINT),
                                    CAST(SUM(bytes) AS BIGINT) FROM totals GROUP BY state ORDER BY state";
                let rows: Vec<(String, i64, i64, i64)> = sqlx::query_as(query).fetch_all(c.raw()).await?;
                for (state, shards, games, bytes) in rows {
                    counts.push((format!("chuhe_shards{{state=\"{state}\"}}"), shards));
                    counts.push((format!("chuhe_games{{state=\"{state}\"}}"), games));
                    counts.push((format!("chuhe_bytes{{state=\"{state}\"}}"), bytes));
                }
                Ok(counts)
            })
        })
        .await
        .unwrap_or_default();
    let mut text = String::new();
    for (name, count) in counts {
        let _ = writeln!(text, "{name} {count}");
    }
    for (class, responses) in service.limits.responses().into_iter().enumerate().skip(1) {
        let _ = writeln!(text, "chuhe_answers_total{{status=\"{class}xx\"}} {responses}");
    }
    let (bins, sum) = service.limits.times();
    let mut below = 0;
    for (bin, count) in bins.into_iter().enumerate() {
        below += count;
        let bound = BOUNDS.get(bin).map_or("+Inf".to_owned(), |bound| format!("{}", *bound as f64 / 1e3));
        let _ = writeln!(text, "chuhe_answer_seconds_bucket{{le=\"{bound}\"}} {below}");
    }
    let _ = writeln!(text, "chuhe_answer_seconds_sum {}\nchuhe_answer_seconds_count {below}", sum.as_secs_f64());
    let (active, bytes) = service.limits.requests.in_use();
    let _ = writeln!(text, "chuhe_requests_inside {active}\nchuhe_body_bytes {bytes}");
    if let Some(free) = service.free_bytes() {
        let _ = writeln!(text, "chuhe_free_bytes {free}");
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
