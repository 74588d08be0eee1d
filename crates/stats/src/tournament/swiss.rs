//! Swiss system: the pairings of the next round, from the results of the earlier ones.
//!
//! The rulebooks pair each round anew by points (World rules, Article 4.1) and leave the details to
//! a program. We follow the Asian rules where they state a rule: appendix 1, paragraphs 4, 9 and
//! 10, and appendix 2, paragraph 8. Otherwise we follow FIDE's basic rules for Swiss systems
//! (Handbook C.04.1). An earlier rule is never broken for a later one.
//!
//! 1. With an odd number of players one has a bye, which counts as a win. None has a second one
//!    before all had one (FIDE).
//! 2. Players do not meet again while that can be avoided (FIDE).
//! 3. No player gets a colour three times in a row, or three times more often than the other
//!    (FIDE).
//! 4. The bye goes to the player with the fewest points, and among equals to the greatest number
//!    (FIDE).
//! 5. Players meet others with equal points. One that finds none among them meets the smallest
//!    possible number with the next lower points (Asian).
//! 6. In odd rounds the smallest number meets the nearest possible one. In even rounds the greatest
//!    number meets the farthest one (Asian).
//!
//! The first of these that applies gives the colours:
//!
//! * rule 3;
//! * fewer games as Red get Red (Asian);
//! * with different points, the higher player alternates (Asian);
//! * both alternate since the last round in which they had different colours (FIDE);
//! * the smaller number gets Red in odd rounds, the greater one in even rounds (Asian).

use std::cmp::Reverse;

use petgraph::{algo::maximum_matching, graph::UnGraph};

use super::{Bye, Game, Pairing};
use crate::GameResult;

/// The points of a bye: those of a win.
const BYE_POINTS: u64 = 2;

/// Returns the byes of finished rounds: who is in no game of a round has one.
#[must_use]
pub fn byes(players: usize, rounds: &[Vec<Game>]) -> Vec<Bye> {
    let plays = |round: &[Game], player| round.iter().any(|game| game.result_for(player).is_some());
    let missing = |round: &Vec<Game>| (0..players).find(|&player| !plays(round, player));
    rounds.iter().filter_map(missing).map(|player| Bye { player, points: BYE_POINTS }).collect()
}

/// Returns the pairings of the next round of a Swiss tournament, the highest points first. Each
/// game of `rounds` is an encounter; the number of a player stands for its lot.
///
/// ```
/// use stats::tournament::swiss;
///
/// // The first round, by the Asian rules: 1 meets 2, 3 meets 4, and the smaller number has Red.
/// let first = swiss(5, &[]);
/// assert_eq!((first[0].red + 1, first[0].black + 1), (1, 2));
/// assert_eq!((first[1].red + 1, first[1].black + 1), (3, 4));
/// ```
#[must_use]
pub fn swiss(players: usize, rounds: &[Vec<Game>]) -> Vec<Pairing> {
    let table = Table::new(players, rounds);
    let mut open: Vec<usize> = (0..players).collect();
    if !players.is_multiple_of(2) {
        let bye = table.bye(&open);
        open.retain(|&player| player != bye);
    }
    // Numbers ascend in odd rounds and descend in even ones.
    open.sort_by_key(|&player| (Reverse(table.points[player]), table.by_number(player)));
    let mut pairings = Vec::new();
    while let Some(&player) = open.first() {
        let other = table.opponent(player, &open);
        open.retain(|&one| one != player && one != other);
        pairings.push(table.colored(player, other));
    }
    pairings
}

/// The state after the finished rounds.
struct Table {
    /// Whether the next round is odd.
    is_odd: bool,
    points: Vec<u64>,
    had_bye: Vec<bool>,
    /// The opponents of each player.
    met: Vec<Vec<usize>>,
    /// Whether a player had Red, by round; none in a bye.
    reds: Vec<Vec<Option<bool>>>,
}

/// Which two players may meet: each rule includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Any,
    NotAgain,
    Colors,
    EqualPoints,
}

impl Rule {
    const ALL: [Self; 4] = [Self::Any, Self::NotAgain, Self::Colors, Self::EqualPoints];
}

impl Table {
    fn new(players: usize, rounds: &[Vec<Game>]) -> Self {
        let mut table = Self {
            is_odd: rounds.len().is_multiple_of(2),
            points: vec![0; players],
            had_bye: vec![false; players],
            met: vec![Vec::new(); players],
            reds: vec![vec![None; rounds.len()]; players],
        };
        for (round, games) in rounds.iter().enumerate() {
            for &Game { pairing: Pairing { red, black }, red: result, .. } in games {
                table.points[red] += result.half_points() as u64;
                table.points[black] += result.reversed().half_points() as u64;
                table.met[red].push(black);
                table.met[black].push(red);
                table.reds[red][round] = Some(true);
                table.reds[black][round] = Some(false);
            }
        }
        for Bye { player, points } in byes(players, rounds) {
            table.points[player] += points;
            table.had_bye[player] = true;
        }
        table
    }

    /// A key that orders by number: ascending in odd rounds, descending in even ones.
    fn by_number(&self, player: usize) -> usize {
        if self.is_odd { player } else { usize::MAX - player }
    }

    /// Games as Red beyond those as Black.
    fn balance(&self, player: usize) -> i64 {
        self.reds[player].iter().flatten().map(|red| if *red { 1 } else { -1 }).sum()
    }

    /// Whether a player must have Red (`true`) or Black by rule 3.
    fn due(&self, player: usize) -> Option<bool> {
        let mut last = self.reds[player].iter().rev().flatten();
        let twice = match (last.next(), last.next()) {
            (Some(one), Some(other)) if one == other => Some(!one),
            _ => None,
        };
        match self.balance(player) {
            2.. => Some(false),
            ..=-2 => Some(true),
            _ => twice,
        }
    }

