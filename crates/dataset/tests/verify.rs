//! Validation by replay finds all faults and no others.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod common;

use std::{collections::BTreeSet, num::NonZeroUsize};

use dataset::{
    Reason, Record,
    random::{Stream, Use},
    shard::Shard,
    verify::{FaultKind, Report, verify_game, verify_shard},
};
use xiangqi::rules::{self, Outcome};

fn verify(header: &dataset::Header, games: &[Record]) -> Report {
    let shard = Shard::new(common::shard(header, games)).unwrap();
    let [report, again] =
        [1, 3].map(|threads| verify_shard(&shard, None, NonZeroUsize::new(threads).unwrap()).unwrap());
    assert_eq!(report, again);
    report
}

#[test]
fn true_games_have_no_faults_however_they_end() {
    let mut reasons = BTreeSet::new();
    for seed in 0..10 {
        let plain = common::header(seed);
        for header in [common::with_book(plain.clone()), plain] {
            let games = common::games(&header, 60);
            reasons.extend(games.iter().map(|game| game.reason));
            let mut report = verify(&header, &games);
            // A book of three positions may well produce duplicates.
            report.faults.retain(|fault| !matches!(fault.kind, FaultKind::Duplicate { .. }));
            assert_eq!((report.faults, report.games), (Vec::new(), 60));
        }
    }
    assert!(reasons.len() >= 7, "{reasons:?}");
}

fn another<T: PartialEq>(of: &T, from: impl Iterator<Item = T>, stream: &mut Stream) -> T {
    let mut others: Vec<T> = from.filter(|it| it != of).collect();
    others.swap_remove(stream.below(others.len() as u64) as usize)
}

#[test]
fn every_wrong_label_among_a_thousand_games_is_found() {
    let header = common::header(0);
    let mut games = common::games(&header, 1_000);
    let mut stream = Stream::new(Use::BookOrder, 3, 3);
    let mut wrong = BTreeSet::new();
    while wrong.len() < 10 {
        let index = stream.below(1_000);
        let game = &mut games[index as usize];
        if !wrong.insert(header.first_game + index) {
            continue;
        }
        if wrong.len() % 2 == 0 {
            let outcomes = [Outcome::RedWins, Outcome::BlackWins, Outcome::Draw];
            game.outcome = another(&game.outcome, outcomes.into_iter(), &mut stream);
        } else {
            game.reason = another(&game.reason, Reason::all(), &mut stream);
        }
    }
    let report = verify(&header, &games);
    let found: BTreeSet<_> = report.faults.iter().map(|fault| fault.game).collect();
    assert_eq!((found, report.faults.len()), (wrong, 10));
    assert!(report.faults.iter().all(|fault| matches!(fault.kind, FaultKind::Label { .. }) && fault.ply.is_some()));
}

/// The game of the command-line transcript: Black chases a pinned chariot for ever.
#[test]
fn a_chase_recorded_as_a_draw_is_found() {
    let mut header = common::with_book(common::header(0));
    header.openings.plies = 0;
    let mut game = common::game(&header, 0);
    let start: xiangqi::Fen = "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w".parse().unwrap();
    let mut position = start.position.clone();
    game.opening = dataset::Opening { start, attempt: 0, moves: Vec::new(), ..game.opening };
    let moves = "d0e1 c1c2 e1d0 c2c1 d0e1 c1c2 e1d0 c2c1".split(' ').map(|text| {
        let mv = position.parse_move(text).unwrap();
        let _ = position.make(mv);
        dataset::ScoredMove { mv, score: None }
    });
    game.moves = moves.collect();
    (game.outcome, game.reason) = (Outcome::RedWins, Reason::Rules(rules::Reason::PerpetualChase));
    header.rules = rules::RuleSet::Cxr;
    game.opening.rules = header.rules;
    assert_eq!(verify_game(&header, 0, &game), Ok(()));
    (game.outcome, game.reason) = (Outcome::Draw, Reason::Rules(rules::Reason::Repetition));
    let fault = verify_game(&header, 0, &game).unwrap_err();
    assert_eq!(fault.to_string(), "game 0 ply 8: recorded draw by repetition; it is red_wins by perpetual_chase");
    game.moves.pop();
    let fault = verify_game(&header, 0, &game).unwrap_err();
    assert_eq!(fault.to_string(), "game 0 ply 7: it stops, though nothing ended it; recorded draw by repetition");
}

