//! What both sides did in a cycle, and who loses by it.
//!
//! A cycle is a ring: a position, the moves from it back to it (one loop, or two that need not be the same), and after
//! the last move the first again. Everything that counts is what holds after every move of a side, all round the ring.
//! Pieces are followed from the first position to the last: a piece's *identity* is the point on which it stood first.

use crate::{Bitboard, Color, Move, Position, Square};

use super::RuleSet;

/// What a side did in a cycle, the gravest last. For all rule sets but `Wikibook`, of two sides the one with the graver
/// class loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Class {
    /// Nothing that could lose.
    #[default]
    Allowed,
    /// Chased the same piece on every move.
    Chase,
    /// Chased, on every move, a chariot that stood pinned on the leg of the chaser's horse.
    ChasePinnedChariot,
    /// Threatened mate on every move that did not give check. Only `Wikibook` asks.
    MateThreat,
    /// Gave check on every move.
    Check,
}

impl Class {
    /// The word used in commands and files.
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

    /// Whether the king was what was attacked.
    #[must_use]
    pub const fn is_against_king(self) -> bool {
        matches!(self, Self::Check | Self::MateThreat)
    }
}

/// One side's part in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    /// What it did.
    pub class: Class,
    /// The pieces it chased on every move, where they stand at the end of the cycle.
    pub victims: Bitboard,
}

/// A judged cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleVerdict {
    /// After which ply the repeated position stood first.
    pub from: usize,
    /// After which ply it stood last.
    pub to: usize,
    /// What each side did, by [`Color::index`].
    pub conduct: [Conduct; 2],
    /// The pieces that each side offended with, where they stand at the end of the cycle, by [`Color::index`]; if their
    /// numbers decided, which they do only for `Wikibook`, between two sides that offended.
    pub offenders: Option<[Bitboard; 2]>,
    /// Who loses by it; nobody if it is a draw.
    pub loser: Option<Color>,
}

impl CycleVerdict {
    /// What this side did.
    #[must_use]
    pub const fn conduct(&self, color: Color) -> &Conduct {
        &self.conduct[color.index()]
    }
}

/// Moves that are no cycle.
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

/// Judges a cycle by itself: `moves` lead from `start` back to it.
///
/// # Errors
///
/// If they do not, or one is not legal.
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

/// A cycle as the arbiter walks it: the moves numbered from 0.
pub(super) struct Ring<F> {
    pub(super) start: Position,
    pub(super) from: usize,
    pub(super) length: usize,
    pub(super) mv: F,
}

/// A moment of the walk: a move of the ring has just been made.
pub(super) struct Moment<'a> {
    pub(super) position: &'a mut Position,
    pub(super) identities: &'a Identities,
    /// The number of the move just made.
    pub(super) index: usize,
    pub(super) mover: Color,
    /// The move that answers it; the first one answers the last.
    pub(super) reply: Move,
}

impl<F: Fn(usize) -> Move> Ring<F> {
    /// Goes round once; returns the identities at the end.
    pub(super) fn walk(&self, mut visit: impl FnMut(Moment<'_>)) -> Identities {
        let mut position = self.start.clone();
        let mut identities = Identities::new();
        for index in 0..self.length {
            let mv = (self.mv)(index);
            let mover = position.turn();
            let _ = position.make(mv);
            identities.follow(mv);
            let reply = (self.mv)((index + 1) % self.length);
            visit(Moment { position: &mut position, identities: &identities, index, mover, reply });
        }
        identities
    }
}

/// Which piece stands where.
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

    /// Those of the given points on which pieces of these identities stand.
    pub(super) fn squares(&self, identities: Bitboard, among: Bitboard) -> Bitboard {
        among
            .into_iter()
            .filter(|square| identities.contains(Square::at(usize::from(self.0[square.index()]))))
            .collect()
    }
}

