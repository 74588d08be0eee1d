//! Running totals of shards and labels by job, so that no reader scans all shards.
//!
//! Any change to a shard's state or counts moves it from totals to others, in the transaction of
//! the change and with the job locked. A shard that waits for validation is in no total.

use std::collections::BTreeMap;

use super::{convert::row, error::StoreError, jobs::Jobs, operation::repository};
use crate::{
    clock::Time,
    model::{Figures, HeldGames, JobId, ShardId, ShardState},
};

struct Counts {
    job: JobId,
    at: Time,
    games: i64,
    positions: i64,
    bytes: i64,
    outcomes: Option<String>,
    reasons: Option<String>,
    figures: Option<String>,
    held_games: i64,
}

row!(Counts { job, at, games, positions, bytes, outcomes, reasons, figures, held_games });

repository!(
    /// The totals, within a transaction.
    Totals, totals
);

impl Totals<'_> {
    /// Moves a shard between the totals of two states; its counts stay.
    pub async fn transfer(&mut self, shard: ShardId, from: ShardState, to: ShardState) -> Result<(), StoreError> {
        debug_assert!(ShardState::TRANSITIONS.contains(&(from, to)), "{from} to {to}");
        let counts = self.counts(shard).await?;
        self.add(&counts, from, -1).await?;
        self.add(&counts, to, 1).await
    }

    /// Adds a shard to the totals of a state, or removes it if the sign is −1.
    pub async fn count(&mut self, shard: ShardId, state: ShardState, sign: i64) -> Result<(), StoreError> {
        if state == ShardState::Received {
            return Ok(());
        }
        let counts = self.counts(shard).await?;
        self.add(&counts, state, sign).await
    }

    async fn counts(&mut self, shard: ShardId) -> Result<Counts, StoreError> {
        let query =
            "SELECT job, COALESCE(validated, received) AS at, games, positions, bytes, outcomes, reasons, figures,
                            held_games
                     FROM shards WHERE id = $1";
        Ok(sqlx::query_as(query).bind(shard).fetch_one(self.0.raw()).await?)
    }

    async fn add(&mut self, shard: &Counts, state: ShardState, sign: i64) -> Result<(), StoreError> {
        if state == ShardState::Received {
            return Ok(());
        }
        let query = "INSERT INTO totals (job, day, state, shards, games, positions, bytes)
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job, day, state) DO UPDATE SET
                     shards = totals.shards + excluded.shards, games = totals.games + excluded.games,
                     positions = totals.positions + excluded.positions, bytes = totals.bytes + excluded.bytes";
        let query = sqlx::query(query).bind(shard.job).bind(shard.at.day()).bind(state).bind(sign);
        let query = query.bind(sign * shard.games).bind(sign * shard.positions).bind(sign * shard.bytes);
        query.execute(self.0.raw()).await?;
        let held = HeldGames::of(state, shard.held_games, shard.games, shard.positions) * sign;
        Jobs::on(self.0.reborrow()).count_held(shard.job, held).await?;
        if state != ShardState::Validated {
            return Ok(());
        }
        if let Some(figures) = &shard.figures {
            self.add_figures(shard.job, figures, sign).await?;
        }
        for (kind, text) in [("outcome", &shard.outcomes), ("reason", &shard.reasons)] {
            let labels: BTreeMap<String, i64> =
                text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            for (label, games) in labels.into_iter().filter(|(_, games)| *games != 0) {
                let query = "INSERT INTO labels (job, kind, label, games) VALUES ($1, $2, $3, $4)
                             ON CONFLICT (job, kind, label) DO UPDATE SET games = labels.games + excluded.games";
                let query = sqlx::query(query).bind(shard.job).bind(kind).bind(label).bind(sign * games);
                query.execute(self.0.raw()).await?;
            }
        }
        Ok(())
    }

    async fn add_figures(&mut self, job: JobId, of_shard: &str, sign: i64) -> Result<(), StoreError> {
        let query = "SELECT figures FROM figures WHERE job = $1";
        let known: Option<String> = sqlx::query_scalar(query).bind(job).fetch_optional(self.0.raw()).await?;
        let mut figures = known.map_or_else(Figures::default, |text| Figures::from_text(&text));
        figures.add(&Figures::from_text(of_shard), sign);
        let query = "INSERT INTO figures (job, figures) VALUES ($1, $2)
                     ON CONFLICT (job) DO UPDATE SET figures = excluded.figures";
        sqlx::query(query).bind(job).bind(figures.to_text()).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The figures of all validated self-play games, the training data of nets.
    pub async fn selfplay_figures(&mut self) -> Result<Figures, StoreError> {
        let query =
            "SELECT figures.figures FROM figures JOIN jobs ON jobs.id = figures.job WHERE jobs.kind = 'selfplay'";
        let jobs: Vec<String> = sqlx::query_scalar(query).fetch_all(self.0.raw()).await?;
        let mut all = Figures::default();
        for text in &jobs {
            all.add(&Figures::from_text(text), 1);
        }
        Ok(all)
    }
}
