//! Cycles in which two like men change places: rare, and judged wrong by whoever tells men apart by their points.
//!
//! `twins.txt` was found by a long search: a position with a short chase and beside it a longer one after which a
//! pair has changed places. Most lines play the longer loop and then the shorter, so that the pair stays exchanged
//! at the third occurrence, or the longer loop twice, so that it is exchanged and exchanged back. In many the answer
//! depends on what happens at the seam. The levels in the file are this referee's, by the letter of the procedure:
//! identities run on to the third occurrence, and at the seam the escape is looked up by point.

use super::{Case, parse_case};

/// Each with Red's and Black's level.
pub fn twin_cases() -> Vec<(Case, (u8, u8))> {
    let read = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let mut level = || parts.next().and_then(|text| text.parse().ok()).expect("a level");
        let levels = (level(), level());
        (parse_case(parts.next().expect("a case")).expect("a case"), levels)
    };
    include_str!("twins.txt").lines().map(read).collect()
}
