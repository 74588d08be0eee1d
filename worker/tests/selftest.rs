//! The games of the self-test are the same on every instruction set.

use nnue::Kernel;
use worker::selftest::{GAMES, play};

#[test]
fn known_games_are_known_everywhere() {
    for kernel in Kernel::available() {
        let games = GAMES.map(|(name, _)| (name, play(name, kernel).unwrap().digest().to_string()));
        let known = GAMES.map(|(name, digest)| (name, digest.to_owned()));
        assert_eq!(games, known, "{}", kernel.name());
    }
}
