//! Uploaded games are the requested ones, or are refused with the reason.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod foreign;
#[path = "../../fuzz/forge.rs"]
mod forge;
mod properties;

use std::{collections::BTreeMap, ops::Range};

use dataset::{
    Digest, Header, Opponent, Reason, Record, RunDigest,
    codec::BlockEncoder,
    delivery::{Comparison, Refusal, by_replay, compare, precheck},
    shard::Shard,
};
use forge::Block;
use xiangqi::rules::Outcome;

fn numbers(header: &Header, games: &[Record]) -> Range<u64> {
    header.first_game..header.first_game + games.len() as u64
}

/// Games from the tenth on, some of them adjudicated.
fn requested() -> Header {
    Header { settings: common::header(0).settings, ..common::header(10) }
}

/// Twelve valid games and their header.
fn honest() -> (Header, Vec<Record>) {
    let header = requested();
    let games = common::games(&header, 12);
    (header, games)
}

fn match_header() -> Header {
    let opponent = Opponent { net: Some(Digest::of(b"champion")), soft_nodes: None, hard_nodes: 1_000 };
    Header { opponent: Some(opponent), first_game: 40, ..requested() }
}

/// The payload of one block, even if the encoder reports an error.
fn payload(header: &Header, games: &[Record]) -> Block {
    let mut encoder = BlockEncoder::new();
    for (number, game) in numbers(header, games).zip(games) {
        let _ = encoder.add(header, number, game);
    }
    let moves = games.iter().map(|game| game.moves.len() as u32).sum();
    Block { payload: encoder.finish(), games: games.len() as u32, moves }
}

fn forged(header: &Header, games: &[Record]) -> Vec<u8> {
    forge::file(&header.to_bytes(), &[payload(header, games)])
}

/// The code, after a check that the sentence is one clear line.
fn code(refusal: &Refusal) -> &'static str {
    let sentence = refusal.to_string();
    assert!(!sentence.is_empty() && !sentence.contains('\n') && sentence.len() < 300, "{sentence}");
    refusal.code()
}

/// The refusal of the precheck, which the replay repeats.
fn precheck_refusal(bytes: &[u8], header: &Header, games: Range<u64>) -> (&'static str, String) {
    let refusal = precheck(bytes, header, games.clone()).unwrap_err();
    assert_eq!(by_replay(bytes, header, games, None).unwrap_err(), refusal);
    (code(&refusal), refusal.to_string())
}

/// The refusal of the replay after a passed precheck.
fn replay_refusal(bytes: &[u8], header: &Header, games: Range<u64>) -> (&'static str, String) {
    precheck(bytes, header, games.clone()).unwrap();
    let refusal = by_replay(bytes, header, games, None).unwrap_err();
    (code(&refusal), refusal.to_string())
}

#[test]
fn a_forger_writes_the_same_bytes() {
    let (header, games) = honest();
    assert_eq!(forged(&header, &games), common::shard(&header, &games));
}

#[test]
fn requested_games_are_verified() {
    let header = common::header(0);
    let games = common::games(&header, 150);
    let bytes = common::shard(&header, &games);
    let totals = precheck(&bytes, &header, numbers(&header, &games)).unwrap();
    let proof = by_replay(&bytes, &header, numbers(&header, &games), None).unwrap();
    assert_eq!((totals.games, totals.positions), (proof.games, proof.positions));
    assert_eq!((totals.games, totals.bytes), (150, bytes.len() as u64));
    assert_eq!(proof.digests, games.iter().map(Record::digest).collect::<Vec<_>>());
    let won = |outcome| games.iter().filter(|game| game.outcome == outcome).count() as u64;
    assert_eq!(
        (proof.red_wins, proof.black_wins, proof.draws),
        (won(Outcome::RedWins), won(Outcome::BlackWins), won(Outcome::Draw))
    );
    let mut reasons: BTreeMap<Reason, u64> = BTreeMap::new();
    for game in &games {
        *reasons.entry(game.reason).or_default() += 1;
    }
    assert_eq!((proof.reasons, proof.pairs), (reasons, vec![]));
    assert_eq!(proof.repeated, [0_u64; 0]);
    // The first number is the lease's, not the header's.
    let of_run = Header { first_game: 0, ..header.clone() };
    assert!(by_replay(&bytes, &of_run, numbers(&header, &games), None).is_ok());
}

