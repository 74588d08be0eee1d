//! Bytes that are not the requested games, as far as the precheck sees it.

use dataset::{Digest, Header, delivery::precheck};
use xiangqi::rules::RuleSet;

use super::*;

#[test]
fn bytes_that_are_no_shard_are_refused() {
    let (header, games) = honest();
    let (bytes, numbers) = (common::shard(&header, &games), numbers(&header, &games));
    let prechecked = |bytes: &[u8]| precheck_refusal(bytes, &header, numbers.clone()).0;
    assert_eq!(prechecked(b""), "not_a_shard");
    assert_eq!(prechecked(b"<html>too many requests</html>"), "not_a_shard");
    let mut newer = bytes.clone();
    newer[8] = 4;
    let refusal = precheck_refusal(&newer, &header, numbers.clone());
    assert_eq!(refusal, ("not_a_shard", "a shard of version 4; this program reads versions 1 to 3".to_owned()));
    for length in 1..bytes.len() {
        assert_eq!(prechecked(&bytes[..length]), "truncated", "cut at {length}");
    }
    let mut flipped = bytes.clone();
    flipped[40] ^= 1;
    assert_eq!(prechecked(&flipped), "corrupt");
    let mut flipped = bytes.clone();
    let last = bytes.len() - 40;
    flipped[last] ^= 1;
    let refusal = precheck_refusal(&flipped, &header, numbers.clone());
    assert!(refusal.0 == "corrupt" && refusal.1.starts_with("the footer at byte "), "{refusal:?}");
    // The precheck reads no block.
    let mut flipped = bytes.clone();
    flipped[300] ^= 1;
    assert_eq!(replay_refusal(&flipped, &header, numbers.clone()).0, "corrupt");
    // Bytes after the games, under a valid check.
    let mut block = payload(&header, &games);
    block.payload.extend([0; 100]);
    assert_eq!(replay_refusal(&forge::file(&header.to_bytes(), &[block]), &header, numbers.clone()).0, "corrupt");
    // A wrong number of moves.
    let mut block = payload(&header, &games);
    block.moves -= 1;
    assert_eq!(replay_refusal(&forge::file(&header.to_bytes(), &[block]), &header, numbers).0, "corrupt");
}

#[test]
fn more_games_than_requested_are_not_read() {
    let mut header = requested();
    header.settings.adjudication = dataset::Adjudication::default();
    let games = common::games(&header, 12);
    let numbers = numbers(&header, &games);
    let prechecked =
        |block: Block| precheck_refusal(&forge::file(&header.to_bytes(), &[block]), &header, numbers.clone());
    let most = 12 * 254;
    let refusal = prechecked(Block { moves: most + 1, ..payload(&header, &games) });
    assert_eq!(refusal, ("bomb", format!("block 0: {} moves in 12 games; at most {most} fit", most + 1)));
    assert_eq!(prechecked(Block { moves: u32::MAX, ..payload(&header, &games) }).0, "bomb");
    assert_eq!(prechecked(Block { games: 5_000, ..payload(&header, &games) }).0, "bomb");
    // A game that claims to be longer than any.
    let mut longer = header.clone();
    longer.settings.ply_cap = 10_000;
    let long: Vec<_> = common::games(&longer, 12);
    assert!(long.iter().any(|game| game.moves.len() > 254));
    let mut block = payload(&longer, &long);
    block.moves = most;
    let refusal = replay_refusal(&forge::file(&header.to_bytes(), &[block]), &header, numbers);
    assert!(refusal.0 == "bomb" && refusal.1.ends_with("at most 254 fit under the ply cap"), "{refusal:?}");
}

/// The header differs from the requested one.
#[test]
fn other_games_than_those_requested_are_refused() {
    type Change = fn(&mut Header);
    let changes: [(&str, Change); 13] = [
        ("wrong_engine", |header| header.bench_signature += 1),
        ("wrong_net", |header| header.net = Some(Digest::of(b"own"))),
        ("wrong_net", |header| header.opponent.as_mut().unwrap().net = None),
        ("wrong_settings", |header| header.opponent.as_mut().unwrap().hard_nodes += 1),
        ("wrong_settings", |header| header.opponent = None),
        ("wrong_rules", |header| header.rules = RuleSet::Simple),
        ("wrong_settings", |header| header.settings.hard_nodes -= 1),
        ("wrong_settings", |header| header.settings.adjudication.draw = None),
        ("wrong_openings", |header| header.openings.filter = None),
        ("wrong_seed", |header| header.seed += 1),
        ("wrong_games", |header| header.first_game += 2),
        // The difference that explains the most is reported.
        ("wrong_engine", |header| {
            header.bench_signature += 1;
            header.settings.ply_cap += 1;
        }),
        ("wrong_seed", |header| {
            header.seed += 1;
            header.settings.ply_cap += 1;
        }),
    ];
    let requested = match_header();
    for (expected, change) in changes {
        let mut header = requested.clone();
        change(&mut header);
        let bytes = common::shard(&header, &common::games(&header, 4));
        let refusal = precheck_refusal(&bytes, &requested, 40..44);
        assert_eq!(refusal.0, expected, "{}", refusal.1);
    }
    let bytes = common::shard(&requested, &common::games(&requested, 4));
    assert!(precheck(&bytes, &requested, 40..44).is_ok());
    for other in [40..45, 40..43, 38..42, 41..45, 40..40, 0..u64::MAX] {
        assert_eq!(precheck_refusal(&bytes, &requested, other).0, "wrong_games");
    }
    let refusal = precheck_refusal(&bytes, &requested, 40..45).1;
    assert_eq!(refusal, "4 games from 40 on, not those from 40 up to but not 45");
    let mut other = requested.clone();
    other.opponent.as_mut().unwrap().net = None;
    let refusal = precheck_refusal(&bytes, &other, 40..44).1;
    let champion = Digest::of(b"champion");
    assert_eq!(refusal, format!("the net {champion} played as B, not the plain evaluation"));
}
