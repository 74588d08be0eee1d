//! Consequences of evidence on contested shards: audits, disputes, quarantine.
//!
//! A [`Case`] holds rows and findings. [`Case::next`] lists the transitions that they demand now:
//! all of one kind, the first kind that has any. [`Case::apply`] changes the rows. Transitions of
//! one kind commute, so the end state depends neither on their order nor on that of the evidence.
//! An operation mirrors each in the database.

mod transition;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::discriminant,
    ops::Range,
};

pub use transition::Transition;

use super::audits;
use crate::model::{
    AccountId, AccountState, AuditState, Comparison, ComparisonId, ComparisonState, Evidence, LeaseKind, ObjectState,
    ShardEvidence, ShardId, ShardState,
};

impl AccountState {
    /// The changes by quarantine. Administrators make the others.
    pub const TRANSITIONS: &'static [(Self, Self)] =
        &[(Self::Active, Self::Quarantined), (Self::Pending, Self::Quarantined), (Self::Quarantined, Self::Active)];
}

impl ComparisonState {
    /// All changes.
    pub const TRANSITIONS: &'static [(Self, Self)] = &[
        (Self::Waiting, Self::Equal),
        (Self::Waiting, Self::Different),
        (Self::Waiting, Self::Settled),
        (Self::Waiting, Self::Void),
        (Self::Void, Self::Waiting),
        (Self::Different, Self::Settled),
    ];
}

/// Contested shards, their comparisons, and what is to be done about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    shards: BTreeMap<ShardId, ShardEvidence>,
    comparisons: BTreeMap<ComparisonId, Comparison>,
    /// The comparisons of each shard.
    touching: BTreeMap<ShardId, BTreeSet<ComparisonId>>,
    /// Shards all of whose comparisons are known.
    complete: BTreeSet<ShardId>,
    /// Accounts whose confirmations are void.
    distrusted: BTreeSet<AccountId>,
    /// Results of comparisons: the game that differs.
    results: BTreeMap<ComparisonId, Option<i64>>,
    /// Shards that were found wrong. They leave the pool whatever audits passed.
    wrong: BTreeSet<ShardId>,
    /// Games that were consulted.
    consulted: BTreeSet<(ShardId, i64)>,
    /// Changes of accounts' clean games.
    gains: BTreeMap<AccountId, i64>,
    /// Transitions that findings and other transitions demand; rows demand the rest.
    due: BTreeSet<Transition>,
}

impl Case {
    /// Adds rows, as they are now.
    pub fn extend(&mut self, evidence: Evidence) {
        for shard in &evidence.shards {
            if shard.is_distrusted {
                self.distrusted.insert(shard.account);
            }
        }
        self.shards.extend(evidence.shards.into_iter().map(|shard| (shard.id, shard)));
        for row in &evidence.comparisons {
            for side in [row.left, row.right] {
                self.touching.entry(side).or_default().insert(row.id);
            }
        }
        self.comparisons.extend(evidence.comparisons.into_iter().map(|row| (row.id, row)));
        self.complete.extend(evidence.complete);
    }

    /// Adds the result of a comparison: the game that differs, if any. One with a known result
    /// comes before others.
    pub fn compared(&mut self, comparison: ComparisonId, differs: Option<i64>) {
        if self.comparisons.get(&comparison).is_some_and(|row| row.state == ComparisonState::Waiting) {
            self.results.insert(comparison, differs);
            self.due.insert(Transition::Conclude(comparison));
        }
    }

    /// Adds the quarantine of an account, or its end. A review of its shards follows.
    pub fn decided(&mut self, account: AccountId, is_quarantined: bool) {
        self.due.insert(if is_quarantined { Transition::Distrust(account) } else { Transition::Trust(account) });
    }

    /// Adds the ruling on a dispute: whether each side is right. Returns whether the dispute was
    /// open.
    pub fn ruled(&mut self, comparison: ComparisonId, is_right: [bool; 2]) -> bool {
        let row = self.comparison(comparison);
        let (is_open, sides) = (row.state == ComparisonState::Different, [row.left, row.right]);
        let game = row.game.unwrap_or(row.numbers.start);
        if is_open {
            for (side, is_right) in sides.into_iter().zip(is_right) {
                if !is_right {
                    self.found_wrong(side, game);
                }
            }
            self.due.insert(Transition::Settle(comparison));
        }
        is_open
    }

