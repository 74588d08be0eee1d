//! Strategies of accounts that cheat, against the real rules of trust.
//!
//! `CHUHE_ADVERSARY=1 cargo test --test adversary -- --nocapture` simulates a million leases, and
//! prints the rows of `docs/trust.csv`, of which `scripts/tools/trust-curves` draws the picture of
//! `docs/TRUST.md`.

mod fleet;
mod outcome;
mod plan;

use std::io::{Write as _, stderr};

use fleet::World;
use outcome::Outcome;
use plan::{Leased, Plan, Strategy};

/// Cores of the referee, beside a fleet of 240 cores, or of 96.
const REFEREE: i64 = 2;

/// All strategies.
fn strategies() -> Vec<Strategy> {
    let of = |name, lies| Strategy { name, lies, part: 1_000, gate_lies: lies, leases: 1, ..Strategy::default() };
    let in_gates = |name, part| Strategy { gate_lies: 1_000, part, ..of(name, 0) };
    vec![
        of("none lies", 0),
        of("lies in 1 %", 10),
        of("lies in 5 %", 50),
        of("lies in 25 %", 250),
        of("lies in all", 1_000),
        Strategy { part: 1, ..of("lies in one game of each file", 1_000) },
        Strategy { part: 100, ..of("lies in a tenth of each game file", 1_000) },
        Strategy { honest_games: 5_000, ..of("old accomplice", 50) },
        in_gates("lies in gates alone", 1_000),
        in_gates("a pair of each batch", 125),
        Strategy { polls: true, ..of("polls for audits of its partners", 250) },
        Strategy { leases: 20, ..of("lies in 25 %, 20 leases a minute", 250) },
        Strategy { honest_games: 5_000, returns: true, ..in_gates("rejects good nets", 1_000) },
        Strategy { honest_games: 5_000, returns: true, ..in_gates("a pair of each batch, old accounts", 125) },
        Strategy { honest_games: 5_000, returns: true, ..in_gates("two pairs of each batch, old accounts", 250) },
        Strategy { leased: Leased::Late, returns: true, ..of("late different uploads", 0) },
        Strategy { returns: true, ..of("new accounts, 5 %", 50) },
        Strategy { part: 100, returns: true, ..of("new accounts, 5 %, a tenth of each", 50) },
        Strategy { returns: true, leases: 20, ..of("new accounts, all, without playing", 1_000) },
        Strategy { drops_audits: true, ..of("drops audits", 0) },
        Strategy { made_up: 1_000, returns: true, ..of("makes up audits", 0) },
        Strategy { made_up: 1, returns: true, ..of("makes up one game of each audit", 0) },
        Strategy { leased: Leased::Held, leases: 20, ..of("holds everything", 0) },
        Strategy {
            leased: Leased::Held,
            leases: 20,
            honest_games: 5_000,
            returns: true,
            ..of("holds everything, old accounts", 0)
        },
        Strategy {
            leased: Leased::Returned,
            leases: 20,
            honest_games: 5_000,
            ..of("gives everything back, old accounts", 0)
        },
        Strategy { leased: Leased::Rubbish, leases: 20, ..of("rubbish", 0) },
    ]
}

fn plan(strategy: Strategy, accounts: usize, cheats: usize, rounds: i64, referee: i64) -> Plan {
    Plan { honest: accounts - cheats, cheats, strategy, rounds, generation: 120, referee, cores: 4, seed: 7 }
}

/// Prints a row of `docs/trust.csv`, whose first line names the columns.
fn print(plan: &Plan, found: &Outcome) {
    let figures = [
        plan.cheats as i64,
        (plan.cheats + plan.honest) as i64,
        i64::from(plan.referee > 0),
        found.leases as i64,
        found.forged_per_million(),
        found.forged_pairs,
        found.pairs,
        found.lost_gates,
        found.gates,
        found.gate_minutes / found.gates.max(1),
        found.delayed_permille(),
        found.replayed_permille(),
        found.fleet_replayed_permille(),
        found.checked_permille(),
        found.caught as i64,
        found.held / plan.rounds,
        found.disputes,
        found.known,
    ];
    let figures: Vec<String> = figures.iter().map(ToString::to_string).collect();
    let line = format!("{};{}\n", plan.strategy.name, figures.join(";"));
    stderr().write_all(line.as_bytes()).expect("there is a standard error");
}

/// Whether a day is simulated instead of six hours.
fn is_long() -> bool {
    std::env::var_os("CHUHE_ADVERSARY").is_some()
}

/// Simulates all strategies with a referee of so many cores.
fn simulate(referee: i64, judge: impl Fn(&Plan, &Outcome)) {
    let (accounts, rounds) = if is_long() { (60, 1_440) } else { (24, 360) };
    let groups = if is_long() { vec![1, 2, 5, 10, 15, 20] } else { vec![accounts / 3] };
    for strategy in strategies() {
        for cheats in groups.clone() {
            let plan = plan(strategy.clone(), accounts, cheats, rounds, referee);
            let found = World::run(plan.clone());
            print(&plan, &found);
            assert_eq!(found.wronged, 0, "an honest account was quarantined: {plan:?}");
            assert!(found.delayed_permille() < 100, "honest machines wait: {plan:?} {found:?}");
            assert!(found.gates > 0 && found.trained > 0, "{plan:?} {found:?}");
            judge(&plan, &found);
        }
    }
}

#[test]
fn with_a_referee_gates_have_no_forged_game_and_training_sets_few() {
    simulate(REFEREE, |plan, found| {
        assert_eq!(found.forged_pairs, 0, "{plan:?} {found:?}");
        // Whole forged uploads are always found, parts of them mostly.
        let max = if plan.strategy.part == 1_000 { 0 } else { 999 };
        assert!(found.forged_per_million() <= max, "{plan:?} {found:?}");
        // New accounts are audited more: six hours cost more than a day.
        let max = if is_long() { 60 } else { 80 };
        assert!(found.fleet_replayed_permille() <= max, "{plan:?} {found:?}");
        if plan.strategy.made_up == 1_000 {
            // The referee has checked an upload within a minute, and the known game shows the lie.
            assert!(found.known > 0 && found.known > found.disputes, "{plan:?} {found:?}");
        }
    });
}

/// Then gates are safe only against accounts that lie elsewhere too.
#[test]
fn without_a_referee_forged_games_are_few() {
    simulate(0, |plan, found| {
        assert!(found.forged_per_million() < 20_000, "{plan:?} {found:?}");
    });
}
