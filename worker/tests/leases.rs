//! Leases that are not played to their end: no finished game is lost, and none is played twice.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{fs, path::Path, sync::Arc, thread, time::Duration};

use client::JitterRng;
use common::{
    clock,
    coordinator::{Coordinator, HEARTBEAT_SECONDS, reject_uploads},
    digest_of, header,
    in_process::Worker,
    state_folder::{count, leases},
    wait_until,
};
use dataset::{Header, Opponent};
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::{FastClock, JumpingClock, http::Request};
use worker::{
    control::{ControlCommand, set_paused},
    spool::{Contents, State},
    status::Doing,
};

/// Games per lease.
const LEASE: u64 = 30;

fn a_match(nodes: u64) -> Header {
    let opponent = Opponent { net: None, soft_nodes: None, hard_nodes: nodes };
    Header { opponent: Some(opponent), ..header(nodes) }
}

/// Stops a worker repeatedly, with gaps between finished games, until all games are accepted. Each
/// game has been played once.
fn play_all(terms: &Header, opponent: Option<Evaluation>, games: u64, command: ControlCommand) {
    let coordinator = Coordinator::new(terms.clone(), games, LEASE);
    let state = tempfile::tempdir().unwrap();
    let mut rng = JitterRng::new(3);
    let (mut played, mut ends) = (0, 0);
    while (coordinator.state().accepted.len() as u64) < games {
        let worker = Worker::start_with(&coordinator.url(), state.path(), clock(), |settings| {
            // One lease per start, so that it takes many starts.
            (settings.cores, settings.leases) = (4, Some(1));
        });
        let most = rng.duration_between(Duration::from_millis(50), Duration::from_millis(700));
        let said = worker.said.clone();
        // Each worker finishes a game, unless it only submits the last ones.
        said.wait_for(|snapshot| snapshot.games > 0 || coordinator.state().accepted.len() as u64 == games);
        thread::sleep(most);
        worker.control.add(command);
        worker.end();
        played += said.games();
        ends += 1;
        assert_eq!(coordinator.known(state.path()).len() as u64, played, "after {ends} ends: {}", said.lines());
    }
    assert!(ends > 3, "it was over after {ends} ends");
    coordinator.check(digest_of(terms, Evaluation::Plain, opponent, games));
}

#[test]
fn a_stopped_worker_submits_every_finished_game() {
    play_all(&header(700), None, 240, ControlCommand::Stop);
}

#[test]
fn a_finishing_worker_plays_the_partners_of_match_games_at_hand() {
    play_all(&a_match(700), Some(Evaluation::Plain), 160, ControlCommand::Finish);
}

fn reject_releases(request: &Request) -> Option<Problem> {
    request.path.ends_with("giving-back").then(|| Problem::new(Code::Internal, "the coordinator failed"))
}

#[test]
fn a_failed_release_is_retried_at_the_next_start() {
    // One lease: a second one would leave a second result.
    let coordinator = Coordinator::new(header(6000), 40, 40);
    coordinator.state().refuse = Some(reject_releases);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 2);
    let said = worker.stop();
    let finished = coordinator.known(state.path()).len() as u64;
    assert!(finished > 0 && finished < 40, "{finished}");
    assert_eq!(coordinator.state().given_back, 0);
    assert!(said.contains("1 result waits on disk"), "{said}");
    coordinator.state().refuse = None;
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(40);
    worker.finish();
    let back = coordinator.state().given_back;
    assert!(back > 0 && back <= 40 - finished, "{back}");
    coordinator.check(digest_of(&header(6000), Evaluation::Plain, None, 40));
}

#[test]
fn a_damaged_result_in_the_outbox_is_reported_and_counted() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    let state = tempfile::tempdir().unwrap();
    fs::create_dir(state.path().join("outbox")).unwrap();
    fs::write(state.path().join("outbox/some-0.result"), "no result").unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.refused == 1);
    coordinator.wait_for(8);
    let said = worker.finish();
    assert!(
        said.contains(
            "A result cannot be sent, and lies in `refused/some-0.chuhe`: the file was damaged on this disk."
        ),
        "{said}"
    );
}

