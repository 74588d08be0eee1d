//! Validator service: claims shards, replays their games and records verdicts. It runs in the
//! coordinator or in any number of separate processes.

use std::{sync::Arc, time::Duration};

use dataset::{
    Book, Digest,
    delivery::{self, Comparison},
    manifest::Entry,
};
use protocol::api::problem::Code;
use serde_json::json;
use tokio::task::spawn_blocking;
use xiangqi::{Fen, rules::RuleSet};

use crate::{
    clock::{Clock, SECOND, Time},
    file_lock::FileLock,
    model::{Figures, Reason, ToCompare, ToValidate, ValidationReport},
    objects::{Kind, ObjectError, Objects},
    ops::{
        disputes::{ClaimComparisons, RecordComparison, finish_reviews},
        validation::{AcceptShard, ClaimShards, RejectShard, ReleaseClaims},
    },
    pulse::{Pulse, Task},
    store::{Database, Operation, StoreError},
};

/// Duration of a claim, in milliseconds; afterwards others may claim the shard.
const CLAIM_MS: i64 = 300 * SECOND;

/// A validator.
#[derive(Clone)]
pub struct Validator {
    /// The database.
    pub store: Database,
    /// The objects.
    pub objects: Objects,
    /// The clock.
    pub clock: Clock,
    /// Maximum shards validated at the same time.
    pub threads: usize,
}

