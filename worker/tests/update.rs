//! Self-updates: verification, trial and rollback. The signatures in `data/update` are by a test
//! key; `key.pub` is its public half.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use common::{
    clock,
    coordinator::{Coordinator, reject_uploads},
    header,
    in_process::Worker,
    process::{PROGRAM, Process, log_of},
    state_folder::leases,
};
use testkit::{
    JumpingClock,
    http::{Listener, Request, Response},
};
use worker::{
    control::ControlCommand,
    status::{Doing, Snapshot},
    supervisor::End,
    update::{
        Release, Source, Start, confirm, count_start, install, is_on_trial, reset_starts, roll_back, verify_release,
    },
};

const KEY: &str = "RWRDSFVIRVRTVDT9OkuzSnOfzpVVAYH9TfpmWD5WeMBFILzy1j17UP4/";
const OTHER: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const SYSTEM: &str = "linux-x86_64";

fn data(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from("tests/data/update").join(name)).unwrap()
}

fn signature(name: &str) -> String {
    String::from_utf8(data(name)).unwrap()
}

#[test]
fn only_signed_newer_releases_for_this_system_are_accepted() {
    let (text, sign) = (data("newer.release"), signature("newer.release.minisig"));
    let release = verify_release(&text, &sign, KEY, SYSTEM, "0.1.0", "").unwrap().unwrap();
    assert_eq!((release.version.as_str(), release.bytes), ("9.0.0", 17));
    // No downgrade, no repetition, and no version that failed before.
    for running in ["9.0.0", "9.0.1", "10.0.0"] {
        assert_eq!(verify_release(&text, &sign, KEY, SYSTEM, running, "").unwrap(), None, "{running}");
    }
    assert_eq!(verify_release(&text, &sign, KEY, SYSTEM, "0.1.0", "8.0.0\n9.0.0\n").unwrap(), None);

    let error = |text: &[u8], sign: &str, key, system| {
        format!("{:#}", verify_release(text, sign, key, system, "0.1.0", "").unwrap_err())
    };
    assert_eq!(error(&text, &sign, KEY, "macos-aarch64"), "the release is for linux-x86_64, not macos-aarch64");
    let mut changed = text.clone();
    changed[13] = b'8';
    assert!(error(&changed, &sign, KEY, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, &signature("broken.release.minisig"), KEY, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, &sign, OTHER, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, "nonsense", KEY, SYSTEM).starts_with("the release's signature: "));
}

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    program: PathBuf,
    new: PathBuf,
}

fn place(new: &str) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    let place =
        Place { program: root.join("chuhe-worker"), new: root.join(".chuhe-worker.new"), root, _folder: folder };
    fs::write(&place.program, "the old one").unwrap();
    fs::write(&place.new, data(new)).unwrap();
    place
}

#[test]
fn a_successor_that_fails_its_test_never_gets_the_name() {
    let Place { root, program, new, .. } = &place("broken.program");
    let error = format!("{:#}", install(root, program, new, "0.1.0", "9.0.1", Duration::from_mins(5)).unwrap_err());
    assert!(error.starts_with("version 9.0.1 failed its self-test here and is not taken: "), "{error}");
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert!(!new.exists() && !is_on_trial(root, "9.0.1"));
    let refused = fs::read_to_string(root.join("update-refused")).unwrap();
    let (text, sign) = (data("broken.release"), signature("broken.release.minisig"));
    assert_eq!(verify_release(&text, &sign, KEY, SYSTEM, "0.1.0", &refused).unwrap(), None);
}

/// The machine may have been busy.
#[test]
fn a_slow_successor_is_tried_again() {
    let Place { root, program, new, .. } = &place("newer.program");
    let error = install(root, program, new, "0.1.0", "9.0.0", Duration::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "the self-test of version 9.0.0 did not end in time; it is tried again later");
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert!(!new.exists() && !is_on_trial(root, "9.0.0") && !root.join("update-refused").exists());
    fs::write(new, data("newer.program")).unwrap();
    install(root, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap();
    assert!(is_on_trial(root, "9.0.0"));
}

#[test]
fn a_confirmed_successor_stays() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap();
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
    assert_eq!(count_start(root, program, "9.0.0").unwrap(), Start::Proceed);
    assert!(is_on_trial(root, "9.0.0") && !is_on_trial(root, "0.1.0"));
    confirm(root, "0.1.0");
    assert!(is_on_trial(root, "9.0.0"), "what the old one shows is nothing of the new one");
    confirm(root, "9.0.0");
    assert!(!is_on_trial(root, "9.0.0"));
    for _ in 0..3 {
        assert_eq!(count_start(root, program, "9.0.0").unwrap(), Start::Proceed);
    }
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
}

