//! Standings: points, and the tie-breaks of Article 10.
//!
//! A win is worth two points and a draw one (Article 9.1). Players with equal points are separated
//! by the first tie-break that differs. Those that it leaves equal are compared again from the
//! first tie-break, among themselves.

use std::cmp::Reverse;

use super::Game;
use crate::GameResult;

/// A way to separate players with equal points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum TieBreak {
    /// The points of beaten opponents, and half of those of opponents in drawn games.
    Neustadtl,
    /// The sum of the opponents' points.
    Solkoff,
    /// Points in games between the tied players, if each has met all others.
    Direct,
    /// Won games.
    Wins,
    /// Games won as Black.
    WinsAsBlack,
    /// Games played as Black.
    GamesAsBlack,
    /// Games as Black between the tied players, if each has met all others. The two rulebooks
    /// differ here: in the Asian rules Black of a drawn direct encounter is ahead. In the World
    /// rules Black has to win it, which [`Direct`](Self::Direct) has seen already.
    DirectAsBlack,
    /// The points of the strongest opponent, then of the next.
    StrongestOpponents,
    /// Fewer technical fouls.
    Fouls,
}

/// The tie-breaks of a kind of tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreaks {
    /// Article 10.2.
    RoundRobin,
    /// Article 10.3.
    Swiss,
}

impl TieBreaks {
    /// Returns the tie-breaks, the first one first.
    #[must_use]
    pub const fn list(self) -> [TieBreak; 7] {
        use TieBreak::{
            Direct, DirectAsBlack, Fouls, GamesAsBlack, Neustadtl, Solkoff, StrongestOpponents, Wins, WinsAsBlack,
        };
        match self {
            Self::RoundRobin => [Neustadtl, Direct, Wins, WinsAsBlack, GamesAsBlack, DirectAsBlack, Fouls],
            Self::Swiss => [Solkoff, Direct, Wins, WinsAsBlack, GamesAsBlack, StrongestOpponents, Fouls],
        }
    }
}

/// A round without an opponent that brings points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bye {
    /// The player.
    pub player: usize,
    /// Its points.
    pub points: u64,
}

/// A player in the standings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// The player.
    pub player: usize,
    /// Its place, from 1; the same for players that no tie-break separates.
    pub place: usize,
    /// Points: two for a win, one for a draw.
    pub points: u64,
    /// Games played.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Games won as Black.
    pub wins_as_black: u64,
    /// Games played as Black.
    pub games_as_black: u64,
    /// The Neustadtl score.
    pub neustadtl: f64,
    /// The Solkoff score.
    pub solkoff: u64,
    /// Technical fouls.
    pub fouls: u64,
}

/// Returns the standings, the winner first; players of the same place in the order of numbers.
///
/// # Panics
///
/// If a game or a bye names a player that does not exist.
#[must_use]
pub fn standings(players: usize, games: &[Game], byes: &[Bye], tie_breaks: TieBreaks) -> Vec<Row> {
    let mut rows = tally(players, games, byes);
    let points: Vec<u64> = rows.iter().map(|row| row.points).collect();
    for (player, row) in rows.iter_mut().enumerate() {
        let opponents = opponents(player, games);
        row.solkoff = opponents.iter().map(|&other| points[other]).sum();
        let halves: u64 = results(player, games).map(|(other, result)| points[other] * points_of(result)).sum();
        row.neustadtl = halves as f64 / 2.0;
    }
    let mut order: Vec<usize> = (0..players).collect();
    order.sort_by_key(|&player| Reverse(points[player]));
    let table = Table { rows: &rows, games, tie_breaks: &tie_breaks.list() };
    let groups = order.chunk_by(|one, other| points[*one] == points[*other]);
    let groups: Vec<Vec<usize>> = groups.flat_map(|group| table.separate(group, 0)).collect();
    let mut place = 1;
    let mut list = Vec::with_capacity(players);
    for group in groups {
        list.extend(group.iter().map(|&player| Row { place, ..rows[player] }));
        place += group.len();
    }
    list
}

const fn points_of(result: GameResult) -> u64 {
    result.half_points() as u64
}

