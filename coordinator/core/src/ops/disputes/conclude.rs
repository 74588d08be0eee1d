//! Applies the transitions of a case, to its fixpoint.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{AccountId, JobId, Part, Reason, Review, ShardId},
    ops::{holders, standing},
    rules::{
        audits,
        case::{Case, Transition},
    },
    store::{StoreError, Tx},
};

/// Why the standing of an account changes.
pub(super) struct Cause {
    /// The deciding maintainer; none for the coordinator.
    pub(super) by: Option<AccountId>,
    /// The reason.
    pub(super) reason: Reason,
}

/// The changes made for a case so far.
#[derive(Default)]
struct Progress {
    /// How many shards of each account left the pool or came back.
    moved: BTreeMap<AccountId, i64>,
    /// Jobs whose games have changed.
    jobs: BTreeSet<JobId>,
    /// Nodes that audits proved, or no longer prove.
    proven: BTreeMap<AccountId, i64>,
    is_review_due: bool,
}

/// Applies what the case demands to the database. It ends when nothing is demanded any more. A
/// change of an account's standing needs its cause. Returns whether reviews are due.
pub(super) async fn conclude(tx: &mut Tx<'_>, case: &mut Case, cause: Option<&Cause>) -> Result<bool, StoreError> {
    let mut progress = Progress::default();
    loop {
        let demanded = case.next();
        if demanded.is_empty() {
            break;
        }
        for transition in demanded {
            progress.apply(tx, case, transition, cause).await?;
        }
    }
    progress.finish(tx).await
}

impl Progress {
    async fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        case: &mut Case,
        transition: Transition,
        cause: Option<&Cause>,
    ) -> Result<(), StoreError> {
        let now = tx.now();
        let before = transition.shard().map(|shard| case.shard(shard).clone());
        if !case.apply(transition) {
            return Ok(());
        }
        match transition {
            Transition::Conclude(id) | Transition::Void(id) | Transition::Requeue(id) | Transition::Settle(id) => {
                tx.comparisons().save(case.comparison(id)).await?;
            }
            Transition::Verify(id) => {
                let shard = case.shard(id);
                tx.shards().save_audit(id, shard.audited_games, shard.audit).await?;
                let verified = before.as_ref().map_or(0, |before| before.audited_games);
                let games = shard.numbers.end - shard.numbers.start;
                let proven = audits::proven_games(games, verified, shard.audited_games);
                if proven != 0 {
                    let nodes = proven.saturating_mul(tx.jobs().cost(shard.job).await?);
                    *self.proven.entry(shard.account).or_default() += nodes;
                }
                if before.as_ref().is_some_and(|before| before.audited_games > shard.audited_games) {
                    tx.jobs().count_loss(shard.job).await?;
                }
            }
            Transition::Distrust(account) => change_standing(tx, account, true, cause).await?,
            Transition::Trust(account) => change_standing(tx, account, false, cause).await?,
            Transition::Recount(account) => {
                tx.accounts().add_clean_games(account, case.take_gain(account)).await?;
                if let Some(nodes) = self.proven.remove(&account) {
                    standing::credit(tx, account, nodes).await?;
                }
            }
            _ => {}
        }
        self.is_review_due |= matches!(transition, Transition::Distrust(_) | Transition::Trust(_));
        let Some(before) = before else { return Ok(()) };
        let (id, job, state) = (before.id, before.job, case.shard(before.id).state);
        if state != before.state {
            tx.shards().set_state(id, state).await?;
            tx.totals().transfer(id, before.state, state).await?;
        }
        let part = Part { shard: id, numbers: before.numbers };
        match transition {
            Transition::Withdraw(_) | Transition::Restore(_) => {
                *self.moved.entry(before.account).or_default() += 1;
                self.jobs.insert(job);
            }
            Transition::Pass(_) => holders::pass(tx, job, &part).await?,
            Transition::Hold(_) => drop(holders::hold(tx, job, &part).await?),
            Transition::Reclaim(_) => {
                for holder in holders::hold(tx, job, &part).await? {
                    tx.comparisons().queue(now, job, &holder, &part).await?;
                }
            }
            Transition::Consult(_, game) => {
                if let Some(trusted) = tx.comparisons().trusted_with(&part, job, game).await? {
                    tx.comparisons().queue(now, job, &trusted, &part).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn finish(self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        for job in self.jobs {
            tx.jobs().mark_for_recheck(job).await?;
        }
        for (account, uploads) in self.moved {
            tx.reviews().count(account, uploads).await?;
        }
        Ok(self.is_review_due)
    }
}

/// Quarantines an account or lifts its quarantine, and begins the review of its shards.
async fn change_standing(
    tx: &mut Tx<'_>,
    account: AccountId,
    begins: bool,
    cause: Option<&Cause>,
) -> Result<(), StoreError> {
    let Some(Cause { by, reason }) = cause else { return Ok(()) };
    let is_new = if begins {
        tx.jobs().lock_leased_by(account).await?;
        tx.leases().expire_all(account).await?;
        tx.accounts().quarantine(account, Reason::Quarantined(Box::new(reason.clone()))).await?
    } else {
        tx.accounts().lift(account).await?
    };
    end_review(tx, account).await?;
    let (reviewed_until, reason) = (ShardId::default(), Some(reason.clone()));
    tx.reviews().begin(&Review { account, reviewed_until, begins, is_new, decided_by: *by, reason, uploads: 0 }).await
}

/// Ends the review of an account, if there is one.
pub(super) async fn end_review(tx: &mut Tx<'_>, account: AccountId) -> Result<(), StoreError> {
    let Some(review) = tx.reviews().lock(account).await? else { return Ok(()) };
    tx.reviews().end(account).await?;
    let by = review.decided_by;
    match review.event() {
        Some(event) => tx.record_event(by, event).await.map(drop),
        None => Ok(()),
    }
}
