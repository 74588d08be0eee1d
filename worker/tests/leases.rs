//! What becomes of leases that are not played to their end: no finished game is lost, and none is played twice.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{fs, path::Path, sync::Arc, thread, time::Duration};

use client::Dice;
use common::{clock, coordinator::Coordinator, digest_of, header, in_process::Worker};
use dataset::{Header, Opponent};
use engine::Evaluation;
use protocol::api::problem::{Code, Problem};
use testkit::{FastClock, JumpingClock, http::Request};
use worker::{
    status::Doing,
    wishes::{Wish, set_paused},
};

/// So many games are leased at once.
const LEASE: u64 = 30;

fn a_match(nodes: u64) -> Header {
    let opponent = Opponent { net: None, soft_nodes: None, hard_nodes: nodes };
    Header { opponent: Some(opponent), ..header(nodes) }
}

/// Ends a worker again and again, with games at hand between others that are finished, until all games are accepted: as
/// many were played as there are.
fn play_all(terms: &Header, opponent: Option<Evaluation>, games: u64, wish: Wish) {
    let coordinator = Coordinator::new(terms.clone(), games, LEASE);
    let state = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(3);
    let (mut played, mut ends) = (0, 0);
    while (coordinator.state().accepted.len() as u64) < games {
        let worker = Worker::start_with(&coordinator.url(), state.path(), clock(), |settings| {
            // Of one lease, however fast it is: it takes many ends.
            (settings.cores, settings.leases) = (4, Some(1));
        });
        let most = dice.between(Duration::from_millis(50), Duration::from_millis(700));
        let said = worker.said.clone();
        said.wait_for(|snapshot| snapshot.games > 0 || snapshot.doing == Doing::Waiting);
        thread::sleep(most);
        worker.wishes.add(wish);
        worker.end();
        played += said.games();
        ends += 1;
        assert_eq!(coordinator.known(state.path()).len() as u64, played, "after {ends} ends: {}", said.lines());
    }
    assert!(ends > 3, "it was over after {ends} ends");
    coordinator.check(digest_of(terms, Evaluation::Plain, opponent, games));
}

#[test]
fn whoever_is_stopped_hands_in_every_finished_game() {
    play_all(&header(700), None, 240, Wish::Stop);
}

#[test]
fn whoever_finishes_a_match_plays_the_partners_of_the_games_at_hand() {
    play_all(&a_match(700), Some(Evaluation::Plain), 160, Wish::Finish);
}

fn refuse_giving_back(request: &Request) -> Option<Problem> {
    request.path.ends_with("giving-back").then(|| Problem::new(Code::Internal, "the coordinator failed"))
}

#[test]
fn what_could_not_be_given_back_is_given_back_at_the_next_start() {
    let coordinator = Coordinator::new(header(6000), 40, 20);
    coordinator.state().refuse = Some(refuse_giving_back);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 2);
    let said = worker.stop();
    let finished = coordinator.known(state.path()).len() as u64;
    assert!(finished > 0 && finished < 40, "{finished}");
    assert_eq!(coordinator.state().given_back, 0);
    assert!(said.contains("wait on disk"), "{said}");
    coordinator.state().refuse = None;
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    coordinator.wait_for(40);
    worker.finish();
    let back = coordinator.state().given_back;
    assert!(back > 0 && back <= 40 - finished, "{back}");
    coordinator.check(digest_of(&header(6000), Evaluation::Plain, None, 40));
}