/// What can still be said of all of a side's moves so far.
struct Account {
    checks: bool,
    /// Every move a check or a threat of mate.
    attacks_king: bool,
    /// The pieces chased by every move, by identity.
    chased: Bitboard,
    /// The enemy chariots that after every move stood on the leg of this side's horses, by identity.
    pinned: Bitboard,
}

impl Account {
    fn new(rules: RuleSet) -> Self {
        let attacks_king = rules == RuleSet::Wikibook;
        Self { checks: true, attacks_king, chased: Bitboard::ALL, pinned: Bitboard::ALL }
    }

    fn enter(&mut self, moment: &mut Moment<'_>) {
        if moment.position.in_check() {
            self.chased = Bitboard::EMPTY;
            return;
        }
        self.checks = false;
        self.attacks_king = self.attacks_king && moment.threatens_mate();
        if self.chased.is_empty() {
            return;
        }
        let identities = moment.identities;
        let candidates = identities.squares(self.chased, moment.position.by_color(!moment.mover));
        self.chased &= identities.of(moment.chases(candidates));
        if self.pinned.any() {
            self.pinned &= identities.of(moment.position.chariots_on_leg(moment.mover));
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

impl Moment<'_> {
    /// The pieces among these points that the mover chases, and that the reply saves.
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

    /// Whether the mover threatens mate, and the reply parries.
    fn threatens_mate(&mut self) -> bool {
        self.threatening().any()
    }

    /// The pieces with which the mover threatens mate, if the reply parries.
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

/// Judges a cycle that is known to be one.
pub(super) fn judge<F: Fn(usize) -> Move>(ring: &Ring<F>, rules: RuleSet) -> CycleVerdict {
    let (from, to) = (ring.from, ring.from + ring.length);
    if rules == RuleSet::Simple {
        return CycleVerdict { from, to, conduct: [Conduct::default(); 2], offenders: None, loser: None };
    }
    let mut accounts = Color::ALL.map(|_| Account::new(rules));
    let identities = ring.walk(|mut moment| accounts[moment.mover.index()].enter(&mut moment));
    let conduct = Color::ALL.map(|color| {
        let account = &accounts[color.index()];
        let class = account.class(rules);
        let victims = match class {
            Class::Chase | Class::ChasePinnedChariot => identities.squares(account.chased, ring.start.by_color(!color)),
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

/// The older custom: of two sides that offend, the one that offends with more pieces loses.
fn loser_by_number([red, black]: [Bitboard; 2]) -> Option<Color> {
    match red.count().cmp(&black.count()) {
        std::cmp::Ordering::Greater => Some(Color::Red),
        std::cmp::Ordering::Less => Some(Color::Black),
        std::cmp::Ordering::Equal => None,
    }
}

/// The pieces that each side offended with on any of its moves, where they stand at the end.
fn offenders<F: Fn(usize) -> Move>(ring: &Ring<F>, conduct: &[Conduct; 2]) -> [Bitboard; 2] {
    let mut offenders = [Bitboard::EMPTY; 2];
    let identities = ring.walk(|mut moment| {
        let class = conduct[moment.mover.index()].class;
        let victims = moment.victims(ring, conduct);
        let by = moment.offenders(class, victims);
        offenders[moment.mover.index()] |= moment.identities.of(by);
    });
    Color::ALL.map(|color| identities.squares(offenders[color.index()], ring.start.by_color(color)))
}

impl Moment<'_> {
    /// Where the pieces that the mover chases all round the ring stand now.
    pub(super) fn victims<F: Fn(usize) -> Move>(&self, ring: &Ring<F>, conduct: &[Conduct; 2]) -> Bitboard {
        // Known by where they end; the same pieces may have begun elsewhere.
        let ends = conduct[self.mover.index()].victims;
        if ends.is_empty() {
            return ends;
        }
        let mut last = Identities::new();
        (0..ring.length).for_each(|index| last.follow((ring.mv)(index)));
        self.identities.squares(last.of(ends), self.position.by_color(!self.mover))
    }

    /// The mover's pieces that offend here: those that check, that threaten to mate, or that chase the victims.
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