/// A file of `chuhe selfplay`.
#[test]
fn real_games_are_verified() {
    let bytes = include_bytes!("../data/selfplay-64.chuhe");
    let header = Shard::new(&bytes[..]).unwrap().header().clone();
    let proof = by_replay(bytes, &header, 0..64, None).unwrap();
    let mut digest = RunDigest::default();
    Shard::new(&bytes[..]).unwrap().records().for_each(|game| digest.add(&game.unwrap().1));
    assert_eq!(digest.digest(), Digest::of(&proof.digests.iter().flat_map(|it| *it.as_bytes()).collect::<Vec<_>>()));
}

#[test]
fn pairs_are_counted_for_the_first_entrant() {
    let mut header = match_header();
    header.settings.ply_cap = 60;
    let games = common::games(&header, 200);
    let bytes = common::shard(&header, &games);
    let proof = by_replay(&bytes, &header, 40..240, None).unwrap();
    let expected: Vec<u8> = games
        .chunks(2)
        .map(|pair| match (pair[0].outcome, pair[1].outcome) {
            (Outcome::RedWins, Outcome::BlackWins) => 4,
            (Outcome::RedWins, Outcome::Draw) | (Outcome::Draw, Outcome::BlackWins) => 3,
            (Outcome::BlackWins, Outcome::Draw) | (Outcome::Draw, Outcome::RedWins) => 1,
            (Outcome::BlackWins, Outcome::RedWins) => 0,
            _ => 2,
        })
        .collect();
    assert_eq!(proof.pairs, expected);
    assert!((0..5).all(|points| expected.contains(&points)), "{expected:?}");
    assert!(games.iter().any(|game| game.reason == Reason::PlyCap), "no game grew too long");
    // An incomplete pair is not counted.
    let part = Header { first_game: 41, ..header.clone() };
    let bytes = common::shard(&part, &games[1..6]);
    assert_eq!(by_replay(&bytes, &header, 41..46, None).unwrap().pairs, expected[1..3]);
}

#[test]
fn equal_games_are_equal_in_any_blocks() {
    let (header, games) = honest();
    let bytes = common::shard(&header, &games);
    assert_eq!(compare(&bytes, &bytes, 10..22), Comparison::Equal);
    // In other blocks, among other games.
    let part = Header { first_game: 14, ..header.clone() };
    let blocks = games[4..].chunks(3).scan(14, |first, games| {
        let header = Header { first_game: *first, ..header.clone() };
        *first += games.len() as u64;
        Some(payload(&header, games))
    });
    let other = forge::file(&part.to_bytes(), &blocks.collect::<Vec<_>>());
    assert_eq!(compare(&bytes, &other, 14..22), Comparison::Equal);
    assert_eq!(compare(&other, &bytes, 16..18), Comparison::Equal);
    assert_eq!(compare(&other, &bytes, 16..16), Comparison::Equal);
    assert_eq!(compare(&bytes, &other, 13..22), Comparison::Unreadable);
    assert_eq!(compare(&bytes, &other, 20..23), Comparison::Unreadable);
    assert_eq!(compare(&bytes, b"none", 10..22), Comparison::Unreadable);
    let mut damaged = bytes.clone();
    damaged[300] ^= 1;
    assert_eq!(compare(&bytes, &damaged, 10..22), Comparison::Unreadable);
    // A score alone makes a game different.
    let mut games = games;
    for index in [6, 9] {
        let scored = &mut games[index].moves[1];
        scored.score = Some(scored.score.map_or(0, |score| score ^ 1));
    }
    let other = common::shard(&header, &games);
    assert_eq!(compare(&bytes, &other, 10..22), Comparison::Differ { first_game: 16 });
    assert_eq!(compare(&bytes, &other, 17..22), Comparison::Differ { first_game: 19 });
    assert_eq!(compare(&bytes, &other, 20..22), Comparison::Equal);
}
