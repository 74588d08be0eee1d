//! Cycles in which two equal men exchange places: rare, and misjudged by an arbiter that identifies
//! men by their points.
//!
//! `twins.txt` comes from a long search: a position with a short chase and a longer one after which
//! a pair has exchanged places. Most lines play the longer loop and then the shorter, so that the
//! pair stays exchanged at the third occurrence. Others play the longer loop twice, so that it is
//! exchanged and exchanged back. In many the verdict depends on the seam.
//!
//! The levels in the file are this referee's, by the letter of the procedure. Identities run on to
//! the third occurrence, and at the seam the escape is looked up by point.

use super::{Case, parse_case};

/// The cases, with Red's and Black's levels.
pub fn twin_cases() -> Vec<(Case, (u8, u8))> {
    let read = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let mut level = || parts.next().and_then(|text| text.parse().ok()).expect("a level");
        let levels = (level(), level());
        (parse_case(parts.next().expect("a case")).expect("a case"), levels)
    };
    include_str!("twins.txt").lines().map(read).collect()
}
