//! Workers as processes, against a small coordinator that keeps the submissions.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use common::{
    coordinator::Coordinator,
    digest_of, header,
    in_process::Worker,
    process::{PROGRAM, Process, log_of},
    state_folder::count,
    wait_until,
};
use dataset::{Digest, Header, Opponent};
use engine::Evaluation;
use nnue::{Kernel, Net, Parameters, architecture::Sizes};
use protocol::api::problem::{Code, Problem};
use testkit::{
    JumpingClock,
    http::Request,
    proxy::{self, Fault},
};
use worker::{
    control::ControlCommand,
    spool::State,
    state::Folder,
    status::{Doing, Snapshot},
};

fn files(state: &std::path::Path, folder: &str) -> usize {
    fs::read_dir(state.join(folder)).map_or(0, Iterator::count)
}

#[test]
fn every_game_is_submitted_once_and_equals_the_reference() {
    let coordinator = Coordinator::new(header(300), 40, 8);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &["--leases", "5"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 40));
    assert_eq!(files(state.path(), "spool"), 0);
    assert_eq!(coordinator.state().given_back, 0);
}

#[test]
fn matches_are_played_with_nets_that_are_fetched() {
    let sizes = Sizes::new(128, 16, 32, 8).unwrap();
    let bytes = Parameters::from_piece_values(sizes, 3).to_bytes();
    let hash = Digest::of(&bytes);
    let net = Net::from_bytes(&bytes).unwrap();
    let terms = Header {
        net: Some(hash),
        opponent: Some(Opponent { net: None, soft_nodes: None, hard_nodes: 150 }),
        ..header(200)
    };
    let coordinator = Coordinator::new(terms.clone(), 12, 4);
    coordinator.state().files.insert(hash.to_string(), bytes);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &["--leases", "3"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    let net = Evaluation::Net(Arc::new(net), Kernel::from_env().unwrap());
    coordinator.check(digest_of(&terms, net, Some(Evaluation::Plain), 12));
    assert_eq!(files(state.path(), "nets"), 1);
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_finishes_and_the_second_stops() {
    let coordinator = Coordinator::new(header(2000), 40_000, 20);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked >= 2);
    thread::sleep(Duration::from_millis(700));
    worker.signal("INT");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    let finished = coordinator.state().accepted.len() as u64;
    assert!(finished > 0 && finished < 40_000, "{finished}");
    assert!(log_of(state.path()).contains("Finishing the games at hand"), "{}", log_of(state.path()));
    nothing_is_kept(&coordinator, state.path());
    let back = coordinator.state().given_back;
    assert!(back > 0);

    // The next worker plays the rest; SIGTERM stops at once and releases too.
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    let asked = coordinator.state().asked;
    wait_until(|| coordinator.state().asked >= asked + 2);
    thread::sleep(Duration::from_millis(500));
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    nothing_is_kept(&coordinator, state.path());
    assert!(coordinator.state().given_back > back);
}

/// A second interrupt drops games that take minutes.
#[cfg(unix)]
#[test]
fn the_second_interrupt_leaves_the_games_at_hand() {
    let coordinator = Coordinator::new(header(50_000_000), 40, 20);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked >= 1 && files(state.path(), "spool") > 0);
    thread::sleep(Duration::from_millis(300));
    worker.signal("INT");
    wait_until(|| log_of(state.path()).contains("Finishing the games at hand; once more ends at once."));
    worker.signal("INT");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    assert!(coordinator.state().accepted.is_empty());
    nothing_is_kept(&coordinator, state.path());
    assert!(coordinator.state().given_back >= 20, "{}", coordinator.state().given_back);
}

fn reject_requests(request: &Request) -> Option<Problem> {
    request.path.ends_with("/leases").then(|| Problem::new(Code::Internal, "the coordinator failed"))
}

