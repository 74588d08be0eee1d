//! Properties that hold for any bytes; the fuzz properties of `xiangqi` explain their use.

#[path = "forge.rs"]
mod forge;

use dataset::{
    Adjudication, Clock, Digest, EvaluationFilter, GameSettings, Header, MAX_SCORE, OpeningPolicy, Opponent, Time,
    codec::{BlockDecoder, BlockEncoder, Ply},
    delivery::{Comparison, by_replay, compare, precheck},
    sfen::{Entry, LENGTH},
    shard::{Shard, ShardWriter, recover},
};
use xiangqi::rules::RuleSet;

fn header(shape: u8) -> Header {
    Header {
        bench_signature: 1,
        net: None,
        opponent: (shape & 32 != 0).then_some(Opponent { net: None, soft_nodes: None, hard_nodes: 1 }),
        clock: (shape & 0b1010_0000 == 0b1010_0000)
            .then_some(Clock { time: Time::Move { milliseconds: 1 }, grace_milliseconds: 0 }),
        parameters: if shape & 16 != 0 {
            "lmr_base=500".parse().unwrap_or_default()
        } else {
            dataset::Overrides::default()
        },
        opponent_parameters: dataset::Overrides::default(),
        rules: RuleSet::ALL[usize::from(shape % 5)],
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: 1,
            adjudication: Adjudication::default(),
            ply_cap: 200,
        },
        openings: OpeningPolicy {
            book: (shape & 64 != 0).then(|| Digest::of(b"book")),
            plies: u32::from(shape & 7),
            // With a filter, any attempt may have been kept.
            filter: Some(EvaluationFilter { nodes: 1, bound: 1 }),
        },
        seed: 7,
        first_game: 0,
    }
}

/// A block's bytes, without the checksum, are legal games or an error; decoded games can be encoded
/// and decoded again.
pub(crate) fn block(data: &[u8]) {
    let Some((&shape, payload)) = data.split_first() else { return };
    let header = header(shape);
    let mut decoder = BlockDecoder::new(&header, payload, 0, 3);
    let mut games = Vec::new();
    while let Ok(Some((number, record))) = decoder.next(|Ply { position, scored, .. }| {
        assert!(position.is_legal(scored.mv), "{position}: {}", scored.mv);
        assert!(scored.score.is_none_or(|score| score.abs() <= MAX_SCORE));
    }) {
        games.push((number, record));
    }
    let mut encoder = BlockEncoder::new();
    for (number, record) in &games {
        encoder.add(&header, *number, record).expect("a game that was read");
    }
    let bytes = encoder.finish();
    let mut decoder = BlockDecoder::new(&header, &bytes, 0, games.len() as u64);
    for game in games {
        assert_eq!(decoder.next(|_| {}), Ok(Some(game)));
    }
    assert_eq!(decoder.next(|_| {}), Ok(None));
}

/// A file is a shard, or an error of one line; the recovered part of it is a shard.
pub(crate) fn shard(data: &[u8]) {
    match Shard::new(data) {
        Ok(shard) => {
            for error in shard.records().filter_map(Result::err) {
                assert!(!error.to_string().contains('\n'));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
    let mut saved = Vec::new();
    if let Ok(recovered) = recover(&data, &mut saved) {
        let shard = Shard::new(saved).expect("what was saved is a shard");
        assert_eq!((shard.games(), shard.positions()), (recovered.games, recovered.positions));
    }
}

/// Bytes with valid checksums are the requested games, or a refusal of one line. Verified games are
/// verified again after our own encoding of them.
pub(crate) fn delivery(data: &[u8]) {
    let Some((&[shape, games, low, high], payload)) = data.split_first_chunk() else { return };
    let (header, games) = (header(shape), games % 8 + 1);
    let moves = u16::from_le_bytes([low, high]);
    let block = forge::Block { payload: payload.to_vec(), games: games.into(), moves: moves.into() };
    let bytes = forge::file(&header.to_bytes(), &[block]);
    let numbers = 0..u64::from(games);
    match by_replay(&bytes, &header, numbers.clone(), None) {
        Ok(proof) => {
            assert!(precheck(&bytes, &header, numbers.clone()).is_ok());
            assert_eq!((proof.games, proof.positions), (games.into(), moves.into()));
            let mut writer = ShardWriter::new(Vec::new(), header.clone()).expect("memory");
            for game in Shard::new(&bytes).expect("a shard").records() {
                writer.add(&game.expect("a game that was proved").1).expect("a game that was proved");
            }
            let again = writer.finish().expect("memory").0;
            assert_eq!(by_replay(&again, &header, numbers.clone(), None), Ok(proof));
            assert_eq!(compare(&bytes, &again, numbers), Comparison::Equal);
        }
        Err(refusal) => assert!(!refusal.to_string().contains('\n')),
    }
}

/// A record in the trainers' format is a position with a legal move and is written as it was read,
/// or it is an error.
pub(crate) fn sfen(data: &[u8]) {
    let Some(record) = data.first_chunk::<LENGTH>() else { return };
    if let Ok(entry) = Entry::from_bytes(record) {
        assert!(entry.fen.position.is_legal(entry.mv));
        assert_eq!(Entry::from_bytes(&entry.to_bytes()), Ok(entry));
    }
}
