//! `chuhe-worker run`.

use std::{
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use client::{Client, Clock, Settings as ClientSettings, SystemClock};
use nnue::Kernel;
use protocol::api::{problem::Code, work::Machine};

use super::configure;
use crate::{
    display,
    keeper::{self, End, Parts, Screen},
    power,
    priority::GivingWay,
    selftest,
    sentence::sentence,
    settings::{File, Given, Settings},
    state::Folder,
    update,
    wishes::{Wishes, hear_signals},
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Play games until told to stop
///
/// Everything may be given by flag, environment, or the file that `configure` writes, in this order. Without a server or
/// token, and on a terminal, the questions of `configure` come first.
///
/// Ctrl-C (SIGINT) finishes the games at hand and hands them in; a second one, or SIGTERM, stops at once. SIGUSR1 pauses,
/// SIGUSR2 goes on, as `status --pause` and `--resume` do.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// Print what is given, from wherever, and end
    #[arg(long)]
    print_config: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        if self.print_config {
            let settings = self.settings(out)?;
            write!(out, "{}", settings.to_text())?;
            return Ok(ExitCode::SUCCESS);
        }
        let root = self.given.state_path()?;
        let program = std::env::current_exe().context("this program's own file")?;
        // A version on trial is counted before anything else: it may be that it cannot read what the old one could.
        let is_on_trial = update::is_on_trial(&root, VERSION);
        let mut folder = None;
        if is_on_trial {
            folder = Some(Folder::take(&root)?);
            if update::at_start(&root, &program, VERSION)? == update::Start::Back {
                drop(folder);
                return go_on_as(&program);
            }
        }
        let (ready, tested) = match self.prepare(folder, out) {
            Err(error) if is_on_trial => return fail_trial(&root, &program, &error),
            prepared => prepared?,
        };
        match tested {
            Ok(bench_signature) => ready.play(&program, bench_signature),
            Err(error) if is_on_trial => {
                drop(ready);
                fail_trial(&root, &program, &error)
            }
            Err(error) => Ok(selftest_failed(&Client::new(ready.client())?, &error)),
        }
    }

    /// What a worker needs before it plays, and what its self-test said.
    fn prepare(&self, folder: Option<Folder>, out: &mut impl Write) -> Result<(Ready, Result<u64>)> {
        let settings = self.settings(out)?;
        let kernel = Kernel::from_env()?;
        // Whoever sits at this machine comes first. Threads that are begun later have the same priority.
        #[cfg(unix)]
        let _ = rustix::process::setpriority_process(None, crate::priority::LOWEST);
        let folder = folder.map_or_else(|| Folder::take(&settings.state), Ok)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let mut screen = display::screen(Arc::clone(&clock));
        let tested = selftest::once(folder.root(), kernel, |what| screen.line(&format!("Self-test: {what}")));
        Ok((Ready { settings, kernel, folder, clock, screen }, tested))
    }

    fn settings(&self, out: &mut impl Write) -> Result<Settings> {
        let missing = |error| {
            let asks = io::stdin().is_terminal() && io::stdout().is_terminal() && !self.print_config;
            if asks { Ok(()) } else { Err(error) }
        };
        match Settings::new(&self.given) {
            Ok(settings) => return Ok(settings),
            Err(error) => missing(error)?,
        }
        let path = self.given.config_path()?;
        let known = File::read(&path).with_context(|| path.display().to_string())?;
        configure::ask(&known, &self.given, &path, out)?;
        Settings::new(&self.given)
    }
}

/// All that a worker needs.
struct Ready {
    settings: Settings,
    kernel: Kernel,
    folder: Folder,
    clock: Arc<dyn Clock>,
    screen: Box<dyn Screen>,
}

impl Ready {
    fn client(&self) -> ClientSettings {
        let Self { settings, clock, .. } = self;
        let mut client = ClientSettings::new(settings.server.clone(), Some(settings.token.clone()), Arc::clone(clock));
        client.program = "chuhe-worker";
        client
    }

    fn play(self, program: &Path, bench_signature: u64) -> Result<ExitCode> {
        let client = self.client();
        // A wrong token is the owner's to mend, now; whatever else is wrong may mend itself.
        if let Err(error) = Client::new(client.clone())?.me()
            && matches!(error.code(), Some(Code::BadToken | Code::NoToken))
        {
            update::ended_well(self.folder.root(), VERSION);
            anyhow::bail!("{} `chuhe-worker configure` takes another token.", sentence(error.to_string()));
        }
        let Self { settings, kernel, folder, mut screen, .. } = self;
        // Until here whoever interrupts ends it at once: nothing was begun.
        let wishes = Arc::new(Wishes::default());
        hear_signals(Arc::clone(&wishes)).context("signals")?;
        let giving_way = GivingWay::begin();
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
            program: program.to_owned(),
            supplies: PathBuf::from(power::SUPPLIES),
            updates: update::source(),
            client,
            wishes,
        };
        match keeper::run(parts, &mut *screen) {
            Ok(End::Stopped) => {
                update::ended_well(folder.root(), VERSION);
                Ok(ExitCode::SUCCESS)
            }
            Ok(End::Updated) => {
                // The next version finds the session as this one did.
                drop(giving_way);
                go_on_as(program)
            }
            Err(error) => {
                let _ = writeln!(io::stderr(), "chuhe-worker: {error:#}");
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

/// A version on trial cannot even begin: the old one goes on.
fn fail_trial(root: &Path, program: &Path, error: &anyhow::Error) -> Result<ExitCode> {
    let said = sentence(format!("This version fails here, and the old one goes on: {error:#}"));
    let _ = writeln!(io::stderr(), "{said}");
    update::give_back(root, program, VERSION)?;
    go_on_as(program)
}

/// Becomes the program that has this one's name now. Where that is not possible a service starts it, or its owner.
fn go_on_as(program: &Path) -> Result<ExitCode> {
    anyhow::bail!("{}: {}", program.display(), update::successor::become_it(program))
}

/// A machine that computes otherwise plays nothing; the server may want to know how many there are.
fn selftest_failed(client: &Client, error: &anyhow::Error) -> ExitCode {
    use protocol::api::work::{Failure, FailureKind};
    let detail = format!("{error:#}");
    let version = VERSION.to_owned();
    let _ = client.report(&Failure { worker: None, kind: FailureKind::SelfTest, version, detail });
    let _ = writeln!(io::stderr(), "chuhe-worker: the self-test failed, so nothing is played: {error:#}");
    ExitCode::FAILURE
}
