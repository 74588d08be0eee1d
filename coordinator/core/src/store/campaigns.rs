//! The tables of campaigns and promotions.

use dataset::Digest;
use protocol::campaign::Campaign as Plan;
use sqlx::{AssertSqlSafe, Row as _, any::AnyRow};

use super::{
    convert::{digest, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{
        AccountId, Campaign, CampaignId, CampaignKey, CampaignState, CampaignStep, JobId, PromotionKind, Refusal,
        TrainingId,
    },
};

/// The columns of a campaign, without their condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, text, state, reason, phase, phase_since, generation, champion, candidates, wanted_positions,
                    selfplay, training, gate, changed FROM campaigns WHERE ",
            $condition
        )
    };
}

repository!(
    /// The campaigns, within a transaction.
    Campaigns, campaigns
);

/// A promotion to add.
pub struct Promotion<'a> {
    /// The campaign.
    pub campaign: CampaignId,
    /// The new champion.
    pub net: Option<String>,
    /// The champion before.
    pub previous: Option<String>,
    /// Its kind.
    pub kind: PromotionKind,
    /// The acting account.
    pub by: Option<AccountId>,
    /// The gate.
    pub job: Option<JobId>,
    /// The reason of a rollback.
    pub reason: Option<&'a str>,
}

/// A gate whose rejection was reversed.
pub struct ReversedGate {
    /// Its job.
    pub job: JobId,
    /// The net that it rejected.
    pub net: String,
    /// The training of that net.
    pub training: TrainingId,
}

row!(ReversedGate { job, net, training });

fn read(row: &AnyRow) -> Result<Campaign, StoreError> {
    let text: String = row.try_get("text")?;
    let plan =
        Plan::from_text(&text).map_err(|error| StoreError::Corrupt(format!("a campaign that is none: {error}")))?;
    Ok(Campaign {
        id: row.try_get("id")?,
        plan,
        state: row.try_get("state")?,
        reason: row.try_get("reason")?,
        phase: row.try_get("phase")?,
        phase_since: Time(row.try_get("phase_since")?),
        generation: row.try_get("generation")?,
        champion: row.try_get::<Option<String>, _>("champion")?.as_deref().map(digest).transpose()?,
        candidates: row.try_get("candidates")?,
        wanted_positions: row.try_get("wanted_positions")?,
        selfplay: row.try_get("selfplay")?,
        training: row.try_get("training")?,
        gate: row.try_get("gate")?,
        changed: row.try_get("changed")?,
    })
}

