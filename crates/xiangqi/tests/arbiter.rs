//! The arbiter against a second one, slow and written from the rulebook alone, on cycles made to be difficult; and
//! against itself, where symmetry says that the verdict must be the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod referee;

use std::sync::atomic::{AtomicUsize, Ordering};

use referee::{
    Judgement, Rules,
    cycles::{Case, SplitMix64, mirror_case, mutated_case, parse_case, random_case, swap_colours_case},
    examine_ring,
};
use xiangqi::{
    Color, Fen, Move, Position,
    rules::{Class, CycleVerdict, Ending, Game, Outcome, RuleSet, Status, judge_cycle},
};

/// How many cases a normal run tries; `CHUHE_CYCLES` asks for more.
const CASES: usize = 4_000;

fn known_cases() -> Vec<Case> {
    [include_str!("data/cxr_examples.jsonl"), include_str!("data/cxr_cycles.jsonl")]
        .into_iter()
        .flat_map(str::lines)
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let moves: Vec<_> = case["moves"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap()).collect();
            parse_case(&format!("{} moves {}", case["fen"].as_str().unwrap(), moves.join(" "))).unwrap()
        })
        .collect()
}

/// The case of a seed: some made from nothing, which takes twenty times as long, most mutated from known ones.
fn case(seed: u64, known: &[Case]) -> Case {
    let mut rng = SplitMix64::new(seed);
    if seed.is_multiple_of(8) { random_case(&mut rng) } else { mutated_case(&mut rng, known) }
}

fn play(case: &Case, rules: RuleSet) -> Game {
    let fen: Fen = case.start.to_string().parse().unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut game = Game::new(fen, rules);
    for &mv in &case.moves {
        if game.status() != &Status::Ongoing {
            break;
        }
        let mv = game.position().parse_move(&referee::move_text(mv)).unwrap();
        game.push_legal(mv);
    }
    game
}

fn level(class: Class) -> u8 {
    match class {
        Class::Allowed => 0,
        Class::Chase => 1,
        Class::ChasePinnedChariot => 2,
        Class::Check => 3,
        Class::MateThreat => panic!("only the older custom knows threats of mate"),
    }
}

/// The game's status in the referee's words.
fn translated(game: &Game) -> Judgement {
    let Status::Over(Ending { outcome, reason, ply, cycle }) = *game.status() else {
        return Judgement {
            outcome: referee::Outcome::Ongoing,
            reason: "",
            ply: game.len(),
            cycle: None,
            levels: None,
        };
    };
    let levels = |cycle: CycleVerdict| (level(cycle.conduct[0].class), level(cycle.conduct[1].class));
    Judgement {
        outcome: match outcome {
            Outcome::RedWins => referee::Outcome::RedWins,
            Outcome::BlackWins => referee::Outcome::BlackWins,
            Outcome::Draw => referee::Outcome::Draw,
        },
        reason: reason.name(),
        ply,
        cycle: cycle.map(|cycle| (cycle.from, cycle.to)),
        levels: cycle.filter(|_| game.rules() != RuleSet::Simple).map(levels),
    }
}

