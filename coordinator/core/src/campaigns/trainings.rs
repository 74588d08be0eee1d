//! Trainings: a frozen training set and a recipe, leased to a trainer.

use dataset::Digest;
use protocol::api::{
    problem::Code,
    training::{Abandon, Claim, Offer, Progress, Training},
    work::Renewed,
};
use sqlx::{FromRow as _, Row as _};

use super::{nets, row::CampaignRow};
use crate::{
    clock::{HOUR, SECOND, Time},
    events::{Event, record_event},
    model::{CampaignId, Reason},
    people,
    store::{Connection, StoreError},
};

/// A training's lease expires after this many seconds without a heartbeat.
const LEASE_SECONDS: u32 = 900;

/// Maximum attempts before a training fails.
const MAX_ATTEMPTS: i64 = 10;

/// Maximum time without progress, long enough for the reading before the first step and the writing
/// after the last.
const MAX_STALL_MS: i64 = 6 * HOUR;

pub(super) async fn create(
    connection: &mut Connection<'_>,
    now: Time,
    row: &CampaignRow,
    recipe: &str,
    manifests: &str,
) -> Result<i64, StoreError> {
    let query = "INSERT INTO trainings (campaign, generation, state, recipe, manifests, champion, created)
                 VALUES ($1, $2, 'open', $3, $4, $5, $6) RETURNING id";
    let query = sqlx::query_scalar(query).bind(row.id).bind(row.generation + 1).bind(recipe.to_owned());
    let query = query.bind(manifests.to_owned()).bind(row.champion.map(|net| net.to_string())).bind(now.0);
    Ok(query.fetch_one(connection.raw()).await?)
}

/// Lease expiry: reopens a training whose trainer is gone.
pub(super) async fn expire(connection: &mut Connection<'_>, now: Time, training: i64) -> Result<(), StoreError> {
    let query = "UPDATE trainings SET state = CASE WHEN attempts >= $3 THEN 'failed' ELSE 'open' END,
                 reason = CASE WHEN attempts >= $3 THEN $4 ELSE reason END, token = NULL
                 WHERE id = $1 AND state = 'leased' AND expires < $2";
    sqlx::query(query)
        .bind(training)
        .bind(now.0)
        .bind(MAX_ATTEMPTS)
        .bind(Reason::NoTrainer)
        .execute(connection.raw())
        .await?;
    Ok(())
}

/// Grants a training to a trainer; one it already holds is granted again with a new token.
pub async fn claim(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    claim: &Claim,
) -> Result<Offer, StoreError> {
    let query = connection.skip_locked(
        "SELECT id FROM trainings
         WHERE (state = 'open' OR (state = 'leased' AND (expires < $1 OR (account = $2 AND trainer = $3))))
         AND attempts < $4
         AND EXISTS (SELECT 1 FROM campaigns WHERE campaigns.id = trainings.campaign AND campaigns.state = 'running'
                     AND campaigns.training = trainings.id)
         ORDER BY CASE WHEN account = $2 AND trainer = $3 THEN 0 ELSE 1 END, id LIMIT 1",
        "trainings",
    );
    let query = sqlx::query_scalar(query).bind(now.0).bind(account).bind(claim.name.clone()).bind(MAX_ATTEMPTS);
    let training: Option<i64> = query.fetch_optional(connection.raw()).await?;
    let Some(training) = training else {
        return Ok(Offer::Wait { seconds: 30, reason: "no net is to be trained at the moment".to_owned() });
    };
    let token = people::secret("")?;
    // A trainer that claims repeatedly without progress uses up attempts too.
    let query =
        "UPDATE trainings SET attempts = attempts + 1, state = 'leased', token = $2, account = $3, trainer = $4,
                 expires = $5, step = 0, moved = $6 WHERE id = $1";
    let query = sqlx::query(query).bind(training).bind(people::hash_of(&token)).bind(account);
    let query = query.bind(claim.name.clone()).bind(now.after(i64::from(LEASE_SECONDS) * SECOND).0).bind(now.0);
    query.execute(connection.raw()).await?;
    let query = "SELECT campaigns.name, trainings.generation, trainings.recipe, trainings.manifests
                 FROM trainings JOIN campaigns ON campaigns.id = trainings.campaign WHERE trainings.id = $1";
    let (campaign, generation, recipe, manifests): (String, i64, String, String) =
        sqlx::query_as(query).bind(training).fetch_one(connection.raw()).await?;
    let manifests = serde_json::from_str(&manifests).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let generation = generation as u32;
    Ok(Offer::Train(Training { token, campaign, generation, recipe, manifests, seconds: LEASE_SECONDS }))
}

