//! Made-up games: a game is a number derived from its job's seed and its own number.

use dataset::Header;

/// A game's identity; the low byte is the score of its pair, from 0 to 4.
pub type Game = u64;

/// Mixes two numbers into a pseudorandom one.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_add(0x632b_e59b_d9b4_e019);
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
}

/// Pair scores of candidates that are stronger, weaker, and equal to the champion.
const RESULTS: [[u64; 8]; 3] = [[2, 3, 3, 4, 2, 3, 2, 3], [2, 1, 1, 0, 2, 1, 2, 1], [2, 1, 3, 2, 0, 4, 2, 2]];

/// The strength of the candidate in the match with this seed.
pub fn strength(seed: u64) -> usize {
    (mix(seed, 7) % 3) as usize
}

/// The game as an honest machine plays it.
pub fn game(terms: &Header, number: u64) -> Game {
    let drawn = mix(terms.seed, number);
    drawn & !0xff | RESULTS[strength(terms.seed)][(drawn >> 40) as usize % 8]
}

/// A wrong game; equal salts give equal wrong games.
pub fn wrong_game(terms: &Header, number: u64, salt: u64) -> Game {
    let drawn = mix(game(terms, number), salt);
    drawn & !0xff | RESULTS[salt as usize % 3][(drawn >> 40) as usize % 8]
}

/// The candidate's scores of pairs.
pub fn pairs(games: &[Game]) -> Vec<u8> {
    games.chunks_exact(2).map(|pair| (pair[0] & 0xff) as u8).collect()
}
