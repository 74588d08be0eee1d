//! Checks that need no game to be read.

use std::ops::Range;

use super::Refusal;
use crate::{
    entrant::Entrant,
    header::Header,
    shard::{Shard, Totals},
};

/// Checks a shard's head and index against the requested games, without reading a block. `expected`
/// is the header, whose `first_game` is ignored; `games` are the numbers.
///
/// # Errors
///
/// The first violation that is found.
pub fn precheck(bytes: &[u8], expected: &Header, games: Range<u64>) -> Result<Totals, Refusal> {
    let shard = open_checked(bytes, expected, games)?;
    Ok(Totals { games: shard.games(), positions: shard.positions(), bytes: shard.size() })
}

/// Opens the shard and checks its head and its index.
pub(super) fn open_checked<'b>(
    bytes: &'b [u8],
    expected: &Header,
    games: Range<u64>,
) -> Result<Shard<&'b [u8]>, Refusal> {
    let shard = Shard::new(bytes).map_err(|error| Refusal::of_bytes(bytes, &error))?;
    let header = shard.header();
    same_header(header, expected)?;
    let (first, found) = (header.first_game, shard.games());
    if first != games.start || Some(found) != games.end.checked_sub(games.start) {
        return Err(Refusal::WrongGames { expected: games, first, found });
    }
    // The bound on the cost of reading: no more moves than the requested games can have.
    for (block, entry) in shard.index().iter().enumerate() {
        let (claimed, max) = (u64::from(entry.moves), u64::from(entry.games) * expected.max_moves());
        if claimed > max {
            let games = entry.games;
            return Err(Refusal::Bomb(format!("block {block}: {claimed} moves in {games} games; at most {max} fit")));
        }
    }
    Ok(shard)
}

fn same_header(found: &Header, expected: &Header) -> Result<(), Refusal> {
    let differences = expected.differences(found);
    // In the order of what explains the most.
    for name in ["bench_signature", "net", "opponent", "rules", "openings", "seed"] {
        if !differences.contains(&name) {
            continue;
        }
        return Err(match (name, expected.opponent, found.opponent) {
            ("bench_signature", ..) => {
                Refusal::WrongEngine { expected: expected.bench_signature, found: found.bench_signature }
            }
            ("net", ..) => Refusal::WrongNet { entrant: Entrant::A, expected: expected.net, found: found.net },
            ("opponent", Some(ours), Some(theirs)) if ours.net != theirs.net => {
                Refusal::WrongNet { entrant: Entrant::B, expected: ours.net, found: theirs.net }
            }
            ("rules", ..) => Refusal::WrongRules { expected: expected.rules, found: found.rules },
            ("openings", ..) => Refusal::WrongOpenings,
            ("seed", ..) => Refusal::WrongSeed { expected: expected.seed, found: found.seed },
            _ => Refusal::WrongSettings { fields: differences },
        });
    }
    if differences.is_empty() { Ok(()) } else { Err(Refusal::WrongSettings { fields: differences }) }
}
