//! Scheduler of background work: lease expiry, campaign steps, match decisions, retention and the
//! sweep of orphan objects.
//!
//! Every coordinator on a database runs it. Each step is one transaction on locked rows, so
//! concurrent runs take effect once.

use std::{sync::Arc, time::Duration};

use dataset::Digest;

use crate::{
    clock::{DAY, HOUR, SECOND},
    model::{CampaignId, ShardId},
    objects::{Kind, Objects},
    ops::{
        campaigns::{AdvanceCampaign, DropUnusedParts},
        disputes::{DrawAuditors, finish_reviews},
        leases::{ExpireLeases, ExtendLeases},
        matches::{ConcludeMatches, RecheckMatches},
        nets::CountFallen,
        retention::{ExpireRejected, ExpireShards},
        settings::{FollowClock, ProbeDisk, RecordDisk},
        uploads::CountStoredBytes,
    },
    pulse::Task,
    query, retention,
    rules::granting::{self, Policy},
    service::Service,
    store::{Campaigns, Jobs, ObjectNames, SettingValues, Shards, StoreError, Times, Workers},
    validator::random,
};

/// Minimum pause between ticks.
const TICK: Duration = Duration::from_secs(1);

/// The pause after a slow tick, as a multiple of its duration.
const IDLE_FACTOR: u32 = 4;

/// Maximum pause between ticks.
const MAX_PAUSE: Duration = Duration::from_secs(15);

/// The clock is set back if it is this far behind the last step, in milliseconds.
const MAX_SKEW_MS: i64 = 60 * SECOND;

/// Maximum age of the count of workers, in milliseconds.
const FLEET_AGE_MS: i64 = 10 * SECOND;
/// How long the store of objects may take to answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Days until the files of rejected games expire.
const REJECTED_DAYS: i64 = 7;

/// Ticks between sweeps of orphan objects.
const TICKS_PER_SWEEP: u64 = 3_600;

