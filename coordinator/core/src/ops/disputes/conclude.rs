//! Applies the transitions of a case, to its fixpoint.

use std::collections::BTreeSet;

use crate::{
    events::{Event, record_event},
    model::{AccountId, JobId, Part, Reason},
    ops::holders,
    rules::case::{Case, Transition},
    store::{StoreError, Tx},
};

/// Why the standing of an account changes.
pub(super) struct Cause {
    /// The deciding maintainer; none for the coordinator.
    pub(super) by: Option<AccountId>,
    /// The reason.
    pub(super) reason: Reason,
}

/// An account whose standing changes.
struct Decision {
    account: AccountId,
    begins: bool,
    is_new: bool,
}

/// The changes made for a case so far.
#[derive(Default)]
struct Progress {
    decision: Option<Decision>,
    /// Shards of which account left the pool or came back.
    moved: Vec<AccountId>,
    /// Jobs whose games have changed.
    jobs: BTreeSet<JobId>,
}

/// Applies what the case demands to the database. It ends when nothing is demanded any more.
pub(super) async fn conclude(tx: &mut Tx<'_>, case: &mut Case, cause: &Cause) -> Result<(), StoreError> {
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
    progress.finish(tx, cause).await
}

impl Progress {
    async fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        case: &mut Case,
        transition: Transition,
        cause: &Cause,
    ) -> Result<(), StoreError> {
        let now = tx.now();
        self.prepare(tx, case, transition, cause).await?;
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
            }
            Transition::Recount(account) => {
                let clean_until = tx.accounts().save_gain(account, case.take_gain(account)).await?;
                case.recounted(account, clean_until);
            }
            _ => {}
        }
        let Some(before) = before else { return Ok(()) };
        let (id, job, state) = (before.id, before.job, case.shard(before.id).state);
        if state != before.state {
            tx.shards().set_state(id, state).await?;
            tx.totals().transfer(id, before.state, state).await?;
        }
        let part = Part { shard: id, numbers: before.numbers };
        match transition {
            Transition::Withdraw(_) | Transition::Restore(_) => {
                self.moved.push(before.account);
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

    /// Changes the standing of an account, and reads what follows from it, before the case does.
    async fn prepare(
        &mut self,
        tx: &mut Tx<'_>,
        case: &mut Case,
        transition: Transition,
        cause: &Cause,
    ) -> Result<(), StoreError> {
        let account = match transition {
            Transition::Distrust(account) => {
                let message = Reason::Quarantined(Box::new(cause.reason.clone()));
                let is_new = tx.accounts().quarantine(account, message).await?;
                self.decision = Some(Decision { account, begins: true, is_new });
                account
            }
            Transition::Trust(account) => {
                let is_new = tx.accounts().lift(account).await?;
                self.decision = Some(Decision { account, begins: false, is_new });
                account
            }
            // The rows of the account in question are read already.
            Transition::Review(account) if self.decision.as_ref().is_none_or(|made| made.account != account) => account,
            _ => return Ok(()),
        };
        tx.jobs().lock_all_of(account).await?;
        if matches!(transition, Transition::Distrust(_)) {
            tx.leases().expire_all(account).await?;
        }
        case.extend(tx.comparisons().evidence_on(account).await?);
        Ok(())
    }

    async fn finish(self, tx: &mut Tx<'_>, cause: &Cause) -> Result<(), StoreError> {
        let now = tx.now();
        for job in &self.jobs {
            tx.jobs().mark_for_recheck(*job).await?;
        }
        let Some(Decision { account, begins, is_new }) = self.decision else { return Ok(()) };
        let uploads = self.moved.iter().filter(|other| **other == account).count() as u64;
        if is_new || uploads > 0 {
            let reason = cause.reason.clone();
            let event = if begins {
                Event::Quarantine { account, reason, uploads }
            } else {
                Event::QuarantineLifted { account, reason, uploads }
            };
            record_event(&mut tx.connection(), now, cause.by, event).await?;
        }
        Ok(())
    }
}
