//! The older custom: cases reasoned by hand, and the arbiter against the referee's second reading
//! of the text.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod referee;

use std::sync::atomic::{AtomicUsize, Ordering};

use referee::{
    Board, Judgement,
    cycles::{Case, SplitMix64, mutated_case, parse_case, random_case, siege_case, twin_cases},
    wikibook::{self, Class},
};
use serde_json::Value;
use xiangqi::{
    Color, Fen, Position,
    rules::{self, CycleVerdict, Game, Outcome, RuleSet, Status, judge_cycle},
};

/// The number of cases in a normal run; `CHUHE_CYCLES` overrides it.
const CASES: usize = 500;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn to_case(line: &Value) -> Case {
    let moves: Vec<_> = line["moves"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap()).collect();
    parse_case(&format!("{} moves {}", line["fen"].as_str().unwrap(), moves.join(" "))).unwrap()
}

/// The hand-made cases, the rulebook's, and some of two men that exchange places.
fn known_cases() -> Vec<Case> {
    let texts = [include_str!("data/wikibook_cases.jsonl"), include_str!("data/cxr_examples.jsonl")];
    let cases = texts.into_iter().flat_map(lines).map(|line| to_case(&line)).filter(referee::cycles::is_cycle);
    cases.chain(twin_cases().into_iter().map(|(case, _)| case)).collect()
}

/// The case of a seed: from nothing, from a known one, a siege, or a siege with a piece more or
/// less.
fn case(seed: u64, known: &[Case]) -> Case {
    let mut rng = SplitMix64::new(seed);
    match seed % 4 {
        0 => random_case(&mut rng),
        1 => mutated_case(&mut rng, known),
        2 => siege_case(&mut rng),
        _ => {
            let sieges = [siege_case(&mut rng), siege_case(&mut rng)];
            mutated_case(&mut rng, &sieges)
        }
    }
}

fn play(case: &Case, fen: &str) -> Game {
    let fen: Fen = fen.parse().unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut game = Game::new(fen, RuleSet::Wikibook);
    for &mv in &case.moves {
        if game.status() != &Status::Ongoing {
            break;
        }
        let mv = game.position().parse_move(&referee::move_text(mv)).unwrap();
        game.push_legal(mv);
    }
    game
}

fn translated_class(class: rules::Class) -> Class {
    match class {
        rules::Class::Allowed => Class::Allowed,
        rules::Class::Chase => Class::Chase,
        rules::Class::MateThreat => Class::MateThreat,
        rules::Class::Check => Class::Check,
        rules::Class::ChasePinnedChariot => panic!("the older custom knows no second level"),
    }
}

fn classes(verdict: &CycleVerdict) -> [Class; 2] {
    verdict.conduct.map(|conduct| translated_class(conduct.class))
}

/// The game's status as the referee's judgement, with both classes if it was a cycle.
fn translated(game: &Game) -> (Judgement, Option<[Class; 2]>) {
    let judgement = |outcome, reason, ply, cycle| Judgement { outcome, reason, ply, cycle, levels: None };
    let Some(ending) = game.status().ending() else {
        return (judgement(referee::Outcome::Ongoing, "", game.len(), None), None);
    };
    let outcome = match ending.outcome {
        Outcome::RedWins => referee::Outcome::RedWins,
        Outcome::BlackWins => referee::Outcome::BlackWins,
        Outcome::Draw => referee::Outcome::Draw,
    };
    let cycle = ending.cycle.map(|cycle| (cycle.from, cycle.to));
    (judgement(outcome, ending.reason.name(), ending.ply, cycle), ending.cycle.map(|cycle| classes(&cycle)))
}

/// The referee's judgement, with both classes if it was a cycle.
fn expected(case: &Case, fen: &str) -> (Judgement, Option<[Class; 2]>) {
    let (judgement, finding) = wikibook::judge(&case.start, referee::fen_counter(fen), &case.moves);
    (judgement, finding.map(|finding| [finding.red.class, finding.black.class]))
}

/// The outcome in the words of the case files.
fn verdict_name(outcome: referee::Outcome) -> &'static str {
    match outcome {
        referee::Outcome::Ongoing => "none",
        referee::Outcome::RedWins => "black_loses",
        referee::Outcome::BlackWins => "red_loses",
        referee::Outcome::Draw => "draw",
    }
}

#[test]
fn cases_reasoned_out_by_hand() {
    let lines = lines(include_str!("data/wikibook_cases.jsonl"));
    assert_eq!(lines.len(), 32);
    for line in lines {
        let (case, fen) = (to_case(&line), line["fen"].as_str().unwrap());
        let answers = [("referee", expected(&case, fen)), ("arbiter", translated(&play(&case, fen)))];
        for (who, (judgement, classes)) in answers {
            assert_eq!(verdict_name(judgement.outcome), line["expected"], "{who}: {line}");
            let names = classes.map(|classes| classes.map(Class::name));
            let [red, black] = names.map_or([Value::Null, Value::Null], |names| names.map(Value::from));
            assert_eq!((&red, &black), (&line["red_class"], &line["black_class"]), "{who}: {line}");
            let loser_class = if judgement.outcome == referee::Outcome::RedWins { black } else { red };
            let reason = match (judgement.outcome, loser_class.as_str()) {
                (referee::Outcome::Ongoing, _) => "",
                (referee::Outcome::Draw, None) => "move_limit",
                (referee::Outcome::Draw, _) => "repetition",
                (_, Some("chase")) => "perpetual_chase",
                _ => "perpetual_check",
            };
            assert_eq!(judgement.reason, reason, "{who}: {line}");
            assert_eq!(judgement.ply, case.moves.len(), "{who}: {line}");
        }
    }
}

