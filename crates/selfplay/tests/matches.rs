//! Matches between scripted players.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use engine::{Engine, Settings};
use selfplay::{
    Abort, Adjudication, Allowance, Choice, Conditions, DrawRule, Ending, EnginePlayer, Entrant, FaultKind, MatchPlan,
    NoTimer, OpeningOrder, Openings, PairReport, Player, Reason, Standing, TimeControl, Timer, Trouble, play_match,
};
use stats::{Decision, EloModel, Hypotheses, Sprt};
use xiangqi::{
    Color,
    rules::{Game, RuleSet},
};

/// A clock that players advance.
#[derive(Default)]
struct ManualTimer(AtomicU64);

impl Timer for ManualTimer {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Relaxed))
    }
}

/// Allowances, with the player and the ply.
type Seen = Mutex<Vec<(Entrant, usize, Allowance)>>;

/// Plays a legal move by the position's key, takes a fixed time, and faults at a given ply.
struct ScriptedPlayer<'a> {
    timer: &'a ManualTimer,
    milliseconds: u64,
    trouble: Option<(usize, FaultKind)>,
    entrant: Entrant,
    seen: &'a Seen,
}

impl Player for ScriptedPlayer<'_> {
    fn new_game(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble> {
        self.timer.0.fetch_add(self.milliseconds, Relaxed);
        self.seen.lock().unwrap().push((self.entrant, game.len(), *allowance));
        let moves = game.position().legal_moves();
        let mut mv = moves[(game.position().key() % moves.len() as u64) as usize];
        match self.trouble {
            Some((ply, FaultKind::IllegalMove)) if game.len() >= ply => mv = xiangqi::Move::new(mv.from(), mv.from()),
            Some((ply, kind)) if game.len() >= ply => return Err(Trouble::fault(kind, "scripted")),
            _ => {}
        }
        Ok(Choice { mv, score: Some(0), depth: 1, nodes: 1, line: vec![mv] })
    }
}

fn plan(pairs: u64, threads: usize, time_control: TimeControl, timer: &dyn Timer) -> MatchPlan<'_> {
    let openings = Openings { rules: RuleSet::Cxr, book: None, plies: 6, filter: None };
    MatchPlan {
        first_pair: 0,
        pairs,
        threads,
        openings: OpeningOrder::new(openings, 5),
        conditions: Conditions {
            time_controls: [time_control; 2],
            decider: false,
            grace: Duration::from_millis(10),
            adjudication: Adjudication::default(),
            ply_cap: 60,
        },
        test: None,
        timer,
        watcher: None,
    }
}

/// Plays with scripted players. A takes the given time and has the given trouble; B has none.
fn play(
    plan: &MatchPlan<'_>,
    timer: &ManualTimer,
    milliseconds: u64,
    trouble: Option<(usize, FaultKind)>,
) -> (Vec<PairReport>, Standing) {
    play_seen(plan, timer, milliseconds, trouble, &Seen::default())
}

fn play_seen(
    plan: &MatchPlan<'_>,
    timer: &ManualTimer,
    milliseconds: u64,
    trouble: Option<(usize, FaultKind)>,
    seen: &Seen,
) -> (Vec<PairReport>, Standing) {
    let mut pairs = Vec::new();
    let enter = |entrant| -> Result<Box<dyn Player + '_>, String> {
        let (milliseconds, trouble) = if entrant == Entrant::A { (milliseconds, trouble) } else { (1, None) };
        Ok(Box::new(ScriptedPlayer { timer, milliseconds, trouble, entrant, seen }))
    };
    let standing = play_match(plan, &enter, |pair, _| {
        pairs.push(pair.clone());
        Ok(ControlFlow::Continue(()))
    });
    (pairs, standing.unwrap())
}

#[test]
fn both_games_of_a_pair_have_one_opening_with_colours_swapped() {
    let timer = ManualTimer::default();
    let plan = plan(3, 1, TimeControl::Nodes(1), &timer);
    let (pairs, standing) = play(&plan, &timer, 0, None);
    assert_eq!(standing.games.games(), 6);
    assert_eq!(pairs.iter().map(|pair| pair.number).collect::<Vec<_>>(), [0, 1, 2]);
    for pair in &pairs {
        for played in &pair.games {
            let opening: Vec<_> = played.game.moves().take(played.opening_plies).collect();
            assert_eq!(opening, pair.opening.moves);
            assert_eq!(played.game.len(), played.opening_plies + played.moves.len());
        }
    }
    assert_ne!(pairs[0].opening.moves, pairs[1].opening.moves);
}