fn tally(players: usize, games: &[Game], byes: &[Bye]) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..players)
        .map(|player| Row {
            player,
            place: 0,
            points: 0,
            games: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            wins_as_black: 0,
            games_as_black: 0,
            neustadtl: 0.0,
            solkoff: 0,
            fouls: 0,
        })
        .collect();
    for game in games {
        for (player, result) in [(game.pairing.red, game.red), (game.pairing.black, game.red.reversed())] {
            let row = &mut rows[player];
            let as_black = u64::from(player == game.pairing.black);
            row.games += 1;
            row.games_as_black += as_black;
            row.points += points_of(result);
            match result {
                GameResult::Win => {
                    row.wins += 1;
                    row.wins_as_black += as_black;
                }
                GameResult::Draw => row.draws += 1,
                GameResult::Loss => {
                    row.losses += 1;
                    row.fouls += u64::from(game.foul);
                }
            }
        }
    }
    for bye in byes {
        rows[bye.player].points += bye.points;
    }
    rows
}

/// The games of a player: opponent and result.
fn results(player: usize, games: &[Game]) -> impl Iterator<Item = (usize, GameResult)> + '_ {
    games.iter().filter_map(move |game| {
        let other = if game.pairing.red == player { game.pairing.black } else { game.pairing.red };
        game.result_for(player).map(|result| (other, result))
    })
}

/// The players that a player has met, in the order of numbers.
fn opponents(player: usize, games: &[Game]) -> Vec<usize> {
    let mut list: Vec<usize> = results(player, games).map(|(other, _)| other).collect();
    list.sort_unstable();
    list.dedup();
    list
}

struct Table<'a> {
    rows: &'a [Row],
    games: &'a [Game],
    tie_breaks: &'a [TieBreak],
}

impl Table<'_> {
    /// Separates players with equal points into groups, the best first.
    fn separate(&self, group: &[usize], from: usize) -> Vec<Vec<usize>> {
        let Some(&tie_break) = self.tie_breaks.get(from).filter(|_| group.len() > 1) else {
            let mut group = group.to_vec();
            group.sort_unstable();
            return vec![group];
        };
        let met = group.iter().all(|&player| {
            let opponents = opponents(player, self.games);
            group.iter().all(|other| *other == player || opponents.contains(other))
        });
        let mut keyed: Vec<(Reverse<Vec<u64>>, usize)> =
            group.iter().map(|&player| (Reverse(self.key(tie_break, player, group, met)), player)).collect();
        keyed.sort_unstable();
        let parts: Vec<&[_]> = keyed.chunk_by(|one, other| one.0 == other.0).collect();
        // A smaller group starts anew: its direct encounters are others.
        let next = if parts.len() > 1 { 0 } else { from + 1 };
        let players = |part: &[(_, usize)]| part.iter().map(|(_, player)| *player).collect::<Vec<_>>();
        parts.into_iter().flat_map(|part| self.separate(&players(part), next)).collect()
    }

    /// The value of a tie-break: the greater list is ahead. `met`: whether all of the group met.
    fn key(&self, tie_break: TieBreak, player: usize, group: &[usize], met: bool) -> Vec<u64> {
        let row = &self.rows[player];
        let direct = || {
            let games = self.games.iter().filter(|_| met);
            let other = move |game: &Game| game.pairing.red + game.pairing.black - player;
            games.filter(move |game| game.result_for(player).is_some() && group.contains(&other(game)))
        };
        match tie_break {
            TieBreak::Neustadtl => vec![(row.neustadtl * 2.0) as u64],
            TieBreak::Solkoff => vec![row.solkoff],
            TieBreak::Direct => vec![direct().filter_map(|game| game.result_for(player)).map(points_of).sum()],
            TieBreak::Wins => vec![row.wins],
            TieBreak::WinsAsBlack => vec![row.wins_as_black],
            TieBreak::GamesAsBlack => vec![row.games_as_black],
            TieBreak::DirectAsBlack => vec![direct().filter(|game| game.pairing.black == player).count() as u64],
            TieBreak::StrongestOpponents => {
                let mut points: Vec<u64> =
                    opponents(player, self.games).into_iter().map(|other| self.rows[other].points).collect();
                points.sort_unstable_by_key(|points| Reverse(*points));
                points
            }
            TieBreak::Fouls => vec![u64::MAX - row.fouls],
        }
    }
}