#[test]
fn what_the_disk_has_damaged_in_the_outbox_is_said_and_counted() {
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

/// Only what this server is handed at the next start is told of as that.
#[test]
fn what_waits_for_another_server_is_not_said_to_go_out_at_the_next_start() {
    let [one, other] = [(); 2].map(|()| Coordinator::new(header(200), 8, 4));
    one.state().refuse = Some(refuse_uploads);
    let state = tempfile::tempdir().unwrap();
    let worker = Worker::start(&one.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games == 8);
    let said = worker.stop();
    assert!(said.contains("2 results wait on disk, and are handed in at the next start."), "{said}");
    let worker = Worker::start(&other.url(), state.path(), clock());
    other.wait_for(8);
    let said = worker.finish();
    assert!(said.contains("A result waits for another server, ") && !said.contains("wait on disk"), "{said}");
    one.state().refuse = None;
    let worker = Worker::start(&one.url(), state.path(), clock());
    one.wait_for(8);
    worker.finish();
    one.check(digest_of(&header(200), Evaluation::Plain, None, 8));
}

fn refuse_uploads(request: &Request) -> Option<Problem> {
    request.path.contains("/games/").then(|| Problem::new(Code::Quota, "too many games today"))
}

/// The games of one lease do not get away; another is renewed all the same.
#[test]
fn a_result_that_waits_keeps_no_lease_from_being_renewed() {
    let coordinator = Coordinator::new(header(2000), 20_000, 10_000);
    coordinator.state().refuse = Some(refuse_uploads);
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

/// A worker has played some games that nobody took.
fn leave_a_result(coordinator: &Coordinator, state: &Path) {
    let worker = Worker::start(&coordinator.url(), state, clock());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    worker.stop();
    assert!(fs::read_dir(state.join("outbox")).unwrap().count() > 0);
}

/// The only lease's file, as it lies on disk.
fn lease_of(state: &Path) -> Option<(std::path::PathBuf, serde_json::Value)> {
    let mut files = fs::read_dir(state.join("leases")).unwrap().map(|entry| entry.unwrap().path());
    let path = files.find(|path| path.extension().is_some_and(|ending| ending == "lease"))?;
    let lease = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
    Some((path, lease))
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
    wait_until(|| lease_of(state.path()).is_some_and(|(_, lease)| lease["renewed"] == true));
    let (path, renewed) = lease_of(state.path()).unwrap();
    assert!(renewed["until"].as_u64() >= before["until"].as_u64().map(|until| until + 600), "{renewed}");
    // As after a crash.
    fs::create_dir(later.path().join("leases")).unwrap();
    fs::copy(&path, later.path().join("leases").join(path.file_name().unwrap())).unwrap();
    coordinator.kill();
    worker.stop();
    // The first time that it was given is over.
    clock.jump(Duration::from_mins(8));
    let worker = Worker::start(&coordinator.url(), later.path(), clock);
    worker.said.wait_for(|snapshot| snapshot.jobs.first().is_some_and(|job| job.at_hand > 0));
    let said = worker.stop();
    assert!(!said.contains("The time of a lease was over"), "{said}");
}

fn refuse_renewals(request: &Request) -> Option<Problem> {
    request
        .path
        .ends_with("renewal")
        .then(|| Problem::new(Code::NoProgress, "no game was finished since the last renewal"))
}

#[test]
fn a_lease_whose_renewal_arrived_without_an_answer_is_played_on() {
    let coordinator = Coordinator::new(header(4000), 60, 60);
    coordinator.state().refuse = Some(refuse_renewals);
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

/// The server gave the games to others, while some of them are still at hand: it is asked once.
#[test]
fn a_lease_that_is_lost_is_renewed_no_more() {
    let coordinator = Coordinator::new(header(50_000), 1000, 1000);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    coordinator.state().refuse = Some(lose_leases);
    clock.jump(Duration::from_mins(11));
    worker.said.wait_to_hear("A lease ended before its games");
    thread::sleep(Duration::from_millis(500));
    let said = worker.stop();
    assert_eq!(said.matches("A lease ended before its games").count(), 1, "{said}");
}

fn time_of_day(seconds: u64) -> String {
    let moment = jiff::Timestamp::from_second(seconds.cast_signed()).unwrap();
    let zoned = moment.to_zoned(jiff::tz::TimeZone::system());
    format!("{:02}:{:02}", zoned.hour(), zoned.minute())
}

/// Its hours end while it plays: what is finished is handed in, the rest goes to others, and when they begin again it
/// plays what nobody else has.
#[test]
fn when_its_hours_end_a_worker_keeps_nothing_from_others() {
    let coordinator = Coordinator::new(header(6000), 40, 40);
    let state = tempfile::tempdir().unwrap();
    let clock = Arc::new(JumpingClock::default());
    let now = client::Clock::since_1970(&*clock).as_secs();
    let hours = format!("{}-{}", time_of_day(now - 60), time_of_day(now + 300));
    let worker = Worker::start_with(&coordinator.url(), state.path(), clock.clone(), |settings| {
        settings.hours = hours.parse().unwrap();
    });
    worker.said.wait_for(|snapshot| snapshot.games > 3);
    clock.jump(Duration::from_mins(6));
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    // A worker that plays would renew its lease by then.
    clock.jump(Duration::from_mins(6));
    worker.said.wait_for(|snapshot| snapshot.jobs.is_empty() && snapshot.outbox == 0);
    let played = worker.said.games();
    wait_until(|| coordinator.state().given_back > 0);
    let asked = coordinator.state().asked;
    {
        let state = coordinator.state();
        assert_eq!((state.accepted.len() as u64, state.given_back), (played, 40 - played));
        assert!(state.renewals.is_empty());
    }
    // Nobody plays in the night.
    thread::sleep(Duration::from_millis(300));
    assert_eq!((worker.said.games(), coordinator.state().asked), (played, asked));
    clock.jump(Duration::from_hours(24) - Duration::from_mins(12));
    coordinator.wait_for(40);
    let said = worker.finish();
    assert!(said.contains("Playing again."), "{said}");
    coordinator.check(digest_of(&header(6000), Evaluation::Plain, None, 40));
}

/// The plug is pulled while it plays, and put in again.
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

/// A pause of some minutes: the games at hand go on where they were; a longer one: they are others'.
#[test]
fn a_short_pause_keeps_the_games_at_hand_and_a_long_one_does_not() {
    let expected = digest_of(&header(6000), Evaluation::Plain, None, 40);
    for (minutes, is_kept) in [(3, true), (6, false)] {
        let coordinator = Coordinator::new(header(6000), 40, 40);
        let state = tempfile::tempdir().unwrap();
        let clock = Arc::new(JumpingClock::default());
        let worker = Worker::start(&coordinator.url(), state.path(), clock.clone());
        worker.said.wait_for(|snapshot| snapshot.games > 1);
        worker.wishes.add(Wish::Pause);
        worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
        clock.jump(Duration::from_mins(minutes));
        if is_kept {
            // It has looked around since.
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

/// Whoever is told to finish while it asks for games gets some: they are given back, and nobody waits for them.
#[test]
fn games_that_come_too_late_are_given_back() {
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

fn wait_until(done: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not happen");
}
