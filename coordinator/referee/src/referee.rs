//! Claims games, plays them, and records the rulings.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use coordinator_core::{
    clock::{Clock, DAY, SECOND},
    model::{DisputedGame, ShardId, ToValidate},
    objects::{Kind, ObjectError, Objects},
    ops::disputes::{
        ClaimDisputes, ClaimUnchecked, ClaimedGame, PassCheck, PostponeGame, RecordRuling, Ruled, finish_reviews,
    },
    rules::audits,
    store::{Database, StoreError},
    validator::random,
};
use dataset::{Book, Digest, Header, Record, shard};
use engine::{Evaluation, bench};
use nnue::{Kernel, Net};
use selfplay::{certificate::Certificate, selfplay::Run};
use tokio::{sync::watch, task::spawn_blocking};

/// Duration of a claim, in milliseconds; afterwards others may claim the game.
const CLAIM_MS: i64 = 300 * SECOND;

/// Time until a game is tried again that could not be played, in milliseconds.
const RETRY_MS: i64 = DAY;

/// Pause while there is nothing to play.
const IDLE_PAUSE: Duration = Duration::from_secs(2);

/// Pause after a failure of database or objects.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// Maximum nets in memory.
const MAX_NETS: usize = 4;

/// A referee.
#[derive(Clone)]
pub struct Referee {
    store: Database,
    objects: Objects,
    clock: Clock,
    kernel: Kernel,
    /// The nets of the last games.
    nets: Arc<Mutex<Vec<Arc<Net>>>>,
}

/// An error of the referee.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum RefereeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{kind:?} {hash}: {source}")]
    Object { kind: Kind, hash: Digest, source: ObjectError },
    #[error("{kind:?} {hash} cannot be read: {why}")]
    Unreadable { kind: Kind, hash: Digest, why: String },
    #[error("the game cannot be played: {0}")]
    Unplayable(String),
    #[error("a game was aborted: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

impl RefereeError {
    /// Whether another attempt fails too: the game or an object is at fault, and no connection.
    const fn is_lasting(&self) -> bool {
        match self {
            Self::Unreadable { .. } | Self::Unplayable(_) | Self::Broken(_) => true,
            Self::Object { source, .. } => matches!(source, ObjectError::Missing),
            Self::Store(_) => false,
        }
    }
}

impl Referee {
    /// A referee of these games.
    #[must_use]
    pub fn new(store: Database, objects: Objects, clock: Clock, kernel: Kernel) -> Self {
        Self { store, objects, clock, kernel, nets: Arc::default() }
    }

    /// Plays until stopped; sleeps while there is nothing to play. A stop ends after the game at
    /// hand, and its upload is checked again.
    pub async fn serve(self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let step = tokio::select! {
                step = self.step() => step,
                changed = stop.changed() => if changed.is_err() { break } else { continue },
            };
            let pause = match step {
                Ok(true) => continue,
                Ok(false) => IDLE_PAUSE,
                Err(error) => {
                    tracing::error!(%error, "a game was not played");
                    FAILURE_PAUSE
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                changed = stop.changed() => if changed.is_err() { break },
            }
        }
    }

    /// Rules on a disputed game, or else checks an upload; false if there is neither. A game that
    /// cannot be played is claimed again after a day.
    ///
    /// # Errors
    ///
    /// If database or objects fail, or the game cannot be played.
    pub async fn step(&self) -> Result<bool, RefereeError> {
        if self.settle().await? {
            return Ok(true);
        }
        let now = self.clock.now();
        let (bench_signature, limit, until) = (bench::SIGNATURE, 1, now.after(CLAIM_MS));
        let uploads = self.store.run(now, ClaimUnchecked { draw: random(), bench_signature, limit, until }).await?;
        for upload in &uploads {
            let checked = self.check(upload).await;
            self.or_postpone(ClaimedGame::OfShard(upload.shard), checked).await?;
        }
        Ok(!uploads.is_empty())
    }

    /// Rules on a disputed game; false if there is none.
    async fn settle(&self) -> Result<bool, RefereeError> {
        let now = self.clock.now();
        let (bench_signature, limit, until) = (bench::SIGNATURE, 1, now.after(CLAIM_MS));
        let disputes = self.store.run(now, ClaimDisputes { bench_signature, limit, until }).await?;
        for dispute in &disputes {
            let ruled = self.rule(dispute).await;
            self.or_postpone(ClaimedGame::Disputed(dispute.comparison), ruled).await?;
        }
        Ok(!disputes.is_empty())
    }

    /// Leaves a game for a day that cannot be played.
    async fn or_postpone(&self, game: ClaimedGame, played: Result<(), RefereeError>) -> Result<(), RefereeError> {
        if played.as_ref().is_err_and(RefereeError::is_lasting) {
            let now = self.clock.now();
            self.store.run(now, PostponeGame { game, until: now.after(RETRY_MS) }).await?;
        }
        played
    }

    async fn rule(&self, dispute: &DisputedGame) -> Result<(), RefereeError> {
        let (game, shards) = (dispute.game as u64, [dispute.one, dispute.other]);
        let versions = [self.record(shards[0], game).await?, self.record(shards[1], game).await?];
        let run = self.run_of(&dispute.header).await?;
        let played =
            spawn_blocking(move || Certificate::rule(&run, &mut run.players(), game, shards, versions.each_ref()));
        let ruling = played.await?.map_err(|error| RefereeError::Unplayable(error.to_string()))?;
        let Some(certificate) = ruling else {
            let why = format!("game {game} of two shards is the same, and they were found different");
            return Err(RefereeError::Unplayable(why));
        };
        let mut verdict = certificate.verdict();
        let is_right = [(); 2].map(|()| verdict.next().unwrap_or_default());
        self.record_ruling(Ruled::Dispute(dispute.comparison, is_right), &certificate).await
    }