#[test]
fn a_successor_that_crashes_early_is_rolled_back() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap();
    // It crashes before it is confirmed.
    for _ in 0..3 {
        assert_eq!(count_start(root, program, "9.0.0").unwrap(), Start::Proceed);
    }
    assert_eq!(count_start(root, program, "9.0.0").unwrap(), Start::RolledBack);
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert_eq!(count_start(root, program, "0.1.0").unwrap(), Start::Proceed);
    assert_eq!(fs::read_to_string(root.join("update-refused")).unwrap(), "9.0.0\n");
}

/// The owner may stop a version on trial any number of times.
#[test]
fn a_start_that_ends_in_order_does_not_count_as_failed() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap();
    for _ in 0..8 {
        assert_eq!(count_start(root, program, "9.0.0").unwrap(), Start::Proceed);
        reset_starts(root, "9.0.0");
    }
    assert!(is_on_trial(root, "9.0.0"));
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
}

#[test]
fn a_release_may_say_more_than_this_version_knows() {
    let text = String::from_utf8(data("newer.release")).unwrap().replace('{', "{\"least\": \"0.1.0\", ");
    let release: Release = serde_json::from_str(&text).unwrap();
    assert_eq!(release.version, "9.0.0");
}

/// Serves a release.
fn releases() -> Listener {
    Listener::start(|mut stream| {
        let Ok((request, _)) = Request::read(&mut stream) else { return };
        let name = format!("/chuhe-worker-{SYSTEM}");
        let file = match request.path.strip_prefix(&name) {
            Some(".release") => "newer.release",
            Some(".release.minisig") => "newer.release.minisig",
            Some("-9.0.0") => "newer.program",
            _ => return,
        };
        let _ = stream.write_all(&Response::new(200, "application/octet-stream", data(file)).to_bytes());
    })
    .unwrap()
}

/// A worker that plays and has begun to check for releases.
struct Checking {
    _state: tempfile::TempDir,
    coordinator: Coordinator,
    _server: Listener,
    program: PathBuf,
    worker: Worker,
}

impl Checking {
    /// Starts it; `prepare` changes its folder, where its program is too.
    fn start(prepare: impl FnOnce(&Path)) -> Self {
        let coordinator = Coordinator::new(header(100_000), 400, 100);
        let state = tempfile::tempdir().unwrap();
        let program = state.path().join("chuhe-worker");
        fs::write(&program, "the old one").unwrap();
        prepare(state.path());
        let server = releases();
        let updates = Some(Source { key: KEY.to_owned(), url: server.url() });
        let clock = Arc::new(JumpingClock::default());
        let worker = Worker::start_from(&coordinator.url(), state.path(), clock.clone(), updates, |_| {});
        worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing);
        clock.jump(Duration::from_mins(11));
        Self { _state: state, coordinator, _server: server, program, worker }
    }
}

/// An update that is found during play; the owner's commands have priority.
#[test]
fn a_newer_version_takes_over_unless_the_owner_stops_the_worker() {
    if worker::update::system() != SYSTEM {
        return;
    }
    for (command, end, said) in [
        (None, End::Updated, ""),
        (Some(ControlCommand::Finish), End::Stopped, "Finishing the games at hand; once more ends at once."),
        (Some(ControlCommand::Stop), End::Stopped, ""),
    ] {
        let checking = Checking::start(|_| {});
        let worker = checking.worker;
        worker.said.wait_for_line("Version 9.0.0 is here; it starts when the games at hand are finished.");
        assert_eq!(fs::read(&checking.program).unwrap(), data("newer.program"));
        let heard = worker.said.clone();
        if let Some(command) = command {
            worker.control.add(command);
        }
        assert_eq!(worker.end(), end, "{command:?}");
        assert!(heard.lines().contains(said), "{}", heard.lines());
        // The first stop request lets the games at hand finish.
        let played = heard.games();
        assert_eq!(checking.coordinator.state().accepted.len() as u64, played);
        assert!(played > 0 || command == Some(ControlCommand::Stop));
    }
}

/// A worker that may not write beside its program, as one of a package, says which version is out.
#[test]
fn a_worker_that_cannot_be_replaced_names_the_newer_version() {
    if worker::update::system() != SYSTEM {
        return;
    }
    // Unlike rights, it stops a superuser too.
    let block = |folder: &Path| fs::create_dir(folder.join("..chuhe-worker.new.part")).unwrap();
    let checking = Checking::start(block);
    let worker = checking.worker;
    worker.said.wait_for_line("No update: version 9.0.0 is out and cannot be put beside this one: ");
    worker.control.add(ControlCommand::Finish);
    assert_eq!(worker.end(), End::Stopped);
    assert_eq!(fs::read(&checking.program).unwrap(), b"the old one");
    assert!(!checking.program.with_file_name(".chuhe-worker.new").exists());
}