#[test]
fn every_fault_costs_its_side_the_game() {
    use FaultKind::{Crash, IllegalMove, Stall, WrongPosition};
    let timer = ManualTimer::default();
    for kind in [Crash, IllegalMove, Stall, WrongPosition] {
        let plan = plan(2, 2, TimeControl::Nodes(1), &timer);
        let (pairs, standing) = play(&plan, &timer, 0, Some((10, kind)));
        assert_eq!(standing.games.cells(), &[4, 0, 0]);
        assert_eq!(standing.pairs.cells(), &[2, 0, 0, 0, 0]);
        assert_eq!(standing.faults.len(), 4);
        for (index, fault) in standing.faults.iter().enumerate() {
            assert_eq!((fault.pair, fault.second), (index as u64 / 2, index % 2 == 1));
            assert_eq!((fault.entrant, fault.kind), (Entrant::A, kind));
            // Six plies of opening and four more; A moves first or second.
            assert_eq!(fault.ply, if fault.second { 11 } else { 10 });
        }
        let [first, second] = &pairs[0].games;
        let side = |ending: &Ending| if let Ending::Fault(side, _) = ending { Some(*side) } else { None };
        assert_eq!((side(&first.ending), side(&second.ending)), (Some(Color::Red), Some(Color::Black)));
        assert_eq!((first.ending.reason(), first.game.len()), (kind.name(), 10));
    }
}

#[test]
fn a_move_may_use_its_time_and_the_grace() {
    let timer = ManualTimer::default();
    let time_control = TimeControl::MoveTime(Duration::from_millis(100));
    let (_, standing) = play(&plan(1, 1, time_control, &timer), &timer, 110, None);
    assert_eq!(standing.faults, []);
    let (pairs, standing) = play(&plan(1, 1, time_control, &timer), &timer, 111, None);
    assert_eq!(standing.games.cells(), &[2, 0, 0]);
    assert!(standing.faults.iter().all(|fault| (fault.entrant, fault.kind) == (Entrant::A, FaultKind::TimeLoss)));
    assert_eq!(standing.faults[0].detail, "111 ms used where 110 were left, a grace of 10 included");
    assert_eq!(pairs[0].games[0].moves, []);
}

#[test]
fn clocks_run_down_and_get_their_increment() {
    let timer = ManualTimer::default();
    let clock = |base, increment| TimeControl::Clock {
        base: Duration::from_millis(base),
        increment: Duration::from_millis(increment),
        moves: None,
    };
    // 27 moves until the ply cap; sudden death.
    let (_, standing) = play(&plan(1, 1, clock(270, 0), &timer), &timer, 10, None);
    assert_eq!(standing.faults, []);
    // The 26th move uses all of the grace, the 27th is late.
    let (_, standing) = play(&plan(1, 1, clock(250, 0), &timer), &timer, 10, None);
    assert_eq!(standing.faults.len(), 2);
    assert_eq!((standing.faults[0].kind, standing.faults[0].ply), (FaultKind::TimeLoss, 6 + 2 * 26));
    // An increment equal to the time used.
    let (_, standing) = play(&plan(1, 1, clock(10, 10), &timer), &timer, 10, None);
    assert_eq!(standing.faults, []);
    let (_, standing) = play(&plan(1, 1, clock(100, 5), &timer), &timer, 10, None);
    assert_eq!(standing.faults.len(), 2);
}

/// Players that knew of the grace would use it.
#[test]
fn allowances_exclude_the_grace() {
    let timer = ManualTimer::default();
    let milliseconds = Duration::from_millis;
    let seen_with = |time_control| {
        let seen = Seen::default();
        let (_, standing) = play_seen(&plan(1, 1, time_control, &timer), &timer, 7, None, &seen);
        assert_eq!(standing.faults, []);
        seen.into_inner().unwrap()
    };
    let time = milliseconds(100);
    let seen = seen_with(TimeControl::MoveTime(time));
    assert!(seen.len() > 50 && seen.iter().all(|(.., allowance)| *allowance == Allowance::MoveTime(time)));
    let increment = milliseconds(2);
    let seen = seen_with(TimeControl::Clock { base: milliseconds(1000), increment, moves: None });
    for (entrant, plies, allowance) in seen {
        // The six opening plies take no time; A takes 7 ms for each of its moves, B takes 1 ms.
        let moves = |color: Color| {
            let played = plies as u64 - 6;
            // Red moves first after an opening of even length.
            if color == Color::Red { played.div_ceil(2) } else { played / 2 }
        };
        let mover = if plies.is_multiple_of(2) { Color::Red } else { Color::Black };
        let left = |color: Color, is_a: bool| {
            let used = if is_a { 7 } else { 1 };
            milliseconds(1000 + 2 * moves(color) - used * moves(color))
        };
        let is_a = entrant == Entrant::A;
        let expected = Allowance::Clock {
            own: left(mover, is_a),
            opponent: left(!mover, !is_a),
            increment,
            opponent_increment: increment,
            moves_to_go: None,
        };
        assert_eq!(allowance, expected, "{entrant:?} after {plies} plies");
    }
}