#[test]
fn both_arbiters_agree() {
    let count = std::env::var("CHUHE_CYCLES").map_or(CASES, |count| count.parse().expect("CHUHE_CYCLES is a number"));
    let known = known_cases();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // How often each pair of levels came up: a test that saw only harmless cycles has shown nothing.
    let seen: [[AtomicUsize; 4]; 4] = Default::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        break;
                    }
                    let case = case(seed as u64, &known);
                    for (rules, referees) in [
                        (RuleSet::Cxr, Rules::CXR),
                        (RuleSet::Wxf, Rules::WXF),
                        (RuleSet::Simple, Rules { limit: 120, simple: true }),
                    ] {
                        let counter = referee::fen_counter(&case.start.to_string());
                        let expected = referee::judge(&case.start, counter, &case.moves, referees);
                        let judged = translated(&play(&case, rules));
                        assert_eq!(judged, expected, "seed {seed}, {rules}: {case}");
                        if let (RuleSet::Cxr, Some((red, black))) = (rules, judged.levels) {
                            seen[usize::from(red)][usize::from(black)].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let seen = seen.map(|row| row.map(AtomicUsize::into_inner));
    println!("{count} cases; by levels, Red's down and Black's across: {seen:?}");
    for level in 0..4 {
        let of_red: usize = seen[level].iter().sum();
        let of_black: usize = seen.iter().map(|row| row[level]).sum();
        assert!(of_red.min(of_black) >= count / 1000, "level {level} came up too rarely: {seen:?}");
    }
}

/// Where the case's third occurrence is judged, the ring and the verdict on it.
fn judged_ring(case: &Case, rules: RuleSet) -> Option<(Position, Vec<Move>, CycleVerdict)> {
    let game = play(case, rules);
    let cycle = game.status().ending()?.cycle?;
    let moves = game.moves().skip(cycle.from).take(cycle.to - cycle.from).collect();
    Some((game.position_at(cycle.from)?, moves, cycle))
}

/// Cycles in which like pieces change places.
#[test]
fn twins_are_told_apart() {
    for (case, levels) in referee::cycles::twin_cases() {
        let expected = referee::judge(&case.start, 0, &case.moves, Rules::CXR);
        assert_eq!(expected.levels, Some(levels), "{case}");
        assert_eq!(translated(&play(&case, RuleSet::Cxr)), expected, "{case}");
    }
}

#[test]
fn verdicts_know_neither_left_from_right_nor_red_from_black() {
    let known = known_cases();
    let mut judged = 0;
    for seed in 0..1_000 {
        let case = case(seed, &known);
        for rules in RuleSet::ALL {
            let ending = *play(&case, rules).status();
            let mirrored = *play(&mirror_case(&case), rules).status();
            let swapped = *play(&swap_colours_case(&case), rules).status();
            let Status::Over(ending) = ending else {
                assert_eq!((mirrored, swapped), (Status::Ongoing, Status::Ongoing), "{case}");
                continue;
            };
            judged += 1;
            let (Status::Over(mirrored), Status::Over(swapped)) = (mirrored, swapped) else {
                panic!("seed {seed}, {rules}: {case} ends one way and goes on another")
            };
            assert_eq!((mirrored.outcome, mirrored.reason, mirrored.ply), (ending.outcome, ending.reason, ending.ply));
            assert_eq!((swapped.reason, swapped.ply), (ending.reason, ending.ply));
            assert_eq!(swapped.outcome.loser(), ending.outcome.loser().map(|loser| !loser), "{rules}: {case}");
            if let (Some(cycle), Some(mirrored), Some(swapped)) = (ending.cycle, mirrored.cycle, swapped.cycle) {
                for color in Color::ALL {
                    let conduct = cycle.conduct(color);
                    assert_eq!(mirrored.conduct(color).class, conduct.class, "{rules}: {case}");
                    assert_eq!(swapped.conduct(!color).class, conduct.class, "{rules}: {case}");
                    let victims = conduct.victims.into_iter().map(xiangqi::Square::mirrored).collect();
                    assert_eq!(mirrored.conduct(color).victims, victims, "{rules}: {case}");
                }
            }
        }
    }
    assert!(judged > 2_000, "only {judged} endings were compared");
}

/// A ring that is one loop played twice has no place where it begins.
#[test]
fn verdicts_on_a_loop_played_twice_do_not_depend_on_where_one_starts_to_look() {
    let known = known_cases();
    let mut shifted = 0;
    for seed in 0..1_500 {
        for rules in [RuleSet::Cxr, RuleSet::Wikibook] {
            let Some((start, moves, verdict)) = judged_ring(&case(seed, &known), rules) else { continue };
            let half = moves.len() / 2;
            // The same moves twice with pieces that change places are no loop played twice.
            if moves[..half] != moves[half..] || pieces_swap(&start, &moves[..half]) {
                continue;
            }
            let mut from = start.clone();
            let mut ring = moves.clone();
            for _ in 0..half {
                let _ = from.make(ring[0]);
                ring.rotate_left(1);
                let again = judge_cycle(&from, &ring, rules).unwrap();
                assert_eq!(again.loser, verdict.loser, "seed {seed}, {rules}: {start} {moves:?} from {from}");
                for side in 0..2 {
                    assert_eq!(again.conduct[side].class, verdict.conduct[side].class, "{rules}: {start} {moves:?}");
                }
                shifted += 1;
            }
        }
    }
    assert!(shifted > 2_000, "only {shifted} starts were tried");
}

/// Whether some piece ends the loop on another point than it began: like pieces have changed places.
fn pieces_swap(start: &Position, moves: &[Move]) -> bool {
    let mut stands: Vec<_> = xiangqi::Square::all().collect();
    for mv in moves {
        stands[mv.to().index()] = stands[mv.from().index()];
    }
    start.occupied().into_iter().any(|square| stands[square.index()] != square)
}

/// Rings of a single loop, as a search judges them, and longer ones.
#[test]
fn rings_of_any_number_of_loops_are_judged_as_the_referee_judges_them() {
    let known = known_cases();
    let mut judged = 0;
    for seed in 0..1_500 {
        let Some((start, moves, _)) = judged_ring(&case(seed, &known), RuleSet::Cxr) else { continue };
        let board = referee::Board::from_fen(&start.to_string()).unwrap();
        for loops in [1, 2, 3, 5] {
            let ring: Vec<_> = moves[..moves.len() / 2].iter().copied().cycle().take(moves.len() / 2 * loops).collect();
            let Ok(verdict) = judge_cycle(&start, &ring, RuleSet::Cxr) else { break };
            let referees_moves: Vec<_> =
                ring.iter().map(|mv| (mv.from().index() as u8, mv.to().index() as u8)).collect();
            let finding = examine_ring(&board, &referees_moves);
            let levels = verdict.conduct.map(|conduct| level(conduct.class));
            assert_eq!(levels, [finding.red.level, finding.black.level], "{start} {ring:?}");
            judged += 1;
        }
    }
    assert!(judged > 2_000, "only {judged} rings were judged");
}
