//! The judgement of cycles: the conduct of both sides, and the loser.
//!
//! A cycle is a ring: a position, the moves from it back to it, and after the last move the first
//! again. It consists of one loop, or of two that may differ.
//!
//! An offence counts only if it holds after every move of a side, all round the ring.
//!
//! Pieces are followed from the first position to the last: a piece's *identity* is the point on
//! which it stood first.

use crate::{Bitboard, Color, Move, Position, Square};

use super::RuleSet;

/// A side's conduct in a cycle, ordered by gravity.
///
/// The side with the graver class loses, for all rule sets except `Wikibook`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Class {
    /// No offence.
    #[default]
    Allowed,
    /// Perpetual chase: every move chases the same piece.
    Chase,
    /// Perpetual chase of a chariot that is pinned on the leg of the chaser's horse.
    ChasePinnedChariot,
    /// Every move gives check or threatens mate, and not all give check. Only in `Wikibook`.
    MateThreat,
    /// Perpetual check: every move gives check.
    Check,
}

impl Class {
    /// The name used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Chase => "chase",
            Self::ChasePinnedChariot => "chase_pinned_chariot",
            Self::Check => "check",
            Self::MateThreat => "mate_threat",
        }
    }

    /// Whether the offence is against the king.
    #[must_use]
    pub const fn is_against_king(self) -> bool {
        matches!(self, Self::Check | Self::MateThreat)
    }
}

/// One side's conduct in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    /// The class of the conduct.
    pub class: Class,
    /// The pieces chased on every move, on their points at the end of the cycle.
    pub victims: Bitboard,
}

/// A judged cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleVerdict {
    /// The ply after which the repeated position occurred first.
    pub from: usize,
    /// The ply after which it occurred last.
    pub to: usize,
    /// The conduct of each side, by [`Color::index`].
    pub conduct: [Conduct; 2],
    /// The offending pieces of each side, by [`Color::index`], on their points at the end of the
    /// cycle.
    ///
    /// Present only if their numbers decided: in `Wikibook`, between two offending sides.
    pub offenders: Option<[Bitboard; 2]>,
    /// The loser; `None` for a draw.
    pub loser: Option<Color>,
}

impl CycleVerdict {
    /// The conduct of this side.
    #[must_use]
    pub const fn conduct(&self, color: Color) -> &Conduct {
        &self.conduct[color.index()]
    }
}

/// An error: the moves are no cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CycleError {
    #[error("move {number} of the cycle, {mv}, is not legal")]
    Illegal { number: usize, mv: Move },
    #[error("move {number} of the cycle, {mv}, takes a piece")]
    Capture { number: usize, mv: Move },
    #[error("the cycle does not return to its first position")]
    Open,
}

/// Judges a single cycle: `moves` lead from `start` back to it.
///
/// # Errors
///
/// If a move is illegal or a capture, or the moves do not return to `start`.
pub fn judge_cycle(start: &Position, moves: &[Move], rules: RuleSet) -> Result<CycleVerdict, CycleError> {
    let mut position = start.clone();
    for (index, &mv) in moves.iter().enumerate() {
        let number = index + 1;
        if !position.is_legal(mv) {
            return Err(CycleError::Illegal { number, mv });
        }
        if position.make(mv).captured().is_some() {
            return Err(CycleError::Capture { number, mv });
        }
    }
    if moves.is_empty() || position != *start {
        return Err(CycleError::Open);
    }
    Ok(judge(&Ring { start: position, from: 0, length: moves.len(), mv: |index| moves[index] }, rules))
}

/// A cycle as the arbiter walks it, with the moves numbered from 0.
pub(super) struct Ring<F> {
    pub(super) start: Position,
    pub(super) from: usize,
    pub(super) length: usize,
    pub(super) mv: F,
}

/// The state after one move of the ring.
pub(super) struct RingPly<'a> {
    pub(super) position: &'a mut Position,
    pub(super) identities: &'a Identities,
    /// The index of the last move.
    pub(super) index: usize,
    pub(super) mover: Color,
    /// The reply to the last move; the ring's first move replies to its last.
    pub(super) reply: Move,
}

