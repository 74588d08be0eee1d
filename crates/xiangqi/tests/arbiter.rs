//! The arbiter against a second one, slow and written from the rulebook alone, on difficult cycles;
//! and against itself, where symmetry demands the same verdict.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod referee;

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use referee::{
    Judgement, Rules,
    cycles::{
        Case, MAX_RING_PLIES, SplitMix64, long_case, long_game, many_loops, mirror_case, mutated_case, parse_case,
        random_case, swap_colours_case,
    },
    examine_ring, wikibook,
};
use xiangqi::{
    Bitboard, Color, Fen, Move, MoveList, Position, Square,
    rules::{Class, CycleVerdict, Ending, Game, Outcome, RuleSet, Status, judge_cycle},
};

/// The number of cases in a normal run; `CHUHE_CYCLES` overrides it.
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

/// The case of a seed: mostly mutated from known ones, some made from nothing, which takes twenty
/// times as long. One in four starts so near the natural limit that the limit may come first.
fn case(seed: u64, known: &[Case]) -> Case {
    let mut rng = SplitMix64::new(seed);
    let mut case = if seed.is_multiple_of(8) { random_case(&mut rng) } else { mutated_case(&mut rng, known) };
    if rng.one_in(4) {
        case.counter = 80 + rng.below(41) as u32;
    }
    case
}

/// Plays the case until the rules end it, through both ways of pushing moves.
fn play(case: &Case, rules: RuleSet) -> Game {
    let fen: Fen = case.fen().parse().unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut game = Game::new(fen, rules);
    let mut listing = game.clone();
    let mut moves = MoveList::new();
    for &mv in &case.moves {
        if game.status() != &Status::Ongoing {
            break;
        }
        let mv = game.position().parse_move(&referee::move_text(mv)).unwrap();
        game.push_legal(mv);
        assert_eq!(listing.push_listing(mv, &mut moves), game.status(), "{rules}, after {} moves: {case}", game.len());
        assert_eq!(moves, game.position().legal_moves(), "{case}");
    }
    game
}

/// The referee's judgement; its levels are empty where the rules have none.
fn expected(case: &Case, rules: RuleSet) -> Judgement {
    let by = |rules| referee::judge(&case.start, case.counter, &case.moves, rules);
    match rules {
        RuleSet::Cxr => by(Rules::CXR),
        RuleSet::Wxf | RuleSet::Axf => by(Rules::WXF),
        RuleSet::Wikibook => wikibook::judge(&case.start, case.counter, &case.moves).0,
        RuleSet::Simple => by(Rules { limit: 120, simple: true }),
    }
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

/// The game's status as the referee's judgement.
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
        levels: cycle.filter(|_| !matches!(game.rules(), RuleSet::Simple | RuleSet::Wikibook)).map(levels),
    }
}

