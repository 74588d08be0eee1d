//! Games written as PGN come back identical, in every notation and through both readers.
//! [`dataset::pgn::read`] reads records, [`Transcript`] games of any origin.
//!
//! `CHUHE_PGN_GAMES` is the number of games of self-play; all kinds of starts and endings are
//! added.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use dataset::{
    Header, Opening, Reason, Record, ScoredMove,
    pgn::{self, PgnGame},
    shard,
};
use serde_json::Value;
use xiangqi::{
    Color, Fen, Move, Position,
    notation::{Notation, reader::Transcript},
    rules::{Game, Outcome, RuleSet},
};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/selfplay-64.chuhe");

/// The games of self-play in the ordinary tests.
const DEFAULT_GAMES: usize = 64;

fn header() -> Header {
    shard::open(SMALL).unwrap().header().clone()
}

/// The small shard, then the games of the published nets, spread over all their shards.
fn self_play(count: usize) -> Vec<(Header, u64, Record)> {
    let mut games = Vec::new();
    let mut shards: Vec<PathBuf> = Vec::new();
    if count > DEFAULT_GAMES {
        for net in ["gen0-256-scores", "gen1-256", "gen2-256"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets").join(net).join("games");
            shards.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
        shards.retain(|path| path.extension().is_some_and(|extension| extension == "chuhe"));
        shards.sort();
    }
    shards.insert(0, SMALL.into());
    let per_shard = (count - DEFAULT_GAMES.min(count)).div_ceil((shards.len() - 1).max(1));
    for (index, path) in shards.iter().enumerate() {
        let shard = shard::open(path).unwrap();
        let most = if index == 0 { DEFAULT_GAMES } else { per_shard };
        for game in shard.records().take(most) {
            let (number, record) = game.unwrap();
            games.push((shard.header().clone(), number, record));
        }
    }
    games.truncate(count);
    assert_eq!(games.len(), count, "the repository holds so many games");
    games
}

/// The record of a game that the rules ended.
fn ended(game: &Game) -> Option<Record> {
    let ending = *game.status().ending()?;
    let opening = Opening { rules: game.rules(), start: game.start().clone(), seed: 0, attempt: 0, moves: Vec::new() };
    let moves = game.moves().map(|mv| ScoredMove { mv, score: None }).collect();
    Some(Record { opening, moves, outcome: ending.outcome, reason: Reason::Rules(ending.reason) })
}

/// Plays until the moves or the rules end the game.
fn play<'a>(fen: &str, rules: RuleSet, moves: impl IntoIterator<Item = &'a str>) -> Game {
    let mut game = Game::new(fen.parse::<Fen>().unwrap(), rules);
    for text in moves {
        if game.status().ending().is_some() {
            break;
        }
        game.push(text.parse().unwrap()).unwrap();
    }
    game
}

