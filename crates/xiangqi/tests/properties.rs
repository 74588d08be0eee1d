//! Properties of every position that a game can reach: the board against an independent one, and
//! incremental state against state computed afresh.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod referee;

use std::collections::BTreeSet;

use proptest::prelude::*;
use referee::cycles::SplitMix64;
use xiangqi::{
    Bitboard, Color, Fen, Move, MoveList, Piece, PieceKind, Position, Square, attacks,
    rules::{Game, Reason, RuleSet, Status},
};

/// Plays a random game from the start, or from a sparse random position, and calls `visit` at every
/// position.
fn random_game(seed: u64, mut visit: impl FnMut(&mut Game)) {
    let mut rng = SplitMix64::new(seed);
    let start = if seed.is_multiple_of(3) {
        referee::cycles::random_position(&mut rng).to_string().parse().unwrap()
    } else {
        Fen::start()
    };
    let mut game = Game::new(start, RuleSet::Cxr);
    loop {
        visit(&mut game);
        if game.status() != &Status::Ongoing {
            break;
        }
        let moves = game.position().legal_moves();
        // Captures now and then, so that all kinds of material occur.
        let captures = game.position().captures();
        let mv = if !captures.is_empty() && rng.one_in(8) { rng.pick(&captures) } else { rng.pick(&moves) };
        game.push(mv).unwrap();
    }
}

fn board_of(position: &Position) -> referee::Board {
    referee::Board::from_fen(&position.to_string()).unwrap()
}

fn pairs(moves: impl IntoIterator<Item = Move>) -> BTreeSet<(u8, u8)> {
    moves.into_iter().map(|mv| (mv.from().index() as u8, mv.to().index() as u8)).collect()
}

