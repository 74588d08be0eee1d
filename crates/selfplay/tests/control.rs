//! Pause, finish and stop of runs.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::{
    convert::Infallible,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use common::{match_run, play, run};
use selfplay::{Control, Record, selfplay::Run};

/// More games than any test plays.
const MANY_GAMES: u64 = 1_000_000;

fn play_until(run: &Run, control: &Control, act: impl Fn(&Control, u64)) -> Vec<Record> {
    let mut records = Vec::new();
    let received = run.play_with_control(control, |number, finished| {
        assert_eq!(number, run.first + records.len() as u64);
        records.push(finished.record);
        act(control, number);
        Ok::<_, Infallible>(())
    });
    assert_eq!(received.unwrap(), records.len() as u64);
    records
}

#[test]
fn finish_and_stop_leave_a_prefix_without_gaps() {
    for threads in [1, 3] {
        for run in [run(MANY_GAMES, threads), match_run(MANY_GAMES, threads)] {
            for act in [Control::finish, Control::stop] {
                let records = play_until(&run, &Control::default(), |control, number| {
                    if number == 2 {
                        act(control);
                    }
                });
                assert!((3..1_000).contains(&records.len()), "{}", records.len());
                assert_eq!(records[..3], play(&Run { games: 3, ..run.clone() }));
            }
        }
    }
    let finished = Control::default();
    finished.finish();
    assert!(finished.is_finishing() && !finished.is_stopped());
    assert_eq!(play_until(&run(MANY_GAMES, 2), &finished, |_, _| {}), []);
    finished.pause();
    assert_eq!(play_until(&run(MANY_GAMES, 2), &finished, |_, _| {}), []);
}

/// Waits until no more results arrive, so that the running games are done.
fn drain(received: &Receiver<u64>) -> RecvTimeoutError {
    loop {
        if let Err(error) = received.recv_timeout(Duration::from_millis(300)) {
            return error;
        }
    }
}

#[test]
fn a_pause_stops_all_threads_and_loses_no_game() {
    let control = Control::default();
    control.pause();
    assert!(control.is_paused());
    let (sender, received) = mpsc::channel();
    let run = run(MANY_GAMES, 2);
    let records = thread::scope(|scope| {
        let playing = scope.spawn(|| play_until(&run, &control, |_, number| sender.send(number).unwrap()));
        assert_eq!(received.recv_timeout(Duration::from_millis(300)), Err(RecvTimeoutError::Timeout));
        control.resume();
        assert_eq!((received.recv(), received.recv()), (Ok(0), Ok(1)));
        control.pause();
        // In hundredths of a second: two busy threads would use 100 of them, or 50 on one core.
        // Retried, since a delayed thread may finish late.
        let is_idle = (0..20).any(|_| {
            assert_eq!(drain(&received), RecvTimeoutError::Timeout);
            let before = processor_time();
            let silent = received.recv_timeout(Duration::from_millis(500)) == Err(RecvTimeoutError::Timeout);
            silent && processor_time() - before <= 10
        });
        assert!(is_idle, "threads run in the pause");
        // With games running, a finish takes effect after the pause.
        control.finish();
        assert_eq!(drain(&received), RecvTimeoutError::Timeout);
        control.resume();
        playing.join().unwrap()
    });
    assert_eq!(records, play(&Run { games: records.len() as u64, ..run }));
}

#[test]
fn a_paused_thread_wakes_on_a_stop_or_a_failure() {
    let control = Control::default();
    let (sender, received) = mpsc::channel();
    let long = run(MANY_GAMES, 2);
    thread::scope(|scope| {
        let playing = scope.spawn(|| play_until(&long, &control, |_, number| sender.send(number).unwrap()));
        received.recv().unwrap();
        control.pause();
        drain(&received);
        control.stop();
        playing.join().unwrap();
    });
    let control = Control::default();
    let failed = long.play_with_control(&control, |_, _| {
        control.pause();
        Err("the disk is full")
    });
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
}

/// Returns the processor time of this process in hundredths of a second; 0 without `/proc`.
fn processor_time() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return 0 };
    let fields: Vec<_> = text.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
