//! After the storm: honest machines upload what they have, cheaters are gone, and the remaining
//! work is done. Then all honest games count, and nothing waits.

use coordinator_core::model::CampaignCommand as Command;
use dataset::Digest;
use protocol::api::work::Work;
use stats::Decision;

use super::{
    calls::Call,
    invariants::{ComparisonRow, Picture, counts},
    machines::{Held, draw, true_pairs},
    world::World,
};
use crate::common::{lab::ALL_AUDITS, truth::mix};

/// Maximum rounds.
const ROUNDS: u64 = 60;

impl World {
    /// Runs everything to its end.
    pub(super) async fn calm_down(&mut self) {
        self.shards.clear();
        self.comparisons.clear();
        let honest: Vec<usize> = (0..self.machines.len()).filter(|&index| self.machines[index].is_honest()).collect();
        for &index in &honest {
            let player = self.machines[index].player;
            if self.by_hand.remove(&player.account) {
                Call::Lift { player }.ask(self.lab()).await;
            }
        }
        let (campaign, lab) = (self.campaign, self.lab().clone());
        lab.review().await;
        Call::Command { campaign, command: Command::Resume }.ask(&lab).await;
        for round in 0..ROUNDS {
            // Longer than any lease, and than any claim under a wrong clock.
            lab.clock.advance(if round == 0 { 40 * 24 * 3_600_000 } else { 3_600_000 });
            Call::Expire.ask(&lab).await;
            for &index in &honest {
                self.deliver_and_play(index, round).await;
            }
            // In every other world all shards are audited.
            lab.validate(if self.seed.is_multiple_of(2) { ALL_AUDITS } else { draw(self.seed, round) }).await;
            while lab.compare().await > 0 {}
            lab.review().await;
            for call in [Call::Drive { campaign }, Call::Recheck, Call::Conclude] {
                let decides = !matches!(call, Call::Recheck);
                call.ask(&lab).await;
                self.check_decisions(decides).await;
            }
            if round < ROUNDS / 2 {
                let net = Digest::of(&mix(self.seed, 1_000 + round).to_le_bytes());
                Call::Train { player: self.machines[0].player, net, how: 1 }.ask(&lab).await;
            }
            if self.is_calm().await && !self.is_gating().await {
                break;
            }
        }
        lab.clock.advance(40 * 24 * 3_600_000);
        Call::Expire.ask(&lab).await;
        self.check().await;
        let picture = self.picture().await;
        self.assert_calm(&picture).await;
    }

    /// Uploads what a machine has, plays its leases, and leases more.
    async fn deliver_and_play(&mut self, index: usize, round: u64) {
        let lab = self.lab().clone();
        let (player, how) = (self.machines[index].player, draw(self.seed, round * 100 + index as u64));
        for games in [0, 12, 12] {
            if games > 0 {
                let nonce = format!("calm-{round}-{index}-{}", lab.now().0);
                lab.clock.advance(1);
                match lab.request(player, &nonce, games, how).await.expect("an honest machine may play") {
                    Work::Games(lease) => {
                        self.machines[index].leases.push(Held { next: lease.terms.first_game, lease });
                    }
                    Work::Wait { .. } => {}
                }
            }
            while !self.machines[index].leases.is_empty() {
                self.machines[index].play(&lab, 0x100);
            }
            for (token, object) in std::mem::take(&mut self.machines[index].outbox) {
                let answer = lab.upload(player, &token, &object).await;
                assert!(answer.is_ok(), "an honest upload was rejected: {answer:?}");
                self.accepted.insert((token, object.hash()), (index, object));
            }
        }
    }

    /// Whether a gate is under way: it may still promote its net.
    async fn is_gating(&self) -> bool {
        let query = "SELECT COUNT(*) FROM campaigns WHERE phase = 'gating' AND state = 'running'";
        self.lab().value::<i64>(query).await > 0
    }

    async fn is_calm(&self) -> bool {
        let count = "SELECT (SELECT COUNT(*) FROM jobs WHERE campaign IS NULL AND decision IS NULL)
                          + (SELECT COUNT(*) FROM jobs WHERE recheck > 0 AND decision IS NOT NULL)
                          + (SELECT COUNT(*) FROM comparisons WHERE state IN ('waiting', 'different'))
                          + (SELECT COUNT(*) FROM shards WHERE state IN ('received', 'disputed'))
                          + (SELECT COUNT(*) FROM segments WHERE state <> 'held' AND job IN
                             (SELECT id FROM jobs WHERE state = 'open' AND kind <> 'selfplay'))
                          + (SELECT COUNT(*) FROM campaigns WHERE reason LIKE '%played again%')";
        self.lab().value::<i64>(count).await == 0
    }

    async fn assert_calm(&self, picture: &Picture) {
        let campaign: (String, Option<String>) =
            self.lab().rows("SELECT state, reason FROM campaigns").await.pop().expect("there is one");
        assert!(!campaign.1.unwrap_or_default().contains("played again"), "a gate waits for audits for ever");
        for lease in picture.leases.values() {
            assert_ne!(lease.state, "active", "{lease:?} never ends");
        }
        for shard in picture.shards.values() {
            assert!(!matches!(shard.state.as_str(), "received" | "disputed"), "{shard:?} waits for ever");
            let of = |row: &&ComparisonRow| row.left_shard == shard.id || row.right_shard == shard.id;
            let of: Vec<&ComparisonRow> = picture.comparisons.iter().filter(of).collect();
            assert_ne!(shard.audit, "leased", "{shard:?} waits for ever, with {of:?}");
        }
        for row in &picture.comparisons {
            assert!(!matches!(row.state.as_str(), "waiting" | "different"), "{row:?} waits for ever");
        }
        for segment in &picture.segments {
            assert_ne!(segment.state, "leased", "{segment:?}");
            let job = picture.jobs.iter().find(|job| job.id == segment.job).expect("it is there");
            assert!(job.kind == "selfplay" || job.state != "open" || segment.state == "held", "{segment:?} of {job:?}");
        }
        self.games_of_honest_accounts_count(picture);
        for job in &picture.jobs {
            if job.gate.is_some() && job.state == "closed" && job.game_limit == Some(24) {
                self.assert_verdict(picture, job.id);
                // Without cheaters the decision does not depend on the order of play.
                let is_honest = self.machines.iter().all(super::machines::Machine::is_honest);
                if is_honest {
                    let all = true_pairs(&job.terms(), 24);
                    let pairs = self.pairs(picture, job.id);
                    assert!(all.starts_with(&pairs), "job {}", job.id);
                    let (seen, decision) = self.judge(job, &all);
                    assert_eq!(self.judge(job, &pairs), (seen, decision));
                    assert!(decision != Decision::Continue || pairs.len() == 12);
                }
            }
        }
    }

    /// Checks that all games of honest accounts count, whichever shard holds them.
    fn games_of_honest_accounts_count(&self, picture: &Picture) {
        for shard in picture.shards.values() {
            let own = self.machines.iter().find(|machine| machine.player.account == shard.account);
            if !own.is_some_and(super::machines::Machine::is_honest) {
                continue;
            }
            assert_eq!(shard.state, "validated", "{shard:?} of an honest account");
            for number in shard.first..shard.first + shard.games {
                let segment = picture.segments.iter().find(|segment| {
                    segment.job == shard.job && (segment.first..segment.first + segment.games).contains(&number)
                });
                let segment = segment.expect("every game is in a segment");
                assert!(counts(picture, segment), "game {number} of {shard:?} does not count: {segment:?}");
            }
        }
    }
}