#[test]
fn limits_belong_to_the_entrants_and_a_decider_favours_black() {
    let timer = ManualTimer::default();
    let mut plan = plan(1, 1, TimeControl::Nodes(1), &timer);
    plan.conditions.time_controls = [TimeControl::Nodes(300), TimeControl::Nodes(90)];
    for decider in [false, true] {
        plan.conditions.decider = decider;
        let seen = Seen::default();
        let (pairs, standing) = play_seen(&plan, &timer, 0, None, &seen);
        for (entrant, plies, allowance) in seen.into_inner().unwrap() {
            let is_black = !plies.is_multiple_of(2);
            let nodes = match (entrant, decider && is_black) {
                (Entrant::A, false) => 300,
                (Entrant::A, true) => 200,
                (Entrant::B, false) => 90,
                (Entrant::B, true) => 60,
            };
            assert_eq!(allowance, Allowance::Nodes(nodes), "{entrant:?} after {plies} plies");
        }
        // All games reach the ply cap.
        assert!(pairs.iter().flat_map(|pair| &pair.games).all(|played| played.ending.reason() == "ply_cap"));
        assert_eq!(standing.games.cells(), if decider { &[1, 0, 1] } else { &[0, 2, 0] });
    }
}

#[test]
fn a_game_ends_at_the_ply_cap_and_not_after_it() {
    let timer = ManualTimer::default();
    let (pairs, standing) = play(&plan(3, 1, TimeControl::Nodes(1), &timer), &timer, 0, None);
    assert_eq!(standing.faults, []);
    let mut capped = 0;
    for played in pairs.iter().flat_map(|pair| &pair.games) {
        let is_capped = matches!(played.ending, Ending::Played(_, Reason::PlyCap));
        assert!(if is_capped { played.game.len() == 60 } else { played.game.len() <= 60 }, "{:?}", played.ending);
        capped += usize::from(is_capped);
    }
    assert!(capped > 0, "no game was long enough");
}

/// The draw rule counts the plies of the whole game.
#[test]
fn the_first_ply_of_draw_adjudication_counts_the_opening() {
    let timer = ManualTimer::default();
    let mut plan = plan(2, 1, TimeControl::Nodes(1), &timer);
    plan.conditions.adjudication.draw = Some(DrawRule { score: 0, plies: 3, from_ply: 12 });
    let (pairs, _) = play(&plan, &timer, 0, None);
    for played in pairs.iter().flat_map(|pair| &pair.games) {
        assert_eq!((played.ending.reason(), played.game.len()), ("adjudicated_draw", 12));
    }
}

/// The moves of a pair's games.
type Pair = [Vec<String>; 2];

fn engines(threads: usize, first_pair: u64, pairs: u64) -> (Vec<Pair>, Standing) {
    let plan = MatchPlan { first_pair, ..plan(pairs, threads, TimeControl::Nodes(60), &NoTimer) };
    let enter = |_| -> Result<Box<dyn Player>, String> {
        let settings = Settings { hash_mebibytes: 1, ..Settings::default() };
        Ok(Box::new(EnginePlayer::new(Engine::new(&settings), &NoTimer)))
    };
    let mut games = Vec::new();
    let standing = play_match(&plan, &enter, |pair, standing| {
        assert_eq!(first_pair + standing.pairs.pairs(), pair.number + 1);
        let moves = [0, 1].map(|index| pair.games[index].game.moves().map(|mv| mv.to_string()).collect());
        games.push(moves);
        Ok(ControlFlow::Continue(()))
    });
    (games, standing.unwrap())
}

/// An engine against itself at fixed nodes: both games of a pair are equal, so every pair is even.
#[test]
fn matches_at_fixed_nodes_are_deterministic() {
    let (games, standing) = engines(1, 0, 4);
    assert_eq!(engines(2, 0, 4).0, games);
    assert_eq!(standing.pairs.cells(), &[0, 0, 4, 0, 0]);
    assert!(games.iter().all(|[first, second]| first == second));
    // A resumed match plays the same games.
    let (rest, standing) = engines(2, 3, 4);
    assert_eq!((rest.as_slice(), standing.pairs.pairs()), (&games[3..], 1));
    assert!(engines(1, 4, 4).0.is_empty());
}

#[test]
fn a_test_ends_the_match_at_the_pair_that_decides_it() {
    let timer = ManualTimer::default();
    let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 50.0).unwrap());
    let decided = |threads| {
        let plan = MatchPlan { test: Some(test), ..plan(10_000, threads, TimeControl::Nodes(1), &timer) };
        play(&plan, &timer, 0, Some((8, FaultKind::Crash)))
    };
    let (pairs, standing) = decided(1);
    assert_eq!(standing.decision, Some(Decision::AcceptH0));
    assert!(pairs.len() < 1000);
    let before = stats::Pentanomial::new([pairs.len() as u64 - 1, 0, 0, 0, 0]);
    assert_eq!(test.decision(before), Ok(Decision::Continue));
    let (more_pairs, more) = decided(3);
    assert_eq!((more_pairs.len(), more.pairs, more.llr), (pairs.len(), standing.pairs, standing.llr));
}

#[test]
fn without_players_there_is_no_match() {
    let plan = plan(1, 2, TimeControl::Nodes(1), &NoTimer);
    let enter = |_| -> Result<Box<dyn Player>, String> { Err("lost".to_owned()) };
    let result = play_match(&plan, &enter, |_, _| Ok(ControlFlow::Continue(())));
    assert_eq!(result.unwrap_err().why, Abort::Gone { entrant: Entrant::A, detail: "lost".to_owned() });
}
