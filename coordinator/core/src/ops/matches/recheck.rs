//! Rechecks of decided matches.

use stats::Decision;

use crate::{
    matches::{self, Standing},
    model::{CampaignState, Event, JobId, JobKind, JobState, Reason},
    query,
    rules::nets::NetEvent,
    store::{Database, Jobs, Match, Operation, StoreError, Tx},
};

/// Rechecks decided matches whose games have changed. A decision that no longer holds is disputed,
/// and the match resumes to fill the gap. A reversed rejection is marked:
/// [`AdvanceCampaign`](crate::ops::campaigns::AdvanceCampaign) takes the net back. Returns the
/// number of matches. A match whose games changed after it was read is left to the next call.
pub struct RecheckMatches {
    due: Vec<(Match, Standing)>,
}

impl RecheckMatches {
    /// Reads the standings, which takes a while.
    pub async fn prepare(store: &Database) -> Result<Self, StoreError> {
        let due = store.read(query!(|connection| {
            let mut due = Vec::new();
            for job in Jobs::on(connection.reborrow()).to_recheck().await? {
                let found = Jobs::on(connection.reborrow()).get_match(job).await?;
                let (standing, _) = matches::standing_of(&mut connection, &found).await?;
                due.push((found, standing));
            }
            Ok(due)
        }));
        Ok(Self { due: due.await? })
    }
}

impl Operation for RecheckMatches {
    const NAME: &'static str = "recheck_matches";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        if self.due.is_empty() || tx.reviews().any().await? {
            return Ok(0);
        }
        let mut rechecked = 0;
        for (read, standing) in &self.due {
            tx.jobs().lock(read.job).await?;
            let found = tx.jobs().get_match(read.job).await?;
            if (found.recheck, found.withdrawals) == (read.recheck, read.withdrawals) {
                recheck(tx, &found, standing).await?;
                rechecked += 1;
            }
        }
        Ok(rechecked)
    }
}

async fn recheck(tx: &mut Tx<'_>, found: &Match, standing: &Standing) -> Result<(), StoreError> {
    let (now, job) = (tx.now(), found.job);
    let Some(decided) = found.decision.map(|decided| decided.verdict) else { return Ok(()) };
    let is_out = matches::is_out(found, standing);
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
    match found.net.clone() {
        Some(net) => review(tx, job, net, decided.decision, standing).await,
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
        (Decision::AcceptH0 | Decision::Continue, stands) if tx.jobs().set_reversed(job, stands).await? && stands => {
            Event::GateReversed { net, name, job, pairs }
        }
        _ => return Ok(()),
    };
    tx.record_event(None, event).await?;
    Ok(())
}