/// The number of games suits every change; `PROPTEST_CASES` overrides it.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").map_or(64, |cases| cases.parse().unwrap());
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn legal_moves_are_the_referees_legal_pseudo_moves(seed: u64) {
        random_game(seed, |game| {
            let position = game.position();
            let board = board_of(position);
            let legal: BTreeSet<_> = referee::pseudo_moves(&board)
                .into_iter()
                .filter(|mv| referee::is_legal(&board, *mv))
                .collect();
            let listed = position.legal_moves();
            assert_eq!(pairs(listed.clone()), legal, "{position}");
            assert_eq!(listed.len(), legal.len(), "a move is listed twice in {position}");
            assert_eq!(position.count_legal_moves(), legal.len());
            assert_eq!(position.has_legal_move(), !legal.is_empty());
            let (captures, quiets) = (pairs(position.captures()), pairs(position.quiets()));
            assert!(captures.is_disjoint(&quiets));
            assert_eq!(&captures | &quiets, legal, "{position}");
            assert!(captures.iter().all(|(_, to)| board.at(*to).is_some()));
        });
    }

    #[test]
    fn any_two_points_are_a_legal_move_exactly_if_listed(seed: u64) {
        let mut ply = 0;
        random_game(seed, |game| {
            ply += 1;
            if ply % 16 != 0 {
                return;
            }
            let position = game.position();
            let listed = position.legal_moves();
            for from in Square::all() {
                for to in Square::all() {
                    let mv = Move::new(from, to);
                    assert_eq!(position.is_legal(mv), listed.contains(&mv), "{mv} in {position}");
                }
            }
        });
    }

    #[test]
    fn checks_are_seen_before_and_after_the_move(seed: u64) {
        random_game(seed, |game| {
            let mut position = game.position().clone();
            let board = board_of(&position);
            assert_eq!(position.in_check(), referee::in_check(&board, board.turn));
            let king = position.king(position.turn());
            let enemy = board.turn.other();
            let checkers: BTreeSet<_> = position.checkers().into_iter().map(|square| square.index() as u8).collect();
            let attackers: BTreeSet<_> = referee::attackers(&board, king.index() as u8, enemy).into_iter().collect();
            assert_eq!(checkers, attackers, "{position}");
            let checks = position.checks();
            let mut quiet_checks = MoveList::new();
            position.list_quiet_checks(&checks, &mut quiet_checks);
            let mut wanted = position.quiets();
            wanted.retain(|mv| position.gives_check(*mv));
            assert_eq!(quiet_checks, wanted, "{position}");
            for mv in position.legal_moves() {
                let gives_check = position.gives_check(mv);
                assert_eq!(checks.given_by(mv, &position), gives_check, "{mv} in {position}");
                let undo = position.make(mv);
                assert_eq!(position.in_check(), gives_check, "{mv} leads to {position}");
                position.unmake(mv, undo);
            }
        });
    }

    #[test]
    fn attackers_of_every_point_are_the_referees(seed: u64) {
        let mut ply = 0;
        random_game(seed, |game| {
            ply += 1;
            if ply % 16 != 0 {
                return;
            }
            let position = game.position();
            let board = board_of(position);
            for square in Square::all() {
                let attackers = position.attackers_to(square, position.occupied());
                for (side, color) in [(referee::Color::Red, Color::Red), (referee::Color::Black, Color::Black)] {
                    // The referee's attacks are its captures: a point without a piece of its own
                    // side, and not empty for a cannon.
                    let mut with_target = board.clone();
                    with_target.put(square.index() as u8, Some((side.other(), referee::Kind::Chariot)));
                    let occupied = position.occupied().with(square);
                    let found: Bitboard = referee::attackers(&with_target, square.index() as u8, side)
                        .into_iter()
                        .filter_map(|point| Square::from_index(usize::from(point)))
                        .collect();
                    let ours = position.attackers_to(square, occupied) & position.by_color(color);
                    assert_eq!(ours.without(square), found, "{side:?} on {square} in {position}");
                }
                assert_eq!(attackers - position.occupied(), Bitboard::EMPTY);
            }
        });
    }

    #[test]
    fn incremental_state_equals_state_computed_afresh(seed: u64) {
        random_game(seed, |game| {
            let position = game.position();
            // Parsing the FEN builds every bitboard, the keys and the checkers from scratch.
            let afresh = Position::from_fen(&position.to_string()).unwrap();
            assert_eq!(position, &afresh);
            assert_eq!((position.key(), position.pawn_key()), (afresh.key(), afresh.pawn_key()));
            assert_eq!(position.material_key(), afresh.material_key());
            for square in Square::all() {
                let piece = position.piece_at(square);
                for other in Piece::ALL {
                    let stands = position.pieces(other.color(), other.kind()).contains(square);
                    assert_eq!(stands, piece == Some(other));
                }
            }
            for color in Color::ALL {
                assert!(position.pieces(color, PieceKind::King).contains(position.king(color)));
            }
        });
    }

    #[test]
    fn unmake_undoes_make(seed: u64) {
        random_game(seed, |game| {
            let mut position = game.position().clone();
            let before = position.clone();
            for mv in position.legal_moves() {
                let key_after = position.key_after(mv);
                let undo = position.make(mv);
                assert_ne!(position.key(), before.key());
                assert_eq!(position.key(), key_after);
                position.unmake(mv, undo);
                assert_eq!(position, before);
            }
            if !position.in_check() {
                let undo = position.make_null();
                assert_eq!(Position::from_fen(&position.to_string()).as_ref(), Ok(&position));
                position.unmake_null(undo);
                assert_eq!(position, before);
            }
        });
    }

    #[test]
    fn a_game_taken_back_is_the_game_before(seed: u64) {
        let mut history = Vec::new();
        let mut last = None;
        random_game(seed, |game| {
            history.push((game.position().clone(), game.limit_counter(), *game.status()));
            last = Some(game.clone());
        });
        let mut game = last.unwrap();
        for (ply, (position, _, _)) in history.iter().enumerate() {
            assert_eq!(game.position_at(ply).as_ref(), Some(position));
        }
        while let Some((position, limit, status)) = history.pop() {
            assert_eq!((game.position(), game.limit_counter(), game.status()), (&position, limit, &status));
            assert_eq!(game.pop().is_none(), history.is_empty());
        }
    }

    #[test]
    fn symmetry_changes_nothing_but_the_points(seed: u64) {
        random_game(seed, |game| {
            let position = game.position();
            let (mirrored, flipped) = (position.mirrored(), position.flipped());
            assert_eq!(mirrored.count_legal_moves(), position.count_legal_moves());
            assert_eq!(flipped.count_legal_moves(), position.count_legal_moves());
            for mv in position.legal_moves() {
                assert!(mirrored.is_legal(mv.mirrored()) && flipped.is_legal(mv.flipped()));
            }
        });
    }

    #[test]
    fn see_equals_capturing_in_turn(seed: u64) {
        random_game(seed, |game| {
            let position = game.position();
            let board = board_of(position);
            for mv in position.legal_moves() {
                let value = position.see(mv);
                assert_eq!(value, slow_see(&board, mv), "{mv} in {position}");
                for threshold in [value - 100, value - 1, value, value + 1, value + 100, 0] {
                    assert_eq!(position.see_ge(mv, threshold), value >= threshold, "{mv} in {position}");
                }
            }
        });
    }
}