/// A worker that is stopped while it checks for releases is not restarted.
#[test]
fn a_release_found_during_the_shutdown_changes_nothing() {
    if worker::update::system() != SYSTEM {
        return;
    }
    let checking = Checking::start(|_| {});
    checking.worker.control.add(ControlCommand::Finish);
    assert_eq!(checking.worker.end(), End::Stopped);
}

/// The real program as the new version, on trial, and a script as the old one, which records its
/// start.
struct Trial {
    _folder: tempfile::TempDir,
    state: PathBuf,
    program: PathBuf,
}

fn on_trial(starts: u32) -> Trial {
    let folder = tempfile::tempdir().unwrap();
    let (state, program) = (folder.path().join("state"), folder.path().join("chuhe-worker"));
    fs::create_dir(&state).unwrap();
    fs::copy(PROGRAM, &program).unwrap();
    let old = folder.path().join("chuhe-worker.old");
    fs::write(&old, "#!/bin/sh\necho \"$@\" > \"$CHUHE_STATE/old\"\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let trial = format!("{{\"from\":\"0.0.9\",\"to\":\"{}\",\"starts\":{starts}}}", env!("CARGO_PKG_VERSION"));
    fs::write(state.join("update-trial.json"), trial).unwrap();
    Trial { _folder: folder, state, program }
}

impl Trial {
    /// Returns the arguments of the old version's start, if any; then the new one has been rolled
    /// back.
    fn old(&self) -> Option<String> {
        let words = fs::read_to_string(self.state.join("old")).ok()?;
        let refused = fs::read_to_string(self.state.join("update-refused")).unwrap();
        assert_eq!(refused, concat!(env!("CARGO_PKG_VERSION"), "\n"));
        assert!(!self.state.join("update-trial.json").exists());
        assert!(fs::read_to_string(&self.program).is_ok_and(|text| text.starts_with("#!/bin/sh")));
        Some(words)
    }

    fn is_running(&self) -> bool {
        self.state.join("update-trial.json").exists()
    }
}

/// A settings file that only the old version can read is a failure of the new one.
#[test]
fn a_successor_that_cannot_read_the_settings_is_rolled_back() {
    let trial = on_trial(0);
    let config = trial.state.join("worker.toml");
    fs::write(&config, "colour = \"red\"\n").unwrap();
    let mut command = Command::new(&trial.program);
    command.args(["run", "--name", "some name"]).env("CHUHE_CONFIG", config).env("CHUHE_STATE", &trial.state);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("This version fails here, and the old one takes over: ") && said.contains("colour"),
        "{said}"
    );
    assert_eq!(trial.old().as_deref(), Some("run --name some name\n"));
}

#[test]
fn a_successor_that_crashes_repeatedly_is_rolled_back() {
    // There are no games: no result is ever acknowledged.
    let coordinator = Coordinator::new(header(200), 0, 1);
    let trial = on_trial(0);
    for _ in 0..3 {
        let asked = coordinator.state().asked;
        let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
        wait_until(&trial.state, || coordinator.state().asked > asked);
        worker.signal("KILL");
        drop(worker);
        assert!(trial.old().is_none() && trial.is_running());
    }
    let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(&trial.state));
    assert!(trial.old().is_some());
}

#[test]
fn a_successor_is_confirmed_by_the_first_acknowledged_result() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    let trial = on_trial(2);
    let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
    coordinator.wait_for(8);
    wait_until(&trial.state, || !trial.is_running());
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(&trial.state));
    assert!(trial.old().is_none());
}

/// Neither the results of an earlier version nor games alone prove a version.
#[test]
fn a_successor_is_not_confirmed_by_results_of_the_old_version() {
    let coordinator = Coordinator::new(header(200), 4, 4);
    let earlier = tempfile::tempdir().unwrap();
    coordinator.state().refuse = Some(reject_uploads);
    let worker = Worker::start(&coordinator.url(), earlier.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games == 4);
    worker.stop();
    let trial = on_trial(0);
    fs::create_dir(trial.state.join("spool")).unwrap();
    for (path, _) in leases(earlier.path()) {
        fs::copy(&path, trial.state.join("spool").join(path.file_name().unwrap())).unwrap();
    }
    coordinator.state().games = 8;
    // Only the result of the old version is accepted.
    coordinator.state().refuse =
        Some(|request| if request.path.contains("/lease-0/") { None } else { reject_uploads(request) });
    let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
    let shown = |snapshot: Snapshot| snapshot.games == 4 && snapshot.games_accepted == 4;
    wait_until(&trial.state, || Snapshot::read(&trial.state).is_some_and(shown));
    // A confirmation would be on its way.
    std::thread::sleep(Duration::from_millis(500));
    assert!(trial.is_running());
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(&trial.state));
}