#[test]
fn both_arbiters_agree() {
    let count = std::env::var("CHUHE_CYCLES").map_or(CASES, |count| count.parse().expect("CHUHE_CYCLES is a number"));
    let known = known_cases();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Frequency of each pair of levels: a run with harmless cycles only would prove nothing.
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
                    for rules in [RuleSet::Cxr, RuleSet::Wxf, RuleSet::Simple] {
                        let judged = translated(&play(&case, rules));
                        assert_eq!(judged, expected(&case, rules), "seed {seed}, {rules}: {case}");
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

/// The ring and the verdict at the case's third occurrence.
fn judged_ring(case: &Case, rules: RuleSet) -> Option<(Position, Vec<Move>, CycleVerdict)> {
    let game = play(case, rules);
    let cycle = game.status().ending()?.cycle?;
    let moves = game.moves().skip(cycle.from).take(cycle.to - cycle.from).collect();
    Some((game.position_at(cycle.from)?, moves, cycle))
}

/// Cycles in which equal pieces exchange places.
#[test]
fn twins_are_distinguished() {
    for (case, levels) in referee::cycles::twin_cases() {
        let expected = referee::judge(&case.start, 0, &case.moves, Rules::CXR);
        assert_eq!(expected.levels, Some(levels), "{case}");
        assert_eq!(translated(&play(&case, RuleSet::Cxr)), expected, "{case}");
    }
}

/// The end points of the pieces that the referee found chased, which it identifies by their points
/// at the start of the ring.
fn victims_at_the_end(victims: &[u8], ring: &[Move]) -> Bitboard {
    let end = |&began: &u8| {
        let began = Square::from_index(usize::from(began)).unwrap();
        ring.iter().fold(began, |stands, mv| if mv.from() == stands { mv.to() } else { stands })
    };
    victims.iter().map(end).collect()
}

#[test]
fn victims_are_reported_where_they_end() {
    let (mut reported, mut elsewhere) = (0, 0);
    let twins = referee::cycles::twin_cases().into_iter().map(|(case, _)| case);
    for case in known_cases().into_iter().chain(twins) {
        let Some((start, moves, cycle)) = judged_ring(&case, RuleSet::Cxr) else { continue };
        let finding = examine_ring(&referee::Board::from_fen(&start.to_string()).unwrap(), &referees_moves(&moves));
        for (conduct, finding) in cycle.conduct.iter().zip([finding.red, finding.black]) {
            assert_eq!(conduct.victims, victims_at_the_end(&finding.victims, &moves), "{case}");
            let began: Bitboard = victims_at_the_end(&finding.victims, &[]);
            reported += conduct.victims.count();
            elsewhere += (began - conduct.victims).count();
        }
    }
    assert!(reported > 300 && elsewhere > 0, "{reported} victims, {elsewhere} of which have changed places");
}

fn referees_moves(moves: &[Move]) -> Vec<referee::Move> {
    moves.iter().map(|mv| (mv.from().index() as u8, mv.to().index() as u8)).collect()
}

/// Each offence of an explanation can be seen on the board after its move.
#[test]
fn offences_are_on_the_board_where_explained() {
    let mut seen = 0;
    for case in known_cases() {
        for rules in [RuleSet::Cxr, RuleSet::Wikibook] {
            let game = play(&case, rules);
            let Some((ending, cycle)) = game.status().ending().and_then(|ending| Some((ending, ending.cycle?))) else {
                continue;
            };
            let offences = game.explain(ending).offences;
            let guilty = Color::ALL.into_iter().filter(|side| cycle.conduct(*side).class != Class::Allowed).count();
            assert_eq!(offences.len(), guilty * (cycle.to - cycle.from) / 2, "{rules}: {case}");
            for offence in offences {
                let position = game.position_at(offence.ply).unwrap();
                assert!((cycle.from + 1..=cycle.to).contains(&offence.ply) && position.turn() == !offence.side);
                let (by, victims) = (offence.by, offence.victims);
                assert!(by.any() && (by - position.by_color(offence.side)).is_empty(), "{rules}: {case}");
                assert!(victims.any() && (victims - position.by_color(!offence.side)).is_empty(), "{rules}: {case}");
                if offence.class == Class::Check {
                    assert_eq!((by, victims), (position.checkers(), position.king(!offence.side).into()), "{case}");
                } else {
                    assert!(!position.in_check(), "{case}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 4_000, "only {seen} offences were looked at");
}

/// The verdict of both arbiters, which must be equal.
fn verdict(line: &str, counter: u32, rules: RuleSet) -> (referee::Outcome, &'static str, usize) {
    let case = Case { counter, ..parse_case(line).unwrap() };
    let judged = translated(&play(&case, rules));
    assert_eq!(judged, expected(&case, rules), "{rules}: {case}");
    (judged.outcome, judged.reason, judged.ply)
}

#[test]
fn the_position_given_is_judged_before_any_move() {
    use referee::Outcome::{Draw, Ongoing, RedWins};
    for rules in RuleSet::ALL {
        let limit = rules.limit();
        let mate = "3Rk4/4a4/4R4/9/9/9/9/9/9/3K5 b moves";
        assert_eq!(verdict(mate, limit, rules), (RedWins, "checkmate", 0));
        let stalemate = "3k5/2P6/9/9/9/9/9/9/9/4K4 b moves";
        assert_eq!(verdict(stalemate, limit, rules), (RedWins, "stalemate", 0));
        let bare = "3k5/9/9/9/9/9/9/9/9/4KAB2 w moves";
        assert_eq!(verdict(bare, 0, rules), (Draw, "bare_defenders", 0));
        assert_eq!(verdict(bare, limit, rules), (Draw, "move_limit", 0));
        let quiet = "3k5/9/9/9/9/9/9/9/9/4KR3 w moves";
        assert_eq!(verdict(quiet, limit, rules), (Draw, "move_limit", 0));
        assert_eq!(verdict(quiet, limit - 1, rules), (Ongoing, "", 0));
    }
}

#[test]
fn mate_goes_before_the_limit_and_repetition_too() {
    use referee::Outcome::{BlackWins, Draw, RedWins};
    for rules in RuleSet::ALL {
        let limit = rules.limit();
        let mate = "3k5/9/3P5/9/9/9/9/9/3R5/4K4 w moves d7d8";
        assert_eq!(verdict(mate, limit - 1, rules), (RedWins, "checkmate", 1));
        let check = "3k5/9/9/9/9/9/9/9/4R4/5K3 w moves e1d1 d9e9 d1e1 e9d9 e1d1 d9e9 d1e1 e9d9";
        let repetition =
            if rules == RuleSet::Simple { (Draw, "repetition", 8) } else { (BlackWins, "perpetual_check", 8) };
        assert_eq!(verdict(check, 0, rules), repetition);
        assert_eq!(verdict(check, limit - 8, rules), repetition);
        assert_eq!(verdict(check, limit - 7, rules), (Draw, "move_limit", 7));
        // The capture that leaves only defenders resets the counter.
        let bare = "3k5/9/9/9/9/9/9/9/4p4/4K4 w moves e0e1";
        assert_eq!(verdict(bare, limit - 1, rules), (Draw, "bare_defenders", 1));
    }
}

/// Long games with many checks. The ply of the natural limit depends on the rules, and comes later
/// than the limit itself where checks were not counted.
#[test]
fn both_arbiters_agree_on_long_games() {
    let mut limits = [0; RuleSet::ALL.len()];
    let (mut reasons, mut late) = (BTreeSet::new(), 0);
    for seed in 0..80 {
        let case = long_game(&mut SplitMix64::new(seed));
        for (rules, limits) in RuleSet::ALL.into_iter().zip(&mut limits) {
            let judged = translated(&play(&case, rules));
            assert_eq!(judged, expected(&case, rules), "seed {seed}, {rules}: {case}");
            *limits += u32::from(judged.reason == "move_limit");
            late += u32::from(judged.reason == "move_limit" && judged.ply as u32 + case.counter > rules.limit());
            reasons.insert(judged.reason);
        }
    }
    println!("the limit came first in {limits:?} games, {late} times with uncounted checks; seen: {reasons:?}");
    assert!(limits.iter().all(|&limits| limits >= 10) && late >= 10, "{limits:?}, {late} late");
    assert!(["checkmate", "bare_defenders", "repetition"].iter().all(|reason| reasons.contains(reason)), "{reasons:?}");
}

/// Rings of up to thirty loops, most of them different.
#[test]
fn rings_of_many_different_loops_are_judged_as_the_referee_judges_them() {
    let known = known_cases();
    let (mut longest, mut most_loops) = (0, 0);
    let mut by_level = [0; 4];
    for seed in 0..200 {
        let Some((start, moves, _)) = judged_ring(&case(seed, &known), RuleSet::Cxr) else { continue };
        let board = referee::Board::from_fen(&start.to_string()).unwrap();
        let once = referees_moves(&moves[..moves.len() / 2]);
        let once = if once.iter().fold(board.clone(), |board, &mv| board.after(mv)) == board { once } else { continue };
        let Some((ring, loops)) = many_loops(&mut SplitMix64::new(seed), &board, &once) else { continue };
        let moves = ring.iter().map(|&mv| referee::move_text(mv).parse().unwrap()).collect::<Vec<Move>>();
        let finding = examine_ring(&board, &ring);
        for rules in [RuleSet::Cxr, RuleSet::Wxf, RuleSet::Axf] {
            let verdict = judge_cycle(&start, &moves, rules).unwrap();
            for (conduct, finding) in verdict.conduct.iter().zip([&finding.red, &finding.black]) {
                assert_eq!(level(conduct.class), finding.level, "seed {seed}: {board} {moves:?}");
                assert_eq!(conduct.victims, victims_at_the_end(&finding.victims, &moves), "seed {seed}");
            }
        }
        let verdict = judge_cycle(&start, &moves, RuleSet::Wikibook).unwrap();
        let loser = wikibook::judge_cycle(&board, &ring).loser.map(|color| color as usize);
        assert_eq!(verdict.loser.map(Color::index), loser, "seed {seed}: {board} {moves:?}");
        if ring.len() > 100 {
            by_level[usize::from(finding.red.level.max(finding.black.level))] += 1;
        }
        (longest, most_loops) = (longest.max(ring.len()), most_loops.max(loops));
    }
    println!("up to {longest} plies, {most_loops} different loops; of more than 100 plies, by level: {by_level:?}");
    assert!(
        longest > 100 && longest <= MAX_RING_PLIES && most_loops >= 15,
        "{longest} plies, {most_loops} different loops"
    );
    assert!(by_level[0] > 0 && by_level[1] > 0 && by_level[3] > 0, "{by_level:?}");
}

/// Games whose third occurrence closes a ring of up to as many plies as the natural limit allows.
#[test]
fn long_rings_are_found_and_judged_in_games() {
    let (mut judged, mut longest) = (0, 0);
    let mut by_level = [0; 4];
    for seed in 0..6_000 {
        let Some(case) = long_case(&mut SplitMix64::new(seed)) else { continue };
        for rules in RuleSet::ALL {
            let found = translated(&play(&case, rules));
            assert_eq!(found, expected(&case, rules), "seed {seed}, {rules}: {case}");
            let Some((first, third)) = found.cycle else { continue };
            (judged, longest) = (judged + 1, longest.max(third - first));
            if let Some((red, black)) = found.levels.filter(|_| third - first > 40) {
                by_level[usize::from(red.max(black))] += 1;
            }
        }
    }
    println!("{judged} judged, up to {longest} plies; of more than 40 plies, by level: {by_level:?}");
    assert!(judged > 100 && longest > 100, "{judged} judged, up to {longest} plies");
    assert!(by_level[0] > 0 && by_level[1] > 0 && by_level[3] > 0, "{by_level:?}");
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
                panic!("seed {seed}, {rules}: {case} ends by one way of pushing but not by the other")
            };
            assert_eq!((mirrored.outcome, mirrored.reason, mirrored.ply), (ending.outcome, ending.reason, ending.ply));
            assert_eq!((swapped.reason, swapped.ply), (ending.reason, ending.ply));
            assert_eq!(swapped.outcome.loser(), ending.outcome.loser().map(|loser| !loser), "{rules}: {case}");
            if let (Some(cycle), Some(mirrored), Some(swapped)) = (ending.cycle, mirrored.cycle, swapped.cycle) {
                for color in Color::ALL {
                    let conduct = cycle.conduct(color);
                    assert_eq!(mirrored.conduct(color).class, conduct.class, "{rules}: {case}");
                    assert_eq!(swapped.conduct(!color).class, conduct.class, "{rules}: {case}");
                    let victims = conduct.victims.into_iter().map(Square::mirrored).collect();
                    assert_eq!(mirrored.conduct(color).victims, victims, "{rules}: {case}");
                }
            }
        }
    }
    assert!(judged > 2_000, "only {judged} endings were compared");
}

/// A ring of one loop played twice has no distinguished start.
#[test]
fn verdicts_on_a_loop_played_twice_do_not_depend_on_the_starting_point() {
    let known = known_cases();
    let mut shifted = 0;
    for seed in 0..1_500 {
        for rules in [RuleSet::Cxr, RuleSet::Wikibook] {
            let Some((start, moves, verdict)) = judged_ring(&case(seed, &known), rules) else { continue };
            let half = moves.len() / 2;
            // Equal moves with pieces that exchange places are not one loop played twice.
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

/// Whether a piece ends the loop on another point than it began: equal pieces have exchanged
/// places.
fn pieces_swap(start: &Position, moves: &[Move]) -> bool {
    let mut stands: Vec<_> = Square::all().collect();
    for mv in moves {
        stands[mv.to().index()] = stands[mv.from().index()];
    }
    start.occupied().into_iter().any(|square| stands[square.index()] != square)
}

/// Rings of a single loop, as judged in a search, and longer ones.
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
            let finding = examine_ring(&board, &referees_moves(&ring));
            let levels = verdict.conduct.map(|conduct| level(conduct.class));
            assert_eq!(levels, [finding.red.level, finding.black.level], "{start} {ring:?}");
            judged += 1;
        }
    }
    assert!(judged > 2_000, "only {judged} rings were judged");
}
