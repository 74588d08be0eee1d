//! Berger tables against the appendix of the World rules; standings, Swiss pairings and brackets
//! against worked examples.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use stats::{
    GameResult,
    tournament::{Bye, Game, Pairing, TieBreaks, berger, byes, encounter, knockout, knockout_places, standings, swiss},
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
    assert_eq!(cases, 10);
}

#[test]
fn swiss_rounds_follow_the_worked_examples() {
    let mut compared = 0;
    for case in include_str!("data/swiss.txt").split("case ").skip(1) {
        let mut lines = case.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let name = lines.next().unwrap();
        let players = lines.next().unwrap().strip_prefix("players ").unwrap().parse().unwrap();
        let mut rounds: Vec<Vec<Game>> = Vec::new();
        for line in lines {
            let games: Vec<Game> = line.split(' ').map(game).collect();
            let expected: Vec<Pairing> = games.iter().map(|game| game.pairing).collect();
            assert_eq!(swiss(players, &rounds), expected, "{name}, before {line}");
            rounds.push(games);
            compared += 1;
        }
    }
    assert_eq!(compared, 4 + 3 + 3 + 3);
}

#[test]
fn an_encounter_counts_as_one_result() {
    let of = |text: &str| encounter(pairing("1-2"), &text.split(' ').map(game).collect::<Vec<_>>());
    assert_eq!(of("1-2=1 2-1=d"), game("1-2=1"));
    assert_eq!(of("1-2=1 2-1=1"), game("1-2=d"));
    assert_eq!(of("1-2=1! 2-1=1!"), game("1-2=d"));
    assert_eq!(of("1-2=1! 2-1=1 1-2=d 2-1=1"), game("1-2=0"), "the foul was the winner's");
    assert_eq!(of("1-2=d 2-1=1!"), game("1-2=0!"));
}

fn ties(text: &str) -> Vec<Game> {
    text.split(' ').map(game).collect()
}

#[test]
fn knockouts_follow_the_bracket() {
    let next = |players: usize, rounds: &[&str]| {
        let rounds: Vec<_> = rounds.iter().map(|round| ties(round)).collect();
        let ties = knockout(players, &rounds);
        ties.iter().map(|tie| format!("{}-{}", tie.red + 1, tie.black + 1)).collect::<Vec<_>>().join(" ")
    };
    // Appendix 2 of the Asian rules: the first meets the fourth, the second the third; winners
    // meet for the first place, losers for the third.
    assert_eq!(next(4, &[]), "1-4 2-3");
    // 3 has had Black; 1 and 4 are in no balance with each other.
    assert_eq!(next(4, &["1-4=1 2-3=0"]), "4-2 3-1");
    assert_eq!(next(4, &["1-4=0 2-3=1"]), "3-1 4-2");
    assert_eq!(next(4, &["1-4=1 2-3=0", "4-2=1 3-1=1"]), "");
    // A draw is Black's win.
    assert_eq!(next(4, &["1-4=d 2-3=1"]), "3-1 4-2");

    assert_eq!(next(8, &[]), "1-8 4-5 2-7 3-6");
    assert_eq!(next(8, &["1-8=1 4-5=1 2-7=0 3-6=1"]), "1-4 7-3");
    assert_eq!(next(6, &[]), "4-5 3-6");
    assert_eq!(next(6, &["4-5=0 3-6=1"]), "1-5 2-3");
    assert_eq!(next(3, &[]), "2-3");
    assert_eq!(next(3, &["2-3=0"]), "1-3");
    assert_eq!((next(1, &[]), next(0, &[]), next(2, &[])), (String::new(), String::new(), "1-2".to_owned()));

    let places = |players, rounds: &[&str]| {
        knockout_places(players, &rounds.iter().map(|round| ties(round)).collect::<Vec<_>>())
    };
    assert_eq!(places(4, &["1-4=1 2-3=0", "4-2=1 3-1=1"]), [2, 4, 1, 3]);
    assert_eq!(places(8, &["1-8=1 4-5=1 2-7=0 3-6=1", "1-4=1 7-3=1", "4-3=0 1-7=1"]), [1, 5, 3, 4, 5, 5, 2, 5]);
    assert_eq!(places(6, &["4-5=0 3-6=1", "1-5=1 2-3=1"]), [1, 1, 3, 5, 3, 5], "unfinished");
    assert_eq!(places(3, &["2-3=0", "1-3=0"]), [2, 3, 1]);
}

/// Whether these players can form pairs that all satisfy a condition: by trying.
fn can_pair(open: &[usize], allowed: &dyn Fn(usize, usize) -> bool) -> bool {
    let Some((&one, rest)) = open.split_first() else { return true };
    rest.iter().any(|&other| {
        let others: Vec<usize> = rest.iter().copied().filter(|player| *player != other).collect();
        allowed(one, other) && can_pair(&others, allowed)
    })
}