/// A leased training.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct LeasedTraining {
    /// Primary key of the training's row.
    pub id: i64,
    /// Id of the campaign.
    pub campaign: i64,
    /// The generation its net will have.
    pub generation: i64,
    /// Text (TOML) of the recipe.
    pub recipe: String,
    /// The champion to beat.
    pub champion: Option<String>,
    /// Hash of the uploaded net.
    pub candidate: Option<String>,
}

/// Returns the leased training with this token.
///
/// # Errors
///
/// If there is none, it is another account's, or it is over.
pub async fn leased(connection: &mut Connection<'_>, account: i64, token: &str) -> Result<LeasedTraining, StoreError> {
    match by_token(connection, account, token).await? {
        (leased, state) if state == "leased" => Ok(leased),
        _ => Err(lost()),
    }
}

fn lost() -> StoreError {
    StoreError::rejected(Code::LeaseLost, "the training is over, or with another trainer")
}

/// Returns the training with this token and its state.
async fn by_token(
    connection: &mut Connection<'_>,
    account: i64,
    token: &str,
) -> Result<(LeasedTraining, String), StoreError> {
    let query = "SELECT id, campaign, generation, recipe, champion, candidate, state, account
                 FROM trainings WHERE token = $1";
    let query = sqlx::query(connection.for_update(query)).bind(people::hash_of(token));
    let row = query.fetch_optional(connection.raw()).await?.ok_or_else(lost)?;
    if row.try_get::<Option<i64>, _>("account")? != Some(account) {
        return Err(StoreError::rejected(Code::NotOwner, "the training belongs to another account"));
    }
    Ok((LeasedTraining::from_row(&row)?, row.try_get("state")?))
}

/// Heartbeat: extends the lease of a training. Progress beyond any earlier attempt resets the
/// attempts; without progress the lease ends in time.
///
/// # Errors
///
/// As [`leased`].
pub async fn progress(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    token: &str,
    progress: &Progress,
) -> Result<Renewed, StoreError> {
    let training = leased(connection, account, token).await?;
    let text = serde_json::to_string(progress).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let query = "SELECT furthest, step, moved FROM trainings WHERE id = $1";
    let query = sqlx::query_as(query).bind(training.id);
    let (furthest, before, moved): (i64, i64, i64) = query.fetch_one(connection.raw()).await?;
    let (step, steps) = (progress.step.min(i64::MAX as u64) as i64, progress.steps.min(i64::MAX as u64) as i64);
    if step > before {
        // Tolerance of 1%: attempts that fail at the same step may report it slightly differently.
        let is_further = step > furthest + steps / 100;
        let query = "UPDATE trainings SET step = $2, moved = $3, furthest = CASE WHEN $4 = 1 THEN $2 ELSE furthest END,
                     attempts = CASE WHEN $4 = 1 THEN 1 ELSE attempts END WHERE id = $1";
        let query = sqlx::query(query).bind(training.id).bind(step).bind(now.0).bind(i64::from(is_further));
        query.execute(connection.raw()).await?;
    } else if now.0 > moved + MAX_STALL_MS {
        return Err(StoreError::rejected(Code::LeaseLost, "the training has not got on for too long"));
    }
    let query = "UPDATE trainings SET progress = $2, expires = $3 WHERE id = $1";
    let query = sqlx::query(query).bind(training.id).bind(text).bind(now.after(i64::from(LEASE_SECONDS) * SECOND).0);
    query.execute(connection.raw()).await?;
    Ok(Renewed { seconds: LEASE_SECONDS })
}

