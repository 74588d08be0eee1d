//! Games for tests: random moves under the arbiter, with scores that drift. No engine is needed.

#![allow(dead_code, reason = "every test file uses its own part")]

use dataset::{
    Adjudication, Digest, DrawRule, EvaluationFilter, GameSettings, Header, MAX_SCORE, Opening, OpeningPolicy, Reason,
    Record, Score, ScoredMove, WinRule,
    opening::Walker,
    random::{Stream, Use},
};
use xiangqi::{
    Fen, Move,
    rules::{Outcome, RuleSet, Status},
};

/// A header under which games end for every reason.
pub(crate) fn header(seed: u64) -> Header {
    let win = Some(WinRule { score: 25_000, plies: 4 });
    let draw = Some(DrawRule { score: 4, plies: 3, from_ply: 30 });
    Header {
        bench_signature: 1,
        net: None,
        opponent: None,
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: RuleSet::ALL[(seed % 5) as usize],
        settings: GameSettings {
            hash_mebibytes: 16,
            soft_nodes: None,
            hard_nodes: 2_000,
            adjudication: if seed % 3 == 1 { Adjudication::default() } else { Adjudication { win, draw } },
            ply_cap: 260,
        },
        // With a filter, any attempt may have been kept.
        openings: OpeningPolicy { book: None, plies: 6, filter: Some(EvaluationFilter { nodes: 100, bound: 200 }) },
        seed,
        first_game: seed % 1000,
    }
}

/// The game of a header with this number.
pub(crate) fn game(header: &Header, number: u64) -> Record {
    game_after(header, number, 0)
}

/// A game with this number from a later attempt.
pub(crate) fn game_after(header: &Header, number: u64, attempts: u64) -> Record {
    let seed = header.seed_of(number);
    let mut stream = Stream::new(Use::BookOrder, seed, 77);
    let start = if header.openings.book.is_some() { book_position(&mut stream) } else { Fen::start() };
    let walker = Walker { start: start.clone(), rules: header.rules, plies: header.openings.plies };
    let judged = header.openings.filter.is_some() && header.openings.plies > 0;
    let (attempt, mut game) =
        walker.first(seed, if judged { stream.below(3) + attempts } else { 0 }).expect("an opening");
    let opening = Opening { rules: header.rules, start, seed, attempt, moves: game.moves().collect() };
    if header.pair_of(number).is_some() {
        // The games of a pair share their opening, and nothing else.
        stream = Stream::new(Use::BookOrder, seed, 78 + number % 2);
    }
    let mut moves: Vec<ScoredMove> = Vec::new();
    let mut red_score: Score = 0;
    let (outcome, reason) = loop {
        if let Status::Over(ending) = game.status() {
            break (ending.outcome, Reason::Rules(ending.reason));
        }
        let scores = moves.iter().map(|scored| scored.score);
        let verdict = header.settings.adjudication.verdict(scores, opening.moves.len(), !game.position().turn());
        if let Some(verdict) = verdict {
            break verdict;
        }
        if game.len() >= header.settings.ply_cap as usize {
            break (Outcome::Draw, Reason::PlyCap);
        }
        let legal = game.position().legal_moves();
        let captures = game.position().captures();
        let from = if captures.is_empty() || stream.below(3) > 0 { &legal } else { &captures };
        // Some games shuffle to and fro.
        let back = moves.iter().rev().nth(1).map(|scored| Move::new(scored.mv.to(), scored.mv.from()));
        let back = back.filter(|mv| number.is_multiple_of(4) && stream.below(5) > 0 && legal.contains(mv));
        let mv = back.unwrap_or_else(|| from[stream.below(from.len() as u64) as usize]);
        red_score = wander(&mut stream, red_score);
        let score = if game.position().turn() == xiangqi::Color::Red { red_score } else { -red_score };
        moves.push(ScoredMove { mv, score: (stream.below(40) > 0).then_some(score) });
        game.push_legal(mv);
    };
    Record { opening, moves, outcome, reason }
}

/// A random step: mostly small, sometimes zero or an extreme.
fn wander(stream: &mut Stream, score: Score) -> Score {
    let step = stream.below(121) as Score - 60;
    match stream.below(30) {
        0 => 0,
        1 => MAX_SCORE,
        2 => -MAX_SCORE,
        3 => 29_900,
        4..=8 => score,
        _ => (score + step).clamp(-MAX_SCORE, MAX_SCORE),
    }
}

fn book_position(stream: &mut Stream) -> Fen {
    const BOOK: [&str; 3] = [
        "4k4/9/4b4/4p4/9/9/4P4/2N6/9/2BK1A3 w - - 3 40",
        "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1",
    ];
    BOOK[stream.below(3) as usize].parse().expect("a position of the book")
}

pub(crate) fn with_book(mut header: Header) -> Header {
    header.openings.book = Some(Digest::of(b"book"));
    header.openings.plies = 2;
    header
}

/// Consecutive games of a header.
pub(crate) fn games(header: &Header, count: u64) -> Vec<Record> {
    (0..count).map(|index| game(header, header.first_game + index)).collect()
}

/// A shard in memory.
pub(crate) fn shard(header: &Header, games: &[Record]) -> Vec<u8> {
    let mut writer = dataset::shard::ShardWriter::new(Vec::new(), header.clone()).expect("a head");
    for record in games {
        writer.add(record).expect("a game");
    }
    writer.finish().expect("a footer").0
}