    fn allows(&self, rule: Rule, one: usize, other: usize) -> bool {
        let holds = match rule {
            Rule::Any => return true,
            Rule::NotAgain => !self.met[one].contains(&other),
            Rule::Colors => self.due(one).is_none() || self.due(one) != self.due(other),
            Rule::EqualPoints => self.points[one] == self.points[other],
        };
        holds && self.allows(Rule::ALL[rule as usize - 1], one, other)
    }

    /// The greatest number of pairs of these players that a rule allows.
    fn max_pairs(&self, rule: Rule, players: &[usize]) -> usize {
        let mut graph = UnGraph::<(), ()>::default();
        let nodes: Vec<_> = players.iter().map(|_| graph.add_node(())).collect();
        for (index, &one) in players.iter().enumerate() {
            for (other, node) in players.iter().zip(&nodes).skip(index + 1) {
                if self.allows(rule, one, *other) {
                    graph.add_edge(nodes[index], *node, ());
                }
            }
        }
        maximum_matching(&graph).len()
    }

    /// The last rule up to which `taken` costs no pair: two players that leave as a pair, or one
    /// that leaves by a bye.
    fn keeps(&self, taken: &[usize], open: &[usize], most: &[usize]) -> Option<Rule> {
        let rest: Vec<usize> = open.iter().copied().filter(|player| !taken.contains(player)).collect();
        let keeps = |rule: Rule| {
            let own = matches!(*taken, [one, other] if self.allows(rule, one, other));
            self.max_pairs(rule, &rest) + usize::from(own) == most[rule as usize]
        };
        Rule::ALL.into_iter().take(most.len()).take_while(|rule| keeps(*rule)).last()
    }

    /// The player with the bye.
    fn bye(&self, open: &[usize]) -> usize {
        // Equal points are a later rule than the bye.
        let most: Vec<_> = Rule::ALL[..3].iter().map(|rule| self.max_pairs(*rule, open)).collect();
        let mut candidates = open.to_vec();
        candidates.sort_by_key(|&player| (self.had_bye[player], self.points[player], Reverse(player)));
        let can_have = candidates.iter().filter(|&&player| self.had_bye[player] == self.had_bye[candidates[0]]);
        self.first_best(can_have, &[], open, &most)
    }

    /// The opponent of the first open player.
    fn opponent(&self, player: usize, open: &[usize]) -> usize {
        let most: Vec<_> = Rule::ALL.iter().map(|rule| self.max_pairs(*rule, open)).collect();
        let mut candidates = open[1..].to_vec();
        // The nearest to the smallest number and the farthest from the greatest are the same.
        candidates.sort_by_key(|&other| (Reverse(self.points[other]), other));
        self.first_best(candidates.iter(), &[player], open, &most)
    }

    /// The first candidate that keeps the rules the furthest.
    fn first_best<'a>(
        &self,
        candidates: impl Iterator<Item = &'a usize>,
        with: &[usize],
        open: &[usize],
        most: &[usize],
    ) -> usize {
        let mut best = None;
        for &candidate in candidates {
            let kept = self.keeps(&[with, &[candidate]].concat(), open, most);
            if best.is_none_or(|(before, _)| kept > before) {
                best = Some((kept, candidate));
            }
            if kept.is_some_and(|rule| rule as usize + 1 == most.len()) {
                break;
            }
        }
        best.map(|(_, candidate)| candidate).expect("two players are open, or one for the bye")
    }

    /// Assigns the colours.
    fn colored(&self, one: usize, other: usize) -> Pairing {
        let (high, low) = if self.points[one] >= self.points[other] { (one, other) } else { (other, one) };
        let by_due = match (self.due(high), self.due(low)) {
            (Some(one), Some(other)) if one == other => None,
            (high, low) => high.or(low.map(|red| !red)),
        };
        let balances = [high, low].map(|player| self.balance(player));
        let by_balance = (balances[0] != balances[1]).then_some(balances[0] < balances[1]);
        let last = |player: usize| self.reds[player].iter().rev().flatten().next().copied();
        let by_higher = if self.points[high] == self.points[low] { None } else { last(high).map(|red| !red) };
        let rounds = self.reds[high].iter().zip(&self.reds[low]).rev();
        let by_alternation =
            rounds.filter_map(|(high, low)| high.zip(*low)).find(|(high, low)| high != low).map(|(high, _)| !high);
        let by_number = self.by_number(high) < self.by_number(low);
        let high_is_red = by_due.or(by_balance).or(by_higher).or(by_alternation).unwrap_or(by_number);
        if high_is_red { Pairing { red: high, black: low } } else { Pairing { red: low, black: high } }
    }
}

/// Collapses the games of an encounter into one result (Article 9.2): who has more points has won.
/// It is a foul if the loser has lost a game by one.
#[must_use]
pub fn encounter(pairing: Pairing, games: &[Game]) -> Game {
    let points = |player| -> u64 {
        games.iter().filter_map(|game| game.result_for(player)).map(|result| result.half_points() as u64).sum()
    };
    let (red, loser) = match points(pairing.red).cmp(&points(pairing.black)) {
        std::cmp::Ordering::Greater => (GameResult::Win, Some(pairing.black)),
        std::cmp::Ordering::Equal => (GameResult::Draw, None),
        std::cmp::Ordering::Less => (GameResult::Loss, Some(pairing.red)),
    };
    let lost = |game: &Game| game.foul && loser.and_then(|loser| game.result_for(loser)) == Some(GameResult::Loss);
    Game { pairing, red, foul: games.iter().any(lost) }
}
