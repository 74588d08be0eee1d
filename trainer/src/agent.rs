//! A trainer agent: acquires trainings from a coordinator, runs them and uploads the nets.
//!
//! * A training is a function of its recipe and its training sets, so its folder is named after
//!   both. A killed agent acquires the same training again, by its name and token, and resumes from
//!   the folder's checkpoint to the same bytes.
//! * `lease`: a thread reports progress as a heartbeat while a training runs. A lost lease stops
//!   the training.
//! * `retrying_call`: retries a request until the coordinator responds or the agent is stopped.
//! * `folder`, `files`: the work folder, and the recipes and training sets in it. A recipe names
//!   one other file at most: a net of the coordinator to start from.
//! * `training_run`: the run itself, in this process.
//!
//! A training that cannot succeed anywhere is given up for good, with a sentence for people. A
//! fault of this machine releases the training for other agents, and the agent ends.

mod files;
mod folder;
mod lease;
mod retrying_call;
mod status_log;
mod stop_reason;
mod stop_signal;
mod training_run;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use client::{Client, Clock, ServerAddress, Token};
use dataset::manifest::Manifest;
use protocol::{
    api::{
        MAX_NET_BYTES, path,
        training::{Abandon, Claim, Completion, Offer, Training},
    },
    campaign::net_file,
};

use crate::{
    data::Fetch,
    run::{self, Conditions},
};
use folder::Folder;
use lease::Lease;
use retrying_call::RetryingCall;
use status_log::StatusLog;
use stop_reason::StopReason;
pub use stop_signal::StopSignal;

/// Delay before the next claim after a lost lease.
const LEASE_LOSS_DELAY: Duration = Duration::from_secs(20);

/// Settings of an agent.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of the coordinator.
    pub server: ServerAddress,
    /// The token of the agent's account.
    pub token: Token,
    /// The agent's name.
    pub name: String,
    /// The backend's name for people.
    pub backend: String,
    /// How runs are made.
    pub conditions: Conditions,
    /// The work folder.
    pub work: PathBuf,
    /// Byte limit for shards that the current training does not need.
    pub spare_bytes: u64,
    /// Whether the agent ends after one training.
    pub once: bool,
}

/// How an agent ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A stop was requested.
    Stopped,
    /// With [`once`](Settings::once): the training was completed.
    Done,
    /// With [`once`](Settings::once): the training was given up.
    GivenUp,
}

/// The outcome of a training.
enum Outcome {
    Done,
    GivenUp,
    Lost,
}

/// Runs trainings until a stop is requested.
///
/// # Errors
///
/// If the coordinator rejects this agent, or this machine fails.
pub fn run(settings: &Settings, stop: &StopSignal, clock: &Arc<dyn Clock>) -> Result<Ending> {
    let folder = Folder::lock(&settings.work)?;
    let mut client_settings =
        client::Settings::new(settings.server.clone(), Some(settings.token.clone()), Arc::clone(clock));
    client_settings.program = "chuhe-trainer";
    let client = Client::new(client_settings)?;
    let mut log = StatusLog::new(Arc::clone(clock));
    loop {
        let ended = match claim_next(settings, stop, &client, clock, &mut log) {
            Ok(training) => {
                let agent = Agent { settings, stop, client: &client, clock, folder: &folder };
                agent.run_training(&training, &mut log)
            }
            Err(reason) => Err(reason),
        };
        let ended = match ended {
            Ok(Outcome::Done) if settings.once => return Ok(Ending::Done),
            Ok(Outcome::GivenUp) if settings.once => return Ok(Ending::GivenUp),
            // Without a delay, two agents of one name would take the lease from each other in
            // turns.
            Ok(Outcome::Lost) => stop.wait(&**clock, LEASE_LOSS_DELAY).map(|()| Outcome::Lost),
            fate => fate,
        };
        match ended {
            Ok(_) => {}
            Err(StopReason::Requested) => return Ok(Ending::Stopped),
            Err(reason) => return Err(reason.into_error()),
        }
    }
}

/// Waits until the coordinator offers a training.
fn claim_next(
    settings: &Settings,
    stop: &StopSignal,
    client: &Client,
    clock: &Arc<dyn Clock>,
    log: &mut StatusLog,
) -> Result<Training, StopReason> {
    let claim = Claim {
        name: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: settings.backend.clone(),
    };
    loop {
        match RetryingCall::new(stop, clock, log).run(None, || client.claim(&claim))? {
            Offer::Train(training) => return Ok(training),
            Offer::Wait { seconds, reason } => {
                log.state(&format!("waiting: {reason}"));
                stop.wait(&**clock, Duration::from_secs(seconds.clamp(1, 600).into()))?;
            }
        }
    }
}

/// The context of one training.
struct Agent<'a> {
    settings: &'a Settings,
    stop: &'a StopSignal,
    client: &'a Client,
    clock: &'a Arc<dyn Clock>,
    folder: &'a Folder,
}

