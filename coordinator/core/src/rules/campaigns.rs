//! Campaigns: the loop of generations, from games to a promoted net.

use dataset::{Digest, random::game_seed};

use crate::{
    clock::Time,
    model::{
        Campaign, CampaignCommand as Command, CampaignState as State, CampaignStep as Step, JobId, Reason, Refusal,
        TrainingId,
    },
    rules::sizing::DEFAULT_MOVES_PER_GAME,
};

/// Maximum weight of a training set in a recipe.
const MAX_WEIGHT: u64 = 1_000_000;

/// Spare games beyond a generation's expected need: a few cost less than workers that wait.
const SPARE_GAMES: i64 = 16;

/// The steps of a campaign: from, the event that ends it, to.
pub const STEPS: &[(Step, &str, Step)] = &[
    (Step::Collecting, "enough positions, or train", Step::Training),
    (Step::Training, "the net is trained", Step::Gating),
    (Step::Collecting, "a rejection is reversed", Step::Gating),
    (Step::Training, "it failed, and resume", Step::Collecting),
    (Step::Training, "another net comes in its place", Step::Training),
    (Step::Gating, "promoted: the next generation", Step::Collecting),
    (Step::Gating, "not promoted: more games, another candidate", Step::Collecting),
    (Step::Training, "rolled back", Step::Collecting),
    (Step::Gating, "rolled back", Step::Collecting),
];

/// Counted games of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Counted positions of all its jobs.
    pub positions: i64,
    /// Counted games of the current job.
    pub games: i64,
    /// Counted positions of the current job.
    pub job_positions: i64,
    /// Games of the current job that may still count.
    pub pending: i64,
}

