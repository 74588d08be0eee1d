//! Takes trainings on from a coordinator, does them, and hands in what came of it.
//!
//! * A training is a function of its recipe and its training sets, so it has one folder here, named after both. Whoever
//!   was killed gets the same training again by the same name and token, and goes on from the folder's checkpoint to the
//!   same bytes.
//! * `lease`: while a training is at hand, a thread shows its progress, whatever else is done; who lost it stops.
//! * `errand`: what is asked of the coordinator is asked until it answers, or until somebody wants the agent to end.
//! * `folder`, `files`: where things are; recipes and training sets are brought there. A recipe names no other files.
//! * `learning`: the run itself, in this process.
//!
//! What cannot succeed anywhere is given up for good, with a sentence for people; what is wrong with this machine is given
//! back for others, and the agent ends.

mod errand;
mod files;
mod folder;
mod halt;
mod learning;
mod lease;
mod screen;
mod wish;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use client::{Client, Clock, ServerAddress, Token};
use protocol::api::training::{Abandon, Claim, Completion, Offer, Training};

use crate::run::{self, Conditions};
use errand::Errand;
use folder::Folder;
use halt::Halt;
use lease::Lease;
use screen::Screen;
pub use wish::Wish;

/// Who lost a training waits before it asks for another.
const AFTER_LOSS: Duration = Duration::from_secs(20);

/// What an agent's owner allows.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who has trainings.
    pub server: ServerAddress,
    /// Whose agent it is.
    pub token: Token,
    /// What its owner calls it.
    pub name: String,
    /// What learns, as people call it.
    pub backend: String,
    /// How it learns.
    pub conditions: Conditions,
    /// Where everything is kept.
    pub work: PathBuf,
    /// How many bytes of shards are kept that no training at hand needs.
    pub spare_bytes: u64,
    /// Whether it ends after one training.
    pub once: bool,
}

/// How an agent ended that had nothing to complain of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody wanted it to.
    Stopped,
    /// It was to do one training, and did it.
    Done,
    /// It was to do one training, and gave that up.
    GivenUp,
}

/// What became of a training.
enum Fate {
    Done,
    GivenUp,
    Lost,
}

/// Takes trainings on until somebody wants it to end.
///
/// # Errors
///
/// If the coordinator will have nothing to do with it, or something is wrong with this machine.
pub fn run(settings: &Settings, wish: &Wish, clock: &Arc<dyn Clock>) -> Result<Ending> {
    let folder = Folder::take(&settings.work)?;
    let mut asking = client::Settings::new(settings.server.clone(), Some(settings.token.clone()), Arc::clone(clock));
    asking.program = "chuhe-trainer";
    let client = Client::new(asking)?;
    let mut screen = Screen::new(Arc::clone(clock));
    loop {
        let ended = match next(settings, wish, &client, clock, &mut screen) {
            Ok(training) => {
                let agent = Agent { settings, wish, client: &client, clock, folder: &folder };
                agent.take_on(&training, &mut screen)
            }
            Err(halt) => Err(halt),
        };
        let ended = match ended {
            Ok(Fate::Done) if settings.once => return Ok(Ending::Done),
            Ok(Fate::GivenUp) if settings.once => return Ok(Ending::GivenUp),
            // Two agents of one name would take it from each other in turns, and do nothing else.
            Ok(Fate::Lost) => wish.wait(&**clock, AFTER_LOSS).map(|()| Fate::Lost),
            fate => fate,
        };
        match ended {
            Ok(_) => {}
            Err(Halt::Stopped) => return Ok(Ending::Stopped),
            Err(halt) => return Err(halt.into_error()),
        }
    }
}

/// Waits until there is something to train.
fn next(
    settings: &Settings,
    wish: &Wish,
    client: &Client,
    clock: &Arc<dyn Clock>,
    screen: &mut Screen,
) -> Result<Training, Halt> {
    let claim = Claim {
        name: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: settings.backend.clone(),
    };
    loop {
        match Errand::new(wish, clock, screen).of(None, || client.claim(&claim))? {
            Offer::Train(training) => return Ok(training),
            Offer::Wait { seconds, reason } => {
                screen.state(&format!("waiting: {reason}"));
                wish.wait(&**clock, Duration::from_secs(seconds.clamp(1, 600).into()))?;
            }
        }
    }
}

/// Somebody who has a training at hand.
struct Agent<'a> {
    settings: &'a Settings,
    wish: &'a Wish,
    client: &'a Client,
    clock: &'a Arc<dyn Clock>,
    folder: &'a Folder,
}

