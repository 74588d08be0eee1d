//! Shards return the games that were written, or an error, whatever happens to their bytes.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod common;

use std::num::NonZeroUsize;

use dataset::{
    MAX_SCORE, Record, RunDigest,
    codec::{BlockDecoder, CodecError, Ply},
    random::{Stream, Use},
    shard::{Shard, ShardError, ShardWriter, WriteError, recover},
    verify::verify_shard,
};
use proptest::prelude::*;
use xiangqi::Move;

fn read(bytes: &[u8]) -> Result<Vec<Record>, ShardError> {
    let shard = Shard::new(bytes.to_vec())?;
    let numbers = shard.header().first_game..;
    let games = numbers.zip(shard.records()).map(|(expected, game)| {
        let (number, record) = game?;
        assert_eq!(number, expected);
        Ok(record)
    });
    games.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn games_round_trip(seed: u64, count in 0_u64..90, book: bool) {
        let mut header = common::header(seed);
        if book {
            header = common::with_book(header);
        }
        let games = common::games(&header, count);
        let bytes = common::shard(&header, &games);
        let shard = Shard::new(&bytes).unwrap();
        prop_assert_eq!(shard.header(), &header);
        prop_assert_eq!(shard.games(), count);
        prop_assert_eq!(shard.positions(), games.iter().map(|game| game.moves.len() as u64).sum::<u64>());
        prop_assert_eq!(&read(&bytes).unwrap(), &games);
        // Equal games make equal files.
        prop_assert_eq!(&common::shard(&header, &games), &bytes);
        // Random access.
        for index in [0, count / 2, count.saturating_sub(1)] {
            match shard.game(header.first_game + index) {
                Ok(record) => prop_assert_eq!(&record, &games[index as usize]),
                Err(error) => prop_assert_eq!(count, 0, "{}", error),
            }
        }
        let none = matches!(shard.game(header.first_game + count), Err(ShardError::NoSuchGame { .. }));
        prop_assert!(none);
    }

    /// Arbitrary bytes decode to legal games or an error, also with a valid check around them.
    #[test]
    fn any_bytes_are_games_or_an_error(seed: u64, bytes in proptest::collection::vec(any::<u8>(), 0..600), book: bool) {
        let mut header = common::header(seed);
        if book {
            header = common::with_book(header);
        }
        let mut decoder = BlockDecoder::new(&header, &bytes, 0, 5);
        let mut moves = 0;
        while let Ok(Some(_)) = decoder.next(|Ply { position, scored, .. }| {
            assert!(position.is_legal(scored.mv));
            assert!(scored.score.is_none_or(|score| score.abs() <= MAX_SCORE));
            moves += 1;
        }) {}
        prop_assert!(moves <= 5 * header.max_moves());
    }
}

/// The file of `chuhe selfplay --games 64 --nodes 2000 --seed 7`. If this fails, past files are no
/// longer read, or no longer written the same: that is another version.
#[test]
fn past_files_are_read_and_written_the_same() {
    let bytes = include_bytes!("data/selfplay-64.chuhe");
    let records = read(bytes).unwrap();
    let mut digest = RunDigest::default();
    for record in &records {
        digest.add(record);
    }
    assert_eq!(digest.digest().to_string(), "38857e09cb8086415dda861f9cd5ea2696134de78388af1b8f1b36af6566a6d9");
    let shard = Shard::new(&bytes[..]).unwrap();
    assert!(common::shard(shard.header(), &records) == bytes);
    assert_eq!(verify_shard(&shard, None, NonZeroUsize::MIN).unwrap().faults, []);
    // The size includes everything.
    assert!(bytes.len() as u64 * 10 < shard.positions() * 16, "{} bytes", bytes.len());
}

/// A shard of two blocks, small enough for exhaustive tests.
fn small() -> (Vec<u8>, Vec<Record>) {
    let mut header = common::header(5);
    header.settings.ply_cap = 14;
    let games = common::games(&header, 66);
    (common::shard(&header, &games), games)
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (bytes, games) = small();
    assert!(bytes.len() > 800, "{}", bytes.len());
    for place in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] ^= flip;
            assert!(read(&bytes).is_err(), "byte {place} ^ {flip:#x} was not noticed");
            let mut saved = Vec::new();
            if recover(&bytes, &mut saved).is_ok() {
                let saved = read(&saved).unwrap();
                assert_eq!(saved[..], games[..saved.len()], "byte {place} ^ {flip:#x} changed a game");
            }
        }
    }
}

