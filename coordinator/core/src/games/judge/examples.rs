//! Worked examples of the rulebook of program competitions.

use xiangqi::rules::RuleSet;

/// An example.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Example {
    /// Its number in the rulebook.
    pub number: u8,
    pub fen: &'static str,
    pub moves: &'static str,
    pub rules: RuleSet,
}

const fn example(number: u8, fen: &'static str, moves: &'static str) -> Example {
    Example { number, fen, moves, rules: RuleSet::Cxr }
}

/// The examples in display order: well-known cases first, then the disputed ones.
pub const EXAMPLES: [Example; 14] = [
    example(13, "5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w", "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9"),
    example(4, "4k3c/9/4bn2n/8c/6R2/6P2/9/9/9/3K5 w", "g5i5 i6f6 i5g5 f6i6 g5i5 i6f6 i5g5 f6i6"),
    example(9, "2b1k4/9/4b4/4r3p/P5R1c/9/9/4C4/4K4/9 w", "g5g6 e6e5 g6g5 e5e6 g5g6 e6e5 g6g5 e5e6"),
    example(6, "5k3/9/9/9/9/3C5/9/4B4/3K5/2p6 w", "d1e1 c0d0 e1d1 d0c0 d1e1 c0d0 e1d1 d0c0"),
    example(32, "rCRak4/4a4/9/9/9/4p4/9/9/9/4K4 w", "e0d0 e4d4 d0e0 d4e4 e0d0 e4d4 d0e0 d4e4"),
    example(24, "5k3/9/9/9/9/4c4/3r5/3NB4/4A4/4K4 w", "e0d0 e4d4 d0e0 d4e4 e0d0 e4d4 d0e0 d4e4"),
    example(10, "9/3rkr3/2c1ca3/9/9/9/9/9/4A4/3KC4 w", "e1d2 e7d7 d2e1 d7e7 e1d2 e7d7 d2e1 d7e7"),
    example(12, "3k5/2R6/9/9/9/9/9/9/6r2/4K1N2 w", "c8c9 d9d8 c9c8 d8d9 c8c9 d9d8 c9c8 d8d9"),
    example(26, "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w", "d0e1 c1c2 e1d0 c2c1 d0e1 c1c2 e1d0 c2c1"),
    example(27, "3k5/9/9/9/9/9/9/9/1cr3Rn1/3AK4 w", "d0e1 c1c2 e1d0 c2c1 d0e1 c1c2 e1d0 c2c1"),
    example(1, "4k4/9/2c2an2/4c4/6R2/9/9/4B4/4A4/3K1AB2 w", "g5e5 f7e8 e5g5 e8f7 g5e5 f7e8 e5g5 e8f7"),
    example(19, "4k4/9/4n4/1c2N1r2/4N4/6P2/9/9/9/4K4 w", "e6g5 e7c6 g5e6 c6e7 e6g5 e7c6 g5e6 c6e7"),
    example(28, "3k5/9/3a5/2C6/2r6/2C6/2r6/5A3/9/5K3 w", "c4d4 c5d5 d4c4 d5c5 c4d4 c5d5 d4c4 d5c5"),
    example(39, "3ak4/c2R1R2c/4b4/9/9/9/9/9/9/4K4 w", "f8f6 d9e8 f6f8 e8d9 f8f6 d9e8 f6f8 e8d9"),
];

#[cfg(test)]
mod tests {
    use super::{super::judge, EXAMPLES};

    /// Each example ends as in the rulebook.
    #[test]
    fn the_examples_are_judged_as_in_the_rulebook() {
        let book = include_str!("../../../../../crates/xiangqi/tests/data/cxr_examples.jsonl");
        for example in &EXAMPLES {
            let judged = judge(example.fen, example.moves, example.rules.name()).expect("it can be read");
            let end = judged.story.end.expect("it is over");
            let found = match end.outcome.loser() {
                Some(loser) => format!("{}_loses", loser.name().to_lowercase()),
                None => "draw".to_owned(),
            };
            let name = format!("\"CXR-{:02}\"", example.number);
            let line = book.lines().find(|line| line.contains(&name)).expect("the rulebook has it");
            assert!(line.contains(&format!("\"expected\": \"{found}\"")), "{found}: {line}");
        }
    }
}