impl Agent<'_> {
    /// Does a training, or says why not.
    fn take_on(&self, training: &Training, screen: &mut Screen) -> Result<Fate, Halt> {
        let what = format!("generation {} of {}", training.generation, training.campaign);
        let lease = Lease::begin(self.client.clone(), training.token.clone());
        let done = self.do_it(training, &lease, screen);
        drop(lease);
        match done {
            Ok(net) => {
                screen.state(&format!("handed in: {net}, a candidate for {what}"));
                Ok(Fate::Done)
            }
            Err(Halt::Lost(why)) => {
                screen.state(&format!("lost: {what} is no longer for this trainer: {why}"));
                Ok(Fate::Lost)
            }
            Err(Halt::Impossible(why)) => {
                let why = self.folder.without_places(&why);
                screen.state(&format!("giving {what} up: {why}"));
                self.abandon(training, &why, false, screen)?;
                Ok(Fate::GivenUp)
            }
            Err(Halt::Broken(error)) => {
                let why = self.folder.without_places(&format!("the trainer's machine failed: {error:#}"));
                // What is wrong here is said by whoever hears the error.
                let _ = self.abandon(training, &why, true, screen);
                Err(Halt::Broken(error))
            }
            Err(halt) => Err(halt),
        }
    }

    fn do_it(&self, training: &Training, lease: &Lease, screen: &mut Screen) -> Result<String, Halt> {
        let recipe = files::recipe(training)?;
        lease.is_to_make(recipe.schedule.steps());
        let place = self.folder.training(&recipe, training)?;
        screen.state(&format!(
            "training {} for generation {} of {} in {}",
            recipe.name,
            training.generation,
            training.campaign,
            self.folder.name_of(&recipe, training).display()
        ));
        self.bring(training, &place, lease, screen)?;
        let (wish, conditions) = (self.wish, &self.settings.conditions);
        let work = learning::Work { recipe: &recipe, place: &place, shards: &self.folder.shards(), conditions };
        let made = work.run(lease, wish, self.clock, screen)?;
        let net = self.hand_in(training, &made, lease, screen)?;
        work.forget();
        Ok(net)
    }

    /// Brings the training sets.
    fn bring(&self, training: &Training, place: &run::Folder, lease: &Lease, screen: &mut Screen) -> Result<(), Halt> {
        let mut needed = Vec::new();
        for named in &training.manifests {
            let path = place.file(&named.name);
            let fetch = || self.client.fetch_manifest(named.sha256, &path, None);
            let manifest = Errand::new(self.wish, self.clock, screen).of(Some(lease), fetch)?;
            let (count, bytes) = (manifest.shards.len(), manifest.shards.iter().map(|entry| entry.bytes).sum::<u64>());
            screen.state(&format!(
                "training set {}: {} positions in {count} shards, {:.1} MiB",
                named.sha256,
                manifest.positions,
                bytes as f64 / f64::from(1 << 20)
            ));
            needed.extend(manifest.shards);
        }
        self.folder.make_room(&needed, self.settings.spare_bytes)?;
        let (folder, mut fetched) = (self.folder.shards(), 0_u64);
        for (number, entry) in needed.iter().enumerate() {
            let fetch = || self.client.fetch_shard(entry, &folder, None);
            let came = Errand::new(self.wish, self.clock, screen).of(Some(lease), fetch)?;
            fetched += u64::from(came == client::Came::Now);
            screen.now_and_then(|| format!("fetching: {} of {} shards are here", number + 1, needed.len()));
        }
        self.folder.were_used(&needed, self.clock.since_1970());
        screen.state(&format!("all {} shards are here, {fetched} of them fetched now", needed.len()));
        Ok(())
    }

    fn hand_in(
        &self,
        training: &Training,
        made: &learning::Made,
        lease: &Lease,
        screen: &mut Screen,
    ) -> Result<String, Halt> {
        let read = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
        let (token, client) = (&*training.token, self.client);
        let manifest = String::from_utf8(read(&made.manifest)?).context("a net's manifest")?;
        let (net, curves) = (read(&made.net)?, read(&made.curves)?);
        screen.state(&format!("handing in a net of {:.1} MiB", net.len() as f64 / f64::from(1 << 20)));
        let mut ask = |put: &dyn Fn() -> Result<(), client::Error>| {
            Errand::new(self.wish, self.clock, screen).of(Some(lease), put)
        };
        ask(&|| client.put_candidate(token, net.clone()))?;
        ask(&|| client.put_curves(token, curves.clone()))?;
        let completion = Completion { manifest };
        let accepted =
            Errand::new(self.wish, self.clock, screen).of(Some(lease), || client.complete(token, &completion))?;
        Ok(accepted.net.to_string())
    }

    /// Gives a training up. If the coordinator has it no more that is just as well.
    fn abandon(&self, training: &Training, reason: &str, again: bool, screen: &mut Screen) -> Result<(), Halt> {
        let abandon = Abandon { reason: reason.to_owned(), again };
        let give_up = || self.client.abandon(&training.token, &abandon);
        match Errand::new(self.wish, self.clock, screen).of(None, give_up) {
            Err(Halt::Lost(_)) => Ok(()),
            given_up => given_up,
        }
    }
}
