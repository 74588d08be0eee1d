//! Berger tables: the schedule of a round robin.

use super::Pairing;

/// Returns the rounds of a round robin by the Berger tables in the appendix of the World Xiangqi
/// Rules. Order of rounds, order within a round and colours are the appendix's. With an odd number
/// of players one has a bye in each round.
///
/// ```
/// use stats::tournament::berger;
///
/// let first = &berger(4)[0];
/// assert_eq!((first[0].red + 1, first[0].black + 1), (1, 4));
/// assert_eq!((first[1].red + 1, first[1].black + 1), (2, 3));
/// ```
#[must_use]
pub fn berger(players: usize) -> Vec<Vec<Pairing>> {
    // The last seat stays; it is empty with an odd number of players. The others sit in a ring. In
    // each round the last seat's opponent is half a table further on, and both of its neighbours
    // meet, then the next ones.
    let seats = players + players % 2;
    let ring = seats.saturating_sub(1);
    let round = |round: usize| {
        let opposite = round * (seats / 2) % ring;
        let last = if round.is_multiple_of(2) {
            Pairing { red: opposite, black: ring }
        } else {
            Pairing { red: ring, black: opposite }
        };
        let others = (1..seats / 2)
            .map(move |step| Pairing { red: (opposite + step) % ring, black: (opposite + ring - step) % ring });
        let all = std::iter::once(last).chain(others);
        all.filter(|pairing| pairing.red.max(pairing.black) < players).collect()
    };
    (0..ring).map(round).collect()
}
