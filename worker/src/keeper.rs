//! Watches over a worker: hands over what is played, keeps to hours and battery, tells people, and brings it to its end.

mod goodbye;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Result, anyhow};
use client::{Client, Dice, Settings as ClientSettings};
use nnue::Kernel;
use protocol::api::work::Machine;

use crate::{
    crew,
    desk::{Desk, Ending, Rest, State, reason_of},
    job::Job,
    outbox::Outbox,
    pool, power,
    provider::{self, Provider, discard},
    sender::{self, Sender},
    sentence::sentence,
    settings::Settings,
    state::Folder,
    status::{Doing, Snapshot},
    update, window,
    wishes::{Wish, Wishes},
    word::new_number,
};

/// How often the keeper looks around.
const ROUND: Duration = Duration::from_millis(500);
/// How often finished games are made safe against the machine's end; against the program's they are at once.
const SYNC: Duration = Duration::from_secs(10);
/// How often hours, battery and the wish to pause are looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How often the folder's status is written.
const TELL: Duration = Duration::from_secs(2);
/// How often the server is asked what was contributed.
const CONTRIBUTION: Duration = Duration::from_mins(15);
/// After so many games in a row that broke off, something is wrong with the program or the machine.
const MOST_PANICS: u32 = 3;

/// Who is told what happens.
pub trait Screen: Send {
    /// Something happened.
    fn line(&mut self, text: &str);
    /// This is how things stand.
    fn show(&mut self, snapshot: &Snapshot);
}

/// What a worker is made of.
pub struct Parts {
    /// What its owner allows.
    pub settings: Settings,
    /// What it is.
    pub machine: Machine,
    /// The instruction set of its evaluation.
    pub kernel: Kernel,
    /// Where it keeps things.
    pub folder: Arc<Folder>,
    /// Its own file, as it was when it began: what a newer version replaces.
    pub program: PathBuf,
    /// Where the system says in files how the machine gets its power.
    pub supplies: PathBuf,
    /// Where newer versions are; none if it stays as it is.
    pub updates: Option<update::Source>,
    /// How it asks.
    pub client: ClientSettings,
    /// What its owner wants while it runs.
    pub wishes: Arc<Wishes>,
}

/// How a worker came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its owner wanted it, or there was nothing more to do.
    Stopped,
    /// A newer version has its name, and shall go on.
    Updated,
}

/// Runs a worker until it comes to its end.
///
/// # Errors
///
/// If it cannot go on.
pub fn run(parts: Parts, screen: &mut dyn Screen) -> Result<End> {
    let clock = Arc::clone(&parts.client.clock);
    let desk = Arc::new(Desk::new(Arc::clone(&clock)));
    let client = Client::new(parts.client)?;
    let outbox = Outbox::open(parts.folder.root())?;
    desk.change(|state| state.outbox = outbox.names().map_or(0, |names| names.len()));
    let provider = Provider {
        desk: Arc::clone(&desk),
        client: client.clone(),
        folder: Arc::clone(&parts.folder),
        machine: parts.machine,
        kernel: parts.kernel,
        most_leases: parts.settings.leases,
        mirror: None,
        backoff: provider::backoff(Dice::new(new_number())),
    };
    let sender = Sender {
        desk: Arc::clone(&desk),
        client: client.clone(),
        outbox: outbox.clone(),
        folder: Arc::clone(&parts.folder),
        sending: sender::Task::new(sender::backoff(Dice::new(new_number()))),
        renewing: sender::Task::new(sender::backoff(Dice::new(new_number()))),
        attempts: BTreeMap::new(),
        elsewhere: BTreeSet::new(),
    };
    let mut keeper = Keeper {
        desk: Arc::clone(&desk),
        client,
        folder: parts.folder,
        outbox,
        wishes: parts.wishes,
        settings: parts.settings,
        supplies: parts.supplies,
        synced: clock.now(),
        looked: None,
        told: None,
        asked: None,
        packing: None,
        urged: 0,
        proven: false,
        screen,
    };
    keeper.wishes.heard_at(&desk);
    // Before anybody begins a game it may not.
    keeper.look_around();
    // These may be in a long move when the worker ends, and the next two in an exchange: the process waits for nobody.
    pool::start(&desk, keeper.settings.cores)?;
    crew::start("provider", &desk, &keeper.client, move || provider.run())?;
    crew::start("sender", &desk, &keeper.client, move || sender.run())?;
    let (shown, showing) = (Arc::clone(&desk), keeper.client.clone());
    thread::Builder::new().name("window".to_owned()).spawn(move || window::show(&shown, &showing))?;
    if let Some(source) = parts.updates {
        let (desk, client, folder) = (Arc::clone(&desk), keeper.client.clone(), Arc::clone(&keeper.folder));
        let watch = move || update::watch(&desk, &client, &folder, &parts.program, &source);
        thread::Builder::new().name("update".to_owned()).spawn(watch)?;
    }
    let result = keeper.keep();
    desk.change(|state| (state.ending, state.gone) = (Ending::Stop, true));
    result?;
    Ok(if desk.look(|state| state.updated) { End::Updated } else { End::Stopped })
}