impl Campaign {
    /// Whether it has ended for good.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.state, State::Stopped | State::Complete)
    }

    /// Accepts a command: checks it, and changes the state. The caller carries out the step of
    /// `Train`, `Reject` and `Promote`.
    pub fn accept(&mut self, command: Command) -> Result<(), Refusal> {
        if self.is_over() {
            return Err(Refusal::CampaignOver { state: self.state });
        }
        let refusal = Refusal::CampaignInStep { state: self.state, step: self.phase };
        let state = match (command, self.state) {
            (Command::Pause, State::Running) | (Command::Train | Command::Reject | Command::Promote, State::Paused) => {
                State::Paused
            }
            // A manual step also resolves what a stuck campaign waits for.
            (Command::Resume, State::Paused | State::Stuck)
            | (Command::Train | Command::Reject | Command::Promote, State::Running | State::Stuck) => State::Running,
            (Command::Stop, State::Running | State::Paused | State::Stuck) => State::Stopped,
            _ => return Err(refusal),
        };
        match (command, self.phase) {
            (Command::Train, Step::Collecting) | (Command::Reject | Command::Promote, Step::Gating) => {}
            (Command::Train | Command::Reject | Command::Promote, _) => return Err(refusal),
            // Resuming retries the generation with a new count of candidates.
            (Command::Resume, step) if self.state == State::Stuck => {
                self.candidates = 0;
                if step == Step::Training {
                    (self.training, self.phase) = (None, Step::Collecting);
                }
            }
            _ => {}
        }
        (self.state, self.reason) = (state, None);
        Ok(())
    }

    /// Accepts a net that was trained elsewhere, in place of a training under way.
    pub fn accept_net(&mut self) -> Result<(), Refusal> {
        if self.phase == Step::Training && !self.is_over() {
            (self.training, self.phase) = (None, Step::Collecting);
        }
        self.accept(Command::Train)
    }

    fn enter(&mut self, now: Time, step: Step) {
        (self.phase, self.phase_since) = (step, now);
    }

    /// Begins a training.
    pub fn begin_training(&mut self, now: Time, training: TrainingId) {
        self.training = Some(training);
        self.enter(now, Step::Training);
    }

    /// Begins the gate of a candidate, or begins it anew.
    pub fn begin_gate(&mut self, now: Time, job: JobId) {
        self.gate = Some(job);
        self.enter(now, Step::Gating);
    }

    /// Begins a generation with this champion.
    fn begin_generation(&mut self, now: Time, champion: Option<Digest>) {
        (self.champion, self.generation, self.candidates) = (champion, self.generation + 1, 0);
        self.wanted_positions = self.plan.generation.positions as i64;
        (self.selfplay, self.training, self.gate, self.reason) = (None, None, None, None);
        self.enter(now, Step::Collecting);
    }

    /// Promotes the candidate. The last generation completes the campaign.
    pub fn promote(&mut self, now: Time, candidate: Digest) {
        self.begin_generation(now, Some(candidate));
        if self.plan.generation.most.is_some_and(|most| self.generation >= i64::from(most)) {
            self.state = State::Complete;
        }
    }

    /// Rejects the candidate and requires more games for the next one. After too many candidates,
    /// returns why a maintainer must act.
    pub fn reject(&mut self, now: Time) -> Option<Reason> {
        let plan = &self.plan.generation;
        let more = (u128::from(plan.positions) * u128::from(plan.more_percent) / 100) as i64;
        let most = i64::from(plan.most_candidates);
        self.candidates += 1;
        self.wanted_positions += more;
        (self.training, self.gate, self.reason) = (None, None, None);
        self.enter(now, Step::Collecting);
        let (candidates, generation) = (self.candidates, self.generation);
        (candidates >= most).then_some(Reason::CandidatesRejected { candidates, generation })
    }

    /// Whether a candidate may come back whose rejection was reversed. During a training or another
    /// gate it waits.
    #[must_use]
    pub fn takes_back(&self) -> bool {
        matches!(self.state, State::Running | State::Stuck) && self.phase == Step::Collecting
    }

    /// Takes a candidate back: its gate decides again. Its rejection counts no more, so a stuck
    /// campaign runs again.
    pub fn take_back(&mut self, now: Time, training: TrainingId, gate: JobId) {
        self.candidates = (self.candidates - 1).max(0);
        (self.state, self.reason, self.training) = (State::Running, None, Some(training));
        self.begin_gate(now, gate);
    }

    /// Marks it as stuck until a maintainer acts.
    pub fn stick(&mut self, reason: Reason) {
        (self.state, self.reason) = (State::Stuck, Some(reason));
    }

    /// Returns to an earlier champion. A new generation begins, so that games of the two nets are
    /// not mixed.
    pub fn roll_back(&mut self, now: Time, previous: Option<Digest>) {
        self.begin_generation(now, previous);
        if matches!(self.state, State::Complete | State::Stuck) {
            self.state = State::Paused;
        }
    }

    /// The name of the next candidate, after so many trainings of its generation. A resumed
    /// campaign counts its candidates anew, but no name repeats.
    #[must_use]
    pub fn candidate_name(&self, trainings: i64) -> String {
        let name = format!("{}-{}-{}", self.plan.name, self.generation + 1, trainings + 1);
        let letters = name.chars().count();
        name.chars().skip(letters.saturating_sub(64)).collect()
    }

    /// The first generation in the next training set.
    #[must_use]
    pub fn window_start(&self) -> i64 {
        (self.generation + 1 - i64::from(self.plan.generation.window)).max(0)
    }

    fn seed(&self, purpose: u64) -> u64 {
        game_seed(game_seed(self.plan.seed, self.id.0 as u64), (self.generation as u64) << 8 | purpose)
    }

    /// The seed of self-play, which differs between generations and engines.
    #[must_use]
    pub fn selfplay_seed(&self, bench_signature: u64) -> u64 {
        self.seed(bench_signature << 1 & 0xfe)
    }

    /// The seed of the candidate's gate.
    #[must_use]
    pub fn gate_seed(&self) -> u64 {
        self.seed(1 | (self.candidates as u64 & 0x3f) << 1)
    }

    /// The positions that are played before self-play pauses.
    #[must_use]
    pub fn max_positions(&self) -> i64 {
        let ahead = i128::from(self.wanted_positions) * i128::from(self.plan.generation.ahead_percent) / 100;
        self.wanted_positions + ahead as i64
    }

    /// The limit of the self-play job's games, so that the last leases are not longer than needed.
    #[must_use]
    pub fn game_limit(&self, frontier: i64, counts: &Counts) -> i64 {
        let Counts { games, job_positions, pending, .. } = *counts;
        let per_game = if games > 0 { (job_positions / games).max(1) } else { DEFAULT_MOVES_PER_GAME };
        let missing = (self.max_positions() - counts.positions).max(0) / per_game;
        // Disputed games are not relied on: settling may take long.
        frontier + (missing + missing / 10 + SPARE_GAMES - pending).max(0)
    }
}

