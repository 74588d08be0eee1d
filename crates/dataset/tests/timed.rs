//! Games under a clock: stored and shown like others, but never taken for training data or for
//! reproducible games.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod common;

use std::{collections::BTreeSet, fs, num::NonZeroUsize};

use dataset::{
    Adjudication, Clock, Header, Opponent, Reason, Record, Time,
    delivery::by_replay,
    manifest::{Entry, Manifest},
    shard::{Shard, ShardError, TIMED_VERSION, VERSION, recover},
    stats::Counter,
    training::{Filter, Games, Plan, Reader, ReaderPosition, WeightedSet},
    verify::{FaultKind, verify_game, verify_shard},
};
use xiangqi::rules::Outcome;

const CLOCK: Clock =
    Clock { time: Time::Game { base_milliseconds: 1_000, increment_milliseconds: 10 }, grace_milliseconds: 20 };

/// A match; under a clock, some games are lost on time.
fn header(clock: Option<Clock>) -> Header {
    let mut header = common::header(5);
    header.settings.adjudication = Adjudication::default();
    header.settings.hard_nodes = 0;
    header.opponent = Some(Opponent { net: None, soft_nodes: None, hard_nodes: 0 });
    Header { clock, first_game: 10, ..header }
}

/// Every third game is cut short by a late move.
fn games(header: &Header) -> Vec<Record> {
    let games = common::games(header, 12).into_iter().enumerate();
    games.map(|(place, game)| if place % 3 == 0 { late(game, 7 + place) } else { game }).collect()
}

/// The game up to the late move after `moves` moves.
fn late(mut game: Record, moves: usize) -> Record {
    game.moves.truncate(moves);
    let mut played = game.opening.game();
    for scored in &game.moves {
        played.push_legal(scored.mv);
    }
    game.outcome = Outcome::loss_of(played.position().turn());
    game.reason = Reason::TimeLoss;
    game
}

#[test]
fn timed_games_round_trip_and_pass_the_replay() {
    let header = header(Some(CLOCK));
    let games = games(&header);
    let bytes = common::shard(&header, &games);
    assert_eq!(bytes[8..10], TIMED_VERSION.to_le_bytes());
    let shard = Shard::new(&bytes[..]).unwrap();
    assert_eq!(shard.header(), &header);
    let read: Vec<_> = shard.records().map(|game| game.unwrap().1).collect();
    assert_eq!(read, games);
    let report = verify_shard(&shard, None, NonZeroUsize::MIN).unwrap();
    assert_eq!((report.games, report.faults), (12, Vec::new()));
    let mut whole = Vec::new();
    recover(&&bytes[..], &mut whole).unwrap();
    assert_eq!(whole, bytes);

    let proof = by_replay(&bytes, &header, 10..22, None).unwrap();
    assert_eq!(proof.reasons[&Reason::TimeLoss], 4);
    let mut expected = vec![[0, 0]; 6];
    for (place, game) in games.iter().enumerate().filter(|(_, game)| game.reason == Reason::TimeLoss) {
        let red_lost = game.outcome == Outcome::BlackWins;
        // A is Red in games with even numbers.
        let a_lost = red_lost == place.is_multiple_of(2);
        expected[place / 2][usize::from(!a_lost)] += 1;
    }
    assert_eq!(proof.time_losses, expected);
}

/// Byte for byte: the clock changes no other shard.
#[test]
fn other_shards_are_unchanged() {
    let header = header(None);
    let games = common::games(&header, 12);
    let bytes = common::shard(&header, &games);
    assert_eq!(bytes[8..10], VERSION.to_le_bytes());
    let proof = by_replay(&bytes, &header, 10..22, None).unwrap();
    assert!(proof.time_losses.is_empty() && proof.pairs.len() == 6);
    // Without a clock no game is lost on time.
    let mut writer = dataset::shard::ShardWriter::new(Vec::new(), header).unwrap();
    let error = writer.add(&late(games[0].clone(), 7)).unwrap_err();
    assert_eq!(error.to_string(), "game 10: there is no such reason");
}

