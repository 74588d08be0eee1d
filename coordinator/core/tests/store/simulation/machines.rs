//! Machines, which know only the responses they received.

use protocol::api::work::Lease;

use crate::common::{
    lab::{Lab, Object, Player},
    truth::{self, mix},
};

/// The honesty of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Character {
    /// It plays correctly.
    Honest,
    /// Honest, and marked as trusted.
    Trusted,
    /// It falsifies a game in some shards; equal salts give equal wrong games.
    Cheater { salt: u64 },
}

/// A lease as its machine knows it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    /// The next game to play.
    pub(super) next: u64,
}

/// A machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) player: Player,
    pub(super) character: Character,
    pub(super) leases: Vec<Held>,
    /// Played games that are not acknowledged.
    pub(super) outbox: Vec<(String, Object)>,
    /// The nonce of the request without a response, and the lease it missed.
    pub(super) unanswered: Option<(String, Option<Lease>)>,
    requests: u32,
}

impl Machine {
    pub(super) const fn new(player: Player, character: Character) -> Self {
        Self { player, character, leases: Vec::new(), outbox: Vec::new(), unanswered: None, requests: 0 }
    }

    pub(super) const fn is_honest(&self) -> bool {
        !matches!(self.character, Character::Cheater { .. })
    }

    /// The nonce of the next request: the unanswered one, or a new one.
    pub(super) fn next_nonce(&mut self) -> String {
        if let Some((nonce, _)) = &self.unanswered {
            return nonce.clone();
        }
        self.requests += 1;
        format!("q{}", self.requests)
    }

    /// Plays some games of a lease into the outbox.
    pub(super) fn play(&mut self, lab: &Lab, how: u64) {
        if self.leases.is_empty() {
            return;
        }
        let index = how as usize % self.leases.len();
        let held = &mut self.leases[index];
        let unit = if held.lease.terms.opponent.is_some() { 2 } else { 1 };
        let end = held.lease.numbers().end;
        // Mostly all of it.
        let most = (end - held.next) / unit;
        let count = if (how >> 8).is_multiple_of(4) { 1 + (how >> 10) % most.max(1) } else { most };
        let games = held.next..held.next + count * unit;
        if games.is_empty() {
            return;
        }
        held.next = games.end;
        let mut object = lab.played(&held.lease, games.clone());
        if let Character::Cheater { salt } = self.character {
            if how >> 20 & 1 == 0 {
                let about = games.start + (how >> 24) % (games.end - games.start);
                object = lab.with_wrong_game(&held.lease, games, about, salt);
            }
            object.is_valid = how >> 32 & 7 != 0;
        }
        self.outbox.push((held.lease.token.clone(), object));
        if held.next == end {
            self.leases.remove(index);
        }
    }

    /// Forgets what was not on disk. Games that were played and not recorded are played again, in
    /// other ranges.
    pub(super) fn crash(&mut self, how: u64) {
        match how % 4 {
            0 => {
                self.leases.clear();
                self.outbox.clear();
            }
            1 => self.leases.clear(),
            2 => self.outbox.clear(),
            _ => {}
        }
        for held in &mut self.leases {
            held.next = held.lease.terms.first_game;
        }
        self.unanswered = None;
    }

    /// A lease and its number of finished games.
    pub(super) fn finished(&self, how: u64) -> Option<(String, u64)> {
        let held = self.leases.get(how as usize % self.leases.len().max(1))?;
        Some((held.lease.token.clone(), held.next - held.lease.terms.first_game))
    }

    /// Gives up the rest of a lease.
    pub(super) fn give_up(&mut self, how: u64) -> Option<(String, u64)> {
        if self.leases.is_empty() {
            return None;
        }
        let held = self.leases.remove(how as usize % self.leases.len());
        Some((held.lease.token, held.next))
    }
}

/// The machines of a sequence: of old and new accounts, and two of one account.
pub(super) async fn all(lab: &Lab, seed: u64) -> Vec<Machine> {
    let salt = |number: u64| if seed.is_multiple_of(2) { 1 } else { 1 + number };
    // Every third world has honest machines only.
    let cheater = |number: u64| {
        if seed.is_multiple_of(3) { Character::Honest } else { Character::Cheater { salt: salt(number) } }
    };
    let mut machines = Vec::new();
    for (name, character) in [
        ("first-judge", Character::Trusted),
        ("old", Character::Honest),
        ("old-cheater", cheater(1)),
        ("new", Character::Honest),
        ("new-cheater", cheater(2)),
        ("second-judge", Character::Trusted),
    ] {
        let player = if character == Character::Trusted { lab.judge(name).await } else { lab.player(name).await };
        machines.push(Machine::new(player, character));
    }
    let second = lab.machine(machines[3].player.account, "second").await;
    machines.push(Machine::new(second, Character::Honest));
    machines
}

/// A further draw from a step's random number.
pub(super) fn draw(how: u64, what: u64) -> u64 {
    mix(how, what.wrapping_add(1_000))
}

/// An independent implementation of the test over known pairs, in the order of their numbers.
pub(super) fn verdict(test: &stats::Sprt, batch: usize, pairs: &[u8]) -> (u64, stats::Decision) {
    let (mut counts, mut overshoot) = (stats::Pentanomial::default(), stats::Overshoot::default());
    let mut seen = 0;
    while pairs.len() - seen >= batch {
        for pair in &pairs[seen..seen + batch] {
            counts.add(stats::PairResult::ALL[usize::from(*pair)]);
        }
        seen += batch;
        let llr = test.llr(counts).expect("the test has a solution");
        overshoot.observe(llr);
        let decision = test.decide_corrected(llr, &overshoot);
        if decision != stats::Decision::Continue {
            return (seen as u64, decision);
        }
    }
    (seen as u64, stats::Decision::Continue)
}

/// The pairs of a match that is played correctly.
pub(super) fn true_pairs(terms: &dataset::Header, games: u64) -> Vec<u8> {
    truth::pairs(&(0..games).map(|number| truth::game(terms, number)).collect::<Vec<_>>())
}
