//! `chuhe-worker run`.

use std::{
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use client::{Client, Clock, HostLookup, Settings as ClientSettings, SystemClock};
use nnue::Kernel;
use protocol::api::{problem::Code, work::Machine};

use super::{
    configure,
    fault::{PassingFault, is_misplaced, passing, print_error},
};
use crate::{
    control::{Control, install_signal_handlers},
    display, power,
    priority::YieldingSession,
    selftest,
    sentence::sentence,
    settings::{Flags, MissingSetting, Settings},
    spool::{Spool, SystemDisk},
    state::Folder,
    status::{Screen, Snapshot},
    supervised,
    supervisor::{self, End, Parts},
    update,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Timeout of a disk that hangs at the end.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Play games until stopped
///
/// Settings come from flags, the environment, or the file that `configure` writes, in this order.
/// If server or token is missing, `run` asks the questions of `configure` first (on a terminal).
///
/// Ctrl-C (SIGINT) finishes the games at hand and submits them; a second one, or SIGTERM, stops at
/// once. SIGUSR1 pauses and SIGUSR2 resumes, like `status --pause` and `--resume`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Print the effective settings and exit
    #[arg(long)]
    print_config: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        if self.print_config {
            let settings = Settings::new(&self.flags)?;
            write!(out, "{}", settings.to_text())?;
            settings.access()?;
            return Ok(ExitCode::SUCCESS);
        }
        let root = self.flags.state_path()?;
        let program = std::env::current_exe().context("this program's own file").map_err(passing)?;
        // A start on trial is counted first: this version may fail to read what the old one could.
        let is_on_trial = update::is_on_trial(&root, VERSION);
        let mut folder = None;
        if is_on_trial {
            folder = Some(Folder::lock(&root).map_err(passing)?);
            if update::count_start(&root, &program, VERSION).map_err(passing)? == update::Start::RolledBack {
                drop(folder);
                return exec_program(&program);
            }
        }
        let (ready, tested) = match self.prepare(folder, out) {
            Err(error) if is_on_trial && !error.is::<MissingSetting>() && !error.is::<PassingFault>() => {
                return fail_trial(&root, &program, &error);
            }
            Err(error) => {
                // That is no fault of a version on trial.
                update::reset_starts(&root, VERSION);
                return Err(error);
            }
            Ok(prepared) => prepared,
        };
        match tested {
            Ok(bench_signature) => {
                // A wrong token is no fault of a version on trial.
                if is_on_trial {
                    ready.check_token()?;
                }
                ready.play(&program, bench_signature)
            }
            Err(error) if is_on_trial => {
                drop(ready);
                fail_trial(&root, &program, &error)
            }
            Err(error) => Ok(selftest_failed(&Client::new(ready.client).map_err(passing)?, &error)),
        }
    }

    /// Loads the settings, locks the state folder and runs the self-test.
    fn prepare(&self, folder: Option<Folder>, out: &mut impl Write) -> Result<(Ready, Result<u64>)> {
        let settings = self.settings(out)?;
        let kernel = Kernel::from_env()?;
        // Other users of this machine come first. Threads inherit the priority.
        #[cfg(unix)]
        let _ = rustix::process::setpriority_process(None, crate::priority::LOWEST_PRIORITY);
        let is_on_trial = folder.is_some();
        let folder = match folder {
            Some(folder) => folder,
            None => Folder::lock(&settings.state)
                .map_err(|error| if is_misplaced(&error) { error } else { passing(error) })?,
        };
        // A worker that was killed has left its status, which is not this one's.
        Snapshot::remove(folder.root());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let (server, token) = settings.access()?;
        let mut client = ClientSettings::new(server.clone(), Some(token.clone()), Arc::clone(&clock));
        client.program = "chuhe-worker";
        let mut screen = display::screen(clock);
        if !is_on_trial {
            // A server that is away takes half a minute.
            screen.line(&format!("Asking {server} whose token this is."));
        }
        let mut ready = Ready { settings, kernel, folder, client, screen };
        // A wrong address or token is reported before the self-test, which takes a while.
        let mut problem = if is_on_trial { None } else { ready.check_token()? };
        let Ready { folder, screen, .. } = &mut ready;
        let tested = selftest::run_once(folder.root(), kernel, |what| {
            if let Some(problem) = problem.take() {
                screen.line(&format!("{problem} The worker tests this machine, and then asks again."));
            }
            screen.line(&format!("Self-test: {what}"));
        });
        Ok((ready, tested))
    }

    fn settings(&self, out: &mut impl Write) -> Result<Settings> {
        let complete = || {
            // The disk may fail to read the file.
            let may_pass = |error: &anyhow::Error| error.is::<io::Error>() && !is_misplaced(error);
            let settings =
                Settings::new(&self.flags).map_err(|error| if may_pass(&error) { passing(error) } else { error })?;
            settings.access()?;
            anyhow::Ok(settings)
        };
        let error = match complete() {
            Ok(settings) => return Ok(settings),
            Err(error) => error,
        };
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Err(error);
        }
        let (path, known) = self.flags.file()?;
        configure::ask(known, &self.flags, &path, out)?;
        complete()
    }
}