#[test]
fn a_version_and_a_header_that_disagree_are_refused() {
    let (timed, plain) = (header(Some(CLOCK)), header(None));
    for (header, games) in [(&timed, games(&timed)), (&plain, common::games(&plain, 12))] {
        let mut bytes = common::shard(header, &games);
        let length = 16 + header.to_bytes().len();
        bytes[8] = 3 - bytes[8];
        // The head's check is made to fit.
        let check = dataset::Digest::of(&bytes[..length]);
        bytes[length..length + 8].copy_from_slice(&check.as_bytes()[..8]);
        let error = Shard::new(&bytes[..]).unwrap_err().to_string();
        assert_eq!(error, "the header: it has not the length of its fields");
    }
    // Games under a clock are not those requested without one, and vice versa.
    for (requested, played) in [(&timed, &plain), (&plain, &timed)] {
        let bytes = common::shard(played, &common::games(played, 12));
        let refusal = by_replay(&bytes, requested, 10..22, None).unwrap_err();
        assert_eq!(refusal.to_string(), "played with other settings than those asked for: clock");
    }
}

#[test]
fn a_loss_on_time_is_the_movers_in_an_unfinished_game() {
    let header = header(Some(CLOCK));
    let whole = common::games(&header, 2).remove(0);
    let number = header.first_game;
    let cut = late(whole.clone(), 9);
    assert_eq!(verify_game(&header, number, &cut), Ok(()));
    let other = if cut.outcome == Outcome::RedWins { Outcome::BlackWins } else { Outcome::RedWins };
    for outcome in [other, Outcome::Draw] {
        let fault = verify_game(&header, number, &Record { outcome, ..cut.clone() }).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Label { reason: Reason::TimeLoss, .. }), "{fault}");
    }
    // A finished game is not lost on time.
    let over = late(whole.clone(), whole.moves.len());
    let fault = verify_game(&header, number, &over).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Label { recorded_reason: Reason::TimeLoss, .. }), "{fault}");
    // Nor is one without a clock.
    let without = Header { clock: None, ..header };
    let fault = verify_game(&without, number, &cut).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Stops { .. }), "{fault}");
}

#[test]
fn timed_games_are_never_training_data() {
    let header = header(Some(CLOCK));
    let bytes = common::shard(&header, &games(&header));
    assert!(matches!(Entry::of(&bytes), Err(ShardError::Timed)));
    assert!(!Reason::TimeLoss.is_label());

    let folder = std::env::temp_dir().join(format!("chuhe-timed-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("timed.chuhe");
    fs::write(&path, &bytes).unwrap();
    let cause = |error: &dyn std::error::Error| error.source().map(ToString::to_string);
    let error = Manifest::of_files(&[&path]).unwrap_err();
    assert_eq!(cause(&error), Some(ShardError::Timed.to_string()));
    // Neither with a manifest written by hand.
    let plain = self::header(None);
    let mut entry = Entry::of(&common::shard(&plain, &common::games(&plain, 12))).unwrap();
    (entry.sha256, entry.bytes) = (dataset::Digest::of(&bytes).to_string(), bytes.len() as u64);
    let error = Manifest::open(&[entry], &folder, &BTreeSet::new()).unwrap_err();
    assert_eq!(cause(&error), Some(ShardError::Timed.to_string()));
    fs::remove_dir_all(&folder).unwrap();

    let (filter, shares) = (Filter::default(), Vec::new());
    let plan = Plan { seed: 1, blocks_in_pool: 1, games: Games::All, filter, shares, cache_bytes: 0, threads: 1 };
    let good = Shard::new(common::shard(&plain, &common::games(&plain, 12))).unwrap();
    let shards = vec![good, Shard::new(bytes.clone()).unwrap()];
    let error = Reader::new(vec![WeightedSet { shards, weight: 1 }], &plan, ReaderPosition::default()).err().unwrap();
    assert_eq!(error.to_string(), format!("set 0, shard 1: {}", ShardError::Timed));

    let mut counter = Counter::default();
    counter.add(&Shard::new(&bytes[..]).unwrap()).unwrap();
    let stats = counter.finish();
    assert_eq!((stats.games, stats.timed_games, stats.reasons["time_loss"]), (12, 12, 4));
}