    /// Adds that a referee played another game than this one of a shard. The shard leaves the pool,
    /// and its account is quarantined. So are those with the same game, which confirmed it. Returns
    /// whether the shard was in the pool.
    pub fn found_wrong(&mut self, shard: ShardId, game: i64) -> bool {
        let is_in = !self.is_out(shard);
        if is_in {
            self.due.insert(Transition::Convict(shard, game));
        }
        is_in
    }

    /// Reviews shards of an account whose standing changed. What they confirmed is verified again.
    /// In a quarantine those that are not verified leave the pool; at its end all come back.
    pub fn review(&mut self, shards: impl IntoIterator<Item = ShardId>) {
        for id in shards {
            let Some(shard) = self.shards.get(&id) else { continue };
            let (account, state) = (shard.account, shard.state);
            let equal = self.of(id).filter(|row| row.state == ComparisonState::Equal);
            let others = equal.map(|row| if row.left == id { row.right } else { row.left });
            let others: Vec<ShardId> = others.filter(|other| self.shard(*other).account != account).collect();
            self.due.extend(others.into_iter().map(Transition::Verify));
            if !self.distrusted.contains(&account) && state == ShardState::Quarantined {
                self.due.insert(Transition::Restore(id));
            }
        }
    }

    /// A shard.
    ///
    /// # Panics
    ///
    /// If it is not in the case.
    #[must_use]
    pub fn shard(&self, shard: ShardId) -> &ShardEvidence {
        &self.shards[&shard]
    }

    /// A comparison.
    ///
    /// # Panics
    ///
    /// If it is not in the case.
    #[must_use]
    pub fn comparison(&self, comparison: ComparisonId) -> &Comparison {
        &self.comparisons[&comparison]
    }

    /// The shard that a comparison proved wrong in this game, since the result of the other one is
    /// known.
    #[must_use]
    pub fn outvoted(&self, comparison: &Comparison, game: i64) -> Option<&ShardEvidence> {
        let [left, right] = [self.shard(comparison.left), self.shard(comparison.right)];
        match [left, right].map(|side| audits::is_known(side, game)) {
            [true, false] => Some(right),
            [false, true] => Some(left),
            _ => None,
        }
    }

    /// Takes the change of an account's clean games.
    pub fn take_gain(&mut self, account: AccountId) -> i64 {
        self.gains.remove(&account).unwrap_or_default()
    }

    /// The transitions that are demanded now: all of the first kind that has any.
    #[must_use]
    pub fn next(&self) -> BTreeSet<Transition> {
        let mut all = self.due.clone();
        all.extend(
            self.shards.values().filter(|shard| self.is_unproven(shard)).map(|shard| Transition::Withdraw(shard.id)),
        );
        for row in self.comparisons.values() {
            match row.state {
                ComparisonState::Waiting if self.is_out(row.left) || self.is_out(row.right) => {
                    all.insert(Transition::Void(row.id));
                }
                ComparisonState::Different if self.due.contains(&Transition::Settle(row.id)) => {}
                ComparisonState::Different
                    if self.complete.contains(&row.left) && self.complete.contains(&row.right) =>
                {
                    let game = row.game.unwrap_or(row.numbers.start);
                    let open = [row.left, row.right].into_iter().filter(|side| !self.is_judged(*side, game));
                    let open: Vec<ShardId> = open.collect();
                    if open.is_empty() {
                        all.insert(Transition::Settle(row.id));
                    }
                    let open = open.into_iter().filter(|side| !self.consulted.contains(&(*side, game)));
                    all.extend(open.map(|side| Transition::Consult(side, game)));
                }
                _ => {}
            }
        }
        for shard in self.complete.iter().filter_map(|shard| self.shards.get(shard)) {
            if shard.state == ShardState::Disputed && !self.is_disputed(shard.id) {
                all.insert(Transition::Release(shard.id));
            }
        }
        let Some(first) = all.first().copied() else { return all };
        all.into_iter().filter(|transition| discriminant(transition) == discriminant(&first)).collect()
    }