struct Keeper<'a> {
    desk: Arc<Desk>,
    client: Client,
    folder: Arc<Folder>,
    outbox: Outbox,
    wishes: Arc<Wishes>,
    settings: Settings,
    supplies: PathBuf,
    synced: Duration,
    looked: Option<Duration>,
    told: Option<(Duration, Doing)>,
    asked: Option<Duration>,
    /// When packing failed.
    packing: Option<Duration>,
    /// How often its owner said that it shall end.
    urged: u32,
    /// The server has taken a result: this version works.
    proven: bool,
    screen: &'a mut dyn Screen,
}

impl Keeper<'_> {
    fn keep(&mut self) -> Result<()> {
        loop {
            self.hear();
            self.look_around();
            self.pack();
            self.sync();
            self.ask_for_contribution();
            self.tell();
            if let Some(why) = self.desk.look(|state| state.fatal.clone()) {
                return Err(anyhow!(why));
            }
            match self.desk.look(|state| state.ending) {
                Ending::None => {}
                Ending::Finish if self.desk.look(|state| state.rest.is_some()) => {
                    self.desk.change(|state| state.ending = Ending::Stop);
                }
                Ending::Finish => {
                    let over = self.desk.look(|state| state.jobs.is_empty() && state.over.is_empty());
                    if over {
                        self.say_goodbye(goodbye::FINISHED);
                        return Ok(());
                    }
                }
                Ending::Stop => {
                    self.stop();
                    self.say_goodbye(goodbye::STOPPED);
                    return Ok(());
                }
            }
            self.desk.wait(ROUND, |state| {
                state.wished || !state.lines.is_empty() || (!state.over.is_empty() && self.packing.is_none())
            });
        }
    }

    /// What the owner wants.
    fn hear(&mut self) {
        self.desk.change(|state| state.wished = false);
        while let Some(wish) = self.wishes.take() {
            match wish {
                Wish::Finish | Wish::Stop => self.end(wish),
                Wish::Pause => self.wishes.set_paused(self.folder.root(), true),
                Wish::Resume => self.wishes.set_paused(self.folder.root(), false),
            }
            self.looked = None;
        }
    }

    /// The owner wants it to end. Whoever wants that wants no newer version to go on in its place; and what else may have
    /// brought it to its end before is no wish of the owner's.
    fn end(&mut self, wish: Wish) {
        self.urged += 1;
        let is_first = self.urged == 1;
        self.desk.change(|state| {
            state.updated = false;
            if wish == Wish::Finish && is_first && state.ending != Ending::Stop {
                state.ending = Ending::Finish;
                state.say("Finishing the games at hand; once more ends at once.");
                state.close_all();
            } else {
                state.ending = Ending::Stop;
            }
        });
    }

    /// Whether the worker may play now.
    fn look_around(&mut self) {
        let now = self.desk.clock.now();
        if self.looked.is_some_and(|looked| now < looked + LOOK) {
            return;
        }
        self.looked = Some(now);
        let time = self.desk.clock.since_1970();
        let rest = if self.wishes.is_paused(self.folder.root()) {
            Some(Rest::Asked)
        } else if !self.settings.hours.allow(time) {
            Some(Rest::Hours)
        } else if !self.settings.on_battery && power::is_on_battery(&self.supplies) {
            Some(Rest::Battery)
        } else {
            None
        };
        self.desk.change(|state| {
            state.let_go(now);
            if state.rest != rest {
                state.rest = rest;
                state.rests_since = rest.and(state.rests_since.or(Some(now)));
                state.say(rest.map_or("Playing again.", Rest::reason));
            }
        });
    }

    /// Puts what is over into the outbox. If the disk fails it stays where it is, and is tried again.
    fn pack(&mut self) {
        let now = self.desk.clock.now();
        if self.packing.is_some_and(|failed| now < failed + Duration::from_secs(10)) {
            return;
        }
        self.packing = None;
        while let Some(mut job) =
            self.desk.change(|state| if state.over.is_empty() { None } else { Some(state.over.remove(0)) })
        {
            let packed = self.pack_one(&mut job);
            let waiting = self.outbox.names().map_or(1, |names| names.len());
            match packed {
                Ok(()) => self.desk.change(|state| {
                    state.outbox = waiting;
                    state.unpacked = None;
                }),
                Err(error) => {
                    // What is not written down yet may find room there.
                    let _ = job.write_down();
                    self.packing = Some(now);
                    self.desk.change(|state| {
                        state.unpacked = Some(sentence(format!("A result cannot be written: {error}")));
                        state.over.insert(0, job);
                    });
                    return;
                }
            }
        }
    }

    /// That nothing more of it is played is on disk before anything else: after a crash it is packed again, and what was
    /// put into the outbox before stays as it is.
    fn pack_one(&self, job: &mut Job) -> io::Result<()> {
        job.saved.closed = true;
        job.saved.keep(&self.folder, &job.name)?;
        for (name, parcel) in job.parcels()? {
            self.outbox.put(&name, &parcel)?;
        }
        discard(&self.folder, &job.name)
    }

    /// Finished games outlive the machine's end.
    fn sync(&mut self) {
        let now = self.desk.clock.now();
        if now < self.synced + SYNC {
            return;
        }
        self.synced = now;
        let files: Vec<_> = self.desk.change(|state| {
            let written = state.jobs.iter_mut().try_for_each(Job::write_down);
            state.unwritten = written.err().map(|error| sentence(format!("Finished games cannot be written: {error}")));
            state.jobs.iter().filter_map(|job| job.journal.file().ok()).collect()
        });
        for file in files {
            let _ = file.sync_data();
        }
    }

    fn ask_for_contribution(&mut self) {
        let now = self.desk.clock.now();
        let due = self.asked.is_none_or(|asked| now >= asked + CONTRIBUTION);
        if !due || self.desk.look(|state| state.sending.is_some() || state.ending != Ending::None) {
            return;
        }
        self.asked = Some(now);
        let (client, desk) = (self.client.clone(), Arc::clone(&self.desk));
        let ask = move || {
            if let Ok(me) = client.me() {
                desk.change(|state| state.me = Some(me));
            }
        };
        let _ = thread::Builder::new().name("contribution".to_owned()).spawn(ask);
    }

    /// What was rejected is found later where what was refused lies. A disk that takes nothing now may do so later.
    fn note_rejections(&self) {
        let rejected = self.desk.change(|state| std::mem::take(&mut state.rejected));
        for notice in rejected {
            let Some(shard) = notice.shard else { continue };
            if self.outbox.note_rejection(shard, &reason_of(&notice)).is_err() {
                self.desk.change(|state| state.rejected.push(notice));
            }
        }
    }

    fn tell(&mut self) {
        self.note_rejections();
        for line in self.desk.change(|state| std::mem::take(&mut state.lines)) {
            self.screen.line(&line);
        }
        let snapshot = self.snapshot();
        let now = self.desk.clock.now();
        if self.told.is_none_or(|(told, doing)| doing != snapshot.doing || now >= told + TELL) {
            self.told = Some((now, snapshot.doing));
            snapshot.write(self.folder.root());
        }
        self.screen.show(&snapshot);
        // What an earlier version has left shows nothing of this one.
        if !self.proven && snapshot.games_accepted > 0 && self.desk.look(|state| state.done.games > 0) {
            self.proven = true;
            update::works(self.folder.root(), env!("CARGO_PKG_VERSION"));
        }
        let panics = self.desk.look(|state| state.panics);
        if panics >= MOST_PANICS {
            self.desk.change(|state| {
                state.fatal = Some("games break off again and again; `chuhe-worker selftest` may say more".to_owned());
            });
        }
    }

    fn snapshot(&self) -> Snapshot {
        let refused = self.outbox.refused().map_or(0, |names| names.len());
        self.desk.look(|state: &State| {
            Snapshot::of(state, &self.settings, self.client.server_address(), refused, &*self.desk.clock)
        })
    }
}