/// `push_listing` agrees with `push` under every rule set. The games move to and fro (repetition),
/// begin near the limit, and prefer captures (bare defenders).
#[test]
fn both_ways_to_push_say_the_same() {
    let mut reasons = BTreeSet::new();
    let mut plies = 0;
    for seed in 0..3_000 {
        let mut rng = SplitMix64::new(seed);
        let position = Position::from_fen(&referee::cycles::random_position(&mut rng).to_string()).unwrap();
        let rules = RuleSet::ALL[seed as usize % RuleSet::ALL.len()];
        let limit_counter = if rng.one_in(2) { 0 } else { rng.below(rules.limit() as usize) as u32 };
        let mut asked = Game::new(Fen { position, limit_counter, move_number: 1 }, rules);
        let (mut listed, mut list) = (asked.clone(), MoveList::new());
        let returns = rng.one_in(2);
        while asked.status() == &Status::Ongoing {
            let moves = asked.position().legal_moves();
            let back = asked.moves().nth_back(1).map(|mv| Move::new(mv.to(), mv.from()));
            let back = back.filter(|back| returns && moves.contains(back) && !rng.one_in(8));
            let captures = asked.position().captures();
            let takes = (!returns || rng.one_in(4)) && !captures.is_empty();
            let mv = back.unwrap_or_else(|| if takes { rng.pick(&captures) } else { rng.pick(&moves) });
            asked.push(mv).unwrap();
            assert_eq!(listed.push_listing(mv, &mut list), asked.status(), "{mv}, seed {seed}: {}", asked.fen());
            assert_eq!(list, asked.position().legal_moves());
            plies += 1;
        }
        reasons.extend(asked.status().ending().map(|ending| ending.reason));
    }
    println!("{plies} plies; seen: {reasons:?}");
    assert_eq!(reasons.len(), Reason::ALL.len(), "{reasons:?}");
}

fn worth(kind: referee::Kind) -> i32 {
    use referee::Kind;
    let kind = match kind {
        Kind::Chariot => PieceKind::Chariot,
        Kind::Horse => PieceKind::Horse,
        Kind::Cannon => PieceKind::Cannon,
        Kind::Pawn => PieceKind::Pawn,
        Kind::Advisor => PieceKind::Advisor,
        Kind::Elephant => PieceKind::Elephant,
        Kind::King => PieceKind::King,
    };
    xiangqi::SEE_VALUES[kind.index()]
}

/// SEE by its definition: make the move on a board; the other side recaptures with its least
/// valuable attacker, or declines, as it prefers.
fn slow_see(board: &referee::Board, mv: Move) -> i32 {
    let (from, to) = (mv.from().index() as u8, mv.to().index() as u8);
    let gain = board.at(to).map_or(0, |(_, kind)| worth(kind));
    gain - best_recapture(&board.after((from, to)), to).max(0)
}

fn best_recapture(board: &referee::Board, to: u8) -> i32 {
    let side = board.turn;
    let Some(taken) = board.at(to) else { return 0 };
    let least = referee::attackers(board, to, side)
        .into_iter()
        .filter_map(|from| board.at(from).map(|(_, kind)| (from, kind)))
        .min_by_key(|(from, kind)| (worth(*kind), order_among_equals(*kind), *from));
    let Some((from, kind)) = least else { return 0 };
    let after = board.after((from, to));
    if kind == referee::Kind::King && !referee::attackers(&after, to, side.other()).is_empty() {
        return 0;
    }
    worth(taken.1) - best_recapture(&after, to).max(0)
}

/// Advisors capture before elephants, which have the same value.
fn order_among_equals(kind: referee::Kind) -> u8 {
    u8::from(kind == referee::Kind::Elephant)
}

#[test]
fn the_exported_attacks_are_the_referees_moves() {
    let mut rng = SplitMix64::new(5);
    for _ in 0..300 {
        let board = referee::cycles::random_position(&mut rng);
        let position = Position::from_fen(&board.to_string()).unwrap();
        for from in position.occupied() {
            let piece = position.piece_at(from).unwrap();
            let captures = attacks::captures(piece, from, position.occupied());
            let targets: Bitboard = referee::pseudo_moves_from(&board, from.index() as u8)
                .into_iter()
                .filter_map(|(_, to)| Square::from_index(usize::from(to)))
                .filter(|to| position.piece_at(*to).is_some())
                .collect();
            assert_eq!(captures & position.by_color(!piece.color()), targets, "{from} in {position}");
        }
    }
}
