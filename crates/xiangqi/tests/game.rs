//! Guarantees of a game with its history, for players and searches.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use xiangqi::{
    Color, Fen, Move, MoveList, Position,
    rules::{Class, CycleError, Ending, Game, Outcome, PushError, Reason, RuleSet, Status, judge_cycle},
};

/// Chariots that can move freely, and kings that are not affected.
const QUIET: &str = "3k5/9/8r/9/9/9/9/R8/9/5K3 w";
/// A loop from [`QUIET`] back to it.
const LOOP: [&str; 4] = ["a2b2", "i7h7", "b2a2", "h7i7"];
/// A chariot that gives perpetual check, until the verdict.
const CHECKS: &str = "3k5/9/9/9/9/9/9/9/4R4/5K3 w";
const CHECKING: [&str; 8] = ["e1d1", "d9e9", "d1e1", "e9d9", "e1d1", "d9e9", "d1e1", "e9d9"];

fn game(fen: &str, rules: RuleSet) -> Game {
    Game::new(fen.parse::<Fen>().unwrap(), rules)
}

fn moves(texts: &[&str]) -> Vec<Move> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// The game after these moves, judged after each.
fn pushed(fen: &str, rules: RuleSet, texts: &[&str]) -> Game {
    let mut game = game(fen, rules);
    for mv in moves(texts) {
        game.push(mv).unwrap();
    }
    game
}

fn advance(game: &mut Game, texts: &[&str]) {
    for mv in moves(texts) {
        assert!(game.position().is_legal(mv));
        game.make_unjudged(mv);
    }
}

fn repetition_draw(status: &Status) -> bool {
    status.ending().is_some_and(|ending| ending.reason == Reason::Repetition)
}

#[test]
fn moves_that_cannot_be_made_are_refused_and_change_nothing() {
    let mut game = pushed(QUIET, RuleSet::Cxr, &LOOP[..1]);
    for text in ["a2b2", "b2c2", "i7i7", "i7a0", "d9d6"] {
        let (before, mv) = (game.clone(), text.parse().unwrap());
        assert_eq!(game.push(mv), Err(PushError::Illegal { ply: 2, mv }), "{text}");
        assert_eq!((game.fen(), game.len(), game.status()), (before.fen(), 1, before.status()));
    }
    let error = game.push("i7a0".parse().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "move 2 (i7a0) is not legal");

    let mut game = pushed(CHECKS, RuleSet::Cxr, &CHECKING);
    let (fen, mv) = (game.fen(), "e1d1".parse().unwrap());
    let error = game.push(mv).unwrap_err();
    assert_eq!(error, PushError::Over { ply: 9, mv, reason: Reason::PerpetualCheck });
    assert_eq!(error.to_string(), "move 9 (e1d1) comes after the game has ended (perpetual_check)");
    assert_eq!((game.fen(), game.len()), (fen, 8));
    assert!(game.status().ending().is_some());
}

#[test]
fn moves_that_are_no_cycle_are_not_judged_as_one() {
    let start = Position::from_fen(QUIET).unwrap();
    let judged = |texts: &[&str]| judge_cycle(&start, &moves(texts), RuleSet::Cxr);
    assert!(judged(&LOOP).is_ok());
    assert_eq!(judged(&[]), Err(CycleError::Open));
    assert_eq!(judged(&LOOP[..2]), Err(CycleError::Open));
    // All pieces are back, but the other side is to move.
    assert_eq!(judged(&["a2b2", "i7h7", "b2c2", "h7i7", "c2a2"]), Err(CycleError::Open));
    let illegal = |number, text: &str| Err(CycleError::Illegal { number, mv: text.parse().unwrap() });
    assert_eq!(judged(&["a2b2", "i7a0", "b2a2", "a0i7"]), illegal(2, "i7a0"));
    assert_eq!(judged(&["i7h7", "a2b2", "h7i7", "b2a2"]), illegal(1, "i7h7"));
    // A capture is not part of a cycle.
    let capture = Err(CycleError::Capture { number: 3, mv: "a7h7".parse().unwrap() });
    assert_eq!(judged(&["a2a7", "i7h7", "a7h7", "d9e9"]), capture);
    let messages = [judged(&[]), illegal(2, "i7a0"), capture].map(|error| error.unwrap_err().to_string());
    assert_eq!(
        messages,
        [
            "the cycle does not return to its first position",
            "move 2 of the cycle, i7a0, is not legal",
            "move 3 of the cycle, a7h7, takes a piece"
        ]
    );
}

