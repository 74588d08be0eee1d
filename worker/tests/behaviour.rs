//! Behaviour of a worker that may not or cannot play.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use common::{clock, coordinator::Coordinator, digest_of, header, in_process::Worker, wait_until};
use dataset::{EvaluationFilter, Header, OpeningPolicy};
use engine::Evaluation;
use protocol::api::{
    problem::{Code, Problem},
    work::Notice,
};
use testkit::{FastClock, JumpingClock};
use worker::{
    control::{ControlCommand, set_paused},
    spool::Disk,
    state::Folder,
    status::{Doing, JobSnapshot, Snapshot},
};

#[test]
fn a_paused_worker_resumes_where_it_was() {
    let coordinator = Coordinator::new(header(10_000), 24, 24);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    worker.control.add(ControlCommand::Pause);
    let paused = worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    assert_eq!(paused.reason.as_deref(), Some("Paused; `chuhe-worker status --resume` resumes."));
    // A game that ended just before may not be counted yet.
    let mut counted = paused.games;
    let stands_still = (0..20).any(|_| {
        thread::sleep(Duration::from_secs(1));
        let before = std::mem::replace(&mut counted, worker.said.games());
        counted == before
    });
    assert!(stands_still && counted < 24, "{counted} games were played while it was paused");
    assert!(!worker.said.lines().contains("Playing again"));
    // Like `status --resume`.
    set_paused(state.path(), false).unwrap();
    coordinator.wait_for(24);
    worker.finish();
    coordinator.check(digest_of(&header(10_000), Evaluation::Plain, None, 24));
}

#[test]
fn outside_its_hours_a_worker_rests_and_says_so() {
    let coordinator = Coordinator::new(header(300), 16, 16);
    let state = tempfile::tempdir().unwrap();
    let now = client::Clock::since_1970(&client::SystemClock::default()).as_secs();
    // All hours except this one, wherever this machine is.
    let hour = |ahead: u64| jiff_hour(now + ahead * 3600);
    let hours = format!("{}-{}", hour(2), hour(23));
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock(), |settings| {
        settings.hours = hours.parse().unwrap();
    });
    let resting = worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    assert!(resting.reason.unwrap().contains("not among the hours"));
    worker.finish();
    let state = coordinator.state();
    assert_eq!((state.asked, state.accepted.len()), (0, 0));
}

fn jiff_hour(seconds: u64) -> i8 {
    let moment = jiff::Timestamp::from_second(seconds.cast_signed()).unwrap();
    moment.to_zoned(jiff::tz::TimeZone::system()).hour()
}

#[test]
fn a_refused_result_is_kept_and_shown_and_not_sent_again() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    coordinator.state().refuse = Some(|request| {
        request
            .path
            .ends_with("games/0")
            .then(|| Problem::new(Code::FalseLabel, "game 3: recorded draw by repetition; it is red_wins by checkmate"))
    });
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    // The file appears before it is counted.
    let snapshot = worker.said.wait_for(|snapshot| snapshot.refused == 1 && snapshot.games_refused > 0);
    coordinator.wait_for(4);
    let said = worker.finish();
    assert!(said.contains("4 games were refused") && said.contains("it is red_wins by checkmate."), "{said}");
    assert_eq!(snapshot.games_refused, 4);
    let names: Vec<_> =
        fs::read_dir(state.path().join("refused")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let shard = names.iter().find(|path| path.extension().unwrap() == "chuhe").unwrap();
    assert_eq!(dataset::shard::open(shard).unwrap().games(), 4);
    assert_eq!(names.len(), 2);
}

