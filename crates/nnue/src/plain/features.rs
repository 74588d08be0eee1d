//! The features of the plain evaluation.

use xiangqi::{Bitboard, Color, Piece, PieceKind, Position, Square, attacks};

use super::sign;

/// The index of a feature's weight.
pub type Feature = u16;

/// The points of half a board: files a to e, with the others mirrored onto them.
const HALF_POINTS: usize = 50;

// The first index of each group of features.
const PLACES: usize = 0;
const CHARIOT_MOBILITY: usize = PLACES + PieceKind::COUNT * HALF_POINTS;
const HORSE_MOBILITY: usize = CHARIOT_MOBILITY + 18;
const CANNON_MOBILITY: usize = HORSE_MOBILITY + 9;
const PALACE_ATTACK: usize = CANNON_MOBILITY + 18;
const HANGING: usize = PALACE_ATTACK + PieceKind::COUNT;
const ATTACKED_BY_PAWN: usize = HANGING + PieceKind::COUNT;
const BARE_CANNON: usize = ATTACKED_BY_PAWN + PieceKind::COUNT;
const PINNING_CANNON: usize = BARE_CANNON + 1;
const PINNING_CHARIOT: usize = PINNING_CANNON + 1;
const BOTTOM_CANNON: usize = PINNING_CHARIOT + 1;
const CHARIOTS_BY_LOST_ADVISORS: usize = BOTTOM_CANNON + 1;
const CANNONS_BY_LOST_ADVISORS: usize = CHARIOTS_BY_LOST_ADVISORS + 3;
const HORSES_BY_LOST_ELEPHANTS: usize = CANNONS_BY_LOST_ADVISORS + 3;
const CANNONS_BY_LOST_ELEPHANTS: usize = HORSES_BY_LOST_ELEPHANTS + 3;
const PAIRS: usize = CANNONS_BY_LOST_ELEPHANTS + 3;
const ADJACENT_PAWNS: usize = PAIRS + 3;
const TURN: usize = ADJACENT_PAWNS + 1;

/// The number of features.
pub const FEATURES: usize = TURN + 1;

/// Returns the mirrored point of a piece from its side's view.
const fn half_point(side: Color, square: Square) -> usize {
    let square = match side {
        Color::Red => square,
        Color::Black => square.flipped(),
    };
    let file = if square.file() > 4 { 8 - square.file() } else { square.file() };
    square.rank() as usize * 5 + file as usize
}

/// The points that a side attacks.
#[derive(Clone, Copy, Default)]
struct Attacked {
    by_any: Bitboard,
    by_pawns: Bitboard,
}

/// Calls `visit` with each feature and its count for the side to move less that for the opponent.
#[inline]
pub fn visit_features(position: &Position, mut visit: impl FnMut(Feature, i32)) {
    let turn = position.turn();
    let mut attacked = [Attacked::default(); 2];
    for side in Color::ALL {
        let sign = sign(side, turn);
        let mut found = |feature: usize, count: u32| visit(feature as Feature, sign * count as i32);
        attacked[side.index()] = pieces(position, side, &mut found);
        attack_on_king(position, side, &mut found);
        material(position, side, &mut found);
    }
    for side in Color::ALL {
        let sign = sign(side, turn);
        let enemies = position.by_color(!side);
        let Attacked { by_any, by_pawns } = attacked[side.index()];
        let hanging = (by_any & enemies) - attacked[(!side).index()].by_any;
        let under_pawns = by_pawns & enemies;
        if (hanging | under_pawns).any() {
            for kind in PieceKind::ALL {
                let pieces = position.by_kind(kind);
                visit((HANGING + kind.index()) as Feature, sign * (hanging & pieces).count() as i32);
                visit((ATTACKED_BY_PAWN + kind.index()) as Feature, sign * (under_pawns & pieces).count() as i32);
            }
        }
    }
    visit(TURN as Feature, 1);
}

/// Piece-square, mobility and palace attack features.
#[inline]
fn pieces(position: &Position, side: Color, found: &mut impl FnMut(usize, u32)) -> Attacked {
    let occupied = position.occupied();
    let own = position.by_color(side);
    let palace = attacks::palace(!side);
    let mut attacked = Attacked::default();
    for kind in PieceKind::ALL {
        for square in position.pieces(side, kind) {
            found(PLACES + kind.index() * HALF_POINTS + half_point(side, square), 1);
            let reach = attacks::captures(Piece::new(side, kind), square, occupied);
            match kind {
                PieceKind::Chariot => found(CHARIOT_MOBILITY + (reach - own).count() as usize, 1),
                PieceKind::Horse => found(HORSE_MOBILITY + (reach - own).count() as usize, 1),
                PieceKind::Cannon => {
                    let quiet = attacks::chariot(square, occupied) - occupied;
                    found(CANNON_MOBILITY + quiet.count() as usize, 1);
                }
                PieceKind::Pawn => attacked.by_pawns |= reach,
                PieceKind::Advisor | PieceKind::Elephant | PieceKind::King => {}
            }
            attacked.by_any |= reach;
            let threatened = (reach & palace).count();
            if threatened > 0 {
                found(PALACE_ATTACK + kind.index(), threatened);
            }
        }
    }
    attacked
}

/// King attack features of cannons and chariots.
#[inline]
fn attack_on_king(position: &Position, side: Color, found: &mut impl FnMut(usize, u32)) {
    let king = position.king(!side);
    let file = Bitboard::file(king.file());
    let occupied = position.occupied();
    for cannon in position.pieces(side, PieceKind::Cannon) & file {
        match (attacks::between(king, cannon) & occupied).count() {
            0 => found(BARE_CANNON, 1),
            2 => found(PINNING_CANNON, 1),
            _ => {}
        }
    }
    for chariot in position.pieces(side, PieceKind::Chariot) & file {
        if (attacks::between(king, chariot) & occupied).count() == 1 {
            found(PINNING_CHARIOT, 1);
        }
    }
    let bottom = match side {
        Color::Red => 9,
        Color::Black => 0,
    };
    if king.rank() == bottom {
        let cannons = position.pieces(side, PieceKind::Cannon) & Bitboard::rank(bottom);
        found(BOTTOM_CANNON, cannons.count());
    }
}

/// Material interaction features.
#[inline]
fn material(position: &Position, side: Color, found: &mut impl FnMut(usize, u32)) {
    let own = |kind| position.pieces(side, kind).count();
    let lost = |kind: PieceKind| kind.max_count().saturating_sub(position.pieces(!side, kind).count()) as usize;
    let (lost_advisors, lost_elephants) = (lost(PieceKind::Advisor), lost(PieceKind::Elephant));
    let (chariots, horses, cannons) = (own(PieceKind::Chariot), own(PieceKind::Horse), own(PieceKind::Cannon));
    found(CHARIOTS_BY_LOST_ADVISORS + lost_advisors, chariots);
    found(CANNONS_BY_LOST_ADVISORS + lost_advisors, cannons);
    found(HORSES_BY_LOST_ELEPHANTS + lost_elephants, horses);
    found(CANNONS_BY_LOST_ELEPHANTS + lost_elephants, cannons);
    for (index, count) in [chariots, horses, cannons].into_iter().enumerate() {
        found(PAIRS + index, u32::from(count == 2));
    }
    let crossed = position.pieces(side, PieceKind::Pawn) & Bitboard::bank(!side);
    let beside = crossed
        .into_iter()
        .filter(|pawn| Square::new(pawn.file() + 1, pawn.rank()).is_some_and(|beside| crossed.contains(beside)));
    found(ADJACENT_PAWNS, beside.count() as u32);
}
