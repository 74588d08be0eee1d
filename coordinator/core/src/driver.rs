//! Scheduler of background work: lease expiry, campaign steps, match decisions, retention and the
//! sweep of orphan objects.
//!
//! Every coordinator on a database runs it. Each step is one transaction on locked rows, so
//! concurrent runs take effect once.

use std::{sync::Arc, time::Duration};

use dataset::Digest;

use crate::{
    campaigns::{self, matches},
    clock::{DAY, HOUR},
    events::{Event, record_event},
    objects::Kind,
    ops::leases::ExpireLeases,
    people, retention,
    service::Service,
    store::StoreError,
    work::validating,
};

/// Minimum pause between ticks.
const TICK: Duration = Duration::from_secs(1);

/// The pause after a slow tick, as a multiple of its duration.
const IDLE_FACTOR: u32 = 4;

/// Maximum pause between ticks.
const MAX_PAUSE: Duration = Duration::from_secs(15);

/// The setting that holds the last state of the disk.
const DISK_SETTING: &str = "disk";

/// Ticks between sweeps of orphan objects.
const TICKS_PER_SWEEP: u64 = 3_600;

/// Runs ticks until stopped.
pub async fn serve(service: Service, mut stop: tokio::sync::watch::Receiver<bool>) {
    for number in 0_u64.. {
        let began = tokio::time::Instant::now();
        if let Err(error) = tick(&service).await {
            tracing::error!(%error, "a scheduler tick failed");
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
    let now = service.clock.now();
    set_policy(service).await?;
    service.run(ExpireLeases).await?;
    let signature = service.settings.bench_signature;
    let running =
        service.read(|mut connection| Box::pin(async move { campaigns::running(&mut connection).await })).await?;
    let mut steps = 0;
    for id in running {
        let counts =
            service.read(move |mut connection| Box::pin(async move { campaigns::count(&mut connection, id).await }));
        let counts = counts.await?;
        let advanced = service
            .write(move |mut connection| {
                Box::pin(async move { campaigns::drive_with(&mut connection, now, id, signature, Some(counts)).await })
            })
            .await;
        match advanced {
            Ok(advanced) => steps += u64::from(advanced),
            // One failing campaign must not block the others.
            Err(error) => tracing::error!(campaign = id, %error, "a campaign cannot advance"),
        }
    }
    service
        .write(move |mut connection| {
            Box::pin(async move {
                matches::conclude(&mut connection, now).await?;
                matches::recheck(&mut connection, now).await
            })
        })
        .await?;
    Ok(steps)
}

/// Updates whether self-play games are granted.
async fn set_policy(service: &Service) -> Result<(), StoreError> {
    let (backlog, disk) = service
        .read(|mut connection| {
            Box::pin(async move {
                let backlog = validating::backlog(&mut connection).await?;
                Ok((backlog, people::setting(&mut connection, DISK_SETTING).await?))
            })
        })
        .await?;
    let min_free = service.settings.least_free_bytes;
    let free = service.free_bytes();
    let is_low = free.is_some_and(|free| free < min_free);
    if is_low != (disk.as_deref() == Some("low")) && free.is_some() {
        record_disk(service, is_low, free.unwrap_or_default() >> 20).await?;
    }
    let no_selfplay = match free {
        Some(free) if is_low => {
            Some(format!("the coordinator's disk is nearly full ({} MiB are left): no new games", free >> 20))
        }
        _ if backlog > service.settings.most_waiting => {
            Some(format!("{backlog} uploads wait for validation: no new games until there are fewer"))
        }
        _ => None,
    };
    if let Ok(mut policy) = service.policy.write() {
        policy.no_selfplay = no_selfplay;
        policy.bench_signature = Some(service.settings.bench_signature);
    }
    Ok(())
}

/// Records a change of the disk's state; once, even with several coordinators.
async fn record_disk(service: &Service, is_low: bool, free_mebibytes: u64) -> Result<(), StoreError> {
    let now = service.clock.now();
    let value = if is_low { "low" } else { "well" };
    service
        .write(move |mut connection| {
            Box::pin(async move {
                let c = &mut connection;
                let query = "INSERT INTO settings (name, value) VALUES ($1, 'unknown') ON CONFLICT (name) DO NOTHING";
                sqlx::query(query).bind(DISK_SETTING).execute(c.raw()).await?;
                let query = "UPDATE settings SET value = $2 WHERE name = $1 AND value <> $2";
                let changed =
                    sqlx::query(query).bind(DISK_SETTING).bind(value).execute(c.raw()).await?.rows_affected() > 0;
                if changed {
                    record_event(c, now, None, Event::Disk { is_low, free_mebibytes }).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Expires games beyond the retention, if one is set; returns the number of uploads. The next sweep
/// deletes their objects.
pub async fn expire(service: &Service) -> Result<u64, StoreError> {
    let Some(days) = service.choices().await?.keep_days else { return Ok(0) };
    let before = service.clock.now().after(-i64::from(days) * DAY);
    let pinned =
        service.read(|mut connection| Box::pin(async move { retention::pinned(&mut connection).await })).await?;
    let pinned = Arc::new(pinned);
    let (mut expired, mut after) = (0, Some(0));
    while let Some(from) = after {
        let pinned = Arc::clone(&pinned);
        let (marked, next) = service
            .write(move |mut connection| {
                let pinned = Arc::clone(&pinned);
                Box::pin(async move { retention::expire(&mut connection, before, &pinned, from).await })
            })
            .await?;
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
    let query = match kind {
        Kind::Shard => "SELECT COUNT(*) FROM shards WHERE hash = $1 AND object = 'present'",
        Kind::Net => {
            "SELECT (SELECT COUNT(*) FROM nets WHERE hash = $1)
                  + (SELECT COUNT(*) FROM trainings WHERE candidate = $1)"
        }
        Kind::Book => "SELECT COUNT(*) FROM books WHERE hash = $1",
        Kind::Curves => "SELECT COUNT(*) FROM trainings WHERE curves = $1",
    };
    let named = service.read(move |mut connection| {
        Box::pin(async move {
            let query = sqlx::query_scalar(query).bind(hash.to_string());
            let named: i64 = query.fetch_one(connection.raw()).await?;
            Ok(named > 0)
        })
    });
    named.await
}
