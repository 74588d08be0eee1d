//! Start of a worker: its parts, and its threads.

use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
};

use anyhow::Result;
use client::{Client, JitterRng, Settings as ClientSettings};
use nnue::Kernel;
use protocol::api::work::Machine;

use super::supervise::Supervisor;
use crate::{
    control::{Control, is_paused},
    delivery::{Delivery, Sender, Submitter, Writer},
    events::Events,
    identity::Identity,
    messages::Messages,
    nonce::random_seed,
    report::Reporter,
    schedule::{PauseFile, Schedule},
    settings::Settings,
    spool::Spool,
    state::Folder,
    status::{Account, Publisher, Screen},
    supervised, update,
    work::{Files, LiveView, Pool, Preparer, Provider, Renewal, Requester, SleepDetector, Work, backoff},
};

/// The parts of a worker.
pub struct Parts {
    /// The owner's limits.
    pub settings: Settings,
    /// Description sent at registration.
    pub machine: Machine,
    /// Instruction set of the evaluation.
    pub kernel: Kernel,
    /// State folder.
    pub folder: Arc<Folder>,
    /// Finished games of this folder.
    pub spool: Spool,
    /// File of this program, which an update replaces.
    pub program: PathBuf,
    /// Folder in which the system describes its power supplies.
    pub power_supplies: PathBuf,
    /// Source of updates; none if they are disabled.
    pub updates: Option<update::Source>,
    /// Settings of the HTTP client.
    pub client: ClientSettings,
    /// Commands of the owner.
    pub control: Arc<Control>,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The owner stopped it, or all its leases are done.
    Stopped,
    /// A newer version has replaced the program and is to be started.
    Updated,
}

/// Runs a worker to its end.
///
/// # Errors
///
/// If it cannot continue.
pub fn run(parts: Parts, screen: Box<dyn Screen>) -> Result<End> {
    let clock = Arc::clone(&parts.client.clock);
    let client = Client::new(parts.client)?;
    let (sender, received) = mpsc::channel();
    let events = Events(sender);
    let (changes, queue) = mpsc::channel();
    let messages = Arc::new(Messages::default());
    let (spool, root) = (parts.spool, parts.folder.root().to_owned());
    let delivery = Arc::new(Delivery::new(Arc::clone(&clock), Arc::clone(&messages), spool.refused().clone()));
    let work = Arc::new(Work::new(Arc::clone(&clock), changes, events.clone()));
    let reporter = Arc::new(Reporter::new(client.clone()));
    let live_view = Arc::new(LiveView::default());
    let identity = Arc::new(Identity::new(client.clone()));

    let (requests, to_write) = mpsc::channel();
    let (changes, pause_changes) = mpsc::channel();
    let mut schedule = Schedule {
        is_paused: is_paused(&root),
        hours: parts.settings.hours.clone(),
        on_battery: parts.settings.on_battery,
        power_supplies: parts.power_supplies,
        sleep: SleepDetector::new(Arc::clone(&clock)),
        work: Arc::clone(&work),
        messages: Arc::clone(&messages),
    };
    // Before the first game starts: the schedule may forbid it.
    schedule.check();
    let pause_file = PauseFile { root: root.clone(), known: schedule.is_paused, requests: to_write, changes };
    let cores = parts.settings.cores;
    let provider = Provider {
        work: Arc::clone(&work),
        delivery: Arc::clone(&delivery),
        requester: Requester {
            work: Arc::clone(&work),
            delivery: Arc::clone(&delivery),
            reporter: Arc::clone(&reporter),
            client: client.clone(),
            spool: spool.clone(),
        },
        preparer: Preparer {
            files: Files {
                work: Arc::clone(&work),
                client: client.clone(),
                folder: Arc::clone(&parts.folder),
                kernel: parts.kernel,
                backoff: backoff(JitterRng::new(random_seed())),
                mirror: None,
            },
            machine: parts.machine,
        },
        spool: spool.clone(),
        events: events.clone(),
        identity: Arc::clone(&identity),
        max_leases: parts.settings.leases,
        backoff: backoff(JitterRng::new(random_seed())),
    };
    let submitter = Submitter::new(client.clone(), spool.clone(), identity, Arc::clone(&delivery));
    let sender = Sender::new(Arc::clone(&delivery), Arc::clone(&reporter), submitter, JitterRng::new(random_seed()));
    let renewal = Renewal::new(Arc::clone(&work), Arc::clone(&delivery), client.clone(), JitterRng::new(random_seed()));
    let writer = Writer::new(queue, Arc::clone(&delivery), Arc::clone(&clock));
    let mut supervisor = Supervisor {
        work: Arc::clone(&work),
        delivery: Arc::clone(&delivery),
        messages: Arc::clone(&messages),
        events: received,
        schedule,
        pause_requests: requests,
        pause_changes,
        account: Account::new(client.clone(), screen.is_watched()),
        control: parts.control,
        settings: parts.settings,
        reporter: Arc::clone(&reporter),
        publisher: Publisher::start(screen, root.clone(), Arc::clone(&messages), &clock, pause_file)?,
        clock,
        root,
        stop_requests: 0,
        is_updated: false,
        is_confirmed: false,
        is_known: false,
        fatal: None,
        panic: None,
    };
    supervisor.control.attach(events.clone());
    // These threads are not joined: at the end one may be in a long move or an HTTP exchange.
    Pool::new(&work, &delivery, &live_view, &events).start(cores)?;
    supervised::spawn("writer", &events, move || writer.run())?;
    supervised::spawn("provider", &events, move || provider.run())?;
    supervised::spawn("sender", &events, move || sender.run())?;
    supervised::spawn("renewal", &events, move || renewal.run())?;
    let (live_work, live_client) = (Arc::clone(&work), client.clone());
    let live = move || live_view.run(&live_work, &live_client);
    thread::Builder::new().name("live-view".to_owned()).spawn(live)?;
    if let Some(source) = parts.updates {
        let (work, folder, program) = (Arc::clone(&work), parts.folder, parts.program);
        let watch = move || update::watch(&work, &messages, &events, &client, &folder, &program, &source);
        thread::Builder::new().name("update".to_owned()).spawn(watch)?;
    }
    let result = supervisor.supervise();
    let is_updated = supervisor.is_updated;
    work.end();
    delivery.stop();
    supervisor.publisher.end();
    result?;
    Ok(if is_updated { End::Updated } else { End::Stopped })
}
