//! Parts of the steps of a campaign. The caller has locked its row, and stores it.

use dataset::{Digest, Header};
use protocol::{
    api::problem::{Code, Problem},
    campaign::{Campaign as Plan, Gate},
};

use crate::{
    clock::{HOUR, SECOND},
    gate::{self, Decided},
    model::{AccountId, Campaign, Event, JobId, JobKind, JobState, NewNet, PromotionKind, Reason, Refusal, Stall},
    rules::{
        campaigns::Counts,
        nets::NetEvent,
        sizing::{DEFAULT_MOVES_PER_GAME, cost_per_position},
    },
    store::{Connection, Jobs, NewJob, Promotion, StoreError, Tx},
};

/// Milliseconds per active worker over which the start with a new net is spread.
const SPREAD_PER_WORKER_MS: i64 = 20;

/// Maximum spread of the start.
const MAX_SPREAD_MS: i64 = 600 * SECOND;

/// Counts the current generation.
pub(super) async fn count(connection: Connection<'_>, campaign: &Campaign) -> Result<Counts, StoreError> {
    let mut counts = Counts::default();
    let generation = campaign.generation;
    for job in Jobs::on(connection).selfplay_of(campaign.id, generation..=generation).await? {
        counts.positions += job.positions;
        if campaign.selfplay == Some(job.id) {
            (counts.games, counts.job_positions, counts.pending) = (job.games, job.positions, job.pending);
        }
    }
    Ok(counts)
}

/// Adds a job; `gate` holds the parameters of a match's test. The start is spread over the active
/// workers; a single worker starts at once.
pub(in crate::ops) async fn add_job(
    tx: &mut Tx<'_>,
    kind: JobKind,
    header: &Header,
    campaign: Option<&Campaign>,
    gate: Option<&Gate>,
) -> Result<JobId, StoreError> {
    let now = tx.now();
    let max = MAX_SPREAD_MS / SPREAD_PER_WORKER_MS + 1;
    let active = tx.workers().active_since(now.after(-HOUR), max).await?;
    let spread = active.saturating_sub(1) * SPREAD_PER_WORKER_MS;
    let game_limit = gate.map(|gate| i64::from(gate.most_pairs) * 2);
    let nodes_per_game = cost_per_position(header) * DEFAULT_MOVES_PER_GAME;
    tx.jobs().add(now, NewJob { campaign, kind, header, gate, game_limit, nodes_per_game, spread }).await
}

/// The verdict on the pairs of a campaign's gate.
pub(super) fn decided(campaign: &Campaign, pairs: &[u8]) -> Result<Decided, StoreError> {
    let test = campaign.plan.sprt().map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let verdict = gate::judge(&test, &campaign.plan.gate, pairs);
    let verdict = verdict.map_err(|error| StoreError::Corrupt(format!("a gate without solution: {error}")))?;
    Ok(Decided { verdict, elo: gate::elo(Some(&test), verdict.counts) })
}

/// Checks the campaigns that one is to learn from.
pub(super) async fn check_sources(tx: &mut Tx<'_>, plan: &Plan) -> Result<(), StoreError> {
    for name in &plan.learns_from {
        let other = tx.campaigns().get(&name.clone().into()).await?.plan;
        if other.rules != plan.rules {
            let text = format!("the games of {name} end by the rules `{}`, not `{}`", other.rules, plan.rules);
            return Err(Problem::new(Code::Invalid, text).into());
        }
    }
    Ok(())
}

/// Adds a trained net as a candidate. A rejected one may return, if training reproduces it.
pub(in crate::ops) async fn add_candidate(
    tx: &mut Tx<'_>,
    by: Option<AccountId>,
    net: &NewNet,
) -> Result<(), StoreError> {
    let (now, hash) = (tx.now(), net.hash.to_string());
    tx.nets().add(now, net).await?;
    if !tx.nets().apply(now, &hash, NetEvent::Trained, None).await? {
        return Err(Problem::new(Code::Conflict, format!("the net {hash} is here already, as no candidate")).into());
    }
    tx.record_event(by, Event::Candidate { net: hash, name: net.name.clone() }).await?;
    Ok(())
}

