//! What must hold for any bytes; see the properties of `xiangqi` for how these are used.

use dataset::{
    Adjudication, Digest, GameSettings, Header, MOST_SCORE, OpeningPolicy,
    codec::{BlockDecoder, BlockEncoder, Ply},
    sfen::{Entry, LENGTH},
    shard::{Shard, recover},
};
use xiangqi::rules::RuleSet;

/// The bytes of a block, without a check in their way, are legal games or an error; and the games that they are can be
/// written and read again.
pub(crate) fn block(data: &[u8]) {
    let Some((&shape, payload)) = data.split_first() else { return };
    let header = Header {
        bench_signature: 1,
        net: None,
        opponent: None,
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
            filter: None,
        },
        seed: 7,
        first_game: 0,
    };
    let mut decoder = BlockDecoder::new(&header, payload, 0, 3);
    let mut games = Vec::new();
    while let Ok(Some((number, record))) = decoder.next(|Ply { position, scored, .. }| {
        assert!(position.is_legal(scored.mv), "{position}: {}", scored.mv);
        assert!(scored.score.is_none_or(|score| score.abs() <= MOST_SCORE));
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

/// A file is a shard or refused in one line; what is saved of it is a shard.
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

/// A record of other trainers is a position with a legal move, and is written as it was read; or it is refused.
pub(crate) fn sfen(data: &[u8]) {
    let Some(record) = data.first_chunk::<LENGTH>() else { return };
    if let Ok(entry) = Entry::from_bytes(record) {
        assert!(entry.fen.position.is_legal(entry.mv));
        assert_eq!(Entry::from_bytes(&entry.to_bytes()), Ok(entry));
    }
}