#[test]
fn late_ends_early_ends_and_duplicates_are_found() {
    let header = common::header(0);
    let games = common::games(&header, 200);
    let first = header.first_game;
    let adjudicated = games.iter().position(|game| game.reason == Reason::AdjudicatedWin).unwrap();
    // With other thresholds the game ended before, or has not ended.
    let mut lower = header.clone();
    lower.settings.adjudication.win.as_mut().unwrap().plies = 2;
    let fault = verify_game(&lower, first + adjudicated as u64, &games[adjudicated]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::ContinuesAfterEnd { .. }), "{fault}");
    let mut higher = header.clone();
    higher.settings.adjudication.win = None;
    let fault = verify_game(&higher, first + adjudicated as u64, &games[adjudicated]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Stops { .. } | FaultKind::Label { .. }), "{fault}");
    // Another number has another seed, and so another opening.
    let fault = verify_game(&header, first + 1, &games[0]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Opening);
    // Without a filter, players have no choice of openings.
    let mut unjudged = header.clone();
    unjudged.openings.filter = None;
    let late = (0..200_u64).find(|&index| games[index as usize].opening.attempt == 2).unwrap();
    let fault = verify_game(&unjudged, first + late, &games[late as usize]).unwrap_err();
    assert_eq!(fault.to_string(), format!("game {}: no player keeps attempt 2 of its opening", first + late));
    let mut verifier = dataset::verify::Verifier::new(&header, None);
    assert_eq!(verifier.verify(first, &games[0]), Ok(()));
    let fault = verifier.verify(first, &games[0]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Duplicate { of: first });
    let fault = {
        let start_of = |_: u64| -> xiangqi::Fen { "4k4/9/9/9/9/9/9/R8/R8/3K5 w".parse().unwrap() };
        let header = common::with_book(header.clone());
        let game = common::game(&header, first);
        dataset::verify::Verifier::new(&header, Some(&start_of)).verify(first, &game).unwrap_err()
    };
    assert_eq!(fault.kind, FaultKind::Start);
}

/// Where both entrants move alike; between pairs the rule is that of self-play.
#[test]
fn both_games_of_a_pair_may_be_the_same() {
    let mut header = common::header(0);
    let opponent = dataset::Opponent { net: None, soft_nodes: None, hard_nodes: 2_000 };
    (header.opponent, header.first_game) = (Some(opponent), 10);
    assert_eq!(
        [10, 11, 12].map(|number| header.seed_of(number)),
        [5, 5, 6].map(|pair| common::header(0).seed_of(pair))
    );
    assert!(header.are_pair(10, 11) && header.are_pair(11, 10) && !header.are_pair(11, 12) && !header.are_pair(10, 10));
    let game = common::game(&header, 10);
    assert_eq!(verify(&header, &[game.clone(), game.clone()]).faults, []);
    // But they have to begin alike.
    let faults = verify(&header, &[game, common::game_after(&header, 11, 5)]).faults;
    let fault = faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(fault, ["game 11: it does not begin as game 10, the other of its pair"]);
    // From one position without random moves all pairs begin alike.
    let mut header = common::with_book(header);
    (header.openings.plies, header.settings.ply_cap) = (0, 1);
    let games = common::games(&header, 100);
    let mut found = 0;
    for fault in verify(&header, &games).faults {
        let FaultKind::Duplicate { of } = fault.kind else { panic!("{fault}") };
        assert_ne!(of / 2, fault.game / 2);
        found += 1;
    }
    assert!(found > 10, "{found}");
}

/// Blocks are verified in any order, but reported in theirs.
#[test]
fn faults_of_many_blocks_are_the_same_for_any_number_of_threads() {
    let mut header = common::with_book(common::header(0));
    // Games of one move soon repeat, in other blocks too.
    (header.openings.plies, header.settings.ply_cap) = (0, 1);
    let mut games = common::games(&header, 400);
    for number in [0, 63, 64, 200, 399] {
        games[number].reason = Reason::AdjudicatedDraw;
    }
    let mut bytes = common::shard(&header, &games);
    let shard = Shard::new(&bytes).unwrap();
    let with = |threads| verify_shard(&shard, None, NonZeroUsize::new(threads).unwrap()).unwrap();
    let report = with(1);
    let numbers: Vec<_> = report.faults.iter().map(|fault| fault.game).collect();
    assert!(numbers.is_sorted() && report.games == 400, "{numbers:?}");
    let moves = |game: u64| {
        let game = &games[(game - header.first_game) as usize];
        (&game.opening.start, game.moves[0].mv)
    };
    let across = report.faults.iter().filter(|fault| match fault.kind {
        FaultKind::Duplicate { of } => {
            assert_eq!(moves(of), moves(fault.game));
            (of - header.first_game) / 64 != (fault.game - header.first_game) / 64
        }
        _ => false,
    });
    assert!(across.count() > 10, "{numbers:?}");
    assert_eq!(report.faults.iter().filter(|fault| matches!(fault.kind, FaultKind::Label { .. })).count(), 5);
    for threads in [2, 3, 16] {
        assert_eq!(with(threads), report, "{threads} threads");
    }
    // Of several damaged blocks the first is reported.
    let damaged = [2, 5].map(|block| shard.index()[block].offset as usize + 20);
    for place in damaged {
        bytes[place] ^= 1;
    }
    let shard = Shard::new(&bytes).unwrap();
    for threads in [1, 3] {
        let error = verify_shard(&shard, None, NonZeroUsize::new(threads).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("block 2 at byte "), "{error}");
    }
}