    /// Applies a transition to the rows. Returns whether a row changed.
    pub fn apply(&mut self, transition: Transition) -> bool {
        self.due.remove(&transition);
        match transition {
            Transition::Conclude(comparison) => self.conclude(comparison),
            Transition::Convict(shard, game) => {
                if !self.wrong.insert(shard) {
                    return false;
                }
                self.due.insert(Transition::Distrust(self.shard(shard).account));
                let same = |row: &&Comparison| row.state == ComparisonState::Equal && row.numbers.contains(&game);
                let others: Vec<[ShardId; 2]> = self.of(shard).filter(same).map(|row| [row.left, row.right]).collect();
                for other in others.into_iter().flatten().filter(|other| *other != shard) {
                    self.found_wrong(other, game);
                }
            }
            Transition::Verify(shard) => return self.verify(shard),
            Transition::Dispute(shard) => return self.change(shard, ShardState::Validated, ShardState::Disputed),
            Transition::Distrust(account) => drop(self.distrusted.insert(account)),
            Transition::Trust(account) => drop(self.distrusted.remove(&account)),
            Transition::Withdraw(shard) => {
                let state = self.shard(shard).state;
                self.due.insert(Transition::Pass(shard));
                return self.change(shard, state, ShardState::Quarantined);
            }
            Transition::Restore(shard) => {
                let void = self.of(shard).filter(|row| row.state == ComparisonState::Void);
                self.due.extend(void.map(|row| Transition::Requeue(row.id)).collect::<Vec<_>>());
                self.due.insert(Transition::Reclaim(shard));
                return self.change(shard, ShardState::Quarantined, self.restored(shard));
            }
            Transition::Void(comparison) => self.set(comparison, ComparisonState::Void),
            Transition::Requeue(comparison) => {
                let row = self.comparison(comparison);
                let is_possible = |shard| !self.is_out(shard) && self.shard(shard).object == ObjectState::Present;
                if !is_possible(row.left) || !is_possible(row.right) {
                    return false;
                }
                self.set(comparison, ComparisonState::Waiting);
            }
            Transition::Consult(shard, game) => drop(self.consulted.insert((shard, game))),
            Transition::Settle(comparison) => self.set(comparison, ComparisonState::Settled),
            Transition::Release(shard) => {
                self.due.insert(Transition::Hold(shard));
                return self.change(shard, ShardState::Disputed, ShardState::Validated);
            }
            Transition::Recount(_) | Transition::Pass(_) | Transition::Reclaim(_) | Transition::Hold(_) => {}
        }
        true
    }

    fn conclude(&mut self, comparison: ComparisonId) {
        let game = self.results.remove(&comparison).flatten();
        let row = self.comparison(comparison).clone();
        let sides = [row.left, row.right];
        let outvoted = game.and_then(|game| self.outvoted(&row, game)).map(|shard| (shard.id, shard.account));
        let is_trusted = sides.iter().any(|side| self.shard(*side).is_trusted);
        let state = match (game, outvoted) {
            (None, _) => {
                self.due.extend(sides.map(Transition::Verify));
                ComparisonState::Equal
            }
            // The trusted worker's result is authoritative.
            (Some(_), Some((shard, account))) if is_trusted => {
                self.wrong.insert(shard);
                self.due.insert(Transition::Distrust(account));
                ComparisonState::Settled
            }
            // The result is the referee's.
            (Some(game), Some((shard, _))) => {
                self.due.insert(Transition::Convict(shard, game));
                ComparisonState::Settled
            }
            (Some(_), None) => {
                self.due.extend(sides.map(Transition::Dispute));
                ComparisonState::Different
            }
        };
        self.set(comparison, state);
        self.comparisons.entry(comparison).and_modify(|row| row.game = game);
    }

