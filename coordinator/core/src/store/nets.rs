//! The tables of nets, opening books and training sets.

use std::{
    collections::BTreeSet,
    ops::{Range, RangeInclusive},
    sync::Arc,
};

use dataset::{
    Digest,
    manifest::{Entry, FORMAT, Manifest},
};
use sqlx::AssertSqlSafe;

use super::{
    convert::{digest, numbers, proof, row},
    error::StoreError,
    jobs::Jobs,
    operation::repository,
    rulings::Rulings,
};
use crate::{
    clock::Time,
    model::{Campaign, CampaignId, ChangedJob, JobCounts, NetState, NewNet, Proof, Reason, Refusal, ShardId},
    rules::{
        nets::NetEvent,
        readiness::{self, OpenGames},
    },
};

/// Size of a part of a manifest, in bytes.
const PART_BYTES: usize = 128 << 10;

/// Parts of a manifest read by one statement.
const MAX_PARTS: i64 = 16;

/// Shards of a training set read by one statement.
const MAX_ENTRIES: i64 = 1_000;

/// Changed jobs read by one statement.
const MAX_CHANGED: i64 = 16;

row!(ChangedJob { job, campaign, generation, recheck });

struct EntryRow {
    id: ShardId,
    numbers: Range<i64>,
    counted: i64,
    positions: i64,
    entry: Option<String>,
    proof: Proof,
}

row!(EntryRow { id, numbers: numbers, counted, positions, entry, proof: proof });

/// A training set: shards of some generations, each of their games once.
#[derive(Clone, Debug)]
pub struct TrainingSet {
    /// The campaign.
    pub campaign: CampaignId,
    /// The generations of its games.
    pub generations: RangeInclusive<i64>,
    /// The hash of its manifest.
    pub hash: Digest,
    /// Number of its games.
    pub games: u64,
    /// Number of their positions.
    pub positions: u64,
    /// The text of its manifest.
    pub text: Arc<str>,
    /// Counted games of its jobs that are open.
    pub open: OpenGames,
    /// How often counted games of its jobs were withdrawn before it was read.
    pub withdrawals: i64,
    /// Whether one of its shards has enough results to say what its scores mean.
    pub has_scale: bool,
}

impl TrainingSet {
    /// The text of its manifest, in parts.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.text;
        std::iter::from_fn(move || {
            let (part, others) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
            rest = others;
            (!part.is_empty()).then_some(part)
        })
    }

    /// Whether it has the games of the campaign's next training.
    #[must_use]
    pub fn is_of(&self, campaign: &Campaign) -> bool {
        self.campaign == campaign.id && self.generations == (campaign.window_start()..=campaign.generation)
    }

    /// Whether no game of its jobs was withdrawn since it was read.
    #[must_use]
    pub fn is_current(&self, jobs: &[JobCounts]) -> bool {
        self.withdrawals == jobs.iter().map(|job| job.withdrawals).sum::<i64>()
    }
}

repository!(
    /// The nets, within a transaction.
    Nets, nets
);

