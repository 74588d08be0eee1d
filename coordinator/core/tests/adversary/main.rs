//! Strategies of accounts that cheat, against the real rules of trust.
//!
//! `CHUHE_ADVERSARY=1 cargo test --test adversary -- --nocapture` simulates a million leases, and
//! prints the table of `docs/TRUST.md`.

mod fleet;

use std::io::{Write as _, stderr};

use fleet::{Leased, Outcome, Plan, Strategy, World};

/// All strategies.
fn strategies() -> Vec<Strategy> {
    let of = |name, lies| Strategy { name, lies, part: 1_000, gate_lies: lies, leases: 1, ..Strategy::default() };
    vec![
        of("none lies", 0),
        of("lies in 1 %", 10),
        of("lies in 5 %", 50),
        of("lies in 25 %", 250),
        of("lies in all", 1_000),
        Strategy { part: 1, ..of("lies in one game of each file", 1_000) },
        Strategy { part: 100, ..of("lies in a tenth of each game file", 1_000) },
        Strategy { honest_games: 5_000, ..of("old accomplice", 50) },
        Strategy { gate_lies: 1_000, ..of("lies in gates alone", 0) },
        Strategy { returns: true, ..of("new accounts, 5 %", 50) },
        Strategy { returns: true, leases: 20, ..of("new accounts, all, without playing", 1_000) },
        Strategy { drops_audits: true, ..of("drops audits", 0) },
        Strategy { leased: Leased::Held, leases: 20, ..of("holds everything", 0) },
        Strategy { leased: Leased::Rubbish, leases: 20, ..of("rubbish", 0) },
    ]
}

fn plan(strategy: Strategy, accounts: usize, cheats: usize, rounds: i64, checks: usize) -> Plan {
    Plan { honest: accounts - cheats, cheats, strategy, rounds, generation: 120, checks, cores: 4, seed: 7 }
}

fn print(plan: &Plan, found: &Outcome) {
    let line = format!(
        "| {} | {} of {} | {} | {} | {} | {} of {} | {} | {} | {} | {} |\n",
        plan.strategy.name,
        plan.cheats,
        plan.cheats + plan.honest,
        plan.checks,
        found.leases,
        found.forged_per_million(),
        found.forged_batches,
        found.batches,
        found.delayed_permille(),
        found.replayed_permille(),
        found.caught,
        found.held / plan.rounds,
    );
    stderr().write_all(line.as_bytes()).expect("there is a standard error");
}

/// Simulates all strategies with a referee of so many checks per account and round.
fn simulate(checks: usize, judge: impl Fn(&Plan, &Outcome)) {
    let is_long = std::env::var_os("CHUHE_ADVERSARY").is_some();
    let (accounts, rounds) = if is_long { (60, 1_440) } else { (24, 360) };
    let groups = if is_long { vec![2, 5, 20] } else { vec![accounts / 3] };
    for strategy in strategies() {
        for cheats in groups.clone() {
            let plan = plan(strategy.clone(), accounts, cheats, rounds, checks * accounts);
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
fn with_a_referee_no_forged_game_is_learned_from() {
    simulate(3, |plan, found| {
        assert_eq!((found.forged, found.forged_batches), (0, 0), "{plan:?} {found:?}");
        assert!(found.replayed_permille() < 120, "{plan:?} {found:?}");
    });
}

/// Then gates are safe only against accounts that lie elsewhere too.
#[test]
fn without_a_referee_forged_games_are_few() {
    simulate(0, |plan, found| {
        assert!(found.forged_per_million() < 20_000, "{plan:?} {found:?}");
    });
}