/// Records an uploaded net or plot of losses, which is stored as an object.
///
/// # Errors
///
/// As [`leased`].
pub async fn uploaded(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    token: &str,
    what: Uploaded,
    hash: Digest,
) -> Result<(), StoreError> {
    let training = leased(connection, account, token).await?;
    let query = match what {
        Uploaded::Net => "UPDATE trainings SET candidate = $2, expires = $3 WHERE id = $1",
        Uploaded::Curves => "UPDATE trainings SET curves = $2, expires = $3 WHERE id = $1",
    };
    let query = sqlx::query(query).bind(training.id).bind(hash.to_string());
    query.bind(now.after(i64::from(LEASE_SECONDS) * SECOND).0).execute(connection.raw()).await?;
    Ok(())
}

/// A file uploaded by a trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uploaded {
    /// The candidate's net file.
    Net,
    /// The plot of losses.
    Curves,
}

/// Idempotent retry: whether this training was completed with this net before, and the response was
/// lost.
pub async fn was_completed(
    connection: &mut Connection<'_>,
    account: i64,
    token: &str,
    net: Digest,
) -> Result<bool, StoreError> {
    let query =
        "SELECT COUNT(*) FROM trainings WHERE token = $1 AND account = $2 AND state = 'done' AND candidate = $3";
    let query = sqlx::query_scalar(query).bind(people::hash_of(token)).bind(account).bind(net.to_string());
    let found: i64 = query.fetch_one(connection.raw()).await?;
    Ok(found > 0)
}

/// Completes a training: its net becomes a candidate.
///
/// # Errors
///
/// As [`leased`]; or if the net exists and is no candidate.
pub async fn complete(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    token: &str,
    net: &nets::NewNet,
) -> Result<(), StoreError> {
    let (training, state) = by_token(connection, account, token).await?;
    let is_this = training.candidate.as_deref() == Some(net.hash.to_string().as_str());
    match state.as_str() {
        "leased" => {}
        // Idempotent retry: the response was lost.
        "done" if is_this => return Ok(()),
        _ => return Err(lost()),
    }
    if !is_this {
        return Err(StoreError::rejected(Code::Conflict, "the manifest is not that of the net that was uploaded"));
    }
    if training.champion.as_deref() == Some(net.hash.to_string().as_str()) {
        return Err(StoreError::rejected(Code::Conflict, "the net is the champion itself"));
    }
    nets::add_candidate(connection, now, net).await?;
    let query = "UPDATE trainings SET state = 'done', finished = $2 WHERE id = $1";
    sqlx::query(query).bind(training.id).bind(now.0).execute(connection.raw()).await?;
    let event = Event::Candidate { net: net.hash.to_string(), name: net.name.clone() };
    record_event(connection, now, Some(account), event).await?;
    Ok(())
}

/// Fails all unfinished trainings of a campaign.
pub(super) async fn end_all(connection: &mut Connection<'_>, campaign: i64, reason: Reason) -> Result<(), StoreError> {
    let query =
        "UPDATE trainings SET state = 'failed', reason = $2 WHERE campaign = $1 AND state IN ('open', 'leased')";
    sqlx::query(query).bind(campaign).bind(reason).execute(connection.raw()).await?;
    Ok(())
}

/// Abandons a training that its trainer cannot finish.
///
/// # Errors
///
/// As [`leased`].
pub async fn abandon(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    token: &str,
    abandon: &Abandon,
) -> Result<(), StoreError> {
    let training = leased(connection, account, token).await?;
    let reason = Reason::Text(abandon.reason.chars().take(1_000).collect());
    let state = if abandon.again { "open" } else { "failed" };
    let query = "UPDATE trainings SET state = CASE WHEN attempts >= $4 THEN 'failed' ELSE $2 END, reason = $3,
                 token = NULL WHERE id = $1";
    let query = sqlx::query(query).bind(training.id).bind(state).bind(reason.clone()).bind(MAX_ATTEMPTS);
    query.execute(connection.raw()).await?;
    let campaign = CampaignId(training.campaign);
    record_event(connection, now, Some(account), Event::TrainingAbandoned { campaign, reason }).await?;
    Ok(())
}