/// A coordinator accepts by a precheck, validates the games later, and then sends a notice.
#[test]
fn games_that_are_rejected_later_are_shown_counted_and_recorded() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(4);
    // The receipt precedes any later notice.
    worker.said.wait_for(|snapshot| snapshot.games_accepted >= 4);
    let shard = coordinator.state().accepted.first_key_value().unwrap().1.2;
    let text = "game 3: recorded draw by repetition; it is red_wins by checkmate";
    coordinator.state().notices.push(Notice {
        kind: "rejected".to_owned(),
        shard: Some(shard),
        code: Some("false_label".to_owned()),
        text: text.to_owned(),
    });
    coordinator.state().notices.push(Notice {
        kind: "message".to_owned(),
        shard: None,
        code: None,
        text: "thank you".to_owned(),
    });
    let snapshot = worker.said.wait_for(|snapshot| snapshot.refused == 1 && snapshot.games == 12);
    assert_eq!(snapshot.games_refused, 4);
    wait_until(|| coordinator.state().notices.is_empty());
    let snapshot = worker.said.wait_for(|snapshot| snapshot.outbox == 0 && snapshot.games_accepted == 8);
    assert_eq!(snapshot.refused, 1);
    let said = worker.finish();
    let line = format!("4 games that were submitted are rejected: false_label, {text} (shard {shard}).");
    assert_eq!(said.matches(&line).count(), 1, "{said}");
    assert!(said.contains("The server says: thank you."), "{said}");
    let noted = fs::read_to_string(state.path().join(format!("refused/{shard}.txt"))).unwrap();
    assert_eq!(noted, format!("false_label, {text} (shard {shard})\n"));
}

/// A field that this worker does not know is never acted on.
#[test]
fn a_lease_with_a_command_in_it_is_refused_and_another_is_asked_for() {
    let coordinator = Coordinator::new(header(200), 12, 4);
    coordinator.state().is_unreadable = true;
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(2000)));
    let waiting = worker.said.wait_for(|snapshot| snapshot.reason.as_ref().is_some_and(|why| why.contains("command")));
    let reason = waiting.reason.unwrap();
    assert!(reason.contains("unknown field `command`"), "{reason}");
    assert!(reason.contains(". This worker may be too old. Get the newest chuhe-worker and start it; "), "{reason}");
    assert_eq!((waiting.doing, waiting.games), (Doing::Waiting, 0));
    let first = coordinator.state().last.clone().unwrap().nonce;
    coordinator.state().is_unreadable = false;
    // The unreadable lease expires; the worker plays the others.
    coordinator.wait_for(8);
    worker.finish();
    let state = coordinator.state();
    assert_ne!(state.last.as_ref().unwrap().nonce, first);
    assert!(state.faults.is_empty() && !state.accepted.contains_key(&0), "{:?}", state.faults);
}

/// Failures of all threads are reported to the server.
#[test]
fn games_that_cannot_be_played_are_reported() {
    // Black lacks both chariots: no random move makes that an even position.
    let uneven = xiangqi::Fen::start().to_string().replacen("rnbakabnr", "1nbakabn1", 1);
    let bytes = format!("{uneven}\n").into_bytes();
    let book = dataset::Book::from_bytes(&bytes, header(1).rules).unwrap();
    let mut terms = header(50);
    terms.openings =
        OpeningPolicy { book: Some(book.hash()), plies: 1, filter: Some(EvaluationFilter { nodes: 20, bound: 0 }) };
    let coordinator = Coordinator::new(terms, 2, 1);
    coordinator.state().files.insert(book.hash().to_string(), bytes);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    wait_until(|| !coordinator.state().failures.is_empty());
    worker.said.wait_for_line("could not be played: no opening of");
    worker.control.add(ControlCommand::Stop);
    drop(worker);
    let state = coordinator.state();
    assert!(
        state.failures.iter().any(|reported| reported.contains("could not be played: no opening of")),
        "{:?}",
        state.failures
    );
}

