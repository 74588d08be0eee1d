//! Rolls back promotions.

use super::{jobs, nets, row::lock, trainings};
use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{Reason, Refusal},
    store::{Connection, StoreError},
};

/// Rolls back a promotion: the previous champion returns, in a new generation. Optimistic locking:
/// `seen` is the champion that the caller saw.
///
/// # Errors
///
/// If the champion was not promoted, or is not the one in `seen`.
pub async fn roll_back(
    connection: &mut Connection<'_>,
    now: Time,
    campaign: i64,
    seen: Option<&str>,
    by: Option<i64>,
    reason: &str,
) -> Result<(), StoreError> {
    let row = lock(connection, campaign).await?;
    let champion = row.champion.map(|net| net.to_string());
    if seen.is_some_and(|seen| champion.as_deref() != Some(seen)) {
        return Err(Refusal::ChampionChanged.into());
    }
    let champion = champion.ok_or(Refusal::NoPromotion)?;
    let query = "SELECT previous FROM promotions WHERE campaign = $1 AND net = $2 AND kind <> 'rollback'
                 ORDER BY id DESC LIMIT 1";
    let query = sqlx::query_scalar(query).bind(campaign).bind(champion.clone());
    let previous: Option<Option<String>> = query.fetch_optional(connection.raw()).await?;
    let previous = previous.ok_or(Refusal::NoPromotion)?;
    for job in [row.selfplay, row.gate].into_iter().flatten() {
        jobs::set_state(connection, now, job, "closed").await?;
    }
    let query = "UPDATE nets SET state = 'rolled_back' WHERE hash = $1";
    sqlx::query(query).bind(champion.clone()).execute(connection.raw()).await?;
    trainings::end_all(connection, campaign, Reason::ChampionRolledBack).await?;
    nets::reject_candidates(connection, campaign).await?;
    // A new generation, so that games of the two nets are not mixed.
    let query =
        "UPDATE campaigns SET champion = $2, generation = generation + 1, candidates = 0, wanted_positions = $3,
                 selfplay = NULL, training = NULL, gate = NULL, phase = 'collecting', phase_since = $4, reason = NULL,
                 state = CASE WHEN state IN ('complete', 'stuck') THEN 'paused' ELSE state END, changed = changed + 1 WHERE id = $1";
    let query = sqlx::query(query).bind(campaign).bind(previous.clone());
    query.bind(row.campaign.generation.positions as i64).bind(now.0).execute(connection.raw()).await?;
    let query = "INSERT INTO promotions (campaign, net, previous, kind, account, at, reason)
                 VALUES ($1, $2, $3, 'rollback', $4, $5, $6)";
    let query = sqlx::query(query).bind(campaign).bind(previous.clone()).bind(champion.clone()).bind(by);
    query.bind(now.0).bind(reason.to_owned()).execute(connection.raw()).await?;
    let (campaign, name) = (row.campaign.name, nets::name_of_text(connection, &champion).await?);
    let event = Event::Rollback { campaign, net: champion, name, champion: previous, reason: reason.into() };
    record_event(connection, now, by, event).await?;
    Ok(())
}
