//! A fleet of accounts over the real rules, without a database: lending, the choice of shards and
//! auditors, and the consequences of evidence. The clock moves by rounds of a minute.
//!
//! One owner has several accounts, and copies its own games where it audits itself: the worst case.
//! Where two results differ, a referee plays the game and knows who is right.

mod evidence;
mod gate;

use std::collections::{BTreeMap, BTreeSet};

use coordinator_core::{
    clock::{SECOND, Time},
    model::{
        AccountId, AuditCandidate, AuditState, Auditor, Comparison, ComparisonId, Fault, JobId, LeaseKind, ObjectState,
        Proof, ShardEvidence, ShardId, ShardState, Standing,
    },
    rules::{audits, leases},
};
use dataset::random::{Stream, Use};

use self::gate::{BATCH_GAMES, BATCHES, BATCHES_PER_TURN, Batch, GATE_PERCENT, Gate};
use crate::{
    outcome::Outcome,
    plan::{Leased, Plan},
};

/// The estimated cost of a game, in nodes.
const NODES_PER_GAME: i64 = 53_000;

/// Games that a machine of one core plays in a round.
const GAMES_PER_CORE: i64 = 400_000 * 60 / NODES_PER_GAME;

/// Seconds until an upload is validated.
const VALIDATION_SECONDS: i64 = 5;

/// Requests of an account in a round that polls for audits.
const POLLS: usize = 20;

/// The time of a lease.
const LEASE_MS: i64 = 15 * 60 * SECOND;

#[derive(Clone, Debug, Default)]
struct Account {
    is_owners: bool,
    standing: Standing,
    clean_games: i64,
    is_out: bool,
    /// Leases that will lapse, or be given back.
    held: Vec<Held>,
}

#[derive(Clone)]
struct Shard {
    evidence: ShardEvidence,
    /// The last of its forged games; those from its first game on are.
    forged_until: i64,
    auditor: Option<AccountId>,
    auditor_until: Time,
    is_of_gate: bool,
    validated: Time,
    is_checked: bool,
}

/// Games that are not played.
#[derive(Clone, Copy, Debug)]
struct Held {
    games: i64,
    /// Those of them that no other account was lent.
    own: i64,
    late: Time,
    ends: Time,
}

/// A simulated fleet.
pub(crate) struct World {
    plan: Plan,
    random: Stream,
    now: Time,
    accounts: Vec<Account>,
    shards: Vec<Shard>,
    comparisons: Vec<Comparison>,
    touching: BTreeMap<ShardId, Vec<ComparisonId>>,
    wanted: BTreeSet<ShardId>,
    of_account: BTreeMap<AccountId, Vec<ShardId>>,
    unfrozen: Vec<ShardId>,
    /// Uploads of self-play and of gates that the referee has not checked.
    unchecked: [Vec<ShardId>; 2],
    gate: Option<Gate>,
    /// Batches that the account may still get in this round.
    batches_of_turn: usize,
    next_game: i64,
    /// Games of self-play that are delivered or lent, and those that are delivered, of this
    /// generation.
    lent: i64,
    delivered: i64,
    reviews: Vec<AccountId>,
    outcome: Outcome,
}

impl World {
    /// Simulates a plan to its end.
    pub(crate) fn run(plan: Plan) -> Outcome {
        let (random, rounds) = (Stream::new(Use::GameSeed, plan.seed, 0), plan.rounds);
        let mut world = Self {
            random,
            now: Time(0),
            // Accounts count from one.
            accounts: vec![Account { is_out: true, ..Account::default() }],
            shards: Vec::new(),
            comparisons: Vec::new(),
            touching: BTreeMap::new(),
            wanted: BTreeSet::new(),
            of_account: BTreeMap::new(),
            unfrozen: Vec::new(),
            unchecked: Default::default(),
            gate: None,
            batches_of_turn: 0,
            next_game: 0,
            lent: 0,
            delivered: 0,
            reviews: Vec::new(),
            outcome: Outcome::default(),
            plan,
        };
        for number in 0..world.plan.honest + world.plan.cheats {
            world.accounts.push(Account { is_owners: number >= world.plan.honest, ..Account::default() });
        }
        for round in 1..=rounds {
            world.now = Time(round * 60 * SECOND);
            world.round();
            let wanted = world.wanted();
            if world.delivered >= wanted {
                world.lent -= wanted;
                world.delivered -= wanted;
                world.freeze();
                let opened = world.now;
                world.gate.get_or_insert_with(|| Gate { opened, batches: vec![Batch::Open; BATCHES] });
            }
        }
        world.outcome
    }

