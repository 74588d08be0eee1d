//! Workers and people: machines for their owners and maintainers, contributors for everyone.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::query;
use coordinator_core::reports::people::{self, Active, Contributor, Failure, Machine, ROWS};
use protocol::api::work::Role;
use serde::Deserialize;

use super::page::{Page, Visitor, show};
use crate::{
    answer::{ApiResult, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/workers", get(workers)).route("/people", get(ranking))
}

/// A part of a list, counted from 0.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    pub(super) page: u32,
}

/// The parts before and after.
pub(super) struct Parts {
    pub(super) before: Option<u32>,
    pub(super) after: Option<u32>,
}

impl Parts {
    pub(super) fn around(part: Part, rows: usize) -> Self {
        let after = (rows as i64 == ROWS).then_some(part.page.saturating_add(1));
        Self { before: part.page.checked_sub(1), after }
    }
}

#[derive(Template)]
#[template(path = "workers.html")]
struct WorkersPage {
    page: Page,
    active: i64,
    threads: i64,
    machines: Option<Vec<Machine>>,
    failures: Vec<Failure>,
    parts: Parts,
}

async fn workers(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    let now = app.clock.now();
    let own = visitor.session.as_ref().map(|session| (session.role < Role::Maintainer).then_some(session.account));
    let (active, threads, machines, failures) = app
        .report(query!(|connection| {
            let c = &mut connection;
            let Active { workers: active, threads } = people::active_now(c, now).await?;
            let Some(own) = own else { return Ok((active, threads, None, Vec::new())) };
            let machines = people::machines(c, own, i64::from(part.page)).await?;
            Ok((active, threads, Some(machines), people::failures(c, own, i64::from(part.page)).await?))
        }))
        .await?;
    let (words, overview) = (visitor.language.words(), "/api/v1/overview");
    let page = if machines.is_some() {
        let page = visitor.page("workers", words.main.workers, format!("/api/v1/machines?page={}", part.page));
        page.with_json(words.campaigns.workers_now, overview)
            .with_json(words.data_and_admin.failures, format!("/api/v1/failures?page={}", part.page))
    } else {
        visitor.page("workers", words.main.workers, overview)
    };
    let parts = Parts::around(part, machines.as_ref().map_or(0, Vec::len).max(failures.len()));
    show(&WorkersPage { page, active, threads, machines, failures, parts })
}

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    page: Page,
    first: i64,
    ranking: Vec<Contributor>,
    parts: Parts,
}

async fn ranking(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    let number = i64::from(part.page);
    let ranking = app.report(query!(|connection| people::ranking(&mut connection, number * ROWS, ROWS).await)).await?;
    let page = visitor.page("people", visitor.language.words().main.people, "/api/v1/people");
    let parts = Parts::around(part, ranking.len());
    show(&PeoplePage { page, first: number * ROWS, ranking, parts })
}