/// The rulebooks' examples, the natural limit, and endings that self-play hardly reaches. All begin
/// from a FEN.
fn from_positions() -> Vec<Record> {
    let mut records = Vec::new();
    for (file, rules) in [
        ("cxr_examples", RuleSet::Cxr),
        ("cxr_cycles", RuleSet::Cxr),
        ("limit_sample", RuleSet::Cxr),
        ("wxf_sample", RuleSet::Wxf),
        ("wikibook_cases", RuleSet::Wikibook),
    ] {
        let path = format!("{}/../xiangqi/tests/data/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
        for line in fs::read_to_string(path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let moves = case["moves"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap());
            records.extend(ended(&play(case["fen"].as_str().unwrap(), rules, moves)));
        }
    }
    let stalemate = play("3k5/9/2P6/9/9/9/9/9/9/4K4 w", RuleSet::Cxr, ["c7c8"]);
    let bare = play("3k5/9/9/9/9/9/9/9/4p4/4K4 w", RuleSet::Cxr, ["e0e1"]);
    let black_begins = play("3k5/9/9/9/9/9/9/2p6/9/4K4 b - - 0 31", RuleSet::Cxr, ["c2c1", "e0f0", "c1c0", "f0e0"]);
    assert!(black_begins.status().ending().is_none());
    records.extend([&stalemate, &bare].map(|game| ended(game).unwrap()));
    records.push(Record {
        moves: black_begins.moves().map(|mv| ScoredMove { mv, score: Some(-120) }).collect(),
        opening: Opening { start: black_begins.start().clone(), ..records[0].opening.clone() },
        outcome: Outcome::Draw,
        reason: Reason::PlyCap,
    });
    records
}

/// The rest of a game after a capture in its middle, so that nothing before it matters.
fn after_a_capture(record: &Record) -> Option<Record> {
    let mut game = Game::new(record.opening.start.clone(), record.opening.rules);
    let moves: Vec<Move> = all_moves(record);
    for (index, mv) in moves.iter().enumerate() {
        let captures = game.position().piece_at(mv.to()).is_some();
        game.push(*mv).unwrap();
        if captures && index >= moves.len() / 3 && game.status().ending().is_none() {
            let opening = Opening { start: game.fen(), moves: Vec::new(), ..record.opening.clone() };
            let searched = index + 1 - record.opening.moves.len();
            return Some(Record { opening, moves: record.moves[searched..].to_vec(), ..record.clone() });
        }
    }
    None
}

/// The first half of a game, ended as no rule ends it.
fn cut_off(record: &Record, index: usize) -> Record {
    let ends = [
        (Outcome::RedWins, Reason::AdjudicatedWin),
        (Outcome::BlackWins, Reason::AdjudicatedWin),
        (Outcome::Draw, Reason::AdjudicatedDraw),
        (Outcome::Draw, Reason::PlyCap),
        (Outcome::BlackWins, Reason::TimeLoss),
    ];
    let (outcome, reason) = ends[index % ends.len()];
    Record { moves: record.moves[..record.moves.len() / 2].to_vec(), outcome, reason, ..record.clone() }
}

fn all_moves(record: &Record) -> Vec<Move> {
    record.opening.moves.iter().copied().chain(record.moves.iter().map(|scored| scored.mv)).collect()
}

/// Counts of rare moves, starts and endings, which the test demands.
#[derive(Default)]
struct Seen {
    games: usize,
    texts: usize,
    plies: usize,
    captures: usize,
    tandems: usize,
    tandem_pawns: usize,
    starts_from_fen: usize,
    black_begins: usize,
    outcomes: BTreeSet<&'static str>,
    reasons: BTreeMap<Reason, usize>,
}

impl Seen {
    fn add(&mut self, record: &Record) {
        self.games += 1;
        self.outcomes.insert(record.outcome.name());
        *self.reasons.entry(record.reason).or_default() += 1;
        let start = &record.opening.start;
        self.starts_from_fen += usize::from(*start != Fen::start());
        self.black_begins += usize::from(start.position.turn() == Color::Black);
        let mut position: Position = start.position.clone();
        for mv in all_moves(record) {
            self.plies += 1;
            self.captures += usize::from(position.piece_at(mv.to()).is_some());
            // 前炮, 后马: the piece's name stands behind.
            let text: Vec<char> = position.format_move(mv, Notation::ChineseSimplified).chars().collect();
            let is_tandem = "前后中二三四五".contains(text[0]);
            self.tandems += usize::from(is_tandem);
            self.tandem_pawns += usize::from(is_tandem && ['兵', '卒'].contains(&text[1]));
            let _ = position.make(mv);
        }
    }
}

/// Compares a game with what both readers find in its text.
fn expect_round_trip(game: &PgnGame, record: &Record) {
    let text = game.to_string();
    assert_eq!(pgn::read(&text).expect("what we write can be read"), std::slice::from_ref(game), "{text}");

    let transcript = Transcript::read("", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(transcript.start, game.start, "{text}");
    assert_eq!(transcript.result, Some(game.outcome), "{text}");
    assert_eq!(transcript.skipped.len(), game.moves.iter().filter(|(_, comment)| !comment.is_empty()).count());
    for (name, value) in &game.tags {
        assert_eq!(transcript.tag(name), Some(value.as_str()), "{name} of {text}");
    }
    let replay = transcript.play(record.opening.rules).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let moves: Vec<Move> = game.moves.iter().map(|(mv, _)| *mv).collect();
    assert_eq!((replay.game.moves().collect::<Vec<_>>(), replay.moves_after_end), (moves.clone(), 0), "{text}");
    if let Reason::Rules(reason) = record.reason {
        let ending = replay.game.status().ending().unwrap_or_else(|| panic!("the rules do not end it: {text}"));
        assert_eq!((ending.outcome, ending.reason), (record.outcome, reason), "{text}");
    }
    // Without the tag, the moves name their notation. Ranks from 1 alone can be meant otherwise.
    if game.notation != Notation::Uci1 {
        let untagged = Transcript { tags: Vec::new(), ..transcript };
        assert!(untagged.play(record.opening.rules).unwrap().game.moves().eq(moves), "{text}");
    }
}

#[test]
fn games_come_back_identical_in_every_notation() {
    let count = env::var("CHUHE_PGN_GAMES").map_or(DEFAULT_GAMES, |count| count.parse().unwrap());
    let mut games = Vec::new();
    for (index, (header, number, record)) in self_play(count).into_iter().enumerate() {
        // The derived games would otherwise outnumber the played ones.
        if index < DEFAULT_GAMES {
            games.extend(after_a_capture(&record).map(|rest| (header.clone(), number, rest)));
            games.push((header.clone(), number, cut_off(&record, index)));
        }
        games.push((header, number, record));
    }
    games.extend(
        (0..)
            .zip(from_positions())
            .map(|(number, record)| (Header { rules: record.opening.rules, ..header() }, number, record)),
    );
    let mut seen = Seen::default();
    for (header, number, record) in &games {
        seen.add(record);
        for notation in Notation::ALL {
            expect_round_trip(&PgnGame::of_record(header, *number, record, notation), record);
            seen.texts += 1;
        }
    }
    let Seen { games, texts, plies, captures, tandems, tandem_pawns, starts_from_fen, black_begins, .. } = seen;
    println!(
        "{games} games of {plies} plies, {texts} texts: {captures} captures, {tandems} moves of tandem pieces, \
         {tandem_pawns} of tandem pawns, {starts_from_fen} from a FEN, {black_begins} begun by Black, {:?}",
        seen.reasons
    );
    assert_eq!(seen.reasons.keys().copied().collect::<BTreeSet<_>>(), Reason::all().collect());
    assert_eq!(seen.outcomes.len(), 3);
    for (kind, found) in [
        ("captures", captures),
        ("tandem pieces", tandems),
        ("tandem pawns", tandem_pawns),
        ("from a FEN", starts_from_fen),
        ("Black begins", black_begins),
    ] {
        assert!(found > 0, "no game has {kind}");
    }
}

/// The rulebook's six facts, and PGN's seven tags in PGN's order, whatever is known.
#[test]
fn every_game_has_the_tags_that_are_required() {
    let shard = shard::open(SMALL).unwrap();
    let text = PgnGame::of_record(shard.header(), 9, &shard.game(9).unwrap(), Notation::Iccs).to_string();
    let expected = "[Event \"self-play\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"9\"]\n[Red \"plain\"]\n\
                    [White \"plain\"]\n[Black \"plain\"]\n[Result \"";
    assert!(text.starts_with(expected), "{text}");
    let tags: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let tag = |name: &str| {
        let line = tags.iter().find(|line| line[1..].split_once(' ').unwrap().0 == name);
        line.unwrap_or_else(|| panic!("no {name}")).split('"').nth(1).unwrap()
    };
    let start = Fen::start().to_string();
    assert_eq!((tag("FEN"), tag("SetUp"), tag("Variant"), tag("Notation")), (start.as_str(), "1", "xiangqi", "iccs"));
    assert_eq!((tag("RedNet"), tag("BlackNet"), tag("GraceMilliseconds")), ("-", "-", "-"));
    let header = shard.header();
    assert_eq!(tag("Seed"), header.seed.to_string());
    assert_eq!(tag("GameSeed"), header.seed_of(9).to_string());
    assert_eq!(tag("TimeControl"), format!("{} nodes a move", header.settings.hard_nodes));

    let unknown =
        PgnGame { tags: Vec::new(), start: Fen::start(), moves: Vec::new(), outcome: None, notation: Notation::Uci };
    let text = unknown.to_string();
    assert!(
        text.starts_with("[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[Red \"?\"]\n"),
        "{text}"
    );
    assert_eq!(pgn::read(&text).unwrap(), [unknown]);
}

/// In a match, each side has its net and limit, and the colours change from game to game.
#[test]
fn the_games_of_a_match_name_both_players() {
    let (_, _, record) = self_play(1).remove(0);
    let opponent = dataset::Opponent { net: Some([7; 32].into()), soft_nodes: Some(500), hard_nodes: 900 };
    let header = Header { opponent: Some(opponent), ..header() };
    let hash = "07".repeat(32);
    let own = format!("{} nodes a move", header.settings.hard_nodes);
    for (number, [a, b]) in [(4, ["Red", "Black"]), (5, ["Black", "Red"])] {
        let game = PgnGame::of_record(&header, number, &record, Notation::Wxf);
        let tag = |side: &str, name: &str| game.tag(&format!("{side}{name}")).unwrap().to_owned();
        assert_eq!((game.tag("Event"), game.tag("TimeControl")), (Some("match"), Some("?")));
        assert_eq!([tag(a, ""), tag(a, "Net"), tag(a, "TimeControl")], ["plain", "-", &own]);
        assert_eq!([tag(b, ""), tag(b, "Net"), tag(b, "TimeControl")], [&hash[..12], &hash, "500 to 900 nodes a move"]);
    }
}

/// Programs for rating lists write and read `White`.
#[test]
fn the_first_player_of_other_programs_is_red() {
    let games = pgn::read("[White \"one\"]\n[Black \"two\"]\n\n1. h2e2 *\n").unwrap();
    assert_eq!((games[0].tag("Red"), games[0].tag("White")), (Some("one"), None));
    assert!(games[0].to_string().contains("[Red \"one\"]\n[White \"one\"]\n[Black \"two\"]\n"));
}
