//! Which games of a match count.

use crate::model::{Piece, ShardState};

/// Returns one byte per pair, in the order of their numbers, up to the first pair that does not
/// count.
#[must_use]
pub fn counted_pairs(pieces: &[Piece]) -> Vec<u8> {
    let mut all = Vec::new();
    for Piece { numbers, shard_first, state, bytes } in pieces {
        let (Some(shard_first), Some(ShardState::Validated), Some(bytes)) = (shard_first, state, bytes) else { break };
        let from = ((numbers.start - shard_first) / 2) as usize;
        let pairs = ((numbers.end - numbers.start) / 2) as usize;
        let Some(part) = bytes.get(from..from + pairs) else { break };
        all.extend_from_slice(part);
    }
    all
}

/// Returns in how many games the candidate and its opponent lost on time: each pair has the
/// candidate's losses plus three times the opponent's.
#[must_use]
pub fn time_losses(pairs: &[u8]) -> [u64; 2] {
    pairs.iter().map(|pair| u64::from(*pair)).fold([0, 0], |[own, other], pair| [own + pair % 3, other + pair / 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_count_up_to_the_first_gap() {
        let piece = |first: i64, games: i64, shard_first: i64, state: ShardState| Piece {
            numbers: first..first + games,
            shard_first: Some(shard_first),
            state: Some(state),
            bytes: Some(vec![1, 2, 3, 4]),
        };
        let first = piece(0, 4, 0, ShardState::Validated);
        let second = piece(4, 4, 2, ShardState::Validated);
        assert_eq!(counted_pairs(&[first.clone(), second.clone()]), [1, 2, 2, 3], "a part of a shard counts in part");
        for state in [ShardState::Received, ShardState::Disputed, ShardState::Quarantined] {
            let gap = Piece { state: Some(state), ..second.clone() };
            assert_eq!(counted_pairs(&[first.clone(), gap, second.clone()]), [1, 2], "{state}");
        }
        let open = Piece { shard_first: None, state: None, bytes: None, ..second.clone() };
        assert!(counted_pairs(&[open, first, second]).is_empty());
    }

    #[test]
    fn losses_on_time_are_counted_by_side() {
        assert_eq!(time_losses(&[0, 1, 2, 3, 6, 7]), [1 + 2 + 1, 1 + 2 + 2]);
    }
}
