//! The steps of a campaign, one at a time.

use stats::Decision;

use super::{begin_training::begin_training, prepare::Prepared, steps};
use crate::{
    clock::Time,
    model::{Campaign, CampaignId, CampaignState, CampaignStep, Event, JobKind, JobState, Reason, TrainingState},
    ops::live,
    rules::campaigns::Counts,
    store::{Database, Operation, StoreError, Tx},
};

/// Advances a campaign by a step, if one is due; returns whether it did. Any coordinator may run it
/// at any time, and a crash between two steps loses nothing.
pub struct AdvanceCampaign {
    /// The campaign.
    pub campaign: CampaignId,
    /// The bench signature of the engine that new games need.
    pub bench_signature: u64,
    /// The data of the step. If it is outdated, the step is left to the next call.
    pub prepared: Prepared,
}

impl AdvanceCampaign {
    /// Reads what the next step of a campaign needs.
    /// `draw` is random, and decides on audits.
    pub async fn prepare(
        store: &Database,
        campaign: CampaignId,
        bench_signature: u64,
        draw: u64,
        now: Time,
    ) -> Result<Self, StoreError> {
        Ok(Self { campaign, bench_signature, prepared: Prepared::step(store, campaign.into(), draw, now).await? })
    }
}

impl Operation for AdvanceCampaign {
    const NAME: &'static str = "advance_campaign";
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let mut campaign = tx.campaigns().lock(&self.campaign.into()).await?;
        if campaign.takes_back() && steps::take_back(tx, &mut campaign).await? {
            tx.campaigns().save(&campaign).await?;
            return Ok(true);
        }
        if campaign.state != CampaignState::Running {
            return Ok(false);
        }
        let counts = steps::count(tx.connection(), &campaign).await?;
        // There is play while games wait for audits and checks.
        let open = self.prepared.open();
        let ready = Counts { positions: open.ready(counts.positions), ..counts };
        let mut advanced = self.keep_playing(tx, &mut campaign, &ready).await?;
        advanced |= match campaign.phase {
            CampaignStep::Collecting if self.prepared.training_sets.is_empty() => false,
            CampaignStep::Collecting if open.hold_up_training(counts.positions, campaign.wanted_positions) => {
                wait(tx, &mut campaign, Reason::GamesOpen { games: open.games }).await?;
                false
            }
            CampaignStep::Collecting if counts.positions >= campaign.wanted_positions => {
                campaign.reason = None;
                begin_training(tx, &mut campaign, &self.prepared).await?
            }
            CampaignStep::Collecting => false,
            CampaignStep::Training => self.after_training(tx, &mut campaign).await?,
            CampaignStep::Gating => self.after_gate(tx, &mut campaign).await?,
        };
        if advanced {
            tx.campaigns().save(&campaign).await?;
        }
        Ok(advanced)
    }
}

impl AdvanceCampaign {
    /// Opens, pauses or replaces the generation's self-play job, and limits its games.
    async fn keep_playing(
        &self,
        tx: &mut Tx<'_>,
        campaign: &mut Campaign,
        counts: &Counts,
    ) -> Result<bool, StoreError> {
        let now = tx.now();
        let state = if counts.positions < campaign.max_positions() { JobState::Open } else { JobState::Paused };
        if let Some(job) = campaign.selfplay {
            let (current, signature) = tx.jobs().state(job).await?;
            if signature == self.bench_signature {
                if current != state {
                    tx.jobs().set_state(now, job, state).await?;
                }
                let frontier = tx.jobs().frontier(job).await?;
                tx.jobs().limit(job, campaign.game_limit(frontier, counts)).await?;
                return Ok(current != state);
            }
            // It is for another engine: its games stay, and a job for this engine continues.
            tx.jobs().set_state(now, job, JobState::Closed).await?;
        }
        let seed = campaign.selfplay_seed(self.bench_signature);
        let header = campaign.plan.selfplay_header(self.bench_signature, campaign.champion, seed);
        let job = steps::add_job(tx, JobKind::Selfplay, &header, Some(campaign), None).await?;
        // At once: otherwise all that is leased before the next step would be beyond the need.
        let counts = Counts { positions: counts.positions, ..Counts::default() };
        tx.jobs().limit(job, campaign.game_limit(0, &counts)).await?;
        campaign.selfplay = Some(job);
        Ok(true)
    }