/// The weights of training sets with so many positions, so that all positions count the same.
#[must_use]
pub fn weights(positions: &[u64]) -> Vec<u32> {
    let part = positions.iter().max().map_or(1, |most| most.div_ceil(MAX_WEIGHT).max(1));
    match positions {
        [_] => vec![1],
        _ => positions.iter().map(|positions| (positions / part).max(1) as u32).collect(),
    }
}

#[cfg(test)]
mod tests {
    use dataset::random::{Stream, Use};
    use protocol::campaign::Campaign as Plan;

    use super::*;
    use crate::model::CampaignId;

    const TEXT: &str = include_str!("../../tests/common/campaign.toml");

    fn campaign() -> Campaign {
        let plan = Plan::from_text(TEXT).unwrap();
        let wanted_positions = plan.generation.positions as i64;
        Campaign {
            id: CampaignId(1),
            plan,
            state: State::Running,
            reason: None,
            phase: Step::Collecting,
            phase_since: Time(0),
            generation: 0,
            champion: None,
            candidates: 0,
            wanted_positions,
            selfplay: Some(JobId(1)),
            training: None,
            gate: None,
            changed: 1,
        }
    }

    #[test]
    fn training_sets_count_by_their_positions() {
        for (positions, expected) in [
            (vec![5], vec![1]),
            (vec![500, 2_000], vec![500, 2_000]),
            (vec![1_000_000, 1], vec![1_000_000, 1]),
            (vec![1_000_001, 1], vec![500_000, 1]),
            (vec![1_999_999, 4], vec![999_999, 2]),
            (vec![55_251_520, 8_928_811, 3], vec![986_634, 159_443, 1]),
            (vec![0, 0], vec![1, 1]),
        ] {
            assert_eq!(weights(&positions), expected, "{positions:?}");
        }
    }

    fn net(number: u64) -> Digest {
        Digest::of(&number.to_le_bytes())
    }

    /// One random event, if it may happen; its command, if it was one.
    fn happen(campaign: &mut Campaign, random: &mut Stream, now: Time) -> Option<Command> {
        let command = Command::ALL[random.below(Command::ALL.len() as u64) as usize];
        match (random.below(7), campaign.phase) {
            (0, _) => {
                campaign.accept(command).ok()?;
                match command {
                    Command::Train => campaign.begin_training(now, TrainingId(now.0)),
                    Command::Reject => {
                        campaign.reject(now);
                    }
                    Command::Promote => campaign.promote(now, net(now.0 as u64)),
                    Command::Pause | Command::Resume | Command::Stop => {}
                }
                return Some(command);
            }
            (1, _) => campaign.roll_back(now, None),
            (6, phase) => {
                let is_accepted = campaign.accept_net().is_ok();
                assert_eq!(is_accepted, !campaign.is_over() && phase != Step::Gating, "{campaign:?}");
                if is_accepted {
                    campaign.begin_training(now, TrainingId(now.0));
                }
            }
            (5, _) if campaign.takes_back() => campaign.take_back(now, TrainingId(now.0), JobId(now.0)),
            _ if campaign.state != State::Running => {}
            (2, Step::Training) => campaign.stick(Reason::NoTrainer),
            (_, Step::Collecting) => campaign.begin_training(now, TrainingId(now.0)),
            (_, Step::Training) => campaign.begin_gate(now, JobId(now.0)),
            (3, Step::Gating) => campaign.promote(now, net(now.0 as u64)),
            (_, Step::Gating) => {
                if let Some(reason) = campaign.reject(now) {
                    campaign.stick(reason);
                }
            }
        }
        None
    }