/// Runs ticks until stopped.
pub async fn serve(service: Service, mut stop: tokio::sync::watch::Receiver<bool>) {
    if let Err(error) = service.run(ExtendLeases).await {
        tracing::error!(%error, "leases were not extended after the restart");
    }
    for number in 0_u64.. {
        let began = tokio::time::Instant::now();
        match tick(&service).await {
            Ok(_) => service.pulse.record(Task::Scheduler, service.clock.now()),
            Err(error) => tracing::error!(%error, "a scheduler tick failed"),
        }
        let pause = TICK.max(began.elapsed() * IDLE_FACTOR).min(MAX_PAUSE);
        if number % TICKS_PER_SWEEP == TICKS_PER_SWEEP - 1 {
            if let Err(error) = expire(&service).await {
                tracing::error!(%error, "retention failed");
            }
            if let Err(error) = sweep(&service).await {
                tracing::error!(%error, "sweeping failed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => if *stop.borrow() { break },
            changed = stop.changed() => if changed.is_err() || *stop.borrow() { break },
        }
    }
}

/// Runs one tick; returns the number of campaign steps.
pub async fn tick(service: &Service) -> Result<u64, StoreError> {
    follow_clock(service).await?;
    set_policy(service).await?;
    service.run(ExpireLeases).await?;
    if let Err(error) = finish_reviews(&service.store, &service.clock).await {
        tracing::error!(%error, "an account cannot be reviewed: nothing is decided until then");
    }
    let (fleet, signature) = (service.policy().fleet, service.settings.bench_signature);
    service.run(DrawAuditors::among(&fleet, signature, random())).await?;
    // Read before the tests are judged, so that the judgement has seen these games.
    let judged = service.read(query!(|connection| Jobs::on(connection).counted_in_tests().await)).await?;
    let advancing = service.read(query!(|connection| Campaigns::on(connection).advancing().await)).await?;
    let mut steps = 0;
    for id in advancing {
        match advance(service, id).await {
            Ok(advanced) => steps += u64::from(advanced),
            // One failing campaign must not block the others.
            Err(error) => tracing::error!(campaign = id.0, %error, "a campaign cannot advance"),
        }
    }
    service.run(ConcludeMatches::prepare(&service.store).await?).await?;
    service.run(RecheckMatches::prepare(&service.store).await?).await?;
    service.run(CountFallen::prepare(&service.store).await?).await?;
    service.run(CountStoredBytes::default()).await?;
    if let Ok(mut policy) = service.policy.write() {
        policy.judged = judged.into_iter().collect();
    }
    Ok(steps)
}

/// Moves times that lie ahead, after the clock was set back.
async fn follow_clock(service: &Service) -> Result<(), StoreError> {
    let now = service.clock.now();
    let last = match service.pulse.last(Task::Scheduler) {
        Some(last) => last,
        None => service.read(query!(|connection| Times::on(connection).newest().await)).await?,
    };
    if last.0 > now.0 + MAX_SKEW_MS {
        tracing::warn!(by = (last.0 - now.0) / SECOND, "the clock was set back");
        service.run(FollowClock).await?;
    }
    Ok(())
}

async fn advance(service: &Service, campaign: CampaignId) -> Result<bool, StoreError> {
    let signature = service.settings.bench_signature;
    let now = service.clock.now();
    service.run(AdvanceCampaign::prepare(&service.store, campaign, signature, random(), now).await?).await
}

/// Updates whether self-play games are granted, and what is known of the workers.
async fn set_policy(service: &Service) -> Result<(), StoreError> {
    let (backlog, accounts, disk) = service
        .read(query!(|connection| {
            let backlog = Shards::on(connection.reborrow()).backlog().await?;
            let accounts = Shards::on(connection.reborrow()).waiting_accounts().await?;
            Ok((backlog, accounts, SettingValues::on(connection).get(RecordDisk::SETTING).await?))
        }))
        .await?;
    let (now, signature) = (service.clock.now(), service.settings.bench_signature as i64);
    let Policy { mut fleet, mut lost_objects, .. } = service.policy();
    if !(0..FLEET_AGE_MS).contains(&(now.0 - fleet.at.0)) {
        let counting = service.read(query!(|connection| Workers::on(connection).fleet(now, signature).await));
        fleet = counting.await?;
        lost_objects = !answers(&service.objects).await;
    }
    let (min_free, max_backlog) = (service.settings.least_free_bytes, service.settings.most_waiting);
    let free = service.free_bytes();
    let is_low = free.is_some_and(|free| free < min_free);
    let no_selfplay = match free {
        Some(free) if is_low => {
            Some(format!("the coordinator's disk is nearly full ({} MiB are left): no new games", free >> 20))
        }
        _ if lost_objects => Some("the store of objects does not answer: no new games".to_owned()),
        _ if granting::is_overrun(max_backlog, backlog) => {
            Some(format!("{backlog} uploads wait for validation: no new games until there are fewer"))
        }
        _ => None,
    };
    if let Ok(mut policy) = service.policy.write() {
        policy.fleet = fleet;
        policy.lost_objects = lost_objects;
        policy.no_selfplay = no_selfplay;
        policy.max_waiting = Some(granting::max_waiting(max_backlog, backlog, accounts));
        policy.bench_signature = Some(service.settings.bench_signature);
    }
    // The writes come last, as they fail on a full disk.
    if service.store.is_disk_full() {
        service.run(ProbeDisk).await?;
        service.store.record_space();
    }
    if is_low != (disk.as_deref() == Some(RecordDisk::word(true))) && free.is_some() {
        service.run(RecordDisk { is_low, free_mebibytes: free.unwrap_or_default() >> 20 }).await?;
    }
    Ok(())
}

/// Whether the store of objects answers in time.
async fn answers(objects: &Objects) -> bool {
    let answered = tokio::time::timeout(PROBE_TIMEOUT, objects.probe()).await;
    let error = match answered {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(error, "the store of objects does not answer");
    false
}

/// Expires rejected games, and those beyond the retention, if one is set. Returns the number of the
/// latter's uploads. The next sweep deletes their objects.
pub async fn expire(service: &Service) -> Result<u64, StoreError> {
    let now = service.clock.now();
    while service.run(ExpireRejected { before: now.after(-REJECTED_DAYS * DAY) }).await? {}
    let Some(days) = service.choices().await?.keep_days else { return Ok(0) };
    let before = now.after(-i64::from(days) * DAY);
    let pinned = service.read(query!(|connection| retention::pinned(connection).await)).await?;
    let pinned = Arc::new(pinned);
    let (mut expired, mut after) = (0, Some(ShardId(0)));
    while let Some(from) = after {
        let (marked, next) = service.run(ExpireShards { before, pinned: Arc::clone(&pinned), after: from }).await?;
        (expired, after) = (expired + marked, next);
    }
    if expired > 0 {
        tracing::info!(expired, "uploads expired");
    }
    Ok(expired)
}

/// Sweeps orphan objects in two phases. Unreferenced objects are set aside, and deleted an hour
/// later if still unreferenced. Orphans come from expired games and from crashes between storing an
/// object and recording it. A concurrent upload of the same object restores it. Returns the number
/// set aside.
///
/// # Errors
///
/// If the database or the objects fail.
pub async fn sweep(service: &Service) -> Result<u64, StoreError> {
    let now = service.clock.now().0;
    let failed = |error| StoreError::Corrupt(format!("objects that cannot be swept: {error}"));
    while service.run(DropUnusedParts).await? {}
    let mut swept = 0;
    for kind in Kind::ALL {
        for hash in service.objects.aside_before(kind, now - HOUR).await.map_err(failed)? {
            if is_named(service, kind, hash).await? {
                // Reading the length restores an object that was set aside.
                service.objects.length(kind, hash).await.map_err(failed)?;
            }
            service.objects.forget(kind, hash).await.map_err(failed)?;
        }
        for hash in service.objects.older_than(kind, now - DAY).await.map_err(failed)? {
            if !is_named(service, kind, hash).await? {
                service.objects.set_aside(kind, hash).await.map_err(failed)?;
                swept += 1;
            }
        }
    }
    Ok(swept)
}

/// Whether a row references the object.
async fn is_named(service: &Service, kind: Kind, hash: Digest) -> Result<bool, StoreError> {
    let named = service.read(query!(|connection| ObjectNames::on(connection).is_named(kind, hash).await));
    named.await
}