/// Colours of a player: whether it had Red, by game.
fn colors(player: usize, rounds: &[Vec<Game>]) -> Vec<bool> {
    let own = rounds.iter().flatten().filter(|game| game.result_for(player).is_some());
    own.map(|game| game.pairing.red == player).collect()
}

/// Whether colours are as rule 3 wants them.
fn is_bounded(colors: &[bool]) -> bool {
    let reds = colors.iter().filter(|red| **red).count();
    (2 * reds).abs_diff(colors.len()) <= 2 && colors.windows(3).all(|three| three.iter().any(|red| *red != three[0]))
}

/// Whether a player could have this colour next.
fn could_have(player: usize, red: bool, rounds: &[Vec<Game>]) -> bool {
    is_bounded(&[colors(player, rounds), vec![red]].concat())
}

proptest! {
    #[test]
    fn swiss_rounds_keep_their_rules(
        (players, results) in (2..11_usize)
            .prop_flat_map(|players| (Just(players), prop::collection::vec(0..3_usize, players * players / 2))),
    ) {
        let mut results = results.into_iter().map(|result| GameResult::ALL[result]);
        let mut rounds: Vec<Vec<Game>> = Vec::new();
        for _ in 1..players + players % 2 {
            let next = swiss(players, &rounds);
            prop_assert_eq!(next.len(), players / 2);
            let playing: BTreeSet<usize> = next.iter().flat_map(|one| [one.red, one.black]).collect();
            prop_assert_eq!(playing.len(), players / 2 * 2, "each player plays once");
            let earlier: Vec<usize> = byes(players, &rounds).iter().map(|bye| bye.player).collect();
            let bye = (0..players).find(|player| !playing.contains(player));
            prop_assert!(!bye.is_some_and(|bye| earlier.contains(&bye)), "a second bye for {:?}", bye);

            let met = |one: usize, other: usize| {
                rounds.iter().flatten().any(|game| game.result_for(one).is_some() && game.result_for(other).is_some())
            };
            let fits = |one: usize, other: usize| [true, false].into_iter().any(|red| {
                could_have(one, red, &rounds) && could_have(other, !red, &rounds)
            });
            let candidates: Vec<Option<usize>> = if players % 2 == 0 { vec![None] } else {
                (0..players).filter(|player| !earlier.contains(player)).map(Some).collect()
            };
            let possible = |allowed: &dyn Fn(usize, usize) -> bool| candidates.iter().any(|bye| {
                can_pair(&(0..players).filter(|player| Some(*player) != *bye).collect::<Vec<_>>(), allowed)
            });
            let again = next.iter().any(|one| met(one.red, one.black));
            prop_assert!(!again || !possible(&|one, other| !met(one, other)), "a rematch in {:?}", next);
            let colors_were_kept = (0..players).all(|player| is_bounded(&colors(player, &rounds)));
            if colors_were_kept && possible(&|one, other| !met(one, other) && fits(one, other)) {
                for one in &next {
                    prop_assert!(could_have(one.red, true, &rounds) && could_have(one.black, false, &rounds),
                        "a colour in {:?}", next);
                }
            }
            let games = next.into_iter().map(|pairing| Game { pairing, red: results.next().unwrap(), foul: false });
            rounds.push(games.collect());
            let points: u64 = standings(players, &rounds.concat(), &byes(players, &rounds), TieBreaks::Swiss)
                .iter().map(|row| row.points).sum();
            prop_assert_eq!(points, (rounds.len() * (players / 2 + players % 2) * 2) as u64);
        }
    }

    #[test]
    fn knockouts_end_with_one_winner(players in 2..40_usize, results in prop::collection::vec(0..3_usize, 80)) {
        let mut results = results.into_iter().map(|result| GameResult::ALL[result]);
        let mut rounds: Vec<Vec<Game>> = Vec::new();
        loop {
            let next = knockout(players, &rounds);
            if next.is_empty() {
                break;
            }
            let playing: BTreeSet<usize> = next.iter().flat_map(|one| [one.red, one.black]).collect();
            prop_assert_eq!(playing.len(), 2 * next.len());
            let games = next.into_iter().map(|pairing| Game { pairing, red: results.next().unwrap(), foul: false });
            rounds.push(games.collect());
        }
        prop_assert_eq!(rounds.concat().len(), players - 1 + usize::from(players > 3));
        let places = knockout_places(players, &rounds);
        prop_assert_eq!(places.iter().filter(|place| **place == 1).count(), 1);
        prop_assert!((1..=players.min(4)).all(|place| players == 3 || places.contains(&place)), "{:?}", places);
    }
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