    fn verify(&mut self, shard: ShardId) -> bool {
        let verified: i64 = self.verified(shard).into_iter().map(|range| range.end - range.start).sum();
        let Some(row) = self.shards.get_mut(&shard) else { return false };
        if verified == row.audited_games {
            return false;
        }
        let is_gain = verified > row.audited_games;
        let is_enough = audits::is_enough(row.numbers.end - row.numbers.start, verified);
        // A requested second audit stays open until the count grows, even if it is enough already.
        let audit = match row.audit {
            AuditState::Wanted | AuditState::Leased if is_enough && is_gain => AuditState::Clean,
            AuditState::Clean if !is_enough => AuditState::Wanted,
            other => other,
        };
        debug_assert!(audit == row.audit || AuditState::TRANSITIONS.contains(&(row.audit, audit)), "{row:?}");
        row.audit = audit;
        *self.gains.entry(row.account).or_default() += verified - row.audited_games;
        self.gains.retain(|_, gain| *gain != 0);
        row.audited_games = verified;
        self.due.insert(Transition::Recount(row.account));
        true
    }

    /// The games of a shard that other accounts in good standing reproduced on request, as disjoint
    /// ranges.
    ///
    /// Only the assigned auditor, a settling lease or a trusted worker counts. Otherwise two
    /// accounts of one owner could confirm each other with unrequested games. An auditor's own
    /// upload gains nothing from an audit, since its worker may have recognised it.
    #[must_use]
    pub fn verified(&self, shard: ShardId) -> Vec<Range<i64>> {
        let Some(own) = self.shards.get(&shard) else { return Vec::new() };
        let equal = self.of(shard).filter(|row| row.state == ComparisonState::Equal);
        let mut ranges: Vec<Range<i64>> = equal
            .filter(|row| {
                let other = self.shard(if row.left == shard { row.right } else { row.left });
                let is_requested = other.audited == Some(shard) || other.kind == LeaseKind::Settle || other.is_trusted;
                is_requested && other.account != own.account && !self.distrusted.contains(&other.account)
            })
            .map(|row| row.numbers.clone())
            .collect();
        ranges.sort_by_key(|range| range.start);
        let mut verified: Vec<Range<i64>> = Vec::new();
        for range in ranges {
            match verified.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => verified.push(range),
            }
        }
        verified
    }

    /// The comparisons of a shard.
    fn of(&self, shard: ShardId) -> impl Iterator<Item = &Comparison> {
        self.touching.get(&shard).into_iter().flatten().map(|id| &self.comparisons[id])
    }

    /// Whether a shard leaves the pool: it is wrong, or of a distrusted account and not all of its
    /// games were verified. A clean audit of some games proves nothing of the others.
    fn is_unproven(&self, shard: &ShardEvidence) -> bool {
        let is_proven = || shard.state != ShardState::Disputed && shard.is_verified();
        shard.state.is_in_pool()
            && self.complete.contains(&shard.id)
            && (self.wrong.contains(&shard.id) || (self.distrusted.contains(&shard.account) && !is_proven()))
    }

    fn is_out(&self, shard: ShardId) -> bool {
        !self.shard(shard).state.is_in_pool()
    }

    /// Whether a shard's version of this game is decided: the shard is out, or a trusted worker got
    /// the same result.
    fn is_judged(&self, shard: ShardId, game: i64) -> bool {
        self.is_out(shard)
            || self.of(shard).any(|row| {
                let other = if row.left == shard { row.right } else { row.left };
                row.state == ComparisonState::Equal && self.shard(other).is_trusted && row.numbers.contains(&game)
            })
    }

    fn is_disputed(&self, shard: ShardId) -> bool {
        self.of(shard).any(|row| row.state == ComparisonState::Different)
    }

    /// The state in which a shard returns to the pool.
    fn restored(&self, shard: ShardId) -> ShardState {
        match self.shard(shard) {
            row if !row.is_validated => ShardState::Received,
            _ if self.is_disputed(shard) => ShardState::Disputed,
            _ => ShardState::Validated,
        }
    }

    fn set(&mut self, comparison: ComparisonId, state: ComparisonState) {
        if let Some(row) = self.comparisons.get_mut(&comparison) {
            debug_assert!(ComparisonState::TRANSITIONS.contains(&(row.state, state)), "{row:?} to {state}");
            row.state = state;
        }
    }

    fn change(&mut self, shard: ShardId, from: ShardState, to: ShardState) -> bool {
        debug_assert!(ShardState::TRANSITIONS.contains(&(from, to)), "{from} to {to}");
        match self.shards.get_mut(&shard) {
            Some(row) if row.state == from => row.state = to,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests;