impl<F: Fn(usize) -> Move> Ring<F> {
    /// Walks the ring once; returns the identities at the end.
    pub(super) fn walk(&self, mut visit: impl FnMut(RingPly<'_>)) -> Identities {
        let mut position = self.start.clone();
        let mut identities = Identities::new();
        for index in 0..self.length {
            let mv = (self.mv)(index);
            let mover = position.turn();
            let _ = position.make(mv);
            identities.follow(mv);
            let reply = (self.mv)((index + 1) % self.length);
            visit(RingPly { position: &mut position, identities: &identities, index, mover, reply });
        }
        identities
    }
}

/// The identity of the piece on each point.
#[derive(Clone)]
pub(super) struct Identities([u8; Square::COUNT]);

impl Identities {
    fn new() -> Self {
        Self(std::array::from_fn(|index| index as u8))
    }

    fn follow(&mut self, mv: Move) {
        self.0[mv.to().index()] = self.0[mv.from().index()];
    }

    /// The identities of the pieces on these points.
    pub(super) fn of(&self, squares: Bitboard) -> Bitboard {
        squares.into_iter().map(|square| Square::at(usize::from(self.0[square.index()]))).collect()
    }

    /// The points among `among` that hold pieces of these identities.
    pub(super) fn squares(&self, identities: Bitboard, among: Bitboard) -> Bitboard {
        among
            .into_iter()
            .filter(|square| identities.contains(Square::at(usize::from(self.0[square.index()]))))
            .collect()
    }
}

/// The offences that hold for all moves of one side so far.
struct SideTally {
    checks: bool,
    /// Every move gave check or threatened mate.
    attacks_king: bool,
    /// The pieces chased by every move, by identity.
    chased: Bitboard,
    /// The enemy chariots pinned after every move by this side's horses, by identity.
    pinned: Bitboard,
}

impl SideTally {
    fn new(rules: RuleSet) -> Self {
        let attacks_king = rules == RuleSet::Wikibook;
        Self { checks: true, attacks_king, chased: Bitboard::ALL, pinned: Bitboard::ALL }
    }

    fn record(&mut self, ring_ply: &mut RingPly<'_>) {
        if ring_ply.position.in_check() {
            self.chased = Bitboard::EMPTY;
            return;
        }
        self.checks = false;
        self.attacks_king = self.attacks_king && ring_ply.threatens_mate();
        if self.chased.is_empty() {
            return;
        }
        let identities = ring_ply.identities;
        let candidates = identities.squares(self.chased, ring_ply.position.by_color(!ring_ply.mover));
        self.chased &= identities.of(ring_ply.chases(candidates));
        if self.pinned.any() {
            self.pinned &= identities.of(ring_ply.position.chariots_on_leg(ring_ply.mover));
        }
    }

    fn class(&self, rules: RuleSet) -> Class {
        if self.checks {
            Class::Check
        } else if self.attacks_king {
            Class::MateThreat
        } else if self.chased.is_empty() {
            Class::Allowed
        } else if rules != RuleSet::Wikibook && self.chased.intersects(self.pinned) {
            Class::ChasePinnedChariot
        } else {
            Class::Chase
        }
    }
}

impl RingPly<'_> {
    /// The pieces among `candidates` that the mover chases and the reply saves.
    pub(super) fn chases(&mut self, candidates: Bitboard) -> Bitboard {
        let chased = self.position.chased(self.mover, candidates);
        if chased.is_empty() {
            return chased;
        }
        let (from, to) = (self.reply.from(), self.reply.to());
        let flees = chased.contains(from);
        let then = if flees { chased.without(from).with(to) } else { chased };
        let undo = self.position.make(self.reply);
        let still = self.position.chased(self.mover, then);
        self.position.unmake(self.reply, undo);
        let still = if flees && still.contains(to) { still.without(to).with(from) } else { still };
        chased - still
    }

    /// Whether the mover threatens mate and the reply parries it.
    fn threatens_mate(&mut self) -> bool {
        self.threatening().any()
    }

    /// The pieces with which the mover threatens mate, if the reply parries it.
    pub(super) fn threatening(&mut self) -> Bitboard {
        let pieces = self.position.mating_pieces(self.mover);
        if pieces.is_empty() {
            return pieces;
        }
        let undo = self.position.make(self.reply);
        let parried = self.position.mating_pieces(self.mover).is_empty();
        self.position.unmake(self.reply, undo);
        if parried { pieces } else { Bitboard::EMPTY }
    }
}

