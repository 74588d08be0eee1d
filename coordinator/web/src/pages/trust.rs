//! The price of trust on this server, and its guarantees: the counts of the database beside the
//! figures of the adversary simulation.

use std::sync::LazyLock;

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::{
    query,
    reports::trust::{self, Trust},
};
use protocol::api::work::Role;

use super::{
    charts::{self, Bar},
    format,
    page::{Page, Visitor, show},
    words::fill,
};
use crate::{answer::ApiResult, app::App};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/trust", get(trust_page))
}

/// The rows of the simulation: see `docs/TRUST.md`.
const FIGURES: &str = include_str!("../../../../docs/trust.csv");

/// The most that an owner of several accounts reaches, over all simulated strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Worst {
    /// Forged games of a million in training sets.
    forged: i64,
    /// The share of the pairs of gates with a forged game.
    gates: f64,
    /// The share of honest games that waited or were disputed.
    delayed: f64,
    /// The share of the fleet's games that were played again.
    replayed: f64,
}

/// A row of the table: what the owner of so many of the accounts reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Guarantee {
    owner: i64,
    accounts: i64,
    /// Without the checks of a referee, and with them.
    worst: [Worst; 2],
}

struct Simulation {
    guarantees: Vec<Guarantee>,
    strategies: usize,
    simulations: usize,
    leases: i64,
}

static SIMULATION: LazyLock<Simulation> = LazyLock::new(|| Simulation::read(FIGURES));

impl Simulation {
    /// Reads the rows. A row that is no row of figures is left out.
    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let columns: Vec<&str> = lines.next().unwrap_or_default().split(';').collect();
        let mut all = Self { guarantees: Vec::new(), strategies: 0, simulations: 0, leases: 0 };
        let mut strategies: Vec<&str> = Vec::new();
        for line in lines {
            let cells: Vec<&str> = line.split(';').collect();
            let number = |name: &str| -> i64 {
                let place = columns.iter().position(|column| *column == name);
                place.and_then(|place| cells.get(place)?.parse().ok()).unwrap_or_default()
            };
            all.simulations += 1;
            all.leases += number("leases");
            if !strategies.contains(&cells[0]) {
                strategies.push(cells[0]);
            }
            let owner = number("owner");
            let none = Guarantee { owner, accounts: number("accounts"), worst: Default::default() };
            let place = all.guarantees.iter().position(|row| row.owner == owner).unwrap_or_else(|| {
                all.guarantees.push(none);
                all.guarantees.len() - 1
            });
            let worst = &mut all.guarantees[place].worst[usize::from(number("checks") != 0)];
            let thousandths = |name| number(name) as f64 / 1_000.0;
            worst.forged = worst.forged.max(number("forged"));
            worst.gates = worst.gates.max(number("forged_pairs") as f64 / number("pairs").max(1) as f64);
            worst.delayed = worst.delayed.max(thousandths("delayed"));
            worst.replayed = worst.replayed.max(thousandths("fleet_replayed"));
        }
        all.strategies = strategies.len();
        all
    }
}

#[derive(Template)]
#[template(path = "admin_trust.html")]
struct TrustPage {
    page: Page,
    tab: &'static str,
    trust: Trust,
    /// Which of the figures apply.
    referee: String,
    guarantees: &'static [Guarantee],
    /// The part of each row that a table shows, and its title.
    tables: [(usize, &'static str); 2],
    chart: String,
    about: String,
}

async fn trust_page(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let now = app.clock.now();
    let trust = app.report(query!(|connection| trust::trust(&mut connection, now).await)).await?;
    let (language, simulation) = (visitor.language, &*SIMULATION);
    let words = &language.words().trust;
    let share = |row: &Guarantee| format::percent(row.owner, row.accounts);
    let bars: Vec<Bar> =
        simulation.guarantees.iter().map(|row| Bar { name: share(row), value: row.worst[0].forged }).collect();
    let about = fill(words.simulated, format::number(simulation.simulations as i64));
    let about = fill(&about, format::short(language, simulation.leases));
    let about = fill(&about, simulation.strategies);
    let page = visitor.page("admin", words.title, "/api/v1/trust");
    let chart = charts::columns(language, words.chart, &bars);
    let without = trust.jobs - trust.jobs_with_referee;
    let referee = match (trust.jobs, without) {
        (0, _) => words.no_jobs.to_owned(),
        (_, 0) => fill(words.checked, format::number(trust.unchecked)),
        (jobs, without) => fill(&fill(words.unchecked, without), jobs),
    };
    let (guarantees, tables) = (&simulation.guarantees, [(1, words.with_checks), (0, words.without_checks)]);
    show(&TrustPage { page, tab: "trust", trust, referee, guarantees, tables, chart, about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_all_strategies_counts() {
        let text = "strategy;owner;accounts;checks;leases;forged;forged_pairs;pairs;delayed;fleet_replayed\n\
                    a;2;60;0;10;5;1;4;3;40\na;2;60;1;10;0;0;4;1;30\nb;2;60;0;10;4;2;4;9;20\nb;20;60;1;10;7;0;4;0;60\n";
        let read = Simulation::read(text);
        assert_eq!((read.simulations, read.leases, read.strategies), (4, 40, 2));
        let none = Worst::default();
        let unchecked = Worst { forged: 5, gates: 0.5, delayed: 0.009, replayed: 0.04 };
        let checked = Worst { forged: 0, gates: 0.0, delayed: 0.001, replayed: 0.03 };
        let last = Worst { forged: 7, gates: 0.0, delayed: 0.0, replayed: 0.06 };
        assert_eq!(
            read.guarantees,
            [
                Guarantee { owner: 2, accounts: 60, worst: [unchecked, checked] },
                Guarantee { owner: 20, accounts: 60, worst: [none, last] },
            ]
        );
    }

    /// The promises of the documents, at a third of the accounts with checks.
    #[test]
    fn the_figures_keep_the_promises() {
        let all = &SIMULATION.guarantees;
        let third = all.iter().find(|row| row.owner * 3 == row.accounts).expect("a third of the accounts");
        assert_eq!(all.len(), 6);
        let checked = third.worst[1];
        assert!(checked.forged < 1_000 && checked.gates == 0.0, "{third:?}");
        assert!(checked.delayed < 0.1 && checked.replayed <= 0.06, "{third:?}");
    }
}