#[test]
fn a_blocked_or_outdated_worker_keeps_everything_and_names_the_remedy() {
    for (code, detail, said) in [
        (Code::Blocked, "your machine makes mistakes: write to us", "The server has blocked this worker: "),
        (Code::TooOld, OLD, ". Get the newest chuhe-worker"),
    ] {
        let coordinator = Coordinator::new(header(200), 8, 4);
        let state = tempfile::tempdir().unwrap();
        let clock = Arc::new(FastClock::new(2000));
        coordinator.state().refuse = Some(if code == Code::Blocked { blocked } else { too_old });
        let worker = Worker::start(&coordinator.url(), state.path(), clock);
        let waiting = worker.said.wait_for(|snapshot| {
            snapshot.doing == Doing::Waiting && snapshot.reason.as_ref().is_some_and(|reason| reason.contains(said))
        });
        let reason = waiting.reason.unwrap();
        assert!(reason.contains(detail) && reason.ends_with('.'), "{reason}");
        assert!(reason.starts_with(char::is_uppercase), "{reason}");
        // The operator has acted.
        coordinator.state().refuse = None;
        coordinator.wait_for(8);
        worker.finish();
        coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
    }
}

const OLD: &str = "version 0.0.9 or newer is needed, this is 0.0.8: update the worker, then start it again";

#[allow(clippy::unnecessary_wraps, reason = "it is one of several answers")]
fn blocked(_: &testkit::http::Request) -> Option<Problem> {
    Some(Problem::new(Code::Blocked, "your machine makes mistakes: write to us"))
}

fn too_old(request: &testkit::http::Request) -> Option<Problem> {
    request.path.ends_with("leases").then(|| Problem::new(Code::TooOld, OLD))
}

#[test]
fn unplayable_leases_are_released() {
    let too_large =
        Header { settings: dataset::GameSettings { hash_mebibytes: 1024, ..header(1).settings }, ..header(1) };
    let other_engine = Header { bench_signature: 1, ..header(1) };
    for (terms, why) in [
        (too_large, "it needs 1048 MiB a thread and 32 MiB beside, and 512 MiB are allowed"),
        (other_engine, "the bench signature 1"),
    ] {
        let coordinator = Coordinator::new(terms, 8, 4);
        let state = tempfile::tempdir().unwrap();
        // While its clock stands still, the worker waits after the first lease.
        let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(JumpingClock::still()));
        wait_until(|| coordinator.state().given_back >= 4);
        let said = worker.finish();
        assert!(said.contains(why), "{said}");
        let state = coordinator.state();
        assert!(state.accepted.is_empty() && state.asked == 1, "{}", state.asked);
        assert!(state.failures[0].contains(why), "{:?}", state.failures);
    }
}

/// A disk that takes no byte while it is full.
struct FullDisk {
    /// Bytes that it takes.
    left: AtomicI64,
}

impl Disk for FullDisk {
    fn write(&self, file: &mut fs::File, bytes: &[u8]) -> io::Result<()> {
        let needed = bytes.len() as i64;
        let room = self.left.fetch_update(Relaxed, Relaxed, |left| (left >= needed).then(|| left - needed));
        if room.is_err() { Err(io::ErrorKind::StorageFull.into()) } else { file.write_all(bytes) }
    }
}

#[test]
fn a_disk_that_takes_nothing_loses_nothing() {
    let coordinator = Coordinator::new(header(150), 600, 50);
    let state = tempfile::tempdir().unwrap();
    // Room for some leases of fifty games. It is set before the start, however fast the games are.
    let disk = Arc::new(FullDisk { left: AtomicI64::new(15_000) });
    let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(20)), disk.clone());
    coordinator.wait_for(4);
    let full = worker
        .said
        .wait_for(|snapshot| snapshot.reason.as_ref().is_some_and(|reason| reason.contains(" cannot be written: ")));
    let asked = coordinator.state().asked;
    assert!(full.games >= 4 && full.games < 600);
    thread::sleep(Duration::from_millis(500));
    assert!(coordinator.state().asked <= asked + 1, "more games were asked for");
    disk.left.store(i64::MAX, Relaxed);
    coordinator.wait_for(600);
    worker.finish();
    coordinator.check(digest_of(&header(150), Evaluation::Plain, None, 600));
}