/// Judges a valid cycle.
pub(super) fn judge<F: Fn(usize) -> Move>(ring: &Ring<F>, rules: RuleSet) -> CycleVerdict {
    let (from, to) = (ring.from, ring.from + ring.length);
    if rules == RuleSet::Simple {
        return CycleVerdict { from, to, conduct: [Conduct::default(); 2], offenders: None, loser: None };
    }
    let mut tallies = Color::ALL.map(|_| SideTally::new(rules));
    let identities = ring.walk(|mut ring_ply| tallies[ring_ply.mover.index()].record(&mut ring_ply));
    let conduct = Color::ALL.map(|color| {
        let tally = &tallies[color.index()];
        let class = tally.class(rules);
        let victims = match class {
            Class::Chase | Class::ChasePinnedChariot => identities.squares(tally.chased, ring.start.by_color(!color)),
            _ => Bitboard::EMPTY,
        };
        Conduct { class, victims }
    });
    let both_offended = conduct.iter().all(|conduct| conduct.class != Class::Allowed);
    let offenders = (rules == RuleSet::Wikibook && both_offended).then(|| offenders(ring, &conduct));
    let loser = offenders.map_or_else(|| loser_by_class(&conduct), loser_by_number);
    CycleVerdict { from, to, conduct, offenders, loser }
}

fn loser_by_class([red, black]: &[Conduct; 2]) -> Option<Color> {
    match red.class.cmp(&black.class) {
        std::cmp::Ordering::Greater => Some(Color::Red),
        std::cmp::Ordering::Less => Some(Color::Black),
        std::cmp::Ordering::Equal => None,
    }
}

/// The older custom: of two offending sides, the one with more offending pieces loses.
fn loser_by_number([red, black]: [Bitboard; 2]) -> Option<Color> {
    match red.count().cmp(&black.count()) {
        std::cmp::Ordering::Greater => Some(Color::Red),
        std::cmp::Ordering::Less => Some(Color::Black),
        std::cmp::Ordering::Equal => None,
    }
}

/// The pieces of each side that took part in its offence, on their points at the end.
fn offenders<F: Fn(usize) -> Move>(ring: &Ring<F>, conduct: &[Conduct; 2]) -> [Bitboard; 2] {
    let mut offenders = [Bitboard::EMPTY; 2];
    let identities = ring.walk(|mut ring_ply| {
        let class = conduct[ring_ply.mover.index()].class;
        let victims = ring_ply.victims(ring, conduct);
        let by = ring_ply.offenders(class, victims);
        offenders[ring_ply.mover.index()] |= ring_ply.identities.of(by);
    });
    Color::ALL.map(|color| identities.squares(offenders[color.index()], ring.start.by_color(color)))
}

impl RingPly<'_> {
    /// The points of the pieces that the mover chases all round the ring.
    pub(super) fn victims<F: Fn(usize) -> Move>(&self, ring: &Ring<F>, conduct: &[Conduct; 2]) -> Bitboard {
        // Identified by their end points; the same pieces may have begun elsewhere.
        let ends = conduct[self.mover.index()].victims;
        if ends.is_empty() {
            return ends;
        }
        let mut last = Identities::new();
        (0..ring.length).for_each(|index| last.follow((ring.mv)(index)));
        self.identities.squares(last.of(ends), self.position.by_color(!self.mover))
    }

    /// The mover's offending pieces: those that check, threaten mate, or chase the victims.
    pub(super) fn offenders(&mut self, class: Class, victims: Bitboard) -> Bitboard {
        match class {
            Class::Allowed => Bitboard::EMPTY,
            _ if self.position.in_check() => self.position.checkers(),
            Class::MateThreat | Class::Check => self.position.mating_pieces(self.mover),
            Class::Chase | Class::ChasePinnedChariot => {
                let mut chasers = Bitboard::EMPTY;
                self.position.visit_chases(self.mover, victims, |chaser, _| chasers |= chaser.into());
                chasers
            }
        }
    }
}
