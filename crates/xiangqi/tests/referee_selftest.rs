//! The referee against the data: it must get the known answers right before it may judge the
//! library.

mod referee;

use referee::cycles::{
    Case, SplitMix64, is_cycle, mirror_case, mutated_case, parse_case, random_case, swap_colours_case, twin_cases,
};
use referee::{Board, Judgement, Outcome, Rules, fen_counter, judge, judge_ring, parse_moves, perft};
use serde_json::Value;

/// A line of one of the `.jsonl` files.
struct Record {
    name: String,
    fen: String,
    moves: String,
    line: Value,
}

fn records(text: &str) -> Vec<Record> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| line[key].as_str().expect("a string").to_owned();
        let moves: Vec<&str> = line["moves"].as_array().expect("moves").iter().filter_map(Value::as_str).collect();
        Record { name: text("name"), fen: text("fen"), moves: moves.join(" "), line }
    };
    text.lines().map(read).collect()
}

fn judge_record(record: &Record, rules: Rules) -> Judgement {
    let start = Board::from_fen(&record.fen).expect("a FEN");
    let moves = parse_moves(&record.moves).expect("moves");
    judge(&start, fen_counter(&record.fen), &moves, rules)
}

/// The names of the misjudged records, with the judgement.
fn misjudged(text: &str, rules: Rules) -> Vec<String> {
    let mut wrong = Vec::new();
    for record in records(text) {
        let judgement = judge_record(&record, rules);
        let verdict = match judgement.outcome {
            Outcome::Ongoing => "none",
            Outcome::RedWins => "black_loses",
            Outcome::BlackWins => "red_loses",
            Outcome::Draw => "draw",
        };
        let levels = record.line["red_level"].as_u64().zip(record.line["black_level"].as_u64());
        let found = judgement.levels.map(|(red, black)| (u64::from(red), u64::from(black)));
        let first = record.line["first_judged_ply"].as_u64();
        if record.line["expected"] != verdict
            || (levels.is_some() && levels != found)
            || first.is_some_and(|ply| ply != judgement.ply as u64)
        {
            wrong.push(format!("{}: {judgement:?}", record.name));
        }
    }
    wrong
}

const EXAMPLES: &str = include_str!("data/cxr_examples.jsonl");
const CYCLES: &str = include_str!("data/cxr_cycles.jsonl");
const WXF: &str = include_str!("data/wxf_sample.jsonl");
const LIMIT: &str = include_str!("data/limit_sample.jsonl");

#[test]
fn judges_the_examples_of_the_rulebook() {
    assert_eq!(misjudged(EXAMPLES, Rules::CXR), [""; 0]);
}

#[test]
fn judges_the_generated_cycles_and_their_levels() {
    assert_eq!(misjudged(CYCLES, Rules::CXR), [""; 0]);
}

#[test]
fn judges_the_diagrams_of_the_world_rules() {
    assert_eq!(misjudged(WXF, Rules::WXF), [""; 0]);
}

#[test]
fn finds_the_ply_of_the_natural_limit() {
    assert_eq!(misjudged(LIMIT, Rules::CXR), [""; 0]);
}

#[test]
fn counts_the_nodes_of_perft() {
    for row in include_str!("data/perft_sample.csv").lines().skip(1) {
        let [fen, depth, nodes] = *row.split(',').collect::<Vec<_>>() else { panic!("{row}") };
        let nodes: u64 = nodes.parse().expect("a node count");
        if nodes <= 200_000 {
            let board = Board::from_fen(fen).expect("a FEN");
            assert_eq!(perft(&board, depth.parse().expect("a depth")), nodes, "{row}");
        }
    }
}

fn known_cases() -> Vec<Case> {
    let line = |record: Record| format!("{} moves {}", record.fen, record.moves);
    let cases = [EXAMPLES, CYCLES].into_iter().flat_map(records).map(line);
    let cases = cases.map(|line| parse_case(&line).expect("a case"));
    cases.chain(twin_cases().into_iter().map(|(case, _)| case)).collect()
}

/// Judges a game given as `FEN moves …`: outcome, reason and ply.
fn verdict(line: &str, counter: u32, rules: Rules) -> (Outcome, &'static str, usize) {
    let case = parse_case(line).expect("a case");
    let judgement = judge(&case.start, counter, &case.moves, rules);
    (judgement.outcome, judgement.reason, judgement.ply)
}