#[test]
fn one_folder_has_one_worker_with_a_readable_status() {
    let coordinator = Coordinator::new(header(300), 400, 20);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    let error = Folder::lock(state.path()).unwrap_err().to_string();
    assert!(error.ends_with("another worker runs with this folder; `--state DIR` gives this one another"), "{error}");
    assert!(Folder::is_locked(state.path()).unwrap());
    worker.said.wait_for(|snapshot| snapshot.games_accepted > 0 && snapshot.contribution.is_some());
    let is_complete = |snapshot: &Snapshot| snapshot.games_accepted > 0 && snapshot.contribution.is_some();
    wait_until(|| Snapshot::read(state.path()).is_some_and(|snapshot| is_complete(&snapshot)));
    let snapshot = Snapshot::read(state.path()).unwrap();
    let contribution = snapshot.contribution.unwrap();
    assert_eq!((contribution.account.as_str(), contribution.rank), ("ann", Some(3)));
    assert_eq!(contribution.page, format!("{}/people/ann", coordinator.url()));
    worker.finish();
    wait_until(|| Snapshot::read(state.path()).is_none());
}

/// The next lease arrives while games of the last one are not begun: no thread waits between them.
#[test]
fn the_next_lease_arrives_before_the_last_games_begin() {
    let coordinator = Coordinator::new(header(4000), 1200, 12);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| {
        let has_open_games = |job: &JobSnapshot| job.finished + job.at_hand < job.games;
        snapshot.jobs.len() > 1 && snapshot.jobs.first().is_some_and(has_open_games)
    });
    worker.finish();
    assert_eq!(coordinator.state().faults, [""; 0]);
}

#[test]
fn threads_without_memory_rest_and_are_not_claimed() {
    // Games until the status was seen, however fast they are.
    let coordinator = Coordinator::new(header(300), u64::MAX, 10);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock(), |settings| {
        settings.memory_mebibytes = 80;
    });
    let why =
        "1 of 2 threads rest: these games need 25 MiB a thread and 32 MiB beside, and 80 MiB are allowed (`--memory`).";
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing && snapshot.reason.as_deref() == Some(why));
    let games = coordinator.end_after_leased();
    coordinator.wait_for(games);
    let shown = worker.said.wait_for(|snapshot| snapshot.games == games).nodes_per_second.unwrap();
    // The speed of one thread. It is not changed after the last game, and a request follows.
    wait_until(|| {
        let ask = coordinator.state().last.clone().unwrap();
        assert_eq!(ask.threads, 1);
        ask.nodes_per_second.is_some_and(|claimed| (claimed as f64 - shown).abs() <= 1.0)
    });
    worker.finish();
    let one = Header { first_game: 0, ..header(300) };
    coordinator.check(digest_of(&one, Evaluation::Plain, None, games));
}

#[test]
fn a_book_that_the_disk_has_damaged_is_fetched_again() {
    let start = xiangqi::Fen::start().to_string();
    let other = start.replacen(" w ", " b ", 1);
    let bytes = format!("{start}\n{other}\n").into_bytes();
    let book = dataset::Book::from_bytes(&bytes, header(1).rules).unwrap();
    let hash = book.hash();
    let mut terms = header(100);
    terms.openings.book = Some(hash);
    let coordinator = Coordinator::new(terms.clone(), 8, 4);
    coordinator.state().files.insert(hash.to_string(), bytes.clone());
    coordinator.state().book = Some(book);
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("books").join(hash.to_string());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    // Another valid book.
    fs::write(&file, format!("{start}\n")).unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(8);
    worker.finish();
    assert_eq!(fs::read(file).unwrap(), bytes);
    let state = coordinator.state();
    assert_eq!((&state.faults, state.given_back), (&Vec::new(), 0));
}