/// The prepared components of a worker.
struct Ready {
    settings: Settings,
    kernel: Kernel,
    folder: Folder,
    client: ClientSettings,
    screen: Box<dyn Screen>,
}

impl Ready {
    /// Asks the server whose token it is. Only the owner can mend a wrong token, or the address of
    /// a host that does not exist. Other errors may be transient: they are returned as a sentence.
    ///
    /// A worker that has played before tries a lost host again. At the first contact the address is
    /// mistyped; without a name server only a person at the terminal can tell.
    fn check_token(&self) -> Result<Option<String>> {
        let client = Client::new(self.client.clone()).map_err(passing)?;
        let Err(error) = client.me() else {
            Folder::record_contact(self.folder.root(), &self.settings.access()?.0.to_string());
            return Ok(None);
        };
        let problem = sentence(error.to_string());
        if matches!(error.code(), Some(Code::BadToken | Code::NoToken)) {
            update::reset_starts(self.folder.root(), VERSION);
            anyhow::bail!("{problem} `chuhe-worker configure` takes another token.");
        }
        let is_mistyped = match error.host_lookup() {
            HostLookup::Found => false,
            HostLookup::Unavailable => io::stderr().is_terminal(),
            HostLookup::NoSuchHost => true,
        };
        if is_mistyped && !self.folder.has_had_contact() {
            anyhow::bail!("{problem} `--server ADDRESS` or `chuhe-worker configure` takes another address.");
        }
        Ok(Some(problem))
    }

    fn play(self, program: &Path, bench_signature: u64) -> Result<ExitCode> {
        let Self { settings, kernel, folder, client, mut screen } = self;
        let (spool, kept) = match Spool::open(folder.root(), Arc::new(SystemDisk)) {
            Ok(opened) => opened,
            Err(error) => return Ok(failed(&error.into())),
        };
        for message in &kept {
            screen.line(message);
        }
        // Until here an interrupt ends the process, even if the disk hangs: nothing has begun.
        let control = Arc::new(Control::default());
        install_signal_handlers(Arc::clone(&control)).context("signals").map_err(passing)?;
        let yielding = YieldingSession::begin();
        let machine = Machine {
            name: settings.name.clone(),
            version: VERSION.to_owned(),
            bench_signature,
            threads: settings.cores as u32,
            memory_mebibytes: settings.memory_mebibytes,
            system: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            instruction_set: kernel.name().to_owned(),
        };
        let folder = Arc::new(folder);
        let parts = Parts {
            settings,
            machine,
            kernel,
            folder: Arc::clone(&folder),
            spool,
            program: program.to_owned(),
            power_supplies: PathBuf::from(power::SUPPLIES_FOLDER),
            updates: update::source(),
            client,
            control,
        };
        match supervisor::run(parts, screen) {
            Ok(End::Stopped) => {
                let reset = move || update::reset_starts(folder.root(), VERSION);
                supervised::run_within(END_TIMEOUT, "trial", reset);
                Ok(ExitCode::SUCCESS)
            }
            Ok(End::Updated) => {
                // Restores the session's priority, as the next version expects it.
                drop(yielding);
                exec_program(program)
            }
            Err(error) => Ok(failed(&error)),
        }
    }
}

/// Says why the worker cannot continue.
fn failed(error: &anyhow::Error) -> ExitCode {
    print_error(format!("chuhe-worker: {error:#}"));
    ExitCode::FAILURE
}

/// Rolls back to the old version: the one on trial cannot start.
fn fail_trial(root: &Path, program: &Path, error: &anyhow::Error) -> Result<ExitCode> {
    print_error(sentence(format!("This version fails here, and the old one takes over: {error:#}")));
    update::roll_back(root, program, VERSION).map_err(passing)?;
    exec_program(program)
}

/// Replaces this process by the program that now has its name. Where that is impossible, a service
/// or the owner restarts it.
fn exec_program(program: &Path) -> Result<ExitCode> {
    Err(passing(anyhow::anyhow!("{}: {}", program.display(), update::successor::exec(program))))
}

/// Reports the failed self-test to the server; this machine plays nothing.
fn selftest_failed(client: &Client, error: &anyhow::Error) -> ExitCode {
    use protocol::api::work::{Failure, FailureKind};
    let detail = format!("{error:#}");
    let version = VERSION.to_owned();
    let _ = client.report(&Failure { worker: None, kind: FailureKind::SelfTest, version, detail });
    print_error(format!("chuhe-worker: the self-test failed, so nothing is played: {error:#}"));
    ExitCode::FAILURE
}