impl Nets<'_> {
    /// Checks that a net exists.
    pub async fn must_exist(&mut self, net: Digest) -> Result<(), StoreError> {
        let query = sqlx::query_scalar("SELECT COUNT(*) FROM nets WHERE hash = $1").bind(net.to_string());
        let here: i64 = query.fetch_one(self.0.raw()).await?;
        if here == 0 { Err(Refusal::NoNet { net: net.to_string() }.into()) } else { Ok(()) }
    }

    /// Checks that a book exists.
    pub async fn book_must_exist(&mut self, book: Digest) -> Result<(), StoreError> {
        let query = sqlx::query_scalar("SELECT COUNT(*) FROM books WHERE hash = $1").bind(book.to_string());
        let here: i64 = query.fetch_one(self.0.raw()).await?;
        if here == 0 { Err(Refusal::NoBook { book: book.to_string() }.into()) } else { Ok(()) }
    }

    /// The display name of a player.
    pub async fn name_of(&mut self, net: Option<Digest>) -> Result<String, StoreError> {
        match net {
            None => Ok("the plain evaluation".to_owned()),
            Some(net) => self.name(&net.to_string()).await,
        }
    }

    /// The display name of the net with this hash.
    pub async fn name(&mut self, net: &str) -> Result<String, StoreError> {
        let name = self.find_name(net).await?;
        Ok(name.unwrap_or_else(|| net.chars().take(12).collect()))
    }

    /// The name of the net with this hash, if it is known.
    pub async fn find_name(&mut self, net: &str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT name FROM nets WHERE hash = $1").bind(net.to_owned());
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// Adds a net; an existing one stays as it is.
    pub async fn add(&mut self, now: Time, net: &NewNet) -> Result<(), StoreError> {
        let query =
            "INSERT INTO nets (hash, name, state, campaign, generation, parent, bytes, manifest, architecture, created)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (hash) DO NOTHING";
        let query = sqlx::query(query).bind(net.hash.to_string()).bind(net.name.clone()).bind(net.state);
        let query = query.bind(net.campaign.map(|it| it.0)).bind(net.campaign.map(|it| it.1)).bind(net.parent.clone());
        let query = query.bind(net.bytes as i64).bind(net.manifest.clone()).bind(net.architecture.clone());
        query.bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Takes a net through an event; whether its state allows it. `disputed` is the reason of a
    /// dispute.
    pub async fn apply(
        &mut self,
        now: Time,
        net: &str,
        event: NetEvent,
        disputed: Option<Reason>,
    ) -> Result<bool, StoreError> {
        let query = self.0.for_update("SELECT state FROM nets WHERE hash = $1");
        let state: Option<NetState> =
            sqlx::query_scalar(query).bind(net.to_owned()).fetch_optional(self.0.raw()).await?;
        let Some(state) = state.and_then(|state| state.after(event)) else { return Ok(false) };
        let query = "UPDATE nets SET state = $2, promoted = CASE WHEN $3 = 1 THEN $4 ELSE promoted END,
                     disputed = CASE WHEN $5 = 1 THEN $6 ELSE disputed END WHERE hash = $1";
        let is_review = matches!(event, NetEvent::Unproven | NetEvent::Proven);
        let query = sqlx::query(query).bind(net.to_owned()).bind(state);
        let query = query.bind(i64::from(event == NetEvent::Promoted)).bind(now.0);
        let query = query.bind(i64::from(is_review)).bind(disputed);
        query.execute(self.0.raw()).await?;
        Ok(true)
    }

    /// Rejects the candidate of a campaign's training, if it has one.
    pub async fn reject_candidate(&mut self, campaign: CampaignId) -> Result<(), StoreError> {
        let query = "UPDATE nets SET state = $2 WHERE state = $3 AND hash IN
                     (SELECT candidate FROM trainings JOIN campaigns ON campaigns.training = trainings.id
                      WHERE campaigns.id = $1)";
        let query = sqlx::query(query).bind(campaign).bind(NetState::Rejected).bind(NetState::Candidate);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Whether two nets have the same architecture; the plain evaluation has none.
    pub async fn have_same_architecture(&mut self, net: Digest, other: Option<Digest>) -> Result<bool, StoreError> {
        let Some(other) = other else { return Ok(false) };
        let query = "SELECT COUNT(*) FROM nets AS own JOIN nets AS other ON own.architecture = other.architecture
                     WHERE own.hash = $1 AND other.hash = $2";
        let query = sqlx::query_scalar(query).bind(net.to_string()).bind(other.to_string());
        let found: i64 = query.fetch_one(self.0.raw()).await?;
        Ok(found > 0)
    }

    /// Adds a book whose file is stored as an object.
    pub async fn add_book(
        &mut self,
        now: Time,
        hash: Digest,
        name: &str,
        bytes: u64,
        positions: u64,
    ) -> Result<(), StoreError> {
        let query = "INSERT INTO books (hash, name, bytes, positions, created) VALUES ($1, $2, $3, $4, $5)
                     ON CONFLICT (hash) DO NOTHING";
        let query = sqlx::query(query).bind(hash.to_string()).bind(name.to_owned()).bind(bytes as i64);
        query.bind(positions as i64).bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Reads the training set of a campaign's generations; none without games.
    pub async fn training_set(
        &mut self,
        campaign: CampaignId,
        generations: RangeInclusive<i64>,
        now: Time,
    ) -> Result<Option<TrainingSet>, StoreError> {
        let jobs = Jobs::on(self.0.reborrow()).selfplay_of(campaign, generations.clone()).await?;
        let mut shards: Vec<Entry> = Vec::new();
        let mut open = OpenGames::default();
        for job in &jobs {
            let since = Rulings::on(self.0.reborrow()).checks_since(job.id, now).await?;
            let (mut ready, mut after): (Vec<EntryRow>, _) = (Vec::new(), Some(ShardId(0)));
            while let Some(shard) = after {
                let query =
                    "SELECT id, first, games, held_games AS counted, positions * held_games / games AS positions,
                                    entry, audit, auditor, auditor_until, checked AS is_checked, validated,
                                    CASE WHEN EXISTS (SELECT 1 FROM comparisons WHERE left_shard = shards.id
                                                      AND comparisons.state = 'waiting')
                                           OR EXISTS (SELECT 1 FROM comparisons WHERE right_shard = shards.id
                                                      AND comparisons.state = 'waiting')
                                         THEN 1 ELSE 0 END AS is_compared
                             FROM shards WHERE job = $1 AND id > $2 AND state = 'validated'
                             AND object = 'present' AND held_games > 0 ORDER BY id LIMIT $3";
                let query = sqlx::query_as(query).bind(job.id).bind(shard).bind(MAX_ENTRIES);
                let rows: Vec<EntryRow> = query.fetch_all(self.0.raw()).await?;
                after = rows.last().map(|row| row.id);
                for row in rows {
                    if row.proof.is_over(since) {
                        ready.push(row);
                    } else if row.proof.is_waited_for(now) {
                        open.games += row.counted;
                        open.positions += row.positions;
                    }
                }
            }
            let numbers: Vec<_> = ready.iter().map(|row| (row.numbers.clone(), row.counted)).collect();
            for place in readiness::choose_distinct(&numbers) {
                let entry = serde_json::from_str(ready[place].entry.as_deref().unwrap_or_default());
                let broken = |error| StoreError::Corrupt(format!("a shard's line that is none: {error}"));
                shards.push(entry.map_err(broken)?);
            }
        }
        if shards.is_empty() {
            return Ok(None);
        }
        let (games, positions) =
            (shards.iter().map(|entry| entry.games).sum(), shards.iter().map(|entry| entry.positions).sum());
        let has_scale = shards.iter().any(|entry| entry.scale_tenths.is_some());
        let manifest = Manifest { format: FORMAT.to_owned(), games, positions, shards };
        let (hash, text) = (manifest.hash(), manifest.to_text().into());
        let withdrawals = jobs.iter().map(|job| job.withdrawals).sum();
        Ok(Some(TrainingSet { campaign, generations, hash, games, positions, text, open, withdrawals, has_scale }))
    }

    /// Self-play jobs of campaigns whose games left the pool or came back.
    pub async fn changed_jobs(&mut self) -> Result<Vec<ChangedJob>, StoreError> {
        let query = "SELECT id AS job, campaign, generation, recheck FROM jobs
                     WHERE recheck > 0 AND kind = 'selfplay' AND campaign IS NOT NULL ORDER BY id LIMIT $1";
        Ok(sqlx::query_as(query).bind(MAX_CHANGED).fetch_all(self.0.raw()).await?)
    }

    /// The training sets that may have games of a job.
    pub async fn sets_with(&mut self, job: &ChangedJob) -> Result<Vec<Digest>, StoreError> {
        let query = "SELECT hash FROM manifests WHERE campaign = $1 AND generation >= $2 AND since <= $2";
        let query = sqlx::query_scalar(query).bind(job.campaign).bind(job.generation);
        let hashes: Vec<String> = query.fetch_all(self.0.raw()).await?;
        hashes.iter().map(|hash| digest(hash)).collect()
    }

    /// Counts the games of a training set that are in quarantine.
    pub async fn fallen_games(&mut self, set: Digest) -> Result<i64, StoreError> {
        let query = "SELECT shards.hash AS hash FROM manifests
                     CROSS JOIN jobs CROSS JOIN shards
                     WHERE manifests.hash = $1 AND jobs.campaign = manifests.campaign AND jobs.kind = 'selfplay'
                     AND jobs.generation >= manifests.since AND jobs.generation <= manifests.generation
                     AND shards.job = jobs.id AND shards.state = 'quarantined'";
        let fallen: Vec<String> = sqlx::query_scalar(query).bind(set.to_string()).fetch_all(self.0.raw()).await?;
        if fallen.is_empty() {
            return Ok(0);
        }
        let fallen: BTreeSet<String> = fallen.into_iter().collect();
        let text = self.training_manifest(set).await?.unwrap_or_default();
        let broken = |error| StoreError::Corrupt(format!("the training set {set} is none: {error}"));
        let manifest = Manifest::from_text(&text).map_err(broken)?;
        let entries = manifest.shards.iter().filter(|entry| fallen.contains(&entry.sha256));
        Ok(entries.map(|entry| entry.games as i64).sum())
    }

    /// Stores how many games of a training set are in quarantine.
    pub async fn save_fallen(&mut self, set: Digest, games: i64) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE manifests SET fallen_games = $2 WHERE hash = $1 AND fallen_games <> $2");
        query.bind(set.to_string()).bind(games).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Adds a part of a manifest, after the part before it.
    pub async fn add_part(&mut self, manifest: Digest, part: i64, text: &str) -> Result<(), StoreError> {
        let query = "INSERT INTO manifest_parts (manifest, part, text) SELECT $1, $2, $3
                     WHERE $2 = 0 OR EXISTS (SELECT 1 FROM manifest_parts WHERE manifest = $1 AND part = $2 - 1)
                     ON CONFLICT (manifest, part) DO NOTHING";
        let query = sqlx::query(query).bind(manifest.to_string()).bind(part).bind(text.to_owned());
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Drops the last parts of a manifest without a training set; whether there are any.
    pub async fn drop_unused_parts(&mut self, limit: i64) -> Result<bool, StoreError> {
        let query = "SELECT manifest FROM manifest_parts WHERE part = 0
                     AND NOT EXISTS (SELECT 1 FROM manifests WHERE hash = manifest) LIMIT 1";
        let unused: Option<String> = sqlx::query_scalar(query).fetch_optional(self.0.raw()).await?;
        let Some(unused) = unused else { return Ok(false) };
        let query = "DELETE FROM manifest_parts WHERE manifest = $1
                     AND part > (SELECT MAX(part) FROM manifest_parts WHERE manifest = $1) - $2";
        sqlx::query(query).bind(unused).bind(limit).execute(self.0.raw()).await?;
        Ok(true)
    }

    /// Adds a training set whose manifest is stored; false if a part of that is missing.
    pub async fn add_training_set(&mut self, now: Time, set: &TrainingSet) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM manifest_parts WHERE manifest = $1 AND part = $2";
        let query = sqlx::query_scalar(query).bind(set.hash.to_string()).bind(set.parts().count() as i64 - 1);
        let last: i64 = query.fetch_one(self.0.raw()).await?;
        if last == 0 {
            return Ok(false);
        }
        let query = "INSERT INTO manifests (hash, campaign, since, generation, games, positions, text, created)
                     VALUES ($1, $2, $3, $4, $5, $6, '', $7) ON CONFLICT (hash) DO NOTHING";
        let query = sqlx::query(query).bind(set.hash.to_string()).bind(set.campaign);
        let query = query.bind(*set.generations.start()).bind(*set.generations.end());
        let query = query.bind(set.games as i64).bind(set.positions as i64).bind(now.0);
        query.execute(self.0.raw()).await?;
        Ok(true)
    }

    async fn text(&mut self, query: &'static str, hash: Digest) -> Result<Option<String>, StoreError> {
        let query = sqlx::query_scalar(AssertSqlSafe(query.to_owned())).bind(hash.to_string());
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// The manifest of a net.
    pub async fn manifest(&mut self, net: Digest) -> Result<Option<String>, StoreError> {
        self.text("SELECT manifest FROM nets WHERE hash = $1 AND manifest IS NOT NULL", net).await
    }

    /// The manifest of a training set.
    pub async fn training_manifest(&mut self, hash: Digest) -> Result<Option<String>, StoreError> {
        let Some(mut all) = self.text("SELECT text FROM manifests WHERE hash = $1", hash).await? else {
            return Ok(None);
        };
        for from in (0..).step_by(MAX_PARTS as usize) {
            let query = "SELECT text FROM manifest_parts WHERE manifest = $1 AND part >= $2 AND part < $2 + $3
                         ORDER BY part";
            let query = sqlx::query_scalar(query).bind(hash.to_string()).bind(from).bind(MAX_PARTS);
            let parts: Vec<String> = query.fetch_all(self.0.raw()).await?;
            all.extend(parts.iter().map(String::as_str));
            if (parts.len() as i64) < MAX_PARTS {
                break;
            }
        }
        Ok(Some(all))
    }
}
