//! Berger's tables: the schedule of a round robin.

/// Returns the rounds for this many players. Each player meets one other per round; an odd one has
/// a bye.
pub(super) fn rounds(players: usize) -> Vec<Vec<(usize, usize)>> {
    // Circle method: one seat is fixed, the others rotate; an empty seat is a bye.
    let seats = players + players % 2;
    if seats < 2 {
        return Vec::new();
    }
    let at = |round: usize, seat: usize| (seat + round) % (seats - 1);
    let round = |round: usize| {
        let fixed = (seats - 1, at(round, 0));
        let others = (1..seats / 2).map(|seat| (at(round, seat), at(round, seats - 1 - seat)));
        let all = std::iter::once(fixed).chain(others);
        all.filter(|(one, other)| *one < players && *other < players).collect()
    };
    (0..seats - 1).map(round).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::rounds;

    #[test]
    fn each_pair_meets_once_and_each_player_once_in_a_round() {
        for players in 0..12 {
            let rounds = rounds(players);
            assert!(rounds.len() < players.max(1) + players % 2, "{players}");
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut seen = BTreeSet::new();
                for &(one, other) in round {
                    assert!(one != other && seen.insert(one) && seen.insert(other), "{players}: {round:?}");
                    assert!(met.insert((one.min(other), one.max(other))), "{players}: {one} and {other} met before");
                }
            }
            assert_eq!(met.len(), players * players.saturating_sub(1) / 2, "{players}");
        }
    }
}
