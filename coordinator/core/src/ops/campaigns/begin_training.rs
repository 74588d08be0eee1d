//! The begin of a training, from prepared sets.

use serde_json::json;

use super::prepare::Prepared;
use crate::{
    model::{Campaign, Event, Refusal},
    rules::campaigns::weights,
    store::{StoreError, Tx},
};

/// Records the prepared training sets, and creates a training. False if the campaign or games
/// changed after the sets were read, if a manifest is not stored, or if an account is under review.
pub(super) async fn begin_training(
    tx: &mut Tx<'_>,
    campaign: &mut Campaign,
    prepared: &Prepared,
) -> Result<bool, StoreError> {
    let now = tx.now();
    let sets = &prepared.training_sets;
    let (generation, own) = (campaign.generation, sets.first().ok_or(Refusal::NoGames)?);
    let is_current = own.is_of(campaign) && prepared.learns_from == campaign.plan.learns_from;
    if !is_current || tx.reviews().any().await? {
        return Ok(false);
    }
    let (mut manifests, mut sources) = (Vec::new(), Vec::new());
    let positions: Vec<_> = sets.iter().map(|set| set.positions).collect();
    for (set, weight) in sets.iter().zip(weights(&positions)) {
        let jobs = tx.jobs().selfplay_of(set.campaign, set.generations.clone()).await?;
        if !set.is_current(&jobs) || !tx.nets().add_training_set(now, set).await? {
            return Ok(false);
        }
        let file = if sources.is_empty() { "games.json".to_owned() } else { format!("campaign-{}.json", set.campaign) };
        manifests.push(json!({ "name": file, "sha256": set.hash }));
        sources.push((file, weight));
    }
    let name = campaign.candidate_name(tx.trainings().count_of(campaign).await?);
    let recipe = campaign.plan.recipe_for(&name, &sources, campaign.champion);
    let recipe = recipe.map_err(|error| StoreError::Corrupt(format!("a recipe that is none: {error}")))?;
    let training = tx.trainings().add(now, campaign, recipe.to_text(), json!(manifests).to_string()).await?;
    campaign.begin_training(now, training);
    tx.record_event(None, Event::Training { campaign: campaign.plan.name.clone(), generation, name }).await?;
    Ok(true)
}