impl Campaigns<'_> {
    async fn fetch(&mut self, key: &CampaignKey, is_locked: bool) -> Result<Campaign, StoreError> {
        let query = match key {
            CampaignKey::Id(_) => select!("id = $1"),
            CampaignKey::Name(_) => select!("name = $1"),
        };
        let query = sqlx::query(if is_locked { self.0.for_update(query) } else { AssertSqlSafe(query.to_owned()) });
        let (query, name) = match key {
            CampaignKey::Id(id) => (query.bind(*id), id.to_string()),
            CampaignKey::Name(name) => (query.bind(name.clone()), name.clone()),
        };
        let row = query.fetch_optional(self.0.raw()).await?;
        read(&row.ok_or(Refusal::NoCampaign { campaign: name })?)
    }

    /// A campaign.
    pub async fn get(&mut self, key: &CampaignKey) -> Result<Campaign, StoreError> {
        self.fetch(key, false).await
    }

    /// A campaign, locked until the transaction ends.
    pub async fn lock(&mut self, key: &CampaignKey) -> Result<Campaign, StoreError> {
        self.fetch(key, true).await
    }

    /// The campaigns that may advance: running ones, and stuck ones with a reversed rejection.
    pub async fn advancing(&mut self) -> Result<Vec<CampaignId>, StoreError> {
        let query = "SELECT id FROM campaigns WHERE state = 'running'
                     OR (state = 'stuck' AND EXISTS (SELECT 1 FROM jobs WHERE campaign = campaigns.id AND reversed = 1))
                     ORDER BY id";
        Ok(sqlx::query_scalar(query).fetch_all(self.0.raw()).await?)
    }

    /// The oldest gate against the champion whose rejection was reversed.
    pub async fn reversed_gate(&mut self, campaign: &Campaign) -> Result<Option<ReversedGate>, StoreError> {
        let query = "SELECT jobs.id AS job, jobs.net AS net, MAX(trainings.id) AS training
                     FROM jobs JOIN trainings ON trainings.candidate = jobs.net AND trainings.campaign = jobs.campaign
                     WHERE jobs.campaign = $1 AND jobs.reversed = 1 AND COALESCE(jobs.opponent, '') = $2
                     GROUP BY jobs.id, jobs.net ORDER BY jobs.id LIMIT 1";
        let champion = campaign.champion.map(|net| net.to_string()).unwrap_or_default();
        Ok(sqlx::query_as(query).bind(campaign.id).bind(champion).fetch_optional(self.0.raw()).await?)
    }

    /// Adds a running campaign.
    pub async fn add(&mut self, now: Time, plan: &Plan, by: Option<AccountId>) -> Result<CampaignId, StoreError> {
        let taken: Option<CampaignId> = sqlx::query_scalar("SELECT id FROM campaigns WHERE name = $1")
            .bind(plan.name.clone())
            .fetch_optional(self.0.raw())
            .await?;
        if taken.is_some() {
            return Err(Refusal::CampaignTaken { name: plan.name.clone() }.into());
        }
        let query =
            "INSERT INTO campaigns (name, text, state, phase, generation, champion, candidates, wanted_positions,
                                            created_by, created, phase_since, changed)
                     VALUES ($1, $2, $3, $4, 0, $5, 0, $6, $7, $8, $8, 1) RETURNING id";
        let query = sqlx::query_scalar(query).bind(plan.name.clone()).bind(plan.to_text());
        let query = query.bind(CampaignState::Running).bind(CampaignStep::Collecting);
        let query = query.bind(plan.champion.map(|net| net.to_string())).bind(plan.generation.positions as i64);
        Ok(query.bind(by).bind(now.0).fetch_one(self.0.raw()).await?)
    }

    /// Stores a campaign as its next version.
    pub async fn save(&mut self, campaign: &Campaign) -> Result<(), StoreError> {
        let query = "UPDATE campaigns SET state = $2, reason = $3, phase = $4, phase_since = $5, generation = $6,
                     champion = $7, candidates = $8, wanted_positions = $9, selfplay = $10, training = $11, gate = $12,
                     text = $13, changed = changed + 1 WHERE id = $1";
        let it = campaign;
        let query = sqlx::query(query).bind(it.id).bind(it.state).bind(it.reason.clone()).bind(it.phase);
        let query = query.bind(it.phase_since.0).bind(it.generation).bind(it.champion.map(|net| net.to_string()));
        let query = query.bind(it.candidates).bind(it.wanted_positions).bind(it.selfplay).bind(it.training);
        query.bind(it.gate).bind(it.plan.to_text()).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores why a campaign waits, which makes no new version of it.
    pub async fn save_reason(&mut self, campaign: &Campaign) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE campaigns SET reason = $2 WHERE id = $1").bind(campaign.id);
        query.bind(campaign.reason.clone()).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Adds a promotion.
    pub async fn add_promotion(&mut self, now: Time, promotion: Promotion<'_>) -> Result<(), StoreError> {
        let query = "INSERT INTO promotions (campaign, net, previous, kind, account, job, at, reason)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let Promotion { campaign, net, previous, kind, by, job, reason } = promotion;
        let query = sqlx::query(query).bind(campaign).bind(net).bind(previous).bind(kind).bind(by).bind(job);
        query.bind(now.0).bind(reason.map(ToOwned::to_owned)).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The champion before this one; none if it was not promoted.
    pub async fn champion_before(
        &mut self,
        campaign: CampaignId,
        champion: Digest,
    ) -> Result<Option<Option<Digest>>, StoreError> {
        let query = "SELECT previous FROM promotions WHERE campaign = $1 AND net = $2 AND kind <> 'rollback'
                     ORDER BY id DESC LIMIT 1";
        let query = sqlx::query_scalar(query).bind(campaign).bind(champion.to_string());
        let previous: Option<Option<String>> = query.fetch_optional(self.0.raw()).await?;
        previous.map(|net| net.as_deref().map(digest).transpose()).transpose()
    }

    /// The promoted nets of a campaign, in order.
    pub async fn promoted(&mut self, campaign: CampaignId) -> Result<Vec<Digest>, StoreError> {
        let query =
            "SELECT net FROM promotions WHERE campaign = $1 AND kind <> 'rollback' AND net IS NOT NULL ORDER BY id";
        let nets: Vec<String> = sqlx::query_scalar(query).bind(campaign).fetch_all(self.0.raw()).await?;
        nets.iter().map(|net| digest(net)).collect()
    }
}
