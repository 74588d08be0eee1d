//! The table of trainings.

use super::{convert::row, error::StoreError, operation::repository};
use crate::{
    clock::Time,
    model::{AccountId, Campaign, CampaignId, Reason, Training, TrainingId, TrainingState},
    rules::trainings::{MAX_ATTEMPTS, lost},
};

/// The columns of a training, without their condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, campaign, generation, state, recipe, manifests, champion, token, account, trainer, expires,
                    attempts, progress, candidate, curves, reason, furthest, step, moved, finished
             FROM trainings WHERE ",
            $condition
        )
    };
}

row!(Training {
    id,
    campaign,
    generation,
    state,
    recipe,
    manifests,
    champion,
    token,
    account,
    trainer,
    expires,
    attempts,
    progress,
    candidate,
    curves,
    reason,
    furthest,
    step,
    moved,
    finished,
});

repository!(
    /// The trainings, within a transaction.
    Trainings, trainings
);

impl Trainings<'_> {
    /// Adds a training of a campaign.
    pub async fn add(
        &mut self,
        now: Time,
        campaign: &Campaign,
        recipe: String,
        manifests: String,
    ) -> Result<TrainingId, StoreError> {
        let query = "INSERT INTO trainings (campaign, generation, state, recipe, manifests, champion, created)
                     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
        let query = sqlx::query_scalar(query).bind(campaign.id).bind(campaign.generation + 1);
        let query = query.bind(TrainingState::Open).bind(recipe).bind(manifests);
        let query = query.bind(campaign.champion.map(|net| net.to_string())).bind(now.0);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// The number of trainings of a campaign's generation.
    pub async fn count_of(&mut self, campaign: &Campaign) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(*) FROM trainings WHERE campaign = $1 AND generation = $2";
        let query = sqlx::query_scalar(query).bind(campaign.id).bind(campaign.generation + 1);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// A training.
    pub async fn get(&mut self, training: TrainingId) -> Result<Training, StoreError> {
        Ok(sqlx::query_as(select!("id = $1")).bind(training).fetch_one(self.0.raw()).await?)
    }

    /// A training, locked until the transaction ends.
    pub async fn lock(&mut self, training: TrainingId) -> Result<Training, StoreError> {
        let query = self.0.for_update(select!("id = $1"));
        Ok(sqlx::query_as(query).bind(training).fetch_one(self.0.raw()).await?)
    }

    /// The training whose token has this hash.
    pub async fn by_token(&mut self, hash: String) -> Result<Training, StoreError> {
        let found = sqlx::query_as(select!("token = $1")).bind(hash).fetch_optional(self.0.raw()).await?;
        found.ok_or_else(|| lost().into())
    }

    /// The same, locked until the transaction ends.
    pub async fn lock_by_token(&mut self, hash: String) -> Result<Training, StoreError> {
        let query = self.0.for_update(select!("token = $1"));
        let found = sqlx::query_as(query).bind(hash).fetch_optional(self.0.raw()).await?;
        found.ok_or_else(|| lost().into())
    }

    /// A training that this trainer may claim, its own first. It is locked until the transaction
    /// ends.
    pub async fn claimable(
        &mut self,
        now: Time,
        account: AccountId,
        trainer: &str,
    ) -> Result<Option<Training>, StoreError> {
        let query = self.0.skip_locked(
            select!(
                "((state = 'open' AND (expires IS NULL OR expires <= $1 OR account <> $2 OR trainer <> $3))
                  OR (state = 'leased' AND (expires < $1 OR (account = $2 AND trainer = $3))))
                 AND attempts < $4
                 AND EXISTS (SELECT 1 FROM campaigns WHERE campaigns.id = trainings.campaign
                             AND campaigns.state = 'running' AND campaigns.training = trainings.id)
                 ORDER BY CASE WHEN account = $2 AND trainer = $3 THEN 0 ELSE 1 END, id LIMIT 1"
            ),
            "trainings",
        );
        let query = sqlx::query_as(query).bind(now.0).bind(account).bind(trainer.to_owned()).bind(MAX_ATTEMPTS);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// Stores a training.
    pub async fn save(&mut self, training: &Training) -> Result<(), StoreError> {
        let query = "UPDATE trainings SET state = $2, token = $3, account = $4, trainer = $5, expires = $6,
                     attempts = $7, progress = $8, candidate = $9, curves = $10, reason = $11, furthest = $12,
                     step = $13, moved = $14, finished = $15 WHERE id = $1";
        let it = training;
        let query = sqlx::query(query).bind(it.id).bind(it.state).bind(it.token.clone()).bind(it.account);
        let query = query.bind(it.trainer.clone()).bind(it.expires.map(|time| time.0)).bind(it.attempts);
        let query = query.bind(it.progress.clone()).bind(it.candidate.clone()).bind(it.curves.clone());
        let query = query.bind(it.reason.clone()).bind(it.furthest).bind(it.step).bind(it.moved.0);
        query.bind(it.finished.map(|time| time.0)).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Fails all unfinished trainings of a campaign.
    pub async fn end_all(&mut self, campaign: CampaignId, reason: Reason) -> Result<(), StoreError> {
        let query = "UPDATE trainings SET state = $2, reason = $3 WHERE campaign = $1 AND state IN ('open', 'leased')";
        let query = sqlx::query(query).bind(campaign).bind(TrainingState::Failed).bind(reason);
        query.execute(self.0.raw()).await?;
        Ok(())
    }
}
