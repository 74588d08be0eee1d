//! Move generation against counts on which other programs agree.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use xiangqi::{Position, perft};

/// The limit for rows of a normal run; the long check sets `CHUHE_PERFT_NODES`.
const MAX_NODES: u64 = 50_000_000;

#[test]
fn counts_equal_the_reference() {
    let most_nodes = std::env::var("CHUHE_PERFT_NODES").map_or(MAX_NODES, |nodes| nodes.parse().unwrap());
    let mut checked = 0;
    for row in include_str!("data/perft_sample.csv").lines().skip(1) {
        let mut fields = row.split(',');
        let mut field = || fields.next().expect("rows have three fields");
        let (fen, depth, nodes) = (field(), field().parse().unwrap(), field().parse().unwrap());
        if nodes <= most_nodes {
            let mut position = Position::from_fen(fen).unwrap();
            assert_eq!(perft::count(&mut position, depth), nodes, "{fen} at depth {depth}");
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} rows were checked");
}