#[test]
fn every_cut_is_noticed_and_whole_blocks_are_saved() {
    let (bytes, games) = small();
    let second = Shard::new(&bytes).unwrap().index()[1].offset as usize;
    let footer = bytes.len() - (8 + 2 * 16 + 16 + 8 + 12);
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        assert!(read(cut).is_err(), "cut at {length}");
        let mut saved = Vec::new();
        let Ok(recovered) = recover(&cut, &mut saved) else {
            assert!(length < 200, "nothing could be saved of {length} bytes");
            continue;
        };
        let expected = match length {
            length if length < second => 0,
            length if length < footer => 64,
            _ => 66,
        };
        assert_eq!(
            (recovered.games, read(&saved).unwrap()),
            (expected, games[..expected as usize].to_vec()),
            "{length}"
        );
    }
    // A whole file is recovered as it is.
    let mut saved = Vec::new();
    assert_eq!(recover(&bytes, &mut saved).unwrap().lost_bytes, 0);
    assert_eq!(saved, bytes);
}

#[test]
fn blocks_belong_to_their_file_and_place() {
    let (bytes, games) = small();
    let shard = Shard::new(&bytes).unwrap();
    let mut other = common::header(5);
    other.settings.ply_cap = 14;
    other.settings.hard_nodes += 1;
    let mut foreign = common::shard(&other, &games);
    let [first, second] = [0, 1].map(|block| shard.index()[block].offset as usize);
    assert_eq!(foreign.len(), bytes.len());
    foreign[first..second].copy_from_slice(&bytes[first..second]);
    assert!(matches!(read(&foreign), Err(ShardError::DamagedBlock { block: 0, .. })));
}

#[test]
fn unknown_versions_and_flags_are_refused_in_words() {
    let (bytes, _) = small();
    let refused = |place: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = value;
        read(&bytes).unwrap_err().to_string()
    };
    assert_eq!(refused(8, 4), "a shard of version 4; this program reads versions 1 to 3");
    assert_eq!(refused(10, 4), "a shard with the flags 0x0004, which this program does not know");
    assert_eq!(refused(0, b'P'), "not a shard: it does not begin as one");
    assert_eq!(read(b"").unwrap_err().to_string(), "not a shard: it does not begin as one");
}

#[test]
fn games_that_do_not_match_the_header_are_not_written() {
    let header = common::header(5);
    let game = common::game(&header, header.first_game);
    let write = |record: &Record| {
        let mut writer = ShardWriter::new(Vec::new(), header.clone()).unwrap();
        match writer.add(record) {
            Err(WriteError::Game { cause, .. }) => cause,
            other => panic!("{other:?}"),
        }
    };
    let mut other = game.clone();
    other.opening.moves.swap(0, 2);
    assert_eq!(write(&other), CodecError::OtherOpening);
    let mut other = game.clone();
    let mv = other.moves[3].mv;
    other.moves[3].mv = Move::new(mv.to(), mv.from());
    assert_eq!(write(&other), CodecError::IllegalMove { ply: 10 });
    let mut other = game.clone();
    other.moves[3].score = Some(MAX_SCORE + 1);
    assert_eq!(write(&other), CodecError::BeyondScores { ply: 10 });
    let mut other = game;
    let last = *other.moves.last().unwrap();
    other.moves.resize(255, last);
    assert_eq!(write(&other), CodecError::TooLong { moves: 255, max: 254 });
}

/// Random games reach every piece and point.
#[test]
fn an_illegal_move_is_never_coded_as_a_legal_one() {
    let header = common::header(9);
    let mut stream = Stream::new(Use::BookOrder, 1, 2);
    for number in 0..60 {
        let mut game = common::game(&header, header.first_game + number);
        let place = stream.below(game.moves.len() as u64) as usize;
        let mut at = xiangqi::Position::start();
        let moves = game.opening.moves.iter().copied().chain(game.moves.iter().map(|scored| scored.mv));
        for mv in moves.take(game.opening.moves.len() + place) {
            let _ = at.make(mv);
        }
        let illegal = loop {
            let [from, to] = [0; 2].map(|_| xiangqi::Square::from_index(stream.below(90) as usize).unwrap());
            if !at.is_legal(Move::new(from, to)) {
                break Move::new(from, to);
            }
        };
        game.moves[place].mv = illegal;
        let mut only = header.clone();
        only.first_game += number;
        let mut writer = ShardWriter::new(Vec::new(), only).unwrap();
        let error = writer.add(&game).unwrap_err().to_string();
        let expected = format!("game {}: ply {}: the move is not legal", header.first_game + number, 7 + place);
        assert_eq!(error, expected);
    }
}