#[test]
fn the_text_of_a_game_carries_its_counters() {
    let counters = |game: &Game| (game.fen().limit_counter, game.fen().move_number);
    let mut game = pushed(&format!("{QUIET} - - 7 40"), RuleSet::Cxr, &[]);
    assert_eq!(counters(&game), (7, 40));
    for (text, expected) in LOOP.into_iter().zip([(8, 40), (9, 41), (10, 41), (11, 42)]) {
        game.push(text.parse().unwrap()).unwrap();
        assert_eq!(counters(&game), expected, "after {text}");
        let again: Fen = game.fen().to_string().parse().unwrap();
        assert_eq!(again, game.fen());
    }
    game.pop();
    assert_eq!(counters(&game), (10, 41));
    // Black moves first: its move ends the full move given in the FEN.
    let black = pushed("3k5/9/8r/9/9/9/9/R8/9/5K3 b - - 3 9", RuleSet::Cxr, &["i7h7"]);
    assert_eq!(counters(&black), (4, 10));
    // A capture resets the counter.
    let capture = pushed("3k5/9/9/9/9/R7r/9/9/9/5K3 w - - 50 60", RuleSet::Cxr, &["a4i4", "d9e9"]);
    assert_eq!(counters(&capture), (1, 61));
}

#[test]
fn the_text_of_a_game_can_always_be_read() {
    let starts = [(119_998, 99_999), (0, u32::MAX), (u32::MAX, 1), (99_999, 99_998)];
    for (limit_counter, move_number) in starts {
        let start = Fen { limit_counter, move_number, ..QUIET.parse().unwrap() };
        let mut game = Game::new(start, RuleSet::Cxr);
        advance(&mut game, &LOOP);
        assert_eq!(game.fen().to_string().parse(), Ok(game.fen()));
        assert!(game.limit_reached() == (limit_counter > 0), "the counter has wrapped");
    }
}

#[test]
fn a_start_that_is_over_is_over_again_when_all_is_taken_back() {
    let mut game = game(&format!("{QUIET} - - 120 80"), RuleSet::Cxr);
    let over = *game.status();
    assert_eq!(over.ending().map(|ending| ending.reason), Some(Reason::MoveLimit));
    game.make_unjudged("a2b2".parse().unwrap());
    assert_eq!(game.pop(), Some("a2b2".parse().unwrap()));
    assert_eq!(game.status(), &over);
    assert_eq!(game.pop(), None);
    assert_eq!(game.status(), &over);
}

#[test]
fn taking_back_a_move_made_after_the_end_leads_to_the_end() {
    let mut game = pushed(CHECKS, RuleSet::Cxr, &CHECKING);
    let over = *game.status();
    advance(&mut game, &["e1d1", "d9e9"]);
    assert_eq!(game.pop(), Some("d9e9".parse().unwrap()));
    assert!(game.status().ending().is_some(), "the position after the end stands for the third time too");
    game.pop();
    assert_eq!(game.status(), &over);
    game.pop();
    assert_eq!(game.status(), &Status::Ongoing);

    let mut game = pushed(QUIET, RuleSet::Cxr, &[]);
    for mv in moves(&[LOOP, LOOP].concat()) {
        game.push_legal(mv);
    }
    game.push_legal("a2c2".parse().unwrap());
    assert_eq!(game.status(), &Status::Ongoing);
    game.pop();
    assert!(repetition_draw(game.status()));
}

#[test]
fn occurrences_are_counted_from_the_first() {
    let mut game = game(QUIET, RuleSet::Cxr);
    for occurrence in 1..5 {
        assert_eq!(game.occurrences(), occurrence);
        advance(&mut game, &LOOP[..2]);
        assert_eq!(game.occurrences(), occurrence);
        advance(&mut game, &LOOP[2..]);
    }
    // An irreversible move ends the count: this pawn's step, then no more.
    let mut game = self::game("3k5/9/8r/4P4/9/9/9/R8/9/5K3 w", RuleSet::Cxr);
    advance(&mut game, &LOOP);
    assert_eq!(game.occurrences(), 2);
    advance(&mut game, &["e6e7", "i7h7", "a2b2", "h7i7", "b2a2"]);
    assert_eq!(game.occurrences(), 2);
    game.unmake_unjudged();
    assert_eq!(game.occurrences(), 1);
}