    async fn after_training(&self, tx: &mut Tx<'_>, campaign: &mut Campaign) -> Result<bool, StoreError> {
        let Some(id) = campaign.training else { return Ok(false) };
        let now = tx.now();
        let mut training = tx.trainings().lock(id).await?;
        if training.expire(now) {
            tx.trainings().save(&training).await?;
        }
        match training.state {
            TrainingState::Done => self.begin_gate(tx, campaign).await?,
            TrainingState::Failed => {
                steps::stick(tx, campaign, training.reason.unwrap_or(Reason::TrainingFailed)).await?;
            }
            TrainingState::Open | TrainingState::Leased => return Ok(false),
        }
        Ok(true)
    }

    /// Creates the gate match of the candidate against the champion.
    async fn begin_gate(&self, tx: &mut Tx<'_>, campaign: &mut Campaign) -> Result<(), StoreError> {
        let now = tx.now();
        let candidate = steps::candidate_of(tx, campaign).await?;
        let mut plan = campaign.plan.clone();
        if tx.nets().have_same_architecture(candidate, campaign.champion).await? {
            // Nets of the same architecture are equally fast.
            plan.gate.candidate_nodes_percent = 100;
        }
        let seed = campaign.gate_seed();
        let header = plan.match_header(self.bench_signature, Some(candidate), campaign.champion, seed);
        let job = steps::add_job(tx, JobKind::Match, &header, Some(campaign), Some(&plan.gate)).await?;
        live::show_gate(&mut tx.connection(), job).await?;
        campaign.begin_gate(now, job);
        let (campaign, name) = (campaign.plan.name.clone(), tx.nets().name_of(Some(candidate)).await?);
        tx.record_event(None, Event::Gating { campaign, name, job: Some(job) }).await?;
        Ok(())
    }

    async fn after_gate(&self, tx: &mut Tx<'_>, campaign: &mut Campaign) -> Result<bool, StoreError> {
        let Some(job) = campaign.gate else { return Ok(false) };
        let now = tx.now();
        let (state, signature) = tx.jobs().state(job).await?;
        if signature != self.bench_signature {
            // The engine version has changed, and one match cannot mix two engines: start anew.
            tx.jobs().set_state(now, job, JobState::Closed).await?;
            self.begin_gate(tx, campaign).await?;
            return Ok(true);
        }
        let Some(standing) = self.prepared.gate.filter(|standing| standing.job == job) else { return Ok(false) };
        if standing.withdrawals != tx.jobs().withdrawals(job).await? || tx.reviews().any().await? {
            return Ok(false);
        }
        let decided = standing.decided;
        let reason = match decided.verdict.decision {
            Decision::AcceptH1 => None,
            Decision::AcceptH0 => Some(Reason::NotStronger),
            Decision::Continue if standing.is_out => Some(Reason::Inconclusive),
            Decision::Continue => {
                if state != JobState::Open {
                    tx.jobs().set_state(now, job, JobState::Open).await?;
                }
                return Ok(false);
            }
        };
        tx.jobs().set_state(now, job, JobState::Closed).await?;
        // A false rejection costs a strong net, so both verdicts wait for audits and checks.
        if let Some(missing) = standing.missing {
            // Those under way are too few.
            if let Some(shard) = missing.next {
                tx.shards().want_audit(shard).await?;
            }
            wait(tx, campaign, Reason::AuditsMissing { games: missing.games }).await?;
            return Ok(false);
        }
        tx.jobs().decide(job, Some(&decided)).await?;
        match reason {
            Some(reason) => steps::reject(tx, campaign, reason).await?,
            None => steps::promote(tx, campaign, None).await?,
        }
        Ok(true)
    }
}

/// Records why a campaign waits, if that has changed.
async fn wait(tx: &mut Tx<'_>, campaign: &mut Campaign, reason: Reason) -> Result<(), StoreError> {
    if campaign.reason.as_ref() != Some(&reason) {
        campaign.reason = Some(reason);
        tx.campaigns().save_reason(campaign).await?;
    }
    Ok(())
}
