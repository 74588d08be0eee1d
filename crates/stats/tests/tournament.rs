//! Berger tables against the appendix of the World rules; standings against worked examples.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use stats::{
    GameResult,
    tournament::{Bye, Game, Pairing, TieBreaks, berger, standings},
};

/// Reads `1-4`: two players, numbered from 1.
fn pairing(text: &str) -> Pairing {
    let (red, black) = text.split_once('-').unwrap();
    let number = |text: &str| text.parse::<usize>().unwrap() - 1;
    Pairing { red: number(red), black: number(black) }
}

#[test]
fn berger_tables_are_those_of_the_appendix() {
    let (mut tables, mut rounds) = (0, 0);
    for table in include_str!("data/berger.txt").split("players ").skip(1) {
        let mut lines = table.lines().filter(|line| !line.is_empty());
        let players: Vec<usize> = lines.next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        let lines: Vec<_> = lines.map(|line| line.split_once(": ").unwrap().1).collect();
        rounds += lines.len();
        for players in players {
            let expected: Vec<Vec<Pairing>> = lines
                .iter()
                .map(|line| line.split(' ').map(pairing).filter(|one| one.red.max(one.black) < players).collect())
                .collect();
            assert_eq!(berger(players), expected, "{players} players");
            tables += 1;
        }
    }
    assert_eq!((tables, rounds), (18, 3 + 5 + 7 + 9 + 11 + 13 + 15 + 17 + 19));
}

#[test]
fn each_pair_meets_once_and_each_player_once_in_a_round() {
    for players in 0..40 {
        let rounds = berger(players);
        assert_eq!(rounds.len(), (players + players % 2).saturating_sub(1), "{players}");
        let mut met = BTreeSet::new();
        for round in &rounds {
            let mut seen = BTreeSet::new();
            for &Pairing { red, black } in round {
                assert!(red != black && seen.insert(red) && seen.insert(black), "{players}: {round:?}");
                assert!(met.insert((red.min(black), red.max(black))), "{players}: {red} and {black} met before");
            }
        }
        assert_eq!(met.len(), players * players.saturating_sub(1) / 2, "{players}");
    }
}

/// Reads `1-4=1`: the result for Red is `1`, `0` or `d`; `!` marks a foul.
fn game(text: &str) -> Game {
    let (players, result) = text.split_once('=').unwrap();
    let red = match result.trim_end_matches('!') {
        "1" => GameResult::Win,
        "0" => GameResult::Loss,
        "d" => GameResult::Draw,
        _ => panic!("{text}"),
    };
    Game { pairing: pairing(players), red, foul: result.ends_with('!') }
}

#[test]
fn standings_follow_the_worked_examples() {
    let mut cases = 0;
    for case in include_str!("data/standings.txt").split("case ").skip(1) {
        let mut lines = case.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let name = lines.next().unwrap();
        let words: Vec<_> = lines.next().unwrap().split(' ').collect();
        let tie_breaks = if words[0] == "swiss" { TieBreaks::Swiss } else { TieBreaks::RoundRobin };
        let (mut games, mut byes, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            let (key, rest) = line.split_once(": ").unwrap();
            match key {
                "games" => games.extend(rest.split(' ').map(game)),
                "bye" => {
                    let (player, points) = rest.split_once(' ').unwrap();
                    let player = player.parse::<usize>().unwrap() - 1;
                    byes.push(Bye { player, points: points.parse().unwrap() });
                }
                place => expected.push(format!("{place}: {rest}")),
            }
        }
        let rows = standings(words[1].parse().unwrap(), &games, &byes, tie_breaks);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                let tie = if words[0] == "swiss" { row.solkoff as f64 } else { row.neustadtl };
                format!("{}: {} {} {tie}", row.place, row.player + 1, row.points)
            })
            .collect();
        assert_eq!(found, expected, "{name}");
        cases += 1;
    }
    assert_eq!(cases, 9);
}

fn games(players: usize) -> impl Strategy<Value = Vec<Game>> {
    let game = (0..players, 1..players, 0..3_usize, any::<bool>()).prop_map(move |(red, step, result, foul)| Game {
        pairing: Pairing { red, black: (red + step) % players },
        red: GameResult::ALL[result],
        foul,
    });
    prop::collection::vec(game, 0..60)
}

proptest! {
    #[test]
    fn standings_do_not_depend_on_numbers_or_on_the_order_of_games(
        (players, games, shift) in (2..9_usize).prop_flat_map(|players| (Just(players), games(players), 0..players)),
        swiss in any::<bool>(),
    ) {
        let tie_breaks = if swiss { TieBreaks::Swiss } else { TieBreaks::RoundRobin };
        let rows = standings(players, &games, &[], tie_breaks);
        prop_assert_eq!(rows.iter().map(|row| row.points).sum::<u64>(), 2 * games.len() as u64);
        prop_assert!(rows.is_sorted_by_key(|row| (std::cmp::Reverse(row.points), row.place)));
        let renumbered = |player: usize| (player + shift) % players;
        let others: Vec<Game> = games.iter().rev().map(|game| {
            let Pairing { red, black } = game.pairing;
            Game { pairing: Pairing { red: renumbered(red), black: renumbered(black) }, ..*game }
        }).collect();
        let mut expected: Vec<_> = rows.iter().map(|row| (row.place, renumbered(row.player))).collect();
        expected.sort_unstable();
        let found: Vec<_> = standings(players, &others, &[], tie_breaks)
            .iter().map(|row| (row.place, row.player)).collect();
        prop_assert_eq!(found, expected);
    }
}