#[test]
fn moves_that_close_a_loop_are_foreseen() {
    let mut game = game(QUIET, RuleSet::Cxr);
    for (text, may) in LOOP.into_iter().zip([false, false, false, true]) {
        let mv = text.parse().unwrap();
        assert_eq!(game.may_repeat(mv), may, "{text}");
        game.make_unjudged(mv);
    }
    assert!(game.may_repeat("a2b2".parse().unwrap()));
    assert!(!game.may_repeat("a2c2".parse().unwrap()));
}

#[test]
fn a_search_judges_the_second_occurrence_only_inside_its_tree() {
    let mut game = game(QUIET, RuleSet::Cxr);
    advance(&mut game, &["a2a3", "i7i6"]);
    advance(&mut game, &["a3b3", "i6h6", "b3a3", "h6i6"]);
    let plies = |tree| game.repetition(tree).map(|cycle| (cycle.from, cycle.to));
    assert_eq!(plies(0), Some((2, 6)));
    assert_eq!(plies(2), Some((2, 6)), "the loop begins at the root");
    assert_eq!(plies(3), None, "the loop begins before the root");
    assert_eq!(plies(usize::MAX), None);
    let mut game = game.clone();
    advance(&mut game, &["a3b3", "i6h6", "b3a3", "h6i6"]);
    let plies = |tree| game.repetition(tree).map(|cycle| (cycle.from, cycle.to));
    assert_eq!(plies(2), Some((6, 10)), "the last loop is what the tree sees first");
    assert_eq!(plies(7), Some((2, 10)), "the third occurrence, wherever the root is");
    assert_eq!(plies(usize::MAX), Some((2, 10)));
}

/// Both sides pass between the two halves of the loop: the same position recurs, but not by moves
/// alone.
#[test]
fn nothing_counts_as_repeated_across_a_null_move() {
    let mut game = game(QUIET, RuleSet::Cxr);
    advance(&mut game, &LOOP[..2]);
    let before = game.fen();
    let nulls = [game.make_null(), game.make_null()];
    assert_eq!(game.fen(), before);
    advance(&mut game, &LOOP[2..]);
    assert_eq!(game.position(), &before_the_loop());
    assert_eq!(game.repetition(0), None);
    assert_eq!(game.occurrences(), 1);
    advance(&mut game, &LOOP);
    assert_eq!(game.repetition(0).map(|cycle| (cycle.from, cycle.to)), Some((4, 8)));
    assert_eq!(game.occurrences(), 2);
    // After the null moves are taken back, everything counts again.
    for _ in 0..6 {
        game.unmake_unjudged();
    }
    for null in nulls.into_iter().rev() {
        game.unmake_null(null);
    }
    assert_eq!((game.fen(), game.len()), (before, 2));
    assert!(!game.may_repeat("b2a2".parse().unwrap()));
    advance(&mut game, &LOOP[2..]);
    assert_eq!(game.repetition(0).map(|cycle| (cycle.from, cycle.to)), Some((0, 4)));
}

fn before_the_loop() -> Position {
    Position::from_fen(QUIET).unwrap()
}

#[test]
fn a_move_foreseen_as_closing_a_loop_does_not_reach_over_a_null_move() {
    let mut game = game(QUIET, RuleSet::Cxr);
    advance(&mut game, &LOOP[..3]);
    let _pass = game.make_null();
    let _pass_back = game.make_null();
    assert!(!game.may_repeat("h7i7".parse().unwrap()));
}

