//! A world: a database, two coordinators on it, and machines.

use std::collections::{BTreeMap, BTreeSet};

use coordinator_core::{
    model::{CampaignCommand as Command, ToCompare, ToValidate},
    store::{Database, StoreError},
};
use dataset::Digest;
use protocol::{
    api::{problem::Code, work::Work},
    campaign::{Campaign, Gate},
};

use super::{
    calls::{Call, Reply},
    machines::{self, Held, Machine, draw},
    steps::{Step, What},
};
use crate::common::{
    lab::{ALL_AUDITS, CAMPAIGN, Lab, Object, SIGNATURE},
    truth::mix,
};

/// A world.
pub(super) struct World {
    pub(super) seed: u64,
    /// Two coordinators that share the database only.
    pub(super) labs: Vec<Lab>,
    pub(super) machines: Vec<Machine>,
    pub(super) campaign: i64,
    /// Acknowledged uploads: the lease, the shard, and the machine.
    pub(super) accepted: BTreeMap<(String, Digest), (usize, Object)>,
    /// Accounts quarantined by hand.
    pub(super) by_hand: BTreeSet<i64>,
    /// Accounts whose quarantine was lifted by hand.
    pub(super) lifted: BTreeSet<i64>,
    pub(super) shards: Vec<ToValidate>,
    pub(super) comparisons: Vec<ToCompare>,
    /// Decisions that were checked.
    pub(super) decided: BTreeMap<i64, String>,
    nets: u64,
}

impl World {
    pub(super) async fn new(address: &str, seed: u64) -> Self {
        let lab = Lab::open(address).await;
        let machines = machines::all(&lab, seed).await;
        let second = Lab { store: open(address).await, ..lab.clone() };
        // Gates that wait for audits seldom end in a storm, so every other one needs none.
        let audit_percent = if seed.is_multiple_of(2) { 0 } else { 10 };
        let text = CAMPAIGN
            .replace("seed = 1", &format!("seed = {seed}"))
            .replace("positions = 3_000", "positions = 5_000")
            .replace("elo1 = 80.0", "elo1 = 200.0")
            .replace("most_pairs = 60", &format!("most_pairs = 16\naudit_percent = {audit_percent}"));
        let campaign = lab.create(&text).await.expect("it can be run");
        let gate = Gate { nodes: 666, most_pairs: 12, batch_pairs: 4, elo1: 150.0, ..Gate::default() };
        let plan = Campaign { gate, ..Campaign::from_text(&text).expect("it was created") };
        for (kind, number) in [("match", 1), ("rating", 2)] {
            let header = plan.match_header(SIGNATURE, None, None, mix(seed, number));
            lab.create_match(kind, header, gate).await;
        }
        Self {
            seed,
            labs: vec![lab, second],
            machines,
            campaign,
            accepted: BTreeMap::new(),
            by_hand: BTreeSet::new(),
            lifted: BTreeSet::new(),
            shards: Vec::new(),
            comparisons: Vec::new(),
            decided: BTreeMap::new(),
            nets: 0,
        }
    }

    pub(super) fn lab(&self) -> &Lab {
        &self.labs[0]
    }

