//! Ctrl-C: the first ends a command in order, the second at once.

use std::{
    fs,
    io::{self, Write as _},
    path::PathBuf,
    process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// Exit status after Ctrl-C, as shells have it.
pub(crate) const EXIT_STATUS: u8 = 130;
/// The sentence of an interrupted command that writes its result only when it is whole.
pub(crate) const NOTHING_WRITTEN: &str = "nothing was written";
/// Interval of looks at the flag.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The error of an interrupted command. It says what is kept, and how to continue.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: {0}")]
pub(crate) struct Interrupted(pub(crate) String);

/// Whether Ctrl-C was pressed. Before the first call Ctrl-C ends the process.
pub(crate) fn is_requested() -> bool {
    flag().load(Relaxed)
}

/// Calls `act` after Ctrl-C, on a thread of its own.
pub(crate) fn on_request(act: impl FnOnce() + Send + 'static) {
    flag();
    thread::spawn(move || {
        while !is_requested() {
            thread::sleep(LOOK_INTERVAL);
        }
        act();
    });
}

/// Ends the process after Ctrl-C, with a sentence on what is kept. Until dropped by the process's
/// end it stands for commands whose files are whole after each game.
pub(crate) fn exit_with(sentence: String) {
    on_request(move || exit(sentence));
}

/// [`exit_with`] for a command that writes a file: its partial file is removed. If it has its name
/// already, the command ends by itself.
pub(crate) fn exit_without_file(part: PathBuf) {
    on_request(move || {
        if fs::remove_file(part).is_ok() {
            exit(NOTHING_WRITTEN.to_owned());
        }
    });
}

fn exit(sentence: String) -> ! {
    // Until the end no progress is written behind it.
    let mut error = io::stderr().lock();
    let _ = writeln!(error, "\nchuhe: {}", Interrupted(sentence));
    process::exit(i32::from(EXIT_STATUS))
}

/// [`exit_with`] for a command that keeps nothing before its end.
pub(crate) fn exit_without_result() {
    exit_with(NOTHING_WRITTEN.to_owned());
}

fn flag() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(|| {
        let flag = Arc::default();
        // Without a handler Ctrl-C ends the process at once: no reason to refuse the command.
        let _ = install(&flag);
        flag
    })
}

#[cfg(unix)]
fn install(flag: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::{consts::SIGINT, flag};
    // A second Ctrl-C finds the flag set.
    flag::register_conditional_shutdown(SIGINT, i32::from(EXIT_STATUS), Arc::clone(flag))?;
    flag::register(SIGINT, Arc::clone(flag)).map(drop)
}

#[cfg(not(unix))]
fn install(flag: &Arc<AtomicBool>) -> Result<(), ctrlc::Error> {
    let flag = Arc::clone(flag);
    ctrlc::set_handler(move || {
        if flag.swap(true, Relaxed) {
            process::exit(i32::from(EXIT_STATUS));
        }
    })
}