/// Only results for this server are announced for the next start.
#[test]
fn results_for_another_server_are_not_announced_for_the_next_start() {
    let [one, other] = [(); 2].map(|()| Coordinator::new(header(200), 8, 4));
    one.state().refuse = Some(reject_uploads);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&one.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games == 8);
    let said = worker.stop();
    assert!(said.contains("2 results wait on disk, and are submitted at the next start."), "{said}");
    let worker = Worker::start(&other.url(), state.path(), clock());
    other.wait_for(8);
    let said = worker.finish();
    assert!(said.contains("A result waits for another server, ") && !said.contains(" on disk, and "), "{said}");
    one.state().refuse = None;
    let worker = Worker::start(&one.url(), state.path(), clock());
    one.wait_for(8);
    worker.finish();
    one.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

/// A backoff of submissions does not delay renewals.
#[test]
fn a_waiting_result_does_not_block_renewals() {
    let coordinator = Coordinator::new(header(2000), 20_000, 10_000);
    coordinator.state().refuse = Some(reject_uploads);
    let state = tempfile::tempdir().unwrap();
    leave_a_result(&coordinator, state.path());
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    worker.said.wait_for(|snapshot| snapshot.games > 0 && snapshot.outbox_reason.is_some());
    clock.jump(Duration::from_mins(11));
    wait_until(|| !coordinator.state().renewals.is_empty());
    assert!(worker.said.snapshot().unwrap().outbox > 0);
    coordinator.state().refuse = None;
    worker.stop();
}

/// Leaves played but unsubmitted games in the spool.
fn leave_a_result(coordinator: &Coordinator, state: &Path) {
    let worker = Worker::start(&coordinator.url(), state, clock());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    worker.stop();
    assert!(count(state, State::Closed) > 0);
}

/// The file of the only lease, with its contents.
fn lease_of(state: &Path) -> Option<(std::path::PathBuf, Contents)> {
    leases(state).into_iter().find(|(_, contents)| contents.lease.is_some())
}

fn expiry(contents: &Contents) -> u64 {
    contents.lease.as_ref().unwrap().until
}

#[test]
fn a_lease_that_was_renewed_is_renewed_after_a_restart_too() {
    let mut coordinator = Coordinator::new(header(2000), 10_000, 10_000);
    let [state, later] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    let (_, before) = lease_of(state.path()).unwrap();
    clock.jump(Duration::from_mins(11));
    wait_until(|| lease_of(state.path()).is_some_and(|(_, lease)| expiry(&lease) >= expiry(&before) + 600));
    let (path, _) = lease_of(state.path()).unwrap();
    // As after a crash.
    fs::create_dir(later.path().join("spool")).unwrap();
    fs::copy(&path, later.path().join("spool").join(path.file_name().unwrap())).unwrap();
    coordinator.kill();
    worker.stop();
    // The first term of the lease is over.
    clock.jump(Duration::from_mins(8));
    let worker = Worker::start(&coordinator.url(), later.path(), clock);
    worker.said.wait_for(|snapshot| snapshot.jobs.first().is_some_and(|job| job.at_hand > 0));
    let said = worker.stop();
    assert!(!said.contains("A lease expired"), "{said}");
}

/// The server's interval decides when spectators learn of further games.
#[test]
fn progress_is_reported_at_the_servers_interval() {
    let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    let reported = || coordinator.state().renewals.values().sum::<u64>();
    let mut before = 0;
    for seconds in [30, HEARTBEAT_SECONDS, HEARTBEAT_SECONDS] {
        worker.said.wait_for(|snapshot| snapshot.games > before);
        clock.jump(Duration::from_secs(seconds.into()));
        wait_until(|| reported() > before);
        before = reported();
    }
    worker.stop();
    assert_eq!(coordinator.state().faults, [""; 0]);
}

fn reject_renewals(request: &Request) -> Option<Problem> {
    request
        .path
        .ends_with("renewal")
        .then(|| Problem::new(Code::NoProgress, "no game was finished since the last renewal"))
}

#[test]
fn a_lease_with_a_lost_renewal_response_is_still_played() {
    let coordinator = Coordinator::new(header(4000), 60, 60);
    coordinator.state().refuse = Some(reject_renewals);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    clock.jump(Duration::from_mins(11));
    coordinator.wait_for(60);
    let said = worker.finish();
    assert!(!said.contains("A lease ended before its games"), "{said}");
    assert_eq!(coordinator.state().given_back, 0);
    coordinator.check(digest_of(&header(4000), Evaluation::Plain, None, 60));
}

fn lose_leases(request: &Request) -> Option<Problem> {
    request.path.ends_with("renewal").then(|| Problem::new(Code::LeaseLost, "the lease is expired"))
}

