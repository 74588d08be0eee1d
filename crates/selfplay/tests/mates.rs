//! The collected forced mates.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::collections::BTreeSet;

use engine::Settings;
use selfplay::mates::Prover;
use xiangqi::{
    Fen,
    rules::{Game, Reason, RuleSet},
};

/// The positions with their proof lines.
fn mates() -> Vec<(Fen, Vec<String>)> {
    let lines = include_str!("data/mates.txt").lines().map(|line| line.split_once(';').unwrap());
    lines.map(|(fen, line)| (fen.parse().unwrap(), line.split(' ').map(str::to_owned).collect())).collect()
}

#[test]
fn each_line_ends_in_mate() {
    let mates = mates();
    for (fen, line) in &mates {
        let mut game = Game::new(fen.clone(), RuleSet::Cxr);
        for mv in line {
            assert!(game.status().ending().is_none(), "{fen}: over before {mv}");
            game.push(game.position().parse_move(mv).unwrap()).unwrap();
        }
        let reason = game.status().ending().map(|ending| ending.reason);
        assert!(matches!(reason, Some(Reason::Checkmate | Reason::Stalemate)), "{fen}: {reason:?}");
        assert!(line.len() % 2 == 1 && (5..=25).contains(&line.len()), "{fen}: {} plies", line.len());
    }
    let positions: BTreeSet<_> = mates.iter().map(|(fen, _)| fen.to_string()).collect();
    assert_eq!(positions.len(), mates.len(), "each position is there once");
}

/// The short ones, with another evaluation than the one that found them.
#[test]
fn every_defence_loses() {
    let mut prover = Prover::new(&Settings::DEFAULT, 4_000_000);
    let short: Vec<_> = mates().into_iter().filter(|(_, line)| line.len() <= 7).collect();
    assert!(short.len() > 50, "{}", short.len());
    for (fen, line) in short {
        let proof = prover.prove(&fen, line.len() as u32, 2_000);
        assert!(proof.is_some_and(|proof| proof.len() <= line.len()), "{fen}: {line:?}");
    }
}

#[test]
fn other_positions_are_not_proved() {
    let mut prover = Prover::new(&Settings::DEFAULT, 5_000);
    assert_eq!(prover.prove(&Fen::start(), 5, 50), None);
    // A mate in one, which is none in no plies.
    let fen: Fen = "3k5/R8/9/9/9/9/9/9/9/1R2K4 w".parse().unwrap();
    assert_eq!(prover.prove(&fen, 0, 50), None);
    assert_eq!(prover.prove(&fen, 1, 50).map(|line| line.len()), Some(1));
}
