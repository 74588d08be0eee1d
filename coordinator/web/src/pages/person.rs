//! A person's page. Name and contribution are public; days and machines are for the person and
//! maintainers.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::{
    clock,
    model::AccountState,
    query,
    reports::people::{self, Day, Machine, Person},
};
use protocol::api::work::Role;

use super::{
    charts::{self, Bar},
    page::{Page, Visitor, show},
    workers::{Part, Parts},
};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/people/{name}", get(person))
}

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    page: Page,
    person: Person,
    own: Option<Own>,
}

/// The private part.
struct Own {
    state: AccountState,
    days: String,
    machines: Vec<Machine>,
    parts: Parts,
}

async fn person(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(part): Query<Part>,
) -> ApiResult<Response> {
    let now = app.clock.now();
    let viewer = visitor.session.as_ref().map(|session| (session.account, session.role >= Role::Maintainer));
    let (person, own) = app
        .report(query!(|connection| {
            let c = &mut connection;
            let (account, state, person) = people::person(c, &name).await?;
            let may = viewer.is_some_and(|(own, is_maintainer)| is_maintainer || own == account);
            if !may {
                return Ok((person, None));
            }
            let days = people::days(c, account, now).await?;
            Ok((person, Some((state, days, people::machines(c, Some(account), i64::from(part.page)).await?))))
        }))
        .await?;
    let words = &visitor.language.words().data_and_admin;
    let own = own.map(|(state, days, machines): (AccountState, Vec<Day>, Vec<Machine>)| {
        let bars: Vec<Bar> = days.iter().map(|day| Bar { name: clock::date(day.day), value: day.games }).collect();
        let parts = Parts::around(part, machines.len());
        Own { state, days: charts::columns(visitor.language, words.person_days, &bars), machines, parts }
    });
    let json = format!("/api/v1/people/{}", person.account);
    let page = visitor.page("people", person.account.clone(), json.clone());
    let page =
        if own.is_some() { page.with_json(words.person_own, format!("{json}/own?page={}", part.page)) } else { page };
    show(&PersonPage { page, person, own })
}