/// A missing token is its owner's to mend, and an error of the disk may pass: the version on trial
/// stays.
#[cfg(target_os = "linux")]
#[test]
fn a_successor_without_a_token_or_a_readable_file_is_not_rolled_back() {
    let trial = on_trial(0);
    // Each read of the second file is an error of input or output.
    for (config, status, reason) in
        [("none.toml", 2, "no token is given"), ("/proc/self/mem", 1, "/proc/self/mem: it cannot be read or written")]
    {
        for _ in 0..5 {
            let mut command = Command::new(&trial.program);
            command.args(["run", "--server", "localhost"]).env("CHUHE_CONFIG", trial.state.join(config));
            let output = command.env("CHUHE_STATE", &trial.state).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(status) && said.contains(reason), "{said}");
            assert!(trial.old().is_none() && trial.is_running());
        }
    }
}

fn wait_until(state: &Path, done: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not happen:\n{}", log_of(state));
}

#[test]
fn a_rollback_without_an_old_program_changes_nothing() {
    let Place { root, program, .. } = &place("newer.program");
    for _ in 0..2 {
        let error = format!("{:#}", roll_back(root, program, "9.0.0").unwrap_err());
        assert!(error.contains("the old version, ") && error.contains("chuhe-worker.old: "), "{error}");
    }
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert_eq!(fs::read_to_string(root.join("update-refused")).unwrap(), "9.0.0\n");
}

/// Memory or disk may be short.
#[test]
fn a_successor_that_cannot_be_started_is_tried_again() {
    let Place { root, program, new, .. } = &place("newer.program");
    fs::write(new, "#!/nowhere/interpreter\n").unwrap();
    let error = format!("{:#}", install(root, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap_err());
    assert!(error.starts_with("the self-test of version 9.0.0 did not start; it is tried again later: "), "{error}");
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert!(!new.exists() && !root.join("update-refused").exists());
}

/// Two workers with states of their own may run one program.
#[test]
fn the_old_program_stays_when_two_workers_install_the_same_version() {
    let Place { root, program, new, .. } = &place("newer.program");
    let other = tempfile::tempdir().unwrap();
    for state in [root.as_path(), other.path()] {
        fs::write(new, data("newer.program")).unwrap();
        install(state, program, new, "0.1.0", "9.0.0", Duration::from_mins(5)).unwrap();
        assert!(is_on_trial(state, "9.0.0") && !new.exists());
    }
    roll_back(root, program, "9.0.0").unwrap();
    assert_eq!(fs::read(program).unwrap(), b"the old one");
}

/// Installer and updater agree on the layout: an update replaces the installed file.
#[test]
fn an_update_replaces_the_installed_program() {
    if worker::update::system() != SYSTEM {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (releases, bin) = (folder.path().join("releases"), folder.path().join("bin"));
    fs::create_dir(&releases).unwrap();
    fs::write(releases.join(format!("chuhe-worker-{SYSTEM}.release")), data("newer.release")).unwrap();
    let program = releases.join(format!("chuhe-worker-{SYSTEM}-9.0.0"));
    let run = || {
        let mut script = Command::new("sh");
        script.arg("../scripts/install.sh").arg(&bin);
        script.env("CHUHE_RELEASES", format!("file://{}", releases.display())).output().unwrap()
    };
    fs::write(&program, "another program").unwrap();
    let refused = run();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(!bin.exists());
    fs::write(&program, data("newer.program")).unwrap();
    let done = run();
    assert!(done.status.success(), "{done:?}");
    let installed = bin.join("chuhe-worker");
    assert_eq!(fs::read(&installed).unwrap(), data("newer.program"));

    let new = bin.join(".chuhe-worker.new");
    fs::write(&new, "#!/bin/sh\nexit 0 # the next\n").unwrap();
    install(folder.path(), &installed, &new, "9.0.0", "9.0.2", Duration::from_mins(5)).unwrap();
    assert_eq!(fs::read_to_string(&installed).unwrap(), "#!/bin/sh\nexit 0 # the next\n");
    let names = fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["chuhe-worker", "chuhe-worker.old"]);
}
