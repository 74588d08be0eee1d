//! Knockout: the bracket, and the places.
//!
//! Seeds are spread so that strong ones meet late (World rules, Article 10.1). Of four, the first
//! meets the fourth and the second the third. The winners play for the first place and the losers
//! for the third (Asian rules, appendix 2). Of a number that is no power of two, the first seeds
//! have a bye in the first round.
//!
//! Red goes to the player with fewer games as Red, otherwise to the better seed: the Asian rules
//! then draw a lot.

use super::{Game, Pairing};
use crate::GameResult;

/// Returns the ties of the next round, the final last; none if the tournament is over. Each game of
/// `rounds` is a tie, of which a draw is Black's win. The number of a player is its seed.
///
/// ```
/// use stats::tournament::knockout;
///
/// let first = knockout(6, &[]);
/// assert_eq!((first[0].red + 1, first[0].black + 1), (4, 5));
/// assert_eq!((first[1].red + 1, first[1].black + 1), (3, 6));
/// ```
#[must_use]
pub fn knockout(players: usize, rounds: &[Vec<Game>]) -> Vec<Pairing> {
    let reds = |player| rounds.iter().flatten().filter(|game| game.pairing.red == player).count();
    let colored = |[one, other]: [usize; 2]| {
        if (reds(other), other) < (reds(one), one) {
            Pairing { red: other, black: one }
        } else {
            Pairing { red: one, black: other }
        }
    };
    Bracket::replay(players, rounds).ties().into_iter().map(colored).collect()
}

/// Returns the place of each player, from 1. Those that lost in the same round share a place, and
/// so do all that are still in.
#[must_use]
pub fn knockout_places(players: usize, rounds: &[Vec<Game>]) -> Vec<usize> {
    Bracket::replay(players, rounds).places
}

struct Bracket {
    /// The remaining players in the order of the bracket; none beside a bye.
    seats: Vec<Option<usize>>,
    /// The losers of the last round.
    losers: Vec<usize>,
    places: Vec<usize>,
}

impl Bracket {
    fn replay(players: usize, rounds: &[Vec<Game>]) -> Self {
        let mut seeds = vec![0];
        while seeds.len() < players {
            let last = 2 * seeds.len() - 1;
            seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
        }
        let seats = seeds.into_iter().map(|seed| (seed < players).then_some(seed)).collect();
        let mut bracket = Self { seats, losers: Vec::new(), places: vec![1; players] };
        for round in rounds {
            bracket.advance(round);
        }
        bracket
    }

    /// The final, with the match of the losers before for the third place.
    fn ties(&self) -> Vec<[usize; 2]> {
        let ties = self.seats.chunks(2).filter_map(|seats| match *seats {
            [Some(one), Some(other)] => Some([one, other]),
            _ => None,
        });
        self.third_place().into_iter().chain(ties).collect()
    }

    fn third_place(&self) -> Option<[usize; 2]> {
        self.losers.as_slice().try_into().ok().filter(|_| self.seats.len() == 2)
    }

    fn advance(&mut self, round: &[Game]) {
        let won = |one: usize, other: usize| {
            let game = round.iter().find(|game| game.result_for(one).is_some() && game.result_for(other).is_some());
            let is_red_winner = |game: &Game| game.red == GameResult::Win;
            game.is_none_or(|game| is_red_winner(game) == (game.pairing.red == one))
        };
        if let Some([one, other]) = self.third_place() {
            let (third, fourth) = if won(one, other) { (one, other) } else { (other, one) };
            (self.places[third], self.places[fourth]) = (3, 4);
        }
        let place = self.seats.len() / 2 + 1;
        self.losers.clear();
        let mut winners = Vec::new();
        for seats in self.seats.chunks(2) {
            winners.push(match *seats {
                [Some(one), Some(other)] => {
                    let (winner, loser) = if won(one, other) { (one, other) } else { (other, one) };
                    self.places[loser] = place;
                    self.losers.push(loser);
                    Some(winner)
                }
                [one, ..] => one,
                [] => None,
            });
        }
        self.seats = winners;
    }
}
