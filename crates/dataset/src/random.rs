//! Random numbers as a part of the format: past games are verified with them.
//!
//! The stream is that of the published cipher `ChaCha8`; the sampling is implemented here.
//! Libraries change how they sample, and floating-point results differ between machines; neither is
//! used.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// The purpose of a stream: streams of different uses are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The random moves of an opening.
    Opening,
    /// The seed of a game, from its run's seed.
    GameSeed,
    /// The order of a book's positions in a match.
    BookOrder,
    /// The set from which the next block of a training run comes.
    TrainingSet,
    /// The order in which a set's blocks are read.
    TrainingBlocks,
    /// The order of the positions of a pool.
    TrainingPool,
    /// The order of the positions of a set that a device keeps.
    TrainingPlaces,
    /// Whether a drawn position is mirrored.
    TrainingMirror,
    /// Whether a drawn position counts, of those with a share.
    TrainingShare,
    /// The initial weights of a net.
    TrainingWeights,
    /// The perturbations of an iteration of tuning.
    Tuning,
}

impl Use {
    /// The first bytes of the stream's key.
    const fn tag(self) -> &'static [u8; 16] {
        match self {
            Self::Opening => b"chuhe:opening:1\0",
            Self::GameSeed => b"chuhe:gameseed:1",
            Self::BookOrder => b"chuhe:bookorder1",
            Self::TrainingSet => b"chuhe:trainset:1",
            Self::TrainingBlocks => b"chuhe:trainblk:1",
            Self::TrainingPool => b"chuhe:trainpool1",
            Self::TrainingPlaces => b"chuhe:trainplace",
            Self::TrainingMirror => b"chuhe:mirrored:1",
            Self::TrainingShare => b"chuhe:trainshare",
            Self::TrainingWeights => b"chuhe:weights:1\0",
            Self::Tuning => b"chuhe:tuning:1\0\0",
        }
    }
}

/// A stream of random numbers: the key stream of `ChaCha8`.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream for a use and two numbers: its key is the use's tag and the numbers,
    /// little-endian.
    #[must_use]
    pub fn new(usage: Use, first: u64, second: u64) -> Self {
        let mut key = [0; 32];
        key[..16].copy_from_slice(usage.tag());
        key[16..24].copy_from_slice(&first.to_le_bytes());
        key[24..].copy_from_slice(&second.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// The next 64 bits: the next eight bytes of the stream, little-endian.
    pub fn bits(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A uniformly random number below `count`.
    ///
    /// Lemire's method: the 64 bits are a fraction of `count`, and the few that would bias the
    /// result are rejected.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    pub fn below(&mut self, count: u64) -> u64 {
        assert!(count > 0, "there is no number below zero");
        let uneven = count.wrapping_neg() % count;
        loop {
            let product = u128::from(self.bits()) * u128::from(count);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// Fisher-Yates shuffle.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The seed of a game, from the seed of its run and its number.
#[must_use]
pub fn game_seed(run: u64, number: u64) -> u64 {
    Stream::new(Use::GameSeed, run, number).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If one of these changes, no past game can be verified.
    #[test]
    fn known_answers() {
        let mut stream = Stream::new(Use::Opening, 7, 0);
        assert_eq!([stream.bits(), stream.bits()], [14858321921551419661, 12844016740781539778]);
        assert_eq!(
            [game_seed(7, 0), game_seed(7, 1), game_seed(8, 0)],
            [12259396820226296946, 16890565816214294731, 17191351320401066048]
        );
        let mut order: Vec<_> = (0..8).collect();
        Stream::new(Use::BookOrder, 1, 0).shuffle(&mut order);
        assert_eq!(order, [4, 3, 6, 0, 1, 2, 5, 7]);
    }

    /// The first bytes for the zero key, from the published test vectors of `ChaCha8`.
    #[test]
    fn the_cipher_is_chacha8() {
        let mut bytes = [0; 16];
        ChaCha8Rng::from_seed([0; 32]).fill_bytes(&mut bytes);
        assert_eq!(
            bytes,
            [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1]
        );
    }

    #[test]
    fn numbers_are_even() {
        let mut stream = Stream::new(Use::Opening, 1, 1);
        let mut seen = [0; 7];
        for _ in 0..70_000 {
            seen[stream.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (9_500..10_500).contains(count)), "{seen:?}");
        assert!((0..100).all(|_| stream.below(1) == 0));
        assert!((0..100).all(|_| stream.below(u64::MAX) < u64::MAX));
    }
}