/// All leased games were submitted or released, and nothing is left on disk. A stopped worker waits
/// for the server for some seconds only: the next one may have to submit the rest.
#[cfg(unix)]
fn nothing_is_kept(coordinator: &Coordinator, state: &std::path::Path) {
    if files(state, "spool") > 0 {
        assert_eq!(count(state, State::Open), 0, "{}", log_of(state));
        coordinator.state().refuse = Some(reject_requests);
        let worker = Process::start(&coordinator.url(), state, &[]);
        wait_until(|| files(state, "spool") == 0);
        worker.signal("TERM");
        assert_eq!(worker.end(), Some(0), "{}", log_of(state));
        coordinator.state().refuse = None;
    }
    assert_eq!(files(state, "spool"), 0, "{}", log_of(state));
    assert_eq!(coordinator.outstanding(), 0, "{}", log_of(state));
    assert_eq!(coordinator.state().faults, [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_worker_that_is_killed_plays_nothing_twice() {
    let kills = std::env::var("CHUHE_KILLS").map_or(4, |kills| kills.parse().unwrap());
    let games = 60 * (kills + 1);
    let coordinator = Coordinator::new(header(400), games, 17);
    let state = tempfile::tempdir().unwrap();
    let mut rng = client::JitterRng::new(11);
    for _ in 0..kills {
        let worker = Process::start(&coordinator.url(), state.path(), &[]);
        thread::sleep(rng.duration_between(Duration::from_millis(100), Duration::from_millis(1500)));
        worker.signal("KILL");
        drop(worker);
    }
    // The status counts the games that were played since the start.
    let missing = games - coordinator.known(state.path()).len() as u64;
    // All games may be accepted by now. A worker that has sent a request handles its signals.
    let asked = coordinator.state().asked;
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked > asked);
    coordinator.wait_for(games);
    let played = || Snapshot::read(state.path()).map_or(0, |snapshot| snapshot.games);
    wait_until(|| played() >= missing);
    // The status is written every two seconds: games played twice would show.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(played(), missing, "of {games} games");
    worker.signal("INT");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&header(400), Evaluation::Plain, None, games));
    assert_eq!(coordinator.state().given_back, 0);
}

/// One thread, with a table of the usual size, in half a gibibyte of address space.
#[cfg(target_os = "linux")]
#[test]
fn half_a_gibibyte_is_enough_for_one_thread() {
    let mut terms = header(400);
    terms.settings.hash_mebibytes = 16;
    let coordinator = Coordinator::new(terms.clone(), 12, 12);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start_within(512, &coordinator.url(), state.path(), &["--cores", "1"]);
    coordinator.wait_for(12);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&terms, Evaluation::Plain, None, 12));
}

/// A pause frees the processor: the process's CPU time stands still.
#[cfg(target_os = "linux")]
#[test]
fn a_pause_frees_the_processor() {
    let coordinator = Coordinator::new(header(5000), 2000, 100);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    let ticks = || {
        let text = fs::read_to_string(format!("/proc/{}/stat", worker.0.id())).unwrap();
        let fields: Vec<_> = text.rsplit(')').next().unwrap().split_whitespace().map(str::to_owned).collect();
        assert_eq!(fields[16], "19", "the priority is the lowest");
        fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    wait_until(|| coordinator.state().asked >= 1);
    thread::sleep(Duration::from_secs(1));
    worker.signal("USR1");
    wait_until(|| Snapshot::read(state.path()).is_some_and(|snapshot| snapshot.doing == Doing::Resting));
    // A tick is a hundredth of a second. Moves in progress may still end.
    let rests = (0..20).any(|_| {
        let before = ticks();
        thread::sleep(Duration::from_secs(1));
        ticks() - before < 10
    });
    assert!(rests, "it computes during the pause");
    let paused = ticks();
    worker.signal("USR2");
    wait_until(|| ticks() > paused + 20);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
}

#[cfg(unix)]
#[test]
fn server_restarts_lose_nothing() {
    let mut coordinator = Coordinator::new(header(300), 40, 8);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &["--leases", "5"]);
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(300));
        coordinator.kill();
        thread::sleep(Duration::from_millis(700));
        coordinator.start();
    }
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    // It may have ended during an outage: the next worker submits the rest. One that has sent a
    // request handles its signals.
    let asked = coordinator.state().asked;
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    wait_until(|| coordinator.state().asked > asked);
    coordinator.wait_for(40);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 40));
}

#[cfg(unix)]
#[test]
fn a_lease_of_another_server_is_set_aside_for_it() {
    // Long games of two short leases: both are open from the first games to the last ones.
    let one = Coordinator::new(header(20_000), 8, 4);
    let other = Coordinator::new(header(300), 8, 4);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&one.url(), state.path(), &[]);
    wait_until(|| count(state.path(), State::Open) >= 2);
    drop(worker);
    let asked = one.state().asked;

    let worker = Process::start(&other.url(), state.path(), &["--leases", "2"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    other.check(digest_of(&header(300), Evaluation::Plain, None, 8));
    let said = format!("A lease of another server, {}, is set aside", one.url());
    assert!(log_of(state.path()).contains(&said), "{}", log_of(state.path()));
    assert!(count(state.path(), State::Open) >= 2 && count(state.path(), State::Closed) == 0);

    // Back at the first server the lease is resumed.
    let worker = Process::start(&one.url(), state.path(), &[]);
    one.wait_for(8);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    one.check(digest_of(&header(20_000), Evaluation::Plain, None, 8));
    assert!(one.state().given_back == 0 && one.state().asked > asked);
}

/// `nohup` makes a worker outlive its terminal; otherwise SIGHUP acts like SIGTERM.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_stops_the_worker_unless_it_was_ignored_at_the_start() {
    for ignored in [true, false] {
        let coordinator = Coordinator::new(header(2000), 4000, 100);
        let state = tempfile::tempdir().unwrap();
        let mut shell = std::process::Command::new("sh");
        let trap = if ignored { "trap '' HUP; exec \"$0\" \"$@\"" } else { "exec \"$0\" \"$@\"" };
        shell.args(["-c", trap, PROGRAM]);
        let worker = Process::start_by(shell, &coordinator.url(), state.path(), &[]);
        wait_until(|| coordinator.state().asked >= 1);
        worker.signal("HUP");
        if ignored {
            let asked = coordinator.state().asked;
            // It plays on, and requests more.
            wait_until(|| coordinator.state().asked > asked);
            worker.signal("TERM");
        }
        assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
        assert_eq!(coordinator.state().faults, [""; 0]);
    }
}