/// The server has leased the games to others while some are at hand: one renewal is tried.
#[test]
fn a_lost_lease_is_not_renewed_again() {
    let coordinator = Coordinator::new(header(50_000), 1000, 1000);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    coordinator.state().refuse = Some(lose_leases);
    clock.jump(Duration::from_mins(11));
    worker.said.wait_for_line("A lease ended before its games");
    thread::sleep(Duration::from_millis(500));
    let said = worker.stop();
    assert_eq!(said.matches("A lease ended before its games").count(), 1, "{said}");
}

fn forget_leases(request: &Request) -> Option<Problem> {
    let is_of_lease = request.path.ends_with("renewal") || request.path.contains("/games/");
    is_of_lease.then(|| Problem::new(Code::NotFound, "there is no such lease"))
}

/// The server was restored from an older backup: a resumed lease is tried before it is played on,
/// and its games are kept.
#[test]
fn a_resumed_lease_that_the_server_does_not_know_is_not_played_on() {
    let coordinator = Coordinator::new(header(4000), 10_000, 10_000);
    let [state, later] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 3);
    wait_until(|| lease_of(state.path()).is_some_and(|(_, lease)| !lease.games.is_empty()));
    let (path, _) = lease_of(state.path()).unwrap();
    // As after a crash.
    fs::create_dir(later.path().join("spool")).unwrap();
    fs::copy(&path, later.path().join("spool").join(path.file_name().unwrap())).unwrap();
    worker.stop();
    coordinator.state().refuse = Some(forget_leases);
    let accepted = coordinator.state().accepted.len();
    let worker = Worker::start_with(&coordinator.url(), later.path(), clock(), |settings| settings.leases = Some(1));
    worker.said.wait_for(|snapshot| snapshot.refused > 0);
    let said = worker.stop();
    assert!(said.contains("A lease is over; its finished games are submitted: "), "{said}");
    assert_eq!(coordinator.state().accepted.len(), accepted);
    assert!(fs::read_dir(later.path().join("refused")).unwrap().count() > 1);
}

/// The server would refuse the games of another account for good.
#[test]
fn results_of_another_account_wait_for_it() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    coordinator.state().refuse = Some(reject_uploads);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games == 8);
    worker.stop();
    coordinator.state().account = "bob";
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.reason.as_deref().is_some_and(|why| why.contains("nothing to play")));
    worker.said.wait_for_line("A result waits for another account, ann.");
    let said = worker.stop();
    assert!(said.contains("A result waits for another account, ann.") && !said.contains("too many games"), "{said}");
    coordinator.state().account = "ann";
    coordinator.state().refuse = None;
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(8);
    worker.finish();
    coordinator.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

/// A clock whose machine can sleep: then only the wall clock runs.
#[derive(Default)]
struct SleepingClock {
    clock: client::SystemClock,
    slept: std::sync::Mutex<Duration>,
}

impl client::Clock for SleepingClock {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn since_1970(&self) -> Duration {
        self.clock.since_1970() + *self.slept.lock().unwrap()
    }
}

#[test]
fn a_lease_that_expires_while_the_machine_sleeps_is_submitted() {
    let coordinator = Coordinator::new(header(4000), 10_000, 10_000);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(SleepingClock::default());
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock.clone(), |settings| {
        settings.leases = Some(1);
    });
    worker.said.wait_for(|snapshot| snapshot.games > 1);
    *clock.slept.lock().unwrap() = Duration::from_mins(20);
    let said = worker.said.clone();
    worker.end();
    assert!(said.lines().contains("1 lease expired while this machine slept"), "{}", said.lines());
    assert!(coordinator.state().accepted.len() as u64 >= 2);
}

fn time_of_day(seconds: u64) -> String {
    let moment = jiff::Timestamp::from_second(seconds.cast_signed()).unwrap();
    let zoned = moment.to_zoned(jiff::tz::TimeZone::system());
    format!("{:02}:{:02}", zoned.hour(), zoned.minute())
}