    /// Plays games of an upload again, until one differs. If none does, the first one is known.
    async fn check(&self, upload: &ToValidate) -> Result<(), RefereeError> {
        let games = audits::draw_checked(upload.games.clone(), upload.header.opponent.is_some(), random());
        let (shard, versions) = (upload.hash, self.records(upload.hash, games.clone()).await?);
        let run = Arc::new(self.run_of(&upload.header).await?);
        for (number, (&game, version)) in games.iter().zip(versions).enumerate() {
            if number > 0 {
                self.keep(upload.shard).await?;
            }
            let run = Arc::clone(&run);
            let played = spawn_blocking(move || Certificate::check(&run, &mut run.players(), game, shard, &version));
            let ruling = played.await?.map_err(|error| RefereeError::Unplayable(error.to_string()))?;
            if let Some(certificate) = ruling {
                return self.record_ruling(Ruled::Check(upload.shard), &certificate).await;
            }
        }
        match games.first() {
            Some(&game) => self.pass(upload.shard, game).await,
            None => Ok(()),
        }
    }

    /// Keeps the claim of an upload with more games to check. Disputes do not wait for them.
    async fn keep(&self, shard: ShardId) -> Result<(), RefereeError> {
        if let Err(error) = self.settle().await {
            tracing::error!(%error, "a disputed game was not played");
        }
        let (now, game) = (self.clock.now(), ClaimedGame::OfShard(shard));
        Ok(self.store.run(now, PostponeGame { game, until: now.after(CLAIM_MS) }).await?)
    }

    async fn pass(&self, shard: ShardId, game: u64) -> Result<(), RefereeError> {
        Ok(self.store.run(self.clock.now(), PassCheck { shard, game }).await?)
    }

    async fn record_ruling(&self, ruled: Ruled, certificate: &Certificate) -> Result<(), RefereeError> {
        let game = certificate.game;
        let text = serde_json::to_string(certificate).map_err(|error| RefereeError::Unplayable(error.to_string()))?;
        tracing::warn!(?ruled, game, right = %certificate.right, claims = ?certificate.claims, "ruled");
        let ruling = RecordRuling { ruled, game, certificate: text.into() };
        if self.store.run(self.clock.now(), ruling).await? {
            finish_reviews(&self.store, &self.clock).await?;
        }
        Ok(())
    }

    /// A game of a shard.
    async fn record(&self, hash: Digest, game: u64) -> Result<Record, RefereeError> {
        let records = self.records(hash, vec![game]).await?;
        records.into_iter().next().ok_or_else(|| unreadable(Kind::Shard, hash, "it has no games"))
    }

    /// Games of a shard.
    async fn records(&self, hash: Digest, games: Vec<u64>) -> Result<Vec<Record>, RefereeError> {
        let bytes = self.object(Kind::Shard, hash).await?;
        let read = spawn_blocking(move || {
            let shard = shard::Shard::new(&bytes[..])?;
            games.into_iter().map(|game| shard.game(game)).collect::<Result<Vec<Record>, _>>()
        });
        read.await?.map_err(|error| unreadable(Kind::Shard, hash, error))
    }

    /// The run of a header, with its nets and its book.
    async fn run_of(&self, header: &Header) -> Result<Run, RefereeError> {
        let own = self.evaluation(header.net).await?;
        let opponent = match header.opponent {
            Some(opponent) => Some(self.evaluation(opponent.net).await?),
            None => None,
        };
        let book = match header.openings.book {
            Some(hash) => {
                let bytes = self.object(Kind::Book, hash).await?;
                let book = Book::from_bytes(&bytes, header.rules);
                Some(book.map_err(|error| unreadable(Kind::Book, hash, error))?)
            }
            None => None,
        };
        let run = Run::from_header(header, own, opponent, book);
        run.map_err(|error| RefereeError::Unplayable(error.to_string()))
    }

    async fn evaluation(&self, net: Option<Digest>) -> Result<Evaluation, RefereeError> {
        let Some(hash) = net else { return Ok(Evaluation::Plain) };
        let known = || {
            let nets = self.nets.lock().unwrap_or_else(PoisonError::into_inner);
            nets.iter().find(|net| Digest::from(*net.hash().as_bytes()) == hash).map(Arc::clone)
        };
        if let Some(net) = known() {
            return Ok(Evaluation::Net(net, self.kernel));
        }
        let bytes = self.object(Kind::Net, hash).await?;
        let net = spawn_blocking(move || Net::from_bytes(&bytes)).await?;
        let net = Arc::new(net.map_err(|error| unreadable(Kind::Net, hash, error))?);
        let mut nets = self.nets.lock().unwrap_or_else(PoisonError::into_inner);
        if nets.len() == MAX_NETS {
            nets.remove(0);
        }
        nets.push(Arc::clone(&net));
        Ok(Evaluation::Net(net, self.kernel))
    }

    /// The bytes of an object, which are those of its hash.
    async fn object(&self, kind: Kind, hash: Digest) -> Result<Vec<u8>, RefereeError> {
        let bytes = self.objects.get(kind, hash).await.map_err(|source| RefereeError::Object { kind, hash, source })?;
        if Digest::of(&bytes) != hash {
            return Err(unreadable(kind, hash, "its bytes are others"));
        }
        Ok(bytes.to_vec())
    }
}

fn unreadable(kind: Kind, hash: Digest, why: impl std::fmt::Display) -> RefereeError {
    RefereeError::Unreadable { kind, hash, why: why.to_string() }
}