#[test]
fn both_arbiters_agree_on_the_older_custom() {
    let count = std::env::var("CHUHE_CYCLES").map_or(CASES, |count| count.parse().expect("CHUHE_CYCLES is a number"));
    let known = known_cases();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Frequency of each pair of classes, and of decisions by numbers between two offending sides.
    let seen: [[AtomicUsize; 4]; 4] = Default::default();
    let by_numbers = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        break;
                    }
                    let case = case(seed as u64, &known);
                    let fen = case.start.to_string();
                    let expected = expected(&case, &fen);
                    assert_eq!(translated(&play(&case, &fen)), expected, "seed {seed}: {case}");
                    if let (judgement, Some([red, black])) = expected {
                        seen[red as usize][black as usize].fetch_add(1, Ordering::Relaxed);
                        let both = red != Class::Allowed && black != Class::Allowed;
                        if both && judgement.outcome != referee::Outcome::Draw {
                            by_numbers.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let seen = seen.map(|row| row.map(AtomicUsize::into_inner));
    let by_numbers = by_numbers.into_inner();
    println!("{count} cases, {by_numbers} decided by numbers; by class, Red's down and Black's across: {seen:?}");
    for class in Class::ALL {
        let of_red: usize = seen[class as usize].iter().sum();
        let of_black: usize = seen.iter().map(|row| row[class as usize]).sum();
        assert!(of_red.min(of_black) >= count / 50, "{} came up too rarely: {seen:?}", class.name());
    }
    assert!(by_numbers >= count / 250, "numbers decided too rarely: {by_numbers} of {count}");
}

/// The referee's offenders are, at the end of the ring, on the points of the verdict.
#[test]
fn offenders_are_named_where_numbers_decide() {
    let mut named = 0;
    for case in known_cases() {
        let game = play(&case, &case.fen());
        let Some(cycle) = game.status().ending().and_then(|ending| ending.cycle) else { continue };
        let start = case.moves[..cycle.from].iter().fold(case.start.clone(), |board, &mv| board.after(mv));
        let ring = &case.moves[cycle.from..cycle.to];
        let finding = wikibook::judge_cycle(&start, ring);
        let both = finding.red.class != Class::Allowed && finding.black.class != Class::Allowed;
        assert_eq!(cycle.offenders.is_some(), both, "{case}");
        let Some(offenders) = cycle.offenders else { continue };
        let end = |&began: &u8| ring.iter().fold(began, |stands, mv| if mv.0 == stands { mv.1 } else { stands });
        for (found, expected) in offenders.into_iter().zip([finding.red, finding.black]) {
            let mut expected: Vec<_> = expected.offenders.iter().map(end).map(usize::from).collect();
            expected.sort_unstable();
            assert_eq!(found.into_iter().map(xiangqi::Square::index).collect::<Vec<_>>(), expected, "{case}");
            named += expected.len();
        }
    }
    assert!(named > 20, "only {named} offenders were named");
}

/// Rings of a single loop, as judged in a search, and longer ones.
#[test]
fn rings_of_any_number_of_loops_are_judged_as_the_referee_judges_them() {
    let known = known_cases();
    let mut judged = 0;
    for seed in 0..300 {
        let case = case(seed, &known);
        let Some((first, third)) = expected(&case, "").0.cycle else { continue };
        let start = case.moves[..first].iter().fold(case.start.clone(), |board, &mv| board.after(mv));
        let once = &case.moves[first..usize::midpoint(first, third)];
        for loops in [1, 2, 3, 5] {
            let ring = once.repeat(loops);
            let (Some(verdict), Some(finding)) = (arbiters_verdict(&start, &ring), referees_finding(&start, &ring))
            else {
                break;
            };
            let expected = [finding.red.class, finding.black.class];
            assert_eq!(classes(&verdict), expected, "{loops} loops, seed {seed}: {case}");
            let loser = finding.loser.map(|color| if color == referee::Color::Red { Color::Red } else { Color::Black });
            assert_eq!(verdict.loser, loser, "{loops} loops, seed {seed}: {case}");
            judged += 1;
        }
    }
    assert!(judged > 800, "only {judged} rings were judged");
}

/// `None` if the moves do not lead back to the start.
fn arbiters_verdict(start: &Board, ring: &[referee::Move]) -> Option<CycleVerdict> {
    let start: Position = start.to_string().parse::<Fen>().unwrap().position;
    let mut position = start.clone();
    let mut moves = Vec::new();
    for &mv in ring {
        let mv = position.parse_move(&referee::move_text(mv)).ok()?;
        let _ = position.make(mv);
        moves.push(mv);
    }
    judge_cycle(&start, &moves, RuleSet::Wikibook).ok()
}

/// `None` if the moves do not lead back to the start.
fn referees_finding(start: &Board, ring: &[referee::Move]) -> Option<wikibook::Finding> {
    let end = ring.iter().fold(start.clone(), |board, &mv| board.after(mv));
    (&end == start).then(|| wikibook::judge_cycle(start, ring))
}
