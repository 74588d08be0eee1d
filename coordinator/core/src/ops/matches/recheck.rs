//! Rechecks of decided matches.

use stats::Decision;

use crate::{
    events::{Event, record_event},
    matches::{self, Standing},
    model::{CampaignState, JobId, JobKind, JobState, Reason},
    rules::nets::NetEvent,
    store::{Operation, StoreError, Tx},
};

/// Rechecks decided matches whose games have changed. A decision that no longer holds is disputed,
/// and the match resumes to fill the gap. Returns the number of matches.
pub struct RecheckMatches;

impl Operation for RecheckMatches {
    const NAME: &'static str = "recheck_matches";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let jobs = tx.jobs().to_recheck().await?;
        for &job in &jobs {
            recheck(tx, job).await?;
        }
        Ok(jobs.len() as u64)
    }
}

async fn recheck(tx: &mut Tx<'_>, job: JobId) -> Result<(), StoreError> {
    let now = tx.now();
    tx.jobs().lock(job).await?;
    let found = tx.jobs().get_match(job).await?;
    let Some(decided) = found.decision.map(|decided| decided.verdict) else { return Ok(()) };
    let (standing, _) = matches::standing_of(&mut tx.connection(), &found).await?;
    let is_out = matches::is_out(&found, &standing);
    let state = |is_open| if is_open { JobState::Open } else { JobState::Closed };
    let Some(campaign) = found.campaign else {
        // No net depends on it: it is decided anew.
        let stands = standing.verdict == decided && (is_out || found.kind == JobKind::Match);
        tx.jobs().save_recheck(now, job, false).await?;
        if !stands {
            tx.jobs().decide(job, None).await?;
        }
        return tx.jobs().set_state(now, job, state(!stands)).await;
    };
    let has_gap = standing.verdict.decision == Decision::Continue && !is_out;
    let plays = has_gap && !matches!(campaign, CampaignState::Paused | CampaignState::Stopped);
    tx.jobs().save_recheck(now, job, has_gap).await?;
    tx.jobs().set_state(now, job, state(plays)).await?;
    match found.net {
        Some(net) => review(tx, job, net, decided.decision, &standing).await,
        None => Ok(()),
    }
}

/// Reviews a net whose gate was rechecked.
async fn review(
    tx: &mut Tx<'_>,
    job: JobId,
    net: String,
    decided: Decision,
    standing: &Standing,
) -> Result<(), StoreError> {
    let (now, pairs) = (tx.now(), standing.pairs);
    let stands = standing.verdict.decision == Decision::AcceptH1;
    let name = tx.nets().name(&net).await?;
    let event = match (decided, stands) {
        (Decision::AcceptH1, true) if tx.nets().apply(now, &net, NetEvent::Proven, None).await? => {
            Event::Promoted { net, name, job }
        }
        (Decision::AcceptH1, false)
            if tx.nets().apply(now, &net, NetEvent::Unproven, Some(Reason::GateUnproven { pairs })).await? =>
        {
            Event::Disputed { net, name, job, pairs }
        }
        (Decision::AcceptH0 | Decision::Continue, true) => Event::GateReversed { net, name, job, pairs },
        _ => return Ok(()),
    };
    record_event(&mut tx.connection(), now, None, event).await?;
    Ok(())
}