#[test]
fn positions_before_a_null_move_are_unchanged() {
    let mut game = game(QUIET, RuleSet::Cxr);
    let mut positions = vec![game.position().clone()];
    for mv in moves(&LOOP[..2]) {
        game.make_unjudged(mv);
        positions.push(game.position().clone());
    }
    let null = game.make_null();
    let passed = game.position().clone();
    assert_eq!(passed.turn(), Color::Black);
    advance(&mut game, &["h7g7", "b2c2"]);
    assert_eq!(game.position_at(0).as_ref(), Some(&positions[0]));
    assert_eq!(game.position_at(1).as_ref(), Some(&positions[1]));
    assert_eq!(game.position_at(2), Some(passed));
    assert_eq!(game.position_at(4).as_ref(), Some(game.position()));
    assert_eq!(game.position_at(5), None);
    game.unmake_unjudged();
    game.unmake_unjudged();
    game.unmake_null(null);
    assert_eq!(game.position_at(2).as_ref(), Some(&positions[2]));
}

/// The chariot is between its own king and a horse of its own colour, and so not pinned.
#[test]
fn a_horse_pins_no_chariot_of_its_own_side() {
    let fen = |horse| format!("3k5/9/9/9/9/9/9/9/1cr2R{horse}2/3AK4 w");
    let moves = ["d0e1", "c1c2", "e1d0", "c2c1", "d0e1", "c1c2", "e1d0", "c2c1"];
    for (horse, expected) in [('n', Class::ChasePinnedChariot), ('N', Class::Chase)] {
        let game = pushed(&fen(horse), RuleSet::Cxr, &moves);
        let cycle = game.status().ending().unwrap().cycle.unwrap();
        assert_eq!(cycle.conduct(Color::Black).class, expected, "{horse}");
    }
}

/// `push_listing` on games short enough to state their endings; `arbiter` and `properties` compare
/// the long ones.
#[test]
fn listing_the_moves_changes_no_verdict() {
    let ends = |fen: &str, texts: &[&str]| {
        let mut game = game(fen, RuleSet::Cxr);
        let mut list = MoveList::new();
        for mv in moves(texts) {
            assert_eq!(game.status(), &Status::Ongoing);
            game.push_listing(mv, &mut list);
            assert_eq!(list, game.position().legal_moves());
        }
        game.status().ending().map(|ending| ending.reason)
    };
    assert_eq!(ends(QUIET, &LOOP), None);
    assert_eq!(ends(QUIET, &[LOOP, LOOP].concat()), Some(Reason::Repetition));
    assert_eq!(ends(CHECKS, &CHECKING), Some(Reason::PerpetualCheck));
    assert_eq!(ends(&format!("{QUIET} - - 119"), &LOOP[..1]), Some(Reason::MoveLimit));
    assert_eq!(ends("3k5/9/9/9/9/9/9/9/4p4/4K4 w", &["e0e1"]), Some(Reason::BareDefenders));
    assert_eq!(ends("3k5/9/9/9/9/9/9/9/R8/4K4 w", &["a1a8"]), Some(Reason::Stalemate));
    assert_eq!(ends("3k5/9/3P5/9/9/9/9/9/3R5/4K4 w", &["d7d8"]), Some(Reason::Checkmate));
}

#[test]
fn the_ending_of_another_game_is_explained_by_outcome_and_reason() {
    let mut over = pushed("3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w", RuleSet::Cxr, &[]);
    for mv in moves(&["d0e1", "c1c2", "e1d0", "c2c1", "d0e1", "c1c2", "e1d0", "c2c1"]) {
        over.push(mv).unwrap();
    }
    let ending = *over.status().ending().unwrap();
    assert!(over.explain(&ending).english.contains("pinned by Black's horse"));
    assert_eq!(over.explain(&ending).offences.len(), 8);

    let start = game(QUIET, RuleSet::Cxr);
    over.pop();
    for other in [&start, &over, &pushed(CHECKS, RuleSet::Cxr, &CHECKING)] {
        let explanation = other.explain(&ending);
        assert_eq!(explanation.english, "Black loses by perpetual chase.");
        assert_eq!(explanation.chinese, "黑方长捉，判负。");
        assert!(explanation.offences.is_empty());
    }
    for outcome in Outcome::ALL {
        for reason in Reason::ALL {
            let foreign = Ending { outcome, reason, ..ending };
            let explanation = start.explain(&foreign);
            assert!(explanation.english.ends_with('.') && explanation.chinese.ends_with('。'));
        }
    }
}