/// An error of validation.
#[derive(Debug, thiserror::Error)]
pub enum ValidatorError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The lock of validators cannot be taken.
    #[error("the lock beside the database file: {0}")]
    Lock(#[from] std::io::Error),
    /// A thread panicked.
    #[error("validation broke off: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

impl Validator {
    /// Takes the lock of validators, to be held as long as it validates. Ends the claims of those
    /// that were killed, if no other validator uses the database file. On a server the claims end
    /// by their time.
    ///
    /// # Errors
    ///
    /// If the lock cannot be taken, or the database fails.
    pub async fn begin(&self) -> Result<Option<FileLock>, ValidatorError> {
        let Some(file) = self.store.file() else { return Ok(None) };
        let release = async || self.run(self.clock.now(), ReleaseClaims).await;
        FileLock::validating(file, release).await.map(Some)
    }

    /// Validates until stopped; sleeps while nothing is pending.
    pub async fn serve(self, pulse: Arc<Pulse>, mut stop: tokio::sync::watch::Receiver<bool>) {
        loop {
            let batch = self.run_batch().await;
            if batch.is_ok() {
                pulse.record(Task::Validator, self.clock.now());
            }
            let pause = match batch {
                Ok(0) => Duration::from_millis(300),
                Ok(_) => Duration::ZERO,
                Err(error) => {
                    tracing::error!(%error, "validation failed");
                    Duration::from_secs(5)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => if *stop.borrow() { break },
                changed = stop.changed() => if changed.is_err() || *stop.borrow() { break },
            }
        }
    }

    /// Validates and compares one batch; returns its size.
    ///
    /// # Errors
    ///
    /// If the database or the objects fail.
    pub async fn run_batch(&self) -> Result<usize, ValidatorError> {
        let now = self.clock.now();
        let limit = self.threads.max(1) as i64;
        let until = now.after(CLAIM_MS);
        let shards = self.run(now, ClaimShards { limit, until }).await?;
        let mut tasks = tokio::task::JoinSet::new();
        for shard in &shards {
            tasks.spawn(self.clone().validate(shard.clone()));
        }
        // A failed task must not stop the others: its claim expires and it is retried.
        let mut outcome = Ok(());
        while let Some(done) = tasks.join_next().await {
            if let Err(error) = done.map_err(ValidatorError::from).and_then(|done| done) {
                tracing::error!(%error, "an upload was not validated");
                outcome = Err(error);
            }
        }
        let comparisons = self.run(now, ClaimComparisons { limit: limit * 4, until }).await?;
        let mut is_review_due = false;
        for comparison in &comparisons {
            match self.compare(comparison).await {
                Ok(is_due) => is_review_due |= is_due,
                Err(error) => {
                    tracing::error!(comparison = comparison.comparison.0, %error, "two uploads were not compared");
                    outcome = Err(error);
                }
            }
        }
        if is_review_due {
            finish_reviews(&self.store, &self.clock).await?;
        }
        outcome.map(|()| shards.len() + comparisons.len())
    }

    async fn validate(self, shard: ToValidate) -> Result<(), ValidatorError> {
        let now = self.clock.now();
        let bytes = match self.objects.get(Kind::Shard, shard.hash).await {
            Ok(bytes) if Digest::of(&bytes) == shard.hash => bytes,
            Ok(_) => {
                return self
                    .reject(&shard, Code::Corrupt, "the stored bytes are not those of its name".into(), false)
                    .await;
            }
            Err(ObjectError::Missing) => {
                return self.reject(&shard, Code::Corrupt, "the stored bytes are gone".into(), false).await;
            }
            Err(error) => return Err(error.into()),
        };
        let book = match shard.header.openings.book {
            Some(book) => Some(self.book(book, shard.header.rules).await?),
            None => None,
        };
        let (header, games) = (shard.header.clone(), shard.games.clone());
        let found = spawn_blocking(move || {
            let pick = |seed| book.as_ref().map_or_else(Fen::start, |book| book.pick(seed).clone());
            let proof = delivery::by_replay(&bytes, &header, games, Some(&pick))?;
            let entry = Entry::of(&bytes).ok().and_then(|entry| serde_json::to_string(&entry).ok());
            Ok::<_, delivery::Refusal>((proof, entry.unwrap_or_default(), header))
        })
        .await?;
        let (proof, entry, header) = match found {
            Ok(found) => found,
            Err(refusal) => {
                let code = Code::from_name(refusal.code());
                return self.reject(&shard, code, (&refusal).into(), true).await;
            }
        };
        let (is_match, is_timed) = (header.opponent.is_some(), header.clock.is_some());
        let reasons: std::collections::BTreeMap<_, _> =
            proof.reasons.iter().map(|(reason, games)| (reason.name(), games)).collect();
        let outcomes = json!({ "red_wins": proof.red_wins, "black_wins": proof.black_wins, "draws": proof.draws });
        let report = Arc::new(ValidationReport {
            positions: proof.positions,
            outcomes: outcomes.to_string(),
            reasons: json!(reasons).to_string(),
            figures: Figures::of(&proof.figures, proof.repeated_positions),
            pairs: is_match.then_some(proof.pairs),
            time_losses: is_timed.then(|| proof.time_losses.iter().map(|[own, other]| own + 3 * other).collect()),
            entry,
        });
        self.run(now, AcceptShard { shard: shard.shard, report, draw: random() }).await
    }

    /// Runs an operation.
    async fn run<O: Operation>(&self, now: Time, operation: O) -> Result<O::Output, ValidatorError> {
        Ok(self.store.run(now, operation).await?)
    }

    async fn reject(
        &self,
        shard: &ToValidate,
        code: Code,
        detail: Reason,
        is_fault: bool,
    ) -> Result<(), ValidatorError> {
        tracing::warn!(shard = %shard.hash, %code, %detail, "rejected");
        let rejected = RejectShard { shard: shard.shard, code, detail, is_fault };
        self.run(self.clock.now(), rejected).await
    }

    async fn book(&self, hash: Digest, rules: RuleSet) -> Result<Book, ValidatorError> {
        let bytes = self.objects.get(Kind::Book, hash).await?;
        Book::from_bytes(&bytes, rules)
            .map_err(|error| StoreError::Corrupt(format!("a book that is none: {error}")).into())
    }

    /// Compares two uploads; returns whether uploads are to be reviewed.
    async fn compare(&self, pair: &ToCompare) -> Result<bool, ValidatorError> {
        let (Ok(left), Ok(right)) = (pair.left.parse(), pair.right.parse()) else { return Ok(false) };
        let differs = if left == right {
            None
        } else {
            let left = self.objects.get(Kind::Shard, left).await?;
            let right = self.objects.get(Kind::Shard, right).await?;
            let (first, order) = (pair.first as u64, pair.order());
            let differs = move |games| match delivery::compare(&left, &right, games) {
                Comparison::Equal => None,
                Comparison::Differ { first_game } => Some(first_game),
                // Both were readable when validated, so one has been damaged since.
                Comparison::Unreadable => Some(first),
            };
            spawn_blocking(move || order.into_iter().find_map(differs)).await?
        };
        self.run(self.clock.now(), RecordComparison { comparison: pair.comparison, differs }).await
    }
}

/// Returns an unpredictable random number.
#[must_use]
pub fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}