    /// Random events in random order.
    #[test]
    fn a_campaign_keeps_its_invariants() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut random = Stream::new(Use::GameSeed, seed, 0);
            let mut campaign = campaign();
            for time in 1..60 {
                let before = campaign.clone();
                let command = happen(&mut campaign, &mut random, Time(time));
                let (from, to) = (before.phase, campaign.phase);
                assert!(from == to || STEPS.iter().any(|step| (step.0, step.2) == (from, to)), "{from} to {to}");
                seen.insert((from, to));
                // A step and its rows go together.
                assert_eq!(campaign.training.is_some(), campaign.phase != Step::Collecting, "{campaign:?}");
                assert_eq!(campaign.gate.is_some(), campaign.phase == Step::Gating, "{campaign:?}");
                assert!(campaign.generation - before.generation <= 1 && campaign.generation >= before.generation);
                if campaign.generation > before.generation {
                    let fresh = (campaign.candidates, campaign.selfplay, campaign.wanted_positions);
                    assert_eq!(fresh, (0, None, campaign.plan.generation.positions as i64));
                } else {
                    assert!(campaign.wanted_positions >= before.wanted_positions, "a rejection asks for more");
                    assert_eq!(campaign.champion, before.champion, "a champion changes with the generation");
                }
                if before.state == State::Stopped {
                    assert_eq!((campaign.state, command), (State::Stopped, None), "stopped is for good");
                }
                assert!(campaign.state != State::Stuck || campaign.reason.is_some(), "its reason is known");
            }
        }
        let missing = STEPS.iter().find(|step| !seen.contains(&(step.0, step.2)));
        assert_eq!(missing, None, "every step was taken");
    }

    #[test]
    fn a_reversed_rejection_counts_no_more() {
        let mut campaign = Campaign { candidates: 2, ..campaign() };
        campaign.stick(Reason::NoTrainer);
        assert!(campaign.takes_back());
        campaign.take_back(Time(9), TrainingId(4), JobId(5));
        assert_eq!((campaign.state, campaign.reason.clone(), campaign.candidates), (State::Running, None, 1));
        assert_eq!((campaign.training, campaign.gate), (Some(TrainingId(4)), Some(JobId(5))));
        for (state, phase) in [
            (State::Running, Step::Training),
            (State::Running, Step::Gating),
            (State::Stuck, Step::Training),
            (State::Paused, Step::Collecting),
            (State::Stopped, Step::Collecting),
            (State::Complete, Step::Collecting),
        ] {
            assert!(!Campaign { state, phase, ..campaign.clone() }.takes_back(), "{state} {phase}");
        }
    }

    #[test]
    fn a_refused_command_changes_nothing() {
        for (state, phase, allowed) in [
            (State::Running, Step::Collecting, &[Command::Pause, Command::Stop, Command::Train][..]),
            (State::Running, Step::Training, &[Command::Pause, Command::Stop]),
            (State::Running, Step::Gating, &[Command::Pause, Command::Stop, Command::Reject, Command::Promote]),
            (State::Paused, Step::Collecting, &[Command::Resume, Command::Stop, Command::Train]),
            (State::Stuck, Step::Training, &[Command::Resume, Command::Stop]),
            (State::Stopped, Step::Gating, &[]),
            (State::Complete, Step::Collecting, &[]),
        ] {
            for &command in Command::ALL {
                let mut campaign = Campaign { state, phase, candidates: 2, ..campaign() };
                campaign.training = (phase != Step::Collecting).then_some(TrainingId(1));
                let accepted = campaign.accept(command);
                assert_eq!(accepted.is_ok(), allowed.contains(&command), "{command} of {state}, {phase}");
                if accepted.is_err() {
                    let is_over = matches!(state, State::Stopped | State::Complete);
                    let in_step = Refusal::CampaignInStep { state, step: phase };
                    assert_eq!(accepted, Err(if is_over { Refusal::CampaignOver { state } } else { in_step }));
                    assert_eq!((campaign.state, campaign.phase, campaign.candidates), (state, phase, 2));
                }
            }
        }
    }

    #[test]
    fn a_paused_campaign_stays_paused_after_a_manual_step() {
        let mut campaign = Campaign { state: State::Paused, ..campaign() };
        campaign.accept(Command::Train).unwrap();
        assert_eq!(campaign.state, State::Paused);
        campaign.state = State::Stuck;
        campaign.accept(Command::Train).unwrap();
        assert_eq!(campaign.state, State::Running);
    }

    #[test]
    fn a_stuck_training_begins_again_from_its_games() {
        let mut campaign = campaign();
        campaign.begin_training(Time(1), TrainingId(4));
        campaign.candidates = 2;
        campaign.stick(Reason::NoTrainer);
        campaign.accept(Command::Resume).unwrap();
        assert_eq!((campaign.phase, campaign.training, campaign.candidates), (Step::Collecting, None, 0));
        assert_eq!((campaign.state, campaign.reason), (State::Running, None));
    }

    #[test]
    fn the_last_generation_completes_the_campaign() {
        let mut campaign = campaign();
        campaign.plan.generation.most = Some(2);
        campaign.promote(Time(1), net(1));
        assert_eq!((campaign.state, campaign.generation), (State::Running, 1));
        campaign.promote(Time(2), net(2));
        assert_eq!((campaign.state, campaign.champion), (State::Complete, Some(net(2))));
        campaign.roll_back(Time(3), Some(net(1)));
        assert_eq!((campaign.state, campaign.generation, campaign.champion), (State::Paused, 3, Some(net(1))));
    }

    #[test]
    fn too_many_rejections_need_a_maintainer() {
        let mut campaign = campaign();
        let plan = campaign.plan.generation;
        let most = i64::from(plan.most_candidates);
        for number in 1..=most {
            let reason = campaign.reject(Time(number));
            assert_eq!(reason.is_some(), number == most, "{number} of {most}");
        }
        let more = plan.positions as i64 * i64::from(plan.more_percent) / 100;
        assert_eq!(campaign.wanted_positions, plan.positions as i64 + most * more);
    }

    #[test]
    fn games_are_limited_to_the_missing_positions() {
        let campaign = Campaign { wanted_positions: 1_000, ..campaign() };
        let most = campaign.max_positions();
        let counts = Counts { positions: most - 500, games: 10, job_positions: 500, pending: 3 };
        assert_eq!(campaign.game_limit(40, &counts), 40 + 10 + 1 + SPARE_GAMES - 3);
        let none = Counts { games: 0, job_positions: 0, ..counts };
        assert_eq!(campaign.game_limit(40, &none), 40 + 5 + SPARE_GAMES - 3, "before any game was measured");
        let full = Counts { positions: most + 1, pending: 100, ..counts };
        assert_eq!(campaign.game_limit(40, &full), 40, "never below the frontier");
    }

    #[test]
    fn seeds_differ_by_purpose_candidate_and_generation() {
        let mut campaign = campaign();
        let mut seeds = std::collections::BTreeSet::new();
        for generation in 0..3 {
            campaign.generation = generation;
            for candidates in 0..4 {
                campaign.candidates = candidates;
                assert!(seeds.insert(campaign.gate_seed()));
            }
            assert!(seeds.insert(campaign.selfplay_seed(4_242)));
        }
        assert_eq!(campaign.candidate_name(3), "test-3-4");
        campaign.plan.name = "x".repeat(64);
        assert!(campaign.candidate_name(3).len() == 64 && campaign.candidate_name(3).ends_with("x-3-4"));
    }
}