    /// The occurrences of states and events.
    pub(super) async fn seen(&self) -> BTreeMap<String, i64> {
        let query = "SELECT 'shard ' || state AS what, COUNT(*) FROM shards GROUP BY state
                     UNION ALL SELECT 'comparison ' || state, COUNT(*) FROM comparisons GROUP BY state
                     UNION ALL SELECT 'lease ' || state, COUNT(*) FROM leases GROUP BY state
                     UNION ALL SELECT 'lease ' || kind, COUNT(*) FROM leases GROUP BY kind
                     UNION ALL SELECT 'account ' || state, COUNT(*) FROM accounts GROUP BY state
                     UNION ALL SELECT 'event ' || kind, COUNT(*) FROM events GROUP BY kind
                     UNION ALL SELECT 'shard without games', COUNT(*) FROM shards WHERE state = 'validated'
                               AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.shard = shards.id)
                     UNION ALL SELECT 'segment held', COUNT(*) FROM segments WHERE state = 'held'";
        let mut seen: BTreeMap<String, i64> = self.lab().rows::<(String, i64)>(query).await.into_iter().collect();
        for text in self.decided.values() {
            let verdict: coordinator_core::gate::Verdict = serde_json::from_str(text).expect("it was written so");
            *seen.entry(format!("decision {:?}", verdict.decision)).or_default() += 1;
        }
        seen.retain(|_, times| *times > 0);
        seen
    }

    pub(super) async fn end(self) {
        for lab in self.labs {
            lab.store.close().await;
        }
    }

    /// Runs all steps (the storm), then the rest in calm.
    pub(super) async fn live(&mut self, steps: &[Step], stride: usize) {
        let mut steps = steps.iter();
        let mut passed = 0;
        while let Some(step) = steps.next() {
            let coordinator = (step.how >> 60) as usize % 2;
            let first = self.prepare(step).await;
            // A restart or a change of the clock runs alone.
            let second = if step.together && first.is_some() { steps.next() } else { None };
            let other = match second {
                Some(step) => self.prepare(step).await.map(|call| (step, call)),
                None => None,
            };
            let labs = &self.labs;
            match (first, other) {
                (None, None) => {}
                (Some(call), None) => {
                    let decides = matches!(call, Call::Drive { .. } | Call::Conclude);
                    let reply = call.clone().ask(&labs[coordinator]).await;
                    self.hear(step, call, reply).await;
                    self.check_decisions(decides).await;
                }
                (None, Some(_)) => unreachable!("nothing is done together with nothing"),
                (Some(one), Some((then, two))) => {
                    let (first, second) =
                        (one.clone().ask(&labs[coordinator]), two.clone().ask(&labs[1 - coordinator]));
                    // Of opposite decisions the later one counts, so their order must be known.
                    let (left, right) =
                        if one.opposes(&two) { (first.await, second.await) } else { tokio::join!(first, second) };
                    self.hear(step, one, left).await;
                    self.hear(then, two, right).await;
                    self.check_decisions(false).await;
                }
            }
            passed += 1;
            if passed % stride == 0 {
                self.check().await;
            }
        }
        self.check().await;
        self.calm_down().await;
    }

    /// Prepares a step; returns its request to a coordinator, if any.
    async fn prepare(&mut self, step: &Step) -> Option<Call> {
        let Step { what, who, how, .. } = *step;
        let index = who as usize % self.machines.len();
        let lab = self.labs[0].clone();
        let machine = &mut self.machines[index];
        let player = machine.player;
        match what {
            What::Ask => {
                let (nonce, games) = (machine.next_nonce(), 1 + (how % 9) as u32);
                Some(Call::Ask { player, nonce, games, draw: draw(how, 1) })
            }
            What::Play => {
                machine.play(&lab, how);
                None
            }
            What::Upload => {
                let (token, object) = machine.outbox.get(how as usize % machine.outbox.len().max(1))?.clone();
                Some(Call::Upload { player, token, object })
            }
            What::Renew => machine.finished(how).map(|(token, finished)| Call::Renew { player, token, finished }),
            What::GiveBack => machine.give_up(how).map(|(token, from)| Call::GiveBack { player, token, from }),
            What::Crash => {
                machine.crash(how);
                None
            }
            What::TakeShards => Some(Call::TakeShards { most: 1 + (how % 4) as i64 }),
            What::Judge => {
                let task = self.shards.get(how as usize % self.shards.len().max(1))?.clone();
                // More audits than in operation.
                let draw = if how >> 16 & 1 == 0 { ALL_AUDITS } else { draw(how, 2) };
                Some(Call::Judge { task, draw })
            }
            What::TakeComparisons => Some(Call::TakeComparisons { most: 1 + (how % 4) as i64 }),
            What::Compared => {
                let task = self.comparisons.get(how as usize % self.comparisons.len().max(1))?.clone();
                Some(Call::Compared { task })
            }
            What::Expire => Some(Call::Expire),
            What::Drive => Some(Call::Drive { campaign: self.campaign }),
            What::Recheck if how.is_multiple_of(2) => Some(Call::Recheck),
            What::Recheck => Some(Call::Conclude),
            What::Train => {
                self.nets += 1;
                let net = Digest::of(&mix(self.seed, self.nets).to_le_bytes());
                if (how >> 8).is_multiple_of(4) {
                    return Some(Call::Gate { campaign: self.campaign, net });
                }
                Some(Call::Train { player: self.machines[0].player, net, how })
            }
            What::Quarantine => {
                self.by_hand.insert(player.account);
                Some(Call::Quarantine { player })
            }
            What::Lift => {
                self.by_hand.remove(&player.account);
                self.lifted.insert(player.account);
                Some(Call::Lift { player })
            }
            What::Review => Some(Call::Review { limit: 1 + (how % 3) as i64 }),
            What::Command => {
                let command = if how.is_multiple_of(2) { Command::Pause } else { Command::Resume };
                Some(Call::Command { campaign: self.campaign, command })
            }
            What::Restart => {
                let number = how as usize % 2;
                if how >> 8 & 1 == 0 {
                    self.labs[number].store.close().await;
                }
                self.labs[number].store = open(&lab.address).await;
                None
            }
            What::Pass => {
                lab.clock.advance(1_000 * (1 + how % 300) as i64);
                None
            }
            What::Jump => {
                lab.clock.advance(3_600_000 * (1 + how % 30) as i64);
                None
            }
            What::Back => {
                lab.clock.advance(-1_000 * (1 + how % 7_200) as i64);
                None
            }
        }
    }

    /// Applies a response; some are lost.
    async fn hear(&mut self, step: &Step, call: Call, reply: Reply) {
        let index = step.who as usize % self.machines.len();
        let is_lost = draw(step.how, 3).is_multiple_of(4);
        match (call, reply) {
            (Call::Ask { nonce, .. }, Reply::Work(answer)) => self.hear_work(index, nonce, answer, is_lost).await,
            (Call::Upload { token, object, .. }, Reply::Receipt(answer)) => {
                assert!(answer.is_ok(), "an upload of machine {index} was rejected: {answer:?}");
                self.accepted.insert((token.clone(), object.hash()), (index, object.clone()));
                if !is_lost {
                    self.machines[index].outbox.retain(|waiting| *waiting != (token.clone(), object.clone()));
                }
            }
            (Call::Renew { token, .. }, Reply::Renewed(answer)) => match answer {
                Ok(_) | Err(Code::NoProgress) => {}
                Err(Code::LeaseLost) => self.machines[index].leases.retain(|held| held.lease.token != token),
                Err(other) => panic!("a renewal was rejected: {other}"),
            },
            (Call::TakeShards { .. }, Reply::Shards(tasks)) if !is_lost => self.shards.extend(tasks),
            (Call::TakeComparisons { .. }, Reply::Comparisons(tasks)) if !is_lost => self.comparisons.extend(tasks),
            // Some verdicts are reported twice.
            (Call::Judge { task, .. }, _) if !is_lost => self.shards.retain(|other| other.shard != task.shard),
            (Call::Compared { task }, _) if !is_lost => {
                self.comparisons.retain(|other| other.comparison != task.comparison);
            }
            _ => {}
        }
    }

    async fn hear_work(&mut self, index: usize, nonce: String, answer: Result<Work, StoreError>, is_lost: bool) {
        // With two concurrent requests, the response may belong to another one than the unanswered.
        let before = self.machines[index].unanswered.take_if(|(asked, _)| *asked == nonce);
        let lease = match answer {
            Ok(Work::Games(lease)) => lease,
            Ok(Work::Wait { .. }) => return,
            Err(failure) => {
                assert_eq!(crate::common::lab::code(failure), Code::Blocked);
                return;
            }
        };
        if let Some((_, Some(unheard))) = &before
            && unheard.token != lease.token
        {
            let query = format!("SELECT state FROM leases WHERE token = '{}'", unheard.token);
            let state: String = self.lab().value(&query).await;
            assert_ne!(state, "active", "the same nonce had two leases");
        }
        let unit = if lease.terms.opponent.is_some() { 2 } else { 1 };
        assert!(lease.games > 0 && lease.games % unit == 0 && lease.terms.first_game % unit == 0, "{lease:?}");
        let machine = &mut self.machines[index];
        if is_lost {
            machine.unanswered = Some((nonce, Some(lease)));
        } else if machine.leases.iter().all(|held| held.lease.token != lease.token) {
            machine.leases.push(Held { next: lease.terms.first_game, lease });
        }
    }
}

async fn open(address: &str) -> Database {
    Database::open(address, None).await.expect("the database can be opened again")
}
