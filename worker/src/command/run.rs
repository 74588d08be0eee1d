//! `chuhe-worker run`.

use std::{
    io::{self, IsTerminal as _, Write},
    path::Path,
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
    keeper::{self, End, Parts},
    selftest,
    sentence::sentence,
    settings::{File, Given, Settings},
    state::Folder,
    update,
    wishes::{Wishes, hear_signals},
};

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
        let settings = self.settings(out)?;
        if self.print_config {
            write!(out, "{}", settings.to_text())?;
            return Ok(ExitCode::SUCCESS);
        }
        let kernel = Kernel::from_env()?;
        // Whoever sits at this machine comes first. Threads that are begun later have the same priority.
        #[cfg(unix)]
        let _ = rustix::process::setpriority_process(None, 19);
        let folder = Arc::new(Folder::take(&settings.state)?);
        let program = std::env::current_exe().context("this program's own file")?;
        if update::at_start(folder.root(), &program, env!("CARGO_PKG_VERSION"))? == update::Start::Back {
            drop(folder);
            return go_on_as(&program);
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let mut screen = display::screen(Arc::clone(&clock));
        let tested = selftest::once(folder.root(), kernel, |what| screen.line(&format!("Self-test: {what}")));
        let bench_signature = match tested {
            Ok(signature) => signature,
            Err(error) if update::is_on_trial(folder.root(), env!("CARGO_PKG_VERSION")) => {
                screen.line(&sentence(format!("This version fails here, and the old one goes on: {error:#}")));
                update::give_back(folder.root(), &program, env!("CARGO_PKG_VERSION"))?;
                drop(folder);
                return go_on_as(&program);
            }
            Err(error) => {
                let client = Client::new(client_settings(&settings, &clock))?;
                return Ok(selftest_failed(&client, &error));
            }
        };
        update::works(folder.root());
        let client = client_settings(&settings, &clock);
        // A wrong token is the owner's to mend, now; whatever else is wrong may mend itself.
        if let Err(error) = Client::new(client.clone())?.me()
            && matches!(error.code(), Some(Code::BadToken | Code::NoToken))
        {
            anyhow::bail!("{} `chuhe-worker configure` takes another token.", sentence(error.to_string()));
        }
        // Until here whoever interrupts ends it at once: nothing was begun.
        let wishes = Arc::new(Wishes::default());
        hear_signals(Arc::clone(&wishes)).context("signals")?;
        let machine = Machine {
            name: settings.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            bench_signature,
            threads: settings.cores as u32,
            memory_mebibytes: settings.memory_mebibytes,
            system: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            instruction_set: kernel.name().to_owned(),
        };
        match keeper::run(
            Parts { settings, machine, kernel, folder, program: program.clone(), client, wishes },
            &mut *screen,
        ) {
            Ok(End::Stopped) => Ok(ExitCode::SUCCESS),
            Ok(End::Updated) => go_on_as(&program),
            Err(error) => {
                let _ = writeln!(io::stderr(), "chuhe-worker: {error:#}");
                Ok(ExitCode::FAILURE)
            }
        }
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

/// Becomes the program that has this one's name now. Where that is not possible a service starts it, or its owner.
fn go_on_as(program: &Path) -> Result<ExitCode> {
    anyhow::bail!("{}: {}", program.display(), update::successor::become_it(program))
}

fn client_settings(settings: &Settings, clock: &Arc<dyn Clock>) -> ClientSettings {
    let mut client = ClientSettings::new(settings.server.clone(), Some(settings.token.clone()), Arc::clone(clock));
    client.program = "chuhe-worker";
    client
}

/// A machine that computes otherwise plays nothing; the server may want to know how many there are.
fn selftest_failed(client: &Client, error: &anyhow::Error) -> ExitCode {
    use protocol::api::work::{Failure, FailureKind};
    let detail = format!("{error:#}");
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let _ = client.report(&Failure { worker: None, kind: FailureKind::SelfTest, version, detail });
    let _ = writeln!(io::stderr(), "chuhe-worker: the self-test failed, so nothing is played: {error:#}");
    ExitCode::FAILURE
}