/// A silent server is waited for, until the second stop request. The clock stands still, so no
/// timeout ends the shutdown before.
#[test]
fn a_worker_that_is_stopped_twice_does_not_wait_for_the_server() {
    let coordinator = Coordinator::new(header(300), 4000, 200);
    let silent = Arc::new(AtomicBool::new(false));
    let is_silent = Arc::clone(&silent);
    let fault = move |_, _: &_| {
        if is_silent.load(Relaxed) { Fault::Delay(Duration::from_mins(1)) } else { Fault::None }
    };
    let proxy = proxy::start(coordinator.socket(), fault).unwrap();
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&proxy.url(), state.path(), Arc::new(JumpingClock::still()));
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    silent.store(true, Relaxed);
    worker.control.add(ControlCommand::Stop);
    // All leases are closed.
    wait_until(|| count(state.path(), State::Open) == 0 && count(state.path(), State::Closed) > 0);
    let said = worker.stop();
    assert!(said.contains("The server is not waited for.") && said.contains(" on disk, and "), "{said}");
}

/// A service manager starts a worker again after a fault that may pass.
#[test]
fn a_fault_that_may_pass_is_no_bad_input() {
    let coordinator = Coordinator::new(header(300), 40, 8);
    let state = tempfile::tempdir().unwrap();
    let lock = Folder::lock(state.path()).unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &[]);
    assert_eq!(worker.end(), Some(1), "{}", log_of(state.path()));
    assert!(log_of(state.path()).contains("another worker runs with this folder"), "{}", log_of(state.path()));
    drop(lock);
    // Here each read of this file is an error of input or output.
    #[cfg(target_os = "linux")]
    {
        let worker = Process::start(&coordinator.url(), state.path(), &["--config", "/proc/self/mem"]);
        assert_eq!(worker.end(), Some(1), "{}", log_of(state.path()));
        assert!(
            log_of(state.path()).contains("/proc/self/mem: it cannot be read or written"),
            "{}",
            log_of(state.path())
        );
    }
}

/// A mistyped address ends the first run. A worker that has played before tries on: the name server
/// may be at fault.
#[test]
fn a_host_that_does_not_exist_ends_only_the_first_contact() {
    // A label of 64 letters is in no name server, and none is asked.
    let host = format!("{}.invalid", "a".repeat(64));
    let url = format!("http://{host}");
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&url, state.path(), &[]);
    assert_eq!(worker.end(), Some(2), "{}", log_of(state.path()));
    let said = format!(
        "chuhe-worker: There is no host `{host}`; is the address right, and is this machine online? `--server ADDRESS` \
         or `chuhe-worker configure` takes another address.\n"
    );
    assert!(log_of(state.path()).ends_with(&said), "{}", log_of(state.path()));

    let coordinator = Coordinator::new(header(300), 8, 8);
    let worker = Process::start(&coordinator.url(), state.path(), &["--leases", "1"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
    // The worker before has removed its own.
    let status = state.path().join("status.json");
    let worker = Process::start(&url, state.path(), &[]);
    wait_until(|| status.exists());
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state.path()));
}

#[test]
fn a_wrong_token_is_its_owners_to_mend() {
    let coordinator = Coordinator::new(header(300), 40, 8);
    let state = tempfile::tempdir().unwrap();
    let worker = Process::start(&coordinator.url(), state.path(), &["--token", "other"]);
    assert_eq!(worker.end(), Some(2));
    let log = log_of(state.path());
    let said = ": the token is not known here. `chuhe-worker configure` takes another token.\n";
    assert!(log.contains("chuhe-worker: Asking whose token it is (") && log.ends_with(said), "{log}");
}