/// The net that the campaign's training delivered.
pub(super) async fn candidate_of(tx: &mut Tx<'_>, campaign: &Campaign) -> Result<Digest, StoreError> {
    let training = campaign.training.ok_or(Refusal::NoCandidate)?;
    let candidate = tx.trainings().get(training).await?.candidate.ok_or(Refusal::NoCandidate)?;
    candidate.parse().map_err(|_| StoreError::Corrupt("a candidate without a hash".to_owned()))
}

/// Promotes the candidate and begins the next generation.
pub(super) async fn promote(tx: &mut Tx<'_>, campaign: &mut Campaign, by: Option<AccountId>) -> Result<(), StoreError> {
    let now = tx.now();
    let candidate = candidate_of(tx, campaign).await?;
    let net = candidate.to_string();
    tx.nets().apply(now, &net, NetEvent::Promoted, None).await?;
    let kind = if by.is_some() { PromotionKind::Hand } else { PromotionKind::Gate };
    let (id, previous, job) = (campaign.id, campaign.champion.map(|net| net.to_string()), campaign.gate);
    let promotion = Promotion { campaign: id, net: Some(net.clone()), previous, kind, by, job, reason: None };
    tx.campaigns().add_promotion(now, promotion).await?;
    set_jobs_state(tx, campaign, JobState::Closed).await?;
    campaign.promote(now, candidate);
    let (name, generation) = (tx.nets().name(&net).await?, campaign.generation);
    tx.record_event(by, Event::Promotion { campaign: campaign.plan.name.clone(), net, name, generation, job }).await?;
    Ok(())
}

/// Rejects the candidate.
pub(super) async fn reject(tx: &mut Tx<'_>, campaign: &mut Campaign, reason: Reason) -> Result<(), StoreError> {
    let now = tx.now();
    let net = candidate_of(tx, campaign).await?.to_string();
    tx.nets().apply(now, &net, NetEvent::Rejected, None).await?;
    let job = campaign.gate;
    if let Some(job) = job {
        tx.jobs().set_state(now, job, JobState::Closed).await?;
    }
    let stuck = campaign.reject(now);
    let name = tx.nets().name(&net).await?;
    tx.record_event(None, Event::Rejection { campaign: campaign.plan.name.clone(), net, name, reason, job }).await?;
    match stuck {
        Some(reason) => stick(tx, campaign, reason).await,
        None => Ok(()),
    }
}

/// Takes a candidate back whose rejection was reversed, if there is one. Its gate decides again, as
/// soon as the audits of its games are there.
pub(super) async fn take_back(tx: &mut Tx<'_>, campaign: &mut Campaign) -> Result<bool, StoreError> {
    let Some(gate) = tx.campaigns().reversed_gate(campaign).await? else { return Ok(false) };
    let now = tx.now();
    tx.jobs().set_reversed(gate.job, false).await?;
    if !tx.nets().apply(now, &gate.net, NetEvent::Reversed, None).await? {
        // Another campaign promoted it meanwhile.
        return Ok(false);
    }
    tx.jobs().decide(gate.job, None).await?;
    campaign.take_back(now, gate.training, gate.job);
    let (campaign, name) = (campaign.plan.name.clone(), tx.nets().name(&gate.net).await?);
    tx.record_event(None, Event::Gating { campaign, name, job: Some(gate.job) }).await?;
    Ok(true)
}

/// Sets the state of the campaign's jobs.
pub(super) async fn set_jobs_state(tx: &mut Tx<'_>, campaign: &Campaign, state: JobState) -> Result<(), StoreError> {
    let now = tx.now();
    for job in [campaign.selfplay, campaign.gate].into_iter().flatten() {
        tx.jobs().set_state(now, job, state).await?;
    }
    Ok(())
}

/// Marks the campaign as stuck until a maintainer acts.
pub(super) async fn stick(tx: &mut Tx<'_>, campaign: &mut Campaign, reason: Reason) -> Result<(), StoreError> {
    let now = tx.now();
    if let Some(job) = campaign.selfplay {
        tx.jobs().set_state(now, job, JobState::Paused).await?;
    }
    campaign.stick(reason.clone());
    let campaign = campaign.plan.name.clone();
    tx.record_event(None, Event::Stall(Stall::Campaign { campaign, reason })).await?;
    Ok(())
}