/// The hours end during play: finished games are submitted, others released. The next day the
/// worker plays the rest.
#[test]
fn a_worker_releases_its_games_when_its_hours_end() {
    let coordinator = Coordinator::new(header(6000), 40, 40);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::still());
    clock.jump(Duration::from_hours(1000));
    let now = client::Clock::since_1970(&*clock).as_secs();
    let hours = format!("{}-{}", time_of_day(now - 60), time_of_day(now + 300));
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock.clone(), |settings| {
        settings.hours = hours.parse().unwrap();
    });
    worker.said.wait_for(|snapshot| snapshot.games > 3);
    clock.jump(Duration::from_mins(6));
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    // A playing worker would renew its lease by then. One renewal may still be on its way.
    clock.jump(Duration::from_mins(6));
    worker.said.wait_for(|snapshot| snapshot.jobs.is_empty() && snapshot.outbox == 0);
    let played = worker.said.games();
    wait_until(|| coordinator.state().given_back > 0);
    let asked = coordinator.state().asked;
    {
        let state = coordinator.state();
        assert_eq!((state.accepted.len() as u64, state.given_back), (played, 40 - played));
        assert!(state.renewals.values().all(|finished| *finished <= played), "{:?}", state.renewals);
    }
    // The worker is idle at night.
    thread::sleep(Duration::from_millis(300));
    assert_eq!((worker.said.games(), coordinator.state().asked), (played, asked));
    clock.jump(Duration::from_hours(24) - Duration::from_mins(12));
    coordinator.wait_for(40);
    let said = worker.finish();
    assert!(said.contains("Playing again."), "{said}");
    coordinator.check(digest_of(&header(6000), Evaluation::Plain, None, 40));
}

/// The power supply is unplugged during play, and plugged in again.
#[test]
fn a_machine_on_its_battery_rests_until_it_is_plugged_in() {
    let coordinator = Coordinator::new(header(1000), 40, 40);
    let state = tempfile::tempdir().unwrap();
    let supplies = state.path().join("supplies");
    let says = |supply: &str, field: &str, text: &str| {
        fs::create_dir_all(supplies.join(supply)).unwrap();
        fs::write(supplies.join(supply).join(field), format!("{text}\n")).unwrap();
    };
    for (supply, kind) in [("BAT0", "Battery"), ("AC", "Mains")] {
        says(supply, "type", kind);
    }
    let plug = |is_in: bool| {
        says("AC", "online", if is_in { "1" } else { "0" });
        says("BAT0", "status", if is_in { "Charging" } else { "Discharging" });
    };
    plug(true);
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock(), |settings| settings.on_battery = false);
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    plug(false);
    let resting = worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    assert_eq!(resting.reason.as_deref(), Some("Resting: the machine runs on its battery."));
    plug(true);
    coordinator.wait_for(40);
    let said = worker.finish();
    assert!(said.contains("Playing again."), "{said}");
    assert_eq!(coordinator.state().given_back, 0);
    coordinator.check(digest_of(&header(1000), Evaluation::Plain, None, 40));
}

/// A short pause suspends the games at hand; a long one releases them.
#[test]
fn a_short_pause_keeps_the_games_at_hand_and_a_long_one_does_not() {
    let expected = digest_of(&header(6000), Evaluation::Plain, None, 40);
    for (minutes, is_kept) in [(3, true), (6, false)] {
        let coordinator = Coordinator::new(header(6000), 40, 40);
        let state = tempfile::tempdir().unwrap();
        let clock = Arc::new(JumpingClock::default());
        let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
        worker.said.wait_for(|snapshot| snapshot.games > 1);
        worker.control.add(ControlCommand::Pause);
        worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
        clock.jump(Duration::from_mins(minutes));
        if is_kept {
            // The schedule has been checked since.
            thread::sleep(Duration::from_secs(3));
            let state = coordinator.state();
            assert_eq!((state.accepted.len(), state.given_back), (0, 0));
        } else {
            worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting && snapshot.jobs.is_empty());
            wait_until(|| coordinator.state().given_back > 0);
            assert_eq!(coordinator.state().accepted.len() as u64, worker.said.games());
        }
        set_paused(state.path(), false).unwrap();
        coordinator.wait_for(40);
        let said = worker.said.clone();
        worker.finish();
        assert_eq!(said.games(), 40, "as many were played as there are");
        coordinator.check(expected);
    }
}

/// A lease that arrives after `Finish` is released at once, and the worker ends.
#[test]
fn leases_that_arrive_during_the_shutdown_are_released() {
    for _ in 0..8 {
        let coordinator = Coordinator::new(header(100), 400, 8);
        let state = tempfile::tempdir().unwrap();
        let worker = Worker::start(&coordinator.url(), state.path(), Arc::new(FastClock::new(1)));
        wait_until(|| coordinator.state().asked > 0);
        worker.finish();
        let state = coordinator.state();
        assert_eq!(state.faults, [""; 0]);
    }
}