impl Agent<'_> {
    /// Runs a training and reports its outcome.
    fn run_training(&self, training: &Training, log: &mut StatusLog) -> Result<Outcome, StopReason> {
        let title = format!("generation {} of {}", training.generation, training.campaign);
        let lease = Lease::begin(self.client.clone(), training.token.clone());
        let result = self.train(training, &lease, log);
        drop(lease);
        match result {
            Ok(net) => {
                log.state(&format!("submitted: {net}, a candidate for {title}"));
                Ok(Outcome::Done)
            }
            Err(StopReason::LeaseLost(why)) => {
                log.state(&format!("lost: {title} is no longer for this trainer: {why}"));
                Ok(Outcome::Lost)
            }
            Err(StopReason::Impossible(why)) => {
                let why = self.folder.redact_paths(&why);
                log.state(&format!("giving {title} up: {why}"));
                self.abandon(training, &why, false, log)?;
                Ok(Outcome::GivenUp)
            }
            Err(StopReason::LocalFailure(error)) => {
                let why = self.folder.redact_paths(&format!("the trainer's machine failed: {error:#}"));
                // The caller reports the local error.
                let _ = self.abandon(training, &why, true, log);
                Err(StopReason::LocalFailure(error))
            }
            Err(reason) => Err(reason),
        }
    }

    fn train(&self, training: &Training, lease: &Lease, log: &mut StatusLog) -> Result<String, StopReason> {
        let recipe = files::recipe(training)?;
        lease.set_steps(recipe.steps());
        let folder = self.folder.training(&recipe, training)?;
        log.state(&format!(
            "training {} for generation {} of {} in {}",
            recipe.name,
            training.generation,
            training.campaign,
            self.folder.training_path(&recipe, training).display()
        ));
        let is_streamed = recipe.data.streamed && recipe.stages.iter().all(|stage| stage.data.streamed);
        // While shards are fetched, half of the space is for theirs and half for earlier ones.
        let spare_bytes = self.settings.spare_bytes / if is_streamed { 2 } else { 1 };
        if let Some(net) = files::start(&recipe) {
            let fetch = || self.client.fetch(&path::net(net), net, MAX_NET_BYTES, &folder.file(&net_file(net)), None);
            RetryingCall::new(self.stop, self.clock, log).run(Some(lease), fetch)?;
            log.state(&format!("starting from the net {net}"));
        }
        self.download(training, is_streamed, &folder, spare_bytes, lease, log)?;
        let (stop, conditions) = (self.stop, self.settings.conditions);
        let fetch = is_streamed.then(|| Fetch { client: self.client.clone(), mirror: None, max_bytes: spare_bytes });
        let shards = &self.folder.shards();
        let run = training_run::TrainingRun { recipe: &recipe, folder: &folder, shards, conditions, fetch };
        let artifacts = run.run(lease, stop, self.clock, log)?;
        let net = self.upload(training, &artifacts, lease, log)?;
        run.remove_checkpoints();
        Ok(net)
    }

    /// Downloads the manifests of the training sets, and their shards unless they are fetched when
    /// they are drawn.
    fn download(
        &self,
        training: &Training,
        is_streamed: bool,
        folder: &run::Folder,
        spare_bytes: u64,
        lease: &Lease,
        log: &mut StatusLog,
    ) -> Result<(), StopReason> {
        let mut needed = Vec::new();
        for named in &training.manifests {
            let path = folder.file(&named.name);
            let fetch = || self.client.fetch_manifest(named.sha256, &path, None);
            let manifest = RetryingCall::new(self.stop, self.clock, log).run(Some(lease), fetch)?;
            let (count, bytes) = (manifest.shards.len(), manifest.shards.iter().map(|entry| entry.bytes).sum::<u64>());
            log.state(&format!(
                "training set {}: {} positions in {count} shards, {:.1} MiB",
                named.sha256,
                manifest.positions,
                bytes as f64 / f64::from(1 << 20)
            ));
            needed.extend(manifest.shards);
        }
        if is_streamed {
            needed.clear();
        }
        self.folder.evict_shards(&needed, spare_bytes)?;
        if is_streamed {
            log.state("shards are fetched when they are drawn");
            return Ok(());
        }
        let folder = self.folder.shards();
        let missing = Manifest::missing(&needed, &folder).map_err(anyhow::Error::from)?;
        for (number, entry) in missing.iter().enumerate() {
            let fetch = || self.client.fetch_shard(entry, &folder, None);
            RetryingCall::new(self.stop, self.clock, log).run(Some(lease), fetch)?;
            log.throttled(|| format!("fetching: {} of {} shards", number + 1, missing.len()));
        }
        self.folder.touch(&needed, self.clock.since_1970());
        log.state(&format!("all {} shards are here, {} of them fetched now", needed.len(), missing.len()));
        Ok(())
    }

    fn upload(
        &self,
        training: &Training,
        artifacts: &training_run::Artifacts,
        lease: &Lease,
        log: &mut StatusLog,
    ) -> Result<String, StopReason> {
        let read = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
        let (token, client) = (&*training.token, self.client);
        let manifest = String::from_utf8(read(&artifacts.manifest)?).context("a net's manifest")?;
        let (net, curves) = (read(&artifacts.net)?, read(&artifacts.curves)?);
        log.state(&format!("submitting a net of {:.1} MiB", net.len() as f64 / f64::from(1 << 20)));
        let mut retry = |put: &dyn Fn() -> Result<(), client::Error>| {
            RetryingCall::new(self.stop, self.clock, log).run(Some(lease), put)
        };
        retry(&|| client.put_candidate(token, net.clone()))?;
        retry(&|| client.put_curves(token, curves.clone()))?;
        let completion = Completion { manifest };
        let accepted =
            RetryingCall::new(self.stop, self.clock, log).run(Some(lease), || client.complete(token, &completion))?;
        Ok(accepted.net.to_string())
    }

    /// Aborts a training. A lease that is already lost needs no abort.
    fn abandon(&self, training: &Training, reason: &str, again: bool, log: &mut StatusLog) -> Result<(), StopReason> {
        let abandon = Abandon { reason: reason.to_owned(), again };
        let give_up = || self.client.abandon(&training.token, &abandon);
        match RetryingCall::new(self.stop, self.clock, log).run(None, give_up) {
            Err(StopReason::LeaseLost(_)) => Ok(()),
            result => result,
        }
    }
}