    /// Games of a generation: so many that its honest accounts play them in the plan's rounds.
    fn wanted(&self) -> i64 {
        self.plan.honest as i64 * self.plan.cores * GAMES_PER_CORE * self.plan.generation
    }

    /// Lends games of self-play: new ones while fewer are lent than a quarter more than wanted, and
    /// then those of late leases.
    fn lend(&mut self, index: usize, games: i64) -> i64 {
        let new = games.min(self.wanted() * 5 / 4 - self.lent).max(0);
        self.lent += new;
        let mut lent = new;
        let (now, others) = (self.now, (0..self.accounts.len()).filter(|other| *other != index));
        for other in others {
            for held in self.accounts[other].held.iter_mut().filter(|held| held.late < now) {
                let part = held.own.min(games - lent);
                held.own -= part;
                lent += part;
            }
        }
        lent
    }

    fn chance(&mut self, thousandths: u64) -> bool {
        self.random.below(1_000) < thousandths
    }

    fn round(&mut self) {
        let mut order: Vec<usize> = (1..self.accounts.len()).filter(|index| !self.accounts[*index].is_out).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, self.random.below(place as u64 + 1) as usize);
        }
        for index in order {
            self.batches_of_turn = BATCHES_PER_TURN;
            if self.accounts[index].is_owners {
                self.owner_turn(index);
            } else {
                self.honest_turn(index);
            }
        }
        self.draw_auditors();
        self.check();
        self.judge_gate();
        if self.plan.strategy.returns {
            let active = self.accounts.iter().filter(|account| account.is_owners && !account.is_out).count();
            for _ in active..self.plan.cheats {
                self.accounts.push(Account { is_owners: true, ..Account::default() });
            }
        }
    }

    /// An honest machine plays what it is lent.
    fn honest_turn(&mut self, index: usize) {
        let mut left = GAMES_PER_CORE * self.plan.cores;
        self.outcome.capacity += left;
        if self.accounts[index].standing.wait_seconds(self.now).is_some() {
            self.outcome.delayed += left;
            return;
        }
        while left > 0 {
            if let Some(shard) = self.audit_for(index) {
                let games = self.audit(index, shard, left);
                self.outcome.replayed += games;
                self.outcome.played += games;
                left -= games;
                continue;
            }
            let lent = self.accounts[index].standing.max_games(0, NODES_PER_GAME, 1);
            let games = self.fresh(index, left.min(lent).min(4_096), 0, 0);
            if games == 0 {
                // All games of the generation are lent.
                self.outcome.delayed += left;
                return;
            }
            self.outcome.played += games;
            left -= games;
            if lent < games + left {
                // It waits for the validation of what it sent.
                let wait = (GAMES_PER_CORE * self.plan.cores * VALIDATION_SECONDS / 60).min(left);
                self.outcome.delayed += wait;
                left -= wait;
            }
        }
    }

    /// An account of the owner acts by its strategy.
    fn owner_turn(&mut self, index: usize) {
        let strategy = self.plan.strategy.clone();
        let now = self.now;
        // Leases that lapse.
        let is_over = |held: &&Held| held.ends.0 <= now.0;
        let over: Vec<Held> = self.accounts[index].held.iter().filter(is_over).copied().collect();
        let lapsed: i64 = over.iter().map(|held| held.games).sum();
        if lapsed > 0 {
            self.lent -= over.iter().map(|held| held.own).sum::<i64>();
            self.accounts[index].held.retain(|held| held.ends.0 > now.0);
            let fault = if strategy.leased == Leased::Returned { Fault::Dropped } else { Fault::Lapsed };
            self.accounts[index].standing.charge(now, fault, lapsed * NODES_PER_GAME);
            if strategy.leased == Leased::Late {
                self.upload_late(index);
            }
        }
        self.outcome.held += self.accounts[index].held.iter().map(|held| held.games).sum::<i64>();
        let capacity = GAMES_PER_CORE * self.plan.cores;
        let is_poller = strategy.polls && index.is_multiple_of(2);
        let leases = if is_poller { POLLS } else { strategy.leases.max(1) };
        for _ in 0..leases {
            if self.accounts[index].is_out || self.accounts[index].standing.wait_seconds(now).is_some() {
                return;
            }
            if let Some(shard) = self.audit_for(index) {
                if strategy.drops_audits {
                    self.shards[shard.0 as usize].auditor = None;
                    let games = self.games_of(shard);
                    self.accounts[index].standing.charge(now, Fault::Dropped, games * NODES_PER_GAME);
                } else {
                    self.audit(index, shard, capacity);
                }
                continue;
            }
            if is_poller {
                return;
            }
            let lent_nodes: i64 = self.accounts[index].held.iter().map(|held| held.games * NODES_PER_GAME).sum();
            let games = self.accounts[index].standing.max_games(lent_nodes, NODES_PER_GAME, 1).min(4_096);
            if games == 0 {
                return;
            }
            let may_lie = self.accounts[index].clean_games >= strategy.honest_games;
            if may_lie && matches!(strategy.leased, Leased::Held | Leased::Returned | Leased::Late) {
                self.outcome.leases += 1;
                if let Some(batch) = self.batch_for(index, games)
                    && let Some(gate) = &mut self.gate
                {
                    self.batches_of_turn -= 1;
                    gate.batches[batch] = Batch::Held(AccountId(index as i64), now.after(leases::MIN_QUIET_MS));
                    let ends = now.after(LEASE_MS);
                    self.accounts[index].held.push(Held { games: BATCH_GAMES, own: 0, late: ends, ends });
                    continue;
                }
                let new = games.min(self.wanted() * 5 / 4 - self.lent).max(0);
                if new == 0 {
                    return;
                }
                self.lent += new;
                let ends = now.after(if strategy.leased == Leased::Returned { 1 } else { LEASE_MS });
                let late = now.after(leases::MIN_QUIET_MS);
                self.accounts[index].held.push(Held { games: new, own: new, late, ends });
                continue;
            }
            if strategy.leased == Leased::Rubbish {
                self.outcome.leases += 1;
                self.accounts[index].standing.charge(now, Fault::Rejected, games * NODES_PER_GAME);
                continue;
            }
            let (lies, gate_lies) = if may_lie { (strategy.lies, strategy.gate_lies) } else { (0, 0) };
            self.fresh(index, games.min(capacity), lies, gate_lies);
        }
    }

    /// Uploads other games than those that an honest account played meanwhile.
    fn upload_late(&mut self, index: usize) {
        let is_honest = |id: &&ShardId| {
            let row = &self.shards[id.0 as usize].evidence;
            !self.accounts[row.account.0 as usize].is_owners && row.state == ShardState::Validated
        };
        let Some(&other) = self.unfrozen.iter().rev().find(is_honest) else { return };
        let numbers = self.shards[other.0 as usize].evidence.numbers.clone();
        let forged_until = numbers.end;
        let upload = self.add(AccountId(index as i64), LeaseKind::Fresh, None, numbers, forged_until);
        self.compare(upload, other);
    }

    fn games_of(&self, shard: ShardId) -> i64 {
        let numbers = &self.shards[shard.0 as usize].evidence.numbers;
        numbers.end - numbers.start
    }

    /// Delivers fresh games: of the gate, if one is open. Returns their number.
    fn fresh(&mut self, index: usize, games: i64, lies: u64, gate_lies: u64) -> i64 {
        self.outcome.leases += 1;
        let batch = self.batch_for(index, games);
        let is_of_gate = batch.is_some();
        self.batches_of_turn -= usize::from(is_of_gate);
        let games = if is_of_gate { BATCH_GAMES } else { self.lend(index, games) };
        if games == 0 {
            return 0;
        }
        self.delivered += if is_of_gate { 0 } else { games };
        let is_forged = self.chance(if is_of_gate { gate_lies } else { lies });
        let part = self.plan.strategy.part as i64;
        let forged = if is_forged { (games * part + 999) / 1_000 } else { 0 };
        let first = self.next_game;
        self.next_game += games;
        if self.accounts[index].is_owners {
            self.outcome.owner_played += games - forged;
        }
        let account = AccountId(index as i64);
        let id = self.add(account, LeaseKind::Fresh, None, first..first + games, first + forged);
        let draw = self.random.bits();
        let percent = if is_of_gate { u64::from(GATE_PERCENT) } else { 0 };
        let is_new = is_of_gate && self.accounts[index].standing.proven_nodes == 0;
        if is_new || audits::is_wanted(self.accounts[index].clean_games, percent, draw) {
            self.want(id);
        }
        self.shards[id.0 as usize].is_of_gate = is_of_gate;
        self.unchecked[usize::from(is_of_gate)].push(id);
        if let (Some(gate), Some(batch)) = (&mut self.gate, batch) {
            gate.batches[batch] = Batch::Played(id);
        } else {
            self.unfrozen.push(id);
        }
        games
    }

    fn add(
        &mut self,
        account: AccountId,
        kind: LeaseKind,
        audited: Option<ShardId>,
        numbers: std::ops::Range<i64>,
        forged_until: i64,
    ) -> ShardId {
        let id = ShardId(self.shards.len() as i64);
        let evidence = ShardEvidence {
            id,
            job: JobId(1),
            account,
            numbers,
            state: ShardState::Validated,
            is_validated: true,
            object: ObjectState::Present,
            audit: AuditState::None,
            audited_games: 0,
            is_trusted: false,
            is_distrusted: false,
            kind,
            audited,
            checked_game: None,
        };
        let (auditor, auditor_until) = (None, Time(0));
        let (is_of_gate, validated, is_checked) = (false, self.now, false);
        let shard = Shard { evidence, forged_until, auditor, auditor_until, is_of_gate, validated, is_checked };
        self.shards.push(shard);
        self.of_account.entry(account).or_default().push(id);
        id
    }

    fn want(&mut self, shard: ShardId) {
        let shard_row = &mut self.shards[shard.0 as usize];
        shard_row.evidence.audit = AuditState::Wanted;
        (shard_row.auditor, shard_row.auditor_until) = (None, Time(0));
        self.wanted.insert(shard);
    }

    /// The referee plays games of unchecked shards again, as many as it can: those of gates first,
    /// of each the last.
    fn check(&mut self) {
        let mut left = GAMES_PER_CORE * self.plan.referee;
        while let Some(id) = self.unchecked[1].pop().or_else(|| self.unchecked[0].pop()) {
            let row = &self.shards[id.0 as usize];
            if row.evidence.state != ShardState::Validated {
                continue;
            }
            let (numbers, is_of_gate, forged_until) = (&row.evidence.numbers, row.is_of_gate, row.forged_until);
            let numbers = numbers.start as u64..numbers.end as u64;
            let games = audits::draw_checked(numbers, is_of_gate, self.random.bits());
            if games.len() as i64 > left {
                self.unchecked[usize::from(is_of_gate)].push(id);
                break;
            }
            let wrong = games.iter().position(|game| (*game as i64) < forged_until);
            let played = wrong.map_or(games.len(), |place| place + 1) as i64;
            left -= played;
            self.outcome.checked += played;
            self.outcome.checked_of_gates += if is_of_gate { played } else { 0 };
            let row = &mut self.shards[id.0 as usize];
            row.is_checked = true;
            if let Some(place) = wrong {
                let mut case = self.case(&[id]);
                case.found_wrong(id, games[place] as i64);
                self.settle(case);
                self.review();
            } else {
                row.evidence.checked_game = games.first().map(|game| *game as i64);
            }
        }
    }

    /// Uploads validated after this time wait for their check.
    fn checks_since(&self) -> Time {
        audits::checks_since(self.now, (self.plan.referee > 0).then_some(self.now))
    }

    /// Draws the auditors of shards that need one.
    fn draw_auditors(&mut self) {
        let auditors: Vec<Auditor> = (1_i64..)
            .zip(&self.accounts[1..])
            .filter(|(_, account)| !account.is_out)
            .map(|(id, account)| Auditor {
                account: AccountId(id),
                proven_nodes: account.standing.proven_nodes,
                is_trusted: false,
            })
            .collect();
        let draw = self.random.bits();
        for id in self.wanted.clone() {
            let shard = &mut self.shards[id.0 as usize];
            if shard.evidence.state != ShardState::Validated || shard.evidence.audit != AuditState::Wanted {
                self.wanted.remove(&id);
                continue;
            }
            if shard.auditor_until.0 >= self.now.0 && shard.auditor.is_some() {
                continue;
            }
            let own = shard.evidence.account;
            let of_audited = shard.evidence.audited.map(|audited| self.shards[audited.0 as usize].evidence.account);
            let players: Vec<AccountId> = [own].into_iter().chain(of_audited).collect();
            // The owner hides that its accounts are related.
            let drawn =
                audits::choose_auditor(&auditors, own, &players, &[], &BTreeSet::new(), audits::draw_of(draw, id));
            let shard = &mut self.shards[id.0 as usize];
            (shard.auditor, shard.auditor_until) = (drawn, self.now.after(audits::AUDITOR_MS));
        }
    }

    fn audit_for(&self, index: usize) -> Option<ShardId> {
        let account = AccountId(index as i64);
        self.wanted.iter().copied().find(|id| {
            let shard = &self.shards[id.0 as usize];
            shard.auditor == Some(account)
                && shard.evidence.audit == AuditState::Wanted
                && shard.evidence.state == ShardState::Validated
        })
    }

    /// Plays games of a shard again, or copies them if it is the owner's. Returns their number.
    fn audit(&mut self, index: usize, shard: ShardId, usual: i64) -> i64 {
        self.outcome.leases += 1;
        let account = AccountId(index as i64);
        let row = &self.shards[shard.0 as usize];
        let candidate = AuditCandidate { id: shard, job: JobId(1), numbers: row.evidence.numbers.clone() };
        let verified = self.case(&[shard]).verified(shard);
        let draw = self.random.bits();
        let numbers = candidate.draw_range(&verified, usual.max(1), 1, draw);
        let row = &self.shards[shard.0 as usize];
        let is_own = self.accounts[index].is_owners && self.accounts[row.evidence.account.0 as usize].is_owners;
        let made_up = if self.accounts[index].is_owners && !is_own { self.plan.strategy.made_up } else { 0 };
        let made_up = ((numbers.end - numbers.start) * made_up + 999) / 1_000;
        let forged_until = if is_own { row.forged_until.min(numbers.end) } else { numbers.start + made_up };
        self.wanted.remove(&shard);
        self.shards[shard.0 as usize].evidence.audit = AuditState::Leased;
        let games = numbers.end - numbers.start;
        if self.accounts[index].is_owners && !is_own {
            self.outcome.owner_played += games - made_up;
            self.outcome.owner_replayed += games - made_up;
        }
        let upload = self.add(account, LeaseKind::Audit, Some(shard), numbers, forged_until);
        let draw = self.random.bits();
        self.accounts[index].standing.credit(games * NODES_PER_GAME);
        if audits::is_wanted_again(draw) {
            self.want(upload);
        }
        self.compare(upload, shard);
        let row = &self.shards[shard.0 as usize].evidence;
        if row.audit == AuditState::Leased && row.state == ShardState::Validated {
            // The audit was a lie: another account is drawn.
            self.want(shard);
        }
        games
    }

    /// Freezes a training set.
    fn freeze(&mut self) {
        let (mut later, since) = (Vec::new(), self.checks_since());
        for id in std::mem::take(&mut self.unfrozen) {
            let shard = &self.shards[id.0 as usize];
            if shard.evidence.state != ShardState::Validated {
                continue;
            }
            if !shard.proof().is_over(since) {
                later.push(id);
                continue;
            }
            let numbers = shard.evidence.numbers.clone();
            self.outcome.trained += numbers.end - numbers.start;
            self.outcome.forged += shard.forged_until - numbers.start;
        }
        self.unfrozen = later;
    }
}

impl Shard {
    fn proof(&self) -> Proof {
        Proof {
            audit: self.evidence.audit,
            auditor: self.auditor,
            auditor_until: self.auditor_until,
            is_compared: false,
            is_checked: self.is_checked,
            validated: Some(self.validated),
        }
    }
}