#[test]
fn judges_the_position_given_before_any_move() {
    let mate = "3Rk4/4a4/4R4/9/9/9/9/9/9/3K5 b moves";
    assert_eq!(verdict(mate, 120, Rules::CXR), (Outcome::RedWins, "checkmate", 0));
    let stalemate = "3k5/2P6/9/9/9/9/9/9/9/4K4 b moves";
    assert_eq!(verdict(stalemate, 120, Rules::CXR), (Outcome::RedWins, "stalemate", 0));
    let bare = "3k5/9/9/9/9/9/9/9/9/4KAB2 w moves";
    assert_eq!(verdict(bare, 0, Rules::CXR), (Outcome::Draw, "bare_defenders", 0));
    assert_eq!(verdict(bare, 120, Rules::CXR), (Outcome::Draw, "move_limit", 0));
    let quiet = "3k5/9/9/9/9/9/9/9/9/4KR3 w moves";
    assert_eq!(verdict(quiet, 120, Rules::CXR), (Outcome::Draw, "move_limit", 0));
    assert_eq!(verdict(quiet, 119, Rules::CXR), (Outcome::Ongoing, "", 0));
}

#[test]
fn puts_repetition_before_the_limit_and_reads_simple_rules_simply() {
    let check = "3k5/9/9/9/9/9/9/9/4R4/5K3 w moves e1d1 d9e9 d1e1 e9d9 e1d1 d9e9 d1e1 e9d9";
    assert_eq!(verdict(check, 0, Rules::CXR), (Outcome::BlackWins, "perpetual_check", 8));
    assert_eq!(verdict(check, 112, Rules::CXR), (Outcome::BlackWins, "perpetual_check", 8));
    assert_eq!(verdict(check, 113, Rules::CXR), (Outcome::Draw, "move_limit", 7));
    let simple = Rules { simple: true, ..Rules::CXR };
    assert_eq!(verdict(check, 0, simple), (Outcome::Draw, "repetition", 8));
}

/// Whether every man is back on its own point after the moves, and not only one of its kind.
fn returns_every_man(case: &Case) -> bool {
    let mut names: Vec<usize> = (0..90).collect();
    for &(from, to) in &case.moves {
        names.swap(usize::from(from), usize::from(to));
    }
    (0..90).all(|p| case.start.points[p].is_none() || names[p] == p)
}

#[test]
fn judges_one_loop_like_two_and_from_any_entry() {
    let mut loops = 0;
    for case in known_cases() {
        let (once, again) = case.moves.split_at(case.moves.len() / 2);
        let mut ring = Case { moves: once.to_vec(), ..case.clone() };
        if once != again || !returns_every_man(&ring) {
            continue;
        }
        loops += 1;
        let levels = judge_ring(&case.start, &case.moves);
        for _ in 0..once.len() {
            assert_eq!(judge_ring(&ring.start, &ring.moves), levels, "{ring}");
            ring.start = ring.start.after(ring.moves[0]);
            ring.moves.rotate_left(1);
        }
    }
    assert!(loops >= 100, "{loops}");
}

#[test]
fn keeps_apart_men_that_change_places() {
    for (case, levels) in twin_cases() {
        assert_eq!(judge(&case.start, 0, &case.moves, Rules::CXR).levels, Some(levels), "{case}");
    }
}

/// The number of times each side reached each level, over the cases judged by repetition.
#[derive(Default, Debug)]
struct Levels {
    red: [u32; 4],
    black: [u32; 4],
    unequal: u32,
    otherwise: u32,
}

/// Judges 1,000 cases, and each of them in a mirror and with colours exchanged.
fn distribution(mut next: impl FnMut(&mut SplitMix64) -> Case) -> Levels {
    let mut rng = SplitMix64::new(1);
    let mut levels = Levels::default();
    for _ in 0..1_000 {
        let case = next(&mut rng);
        assert!(is_cycle(&case), "{case}");
        assert_eq!(parse_case(&case.to_string()).as_ref(), Ok(&case));
        let judge = |case: &Case| judge(&case.start, 0, &case.moves, Rules::CXR);
        let judgement = judge(&case);
        assert_eq!(judge(&mirror_case(&case)), judgement, "{case}");
        let swapped = judge(&swap_colours_case(&case));
        assert_eq!(swapped.levels, judgement.levels.map(|(red, black)| (black, red)), "{case}");
        assert_eq!((swapped.ply, swapped.reason), (judgement.ply, judgement.reason), "{case}");
        if let Some((red, black)) = judgement.levels {
            levels.red[usize::from(red)] += 1;
            levels.black[usize::from(black)] += 1;
            levels.unequal += u32::from(red != black);
        } else {
            levels.otherwise += 1;
        }
    }
    levels
}

#[test]
fn random_cases_come_to_every_level() {
    let levels = distribution(random_case);
    println!("{levels:?}");
    for [allowed, chase, _, check] in [levels.red, levels.black] {
        assert!(allowed >= 50 && chase >= 50 && check >= 50, "{levels:?}");
    }
    // A chase of a pinned chariot hardly occurs by chance; mutation yields plenty.
    assert!(levels.red[2] + levels.black[2] >= 1, "{levels:?}");
}

#[test]
fn mutated_cases_come_to_every_level() {
    let known = known_cases();
    let levels = distribution(|rng| mutated_case(rng, &known));
    println!("{levels:?}");
    assert!(levels.red.iter().chain(&levels.black).all(|&n| n >= 20), "{levels:?}");
}
