//! Limited strength, for people who want an opponent of their own level.
//!
//! A limited engine searches few nodes, and its evaluation errs. Each position has an error of its
//! own ([`Noise`]), the same whenever the search meets it. So the engine overlooks combinations and
//! misjudges positions, but takes what hangs. The ratings are measured (`docs/ENGINE.md`).

use xiangqi::Position;

use crate::score::Score;

/// The errors of a limited engine's evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// The greatest error, in hundredths of a pawn.
    pub width: Score,
    /// The seed of the errors.
    pub seed: u64,
}

impl Noise {
    /// The error of a position's evaluation, most often near zero.
    pub(crate) fn of(self, position: &Position) -> Score {
        // The finaliser of SplitMix64.
        let mut bits = position.key() ^ self.seed;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let part = |bits: u64| i64::from(bits as u32) * i64::from(self.width);
        ((part(bits) - part(bits >> 32)) >> 32) as Score
    }
}

/// How strong a limited engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// The most nodes of a search.
    pub nodes: u64,
    /// The greatest error of the evaluation.
    pub noise: Score,
}

/// Measured strengths: rating, nodes and noise.
const MEASURED: [(u32, u64, Score); 8] = [
    (550, 30, 900),
    (780, 45, 600),
    (1110, 70, 400),
    (1470, 110, 270),
    (1750, 180, 180),
    (1980, 300, 110),
    (2300, 600, 50),
    (2580, 1_200, 0),
];

impl Strength {
    /// The least rating.
    pub const MIN_ELO: u32 = MEASURED[0].0;
    /// The greatest rating; beyond it the engine is not limited.
    pub const MAX_ELO: u32 = MEASURED[MEASURED.len() - 1].0;
    /// The skill level at which the engine is not limited.
    pub const MAX_LEVEL: u32 = 20;

    /// The strength of a rating, between the measured ones in proportion.
    #[must_use]
    pub fn of_elo(elo: u32) -> Self {
        let elo = elo.clamp(Self::MIN_ELO, Self::MAX_ELO);
        let above = MEASURED.iter().position(|row| row.0 >= elo).unwrap_or(MEASURED.len() - 1).max(1);
        let [(low, low_nodes, low_noise), (high, high_nodes, high_noise)] = [MEASURED[above - 1], MEASURED[above]];
        let part = |from: i64, to: i64| from + (to - from) * i64::from(elo - low) / i64::from(high - low);
        Self {
            nodes: part(low_nodes as i64, high_nodes as i64) as u64,
            noise: part(low_noise.into(), high_noise.into()) as Score,
        }
    }

    /// The strength of a skill level, in equal steps of rating; none at the last level.
    #[must_use]
    pub fn of_level(level: u32) -> Option<Self> {
        let range = Self::MAX_ELO - Self::MIN_ELO;
        (level < Self::MAX_LEVEL).then(|| Self::of_elo(Self::MIN_ELO + range * level / (Self::MAX_LEVEL - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_rating_has_more_nodes_and_less_noise() {
        let strengths: Vec<_> = (Strength::MIN_ELO..=Strength::MAX_ELO).map(Strength::of_elo).collect();
        assert!(strengths.is_sorted_by(|a, b| a.nodes <= b.nodes && a.noise >= b.noise));
        for (elo, nodes, noise) in MEASURED {
            assert_eq!(Strength::of_elo(elo), Strength { nodes, noise });
        }
        assert_eq!(Strength::of_level(0), Some(Strength::of_elo(Strength::MIN_ELO)));
        assert_eq!(Strength::of_level(19), Some(Strength::of_elo(Strength::MAX_ELO)));
        assert_eq!(Strength::of_level(20), None);
    }

    #[test]
    fn noise_is_a_function_of_position_and_seed_within_its_width() {
        let start = Position::start();
        let errors: Vec<_> = (0..1_000).map(|seed| Noise { width: 300, seed }.of(&start)).collect();
        assert!(errors.iter().all(|error| error.abs() <= 300));
        assert!(errors.iter().any(|error| *error > 200) && errors.iter().any(|error| *error < -200));
        let mean = errors.iter().sum::<Score>() / 1_000;
        assert!(mean.abs() < 20, "{mean}");
        let small = errors.iter().filter(|error| error.abs() < 100).count();
        assert!((500..620).contains(&small), "five ninths of a triangle's area: {small}");
        assert_eq!(errors[7], Noise { width: 300, seed: 7 }.of(&start));
    }
}
