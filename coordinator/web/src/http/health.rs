//! Liveness, readiness, and metrics for Prometheus.

use std::fmt::Write as _;

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use coordinator_core::{
    clock::SECOND,
    pulse, query,
    reports::health::{self, Uploads},
};

use crate::{app::App, limits::BOUNDS};

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// A background task is stalled if it completes no step for this long, in milliseconds.
const STALLED_MS: i64 = 300 * SECOND;

/// Readiness probe: each fault is a line of the response. Without faults the last steps of the
/// background tasks follow.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let mut wrong = Vec::new();
    if *app.stopping.borrow() {
        wrong.push("the coordinator is stopping".to_owned());
    }
    let database = app.read(query!(|connection| health::answers(&mut connection).await)).await;
    if let Err(error) = database {
        tracing::error!(%error, "the database does not answer");
        wrong.push("the database does not answer".to_owned());
    }
    if app.store.is_disk_full() {
        wrong.push("the disk of the database is full: nothing is recorded".to_owned());
    }
    wrong.extend(app.policy().no_selfplay);
    let now = app.clock.now();
    let ages = pulse::Task::ALL.map(|task| (task.name(), app.pulse.age(task, now)));
    let ages: Vec<_> = ages.into_iter().filter_map(|(name, age)| Some((name, age?))).collect();
    for (name, age) in &ages {
        if *age >= STALLED_MS {
            wrong.push(format!("the {name} has completed no step for {} s", age / SECOND));
        }
    }
    if wrong.is_empty() {
        let steps = ages.iter().map(|(name, age)| format!("{name}: last step {} s ago\n", age / SECOND));
        return format!("ready\n{}", steps.collect::<String>()).into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, wrong.join("\n") + "\n").into_response()
}

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let now = app.clock.now();
    let counts = app.report(query!(|connection| health::counts(&mut connection, now).await)).await;
    let mut text = String::new();
    if let Ok(counts) = counts {
        let _ = writeln!(text, "chuhe_shards_waiting {}", counts.shards_waiting);
        let _ = writeln!(text, "chuhe_workers_active {}", counts.workers_active);
        let _ = writeln!(text, "chuhe_leases_active {}", counts.leases_active);
        for Uploads { state, shards, games, bytes } in counts.uploads {
            let _ = writeln!(text, "chuhe_shards{{state=\"{state}\"}} {shards}");
            let _ = writeln!(text, "chuhe_games{{state=\"{state}\"}} {games}");
            let _ = writeln!(text, "chuhe_bytes{{state=\"{state}\"}} {bytes}");
        }
    }
    for (class, responses) in app.limits.responses().into_iter().enumerate().skip(1) {
        let _ = writeln!(text, "chuhe_answers_total{{status=\"{class}xx\"}} {responses}");
    }
    let (bins, sum) = app.limits.times();
    let mut below = 0;
    for (bin, count) in bins.into_iter().enumerate() {
        below += count;
        let bound = BOUNDS.get(bin).map_or("+Inf".to_owned(), |bound| format!("{}", *bound as f64 / 1e3));
        let _ = writeln!(text, "chuhe_answer_seconds_bucket{{le=\"{bound}\"}} {below}");
    }
    let _ = writeln!(text, "chuhe_answer_seconds_sum {}\nchuhe_answer_seconds_count {below}", sum.as_secs_f64());
    let (active, bytes) = app.limits.requests.in_use();
    let _ = writeln!(text, "chuhe_requests_inside {active}\nchuhe_body_bytes {bytes}");
    if let Some(free) = app.free_bytes() {
        let _ = writeln!(text, "chuhe_free_bytes {free}");
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
