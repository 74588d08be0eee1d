//! Factorised input features.
//!
//! A piece on a point is worth much the same in many buckets, and most buckets are rare. So with
//! `factorised` in the recipe there are *planes* of shared rows (virtual features), one row for
//! each piece on a point. A bucket's effective rows are its own plus those of its planes:
//!
//! * one plane for all points of the king, given the remaining attackers;
//! * where attackers are distinguished, one for all remaining attackers, given the king's point.
//!
//! Export merges them.

use nnue::architecture::{Attackers, Inputs, KING_BUCKETS, PIECE_POINTS};

/// The planes of each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing(Vec<Vec<usize>>);

impl Sharing {
    /// The planes of a feature set: first those shared by the king's points, then those shared by
    /// attackers.
    #[must_use]
    pub fn of(inputs: Inputs) -> Self {
        let planes = |bucket: usize| match inputs.attackers_in(bucket) {
            None => vec![0],
            Some(attackers) => vec![attackers.index(), Attackers::COUNT + bucket % KING_BUCKETS],
        };
        Self((0..inputs.buckets()).map(planes).collect())
    }

    /// The number of planes.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.0.iter().flatten().max().map_or(0, |last| last + 1)
    }

    /// The planes of each bucket.
    #[must_use]
    pub fn buckets(&self) -> &[Vec<usize>] {
        &self.0
    }

    /// The number of planes per bucket.
    #[must_use]
    pub fn planes_of_each(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Merges: adds the shared rows to the buckets' rows of `width` numbers.
    #[inline(always)]
    pub(crate) fn add(&self, rows: &mut [f32], shared: &[f32], width: usize) {
        let plane = PIECE_POINTS * width;
        for (rows, planes) in rows.chunks_exact_mut(plane).zip(&self.0) {
            for number in planes {
                for (row, shared) in rows.iter_mut().zip(&shared[number * plane..][..plane]) {
                    *row += shared;
                }
            }
        }
    }

    /// Transpose of [`add`](Self::add): sums the gradients of the buckets' rows for the shared
    /// rows.
    #[inline(always)]
    pub(crate) fn sums(&self, rows: &[f32], width: usize) -> Vec<f32> {
        let plane = PIECE_POINTS * width;
        let mut sums = vec![0.0; self.planes() * plane];
        for (rows, planes) in rows.chunks_exact(plane).zip(&self.0) {
            for number in planes {
                for (sum, row) in sums[number * plane..][..plane].iter_mut().zip(rows) {
                    *sum += row;
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_share_with_their_king_and_with_their_attackers() {
        let kings = Sharing::of(Inputs::Kings);
        assert_eq!((kings.planes(), kings.planes_of_each()), (1, 1));
        let attackers = Sharing::of(Inputs::KingsAttackers);
        assert_eq!((attackers.planes(), attackers.planes_of_each()), (10, 2));
        // A chariot is left, the king stands on e1: the fourth of six points.
        assert_eq!(attackers.buckets()[KING_BUCKETS + 3], [1, 4 + 3]);
        for (place, planes) in attackers.buckets().iter().enumerate() {
            let alike = |plane: usize| attackers.buckets().iter().filter(|other| other.contains(&plane)).count();
            assert_eq!((alike(planes[0]), alike(planes[1])), (KING_BUCKETS, Attackers::COUNT), "{place}");
        }
        assert_eq!((Sharing::default().planes(), Sharing::default().planes_of_each()), (0, 0));
    }

    #[test]
    fn sums_go_where_rows_came_from() {
        for sharing in Inputs::ALL.map(Sharing::of) {
            // Adjointness: ⟨add(shared), asked⟩ = ⟨shared, sums(asked)⟩.
            let plane = PIECE_POINTS * 2;
            let shared: Vec<f32> = (0..sharing.planes() * plane).map(|place| (place % 13) as f32).collect();
            let mut rows = vec![0.0; sharing.buckets().len() * plane];
            sharing.add(&mut rows, &shared, 2);
            let asked: Vec<f32> = (0..rows.len()).map(|place| (place % 7) as f32).collect();
            let sums = sharing.sums(&asked, 2);
            let product = |one: &[f32], other: &[f32]| -> f64 {
                one.iter().zip(other).map(|(one, other)| f64::from(one * other)).sum()
            };
            // Whole numbers, exact in floating point.
            let (one, other) = (product(&rows, &asked), product(&shared, &sums));
            assert!((one - other).abs() < 0.5 && one > 0.0, "{one} {other}");
        }
    }
}
