//! Runs that are held up, wound down or stopped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    convert::Infallible,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use common::{match_run, play, run};
use selfplay::{Control, Record, selfplay::Run};

/// More games than are ever played here.
const MANY: u64 = 1_000_000;

fn play_until(run: &Run, control: &Control, act: impl Fn(&Control, u64)) -> Vec<Record> {
    let mut records = Vec::new();
    let received = run.play_under(control, |number, finished| {
        assert_eq!(number, run.first + records.len() as u64);
        records.push(finished.record);
        act(control, number);
        Ok::<_, Infallible>(())
    });
    assert_eq!(received.unwrap(), records.len() as u64);
    records
}

#[test]
fn an_end_or_a_stop_leaves_a_beginning_without_gaps() {
    for threads in [1, 3] {
        for run in [run(MANY, threads), match_run(MANY, threads)] {
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
    let over = Control::default();
    over.finish();
    assert!(over.is_finishing() && !over.is_stopped());
    assert_eq!(play_until(&run(MANY, 2), &over, |_, _| {}), []);
    over.pause();
    assert_eq!(play_until(&run(MANY, 2), &over, |_, _| {}), []);
}

/// Waits until nothing comes any more: what was at hand or on its way has then arrived.
fn drain(received: &Receiver<u64>) -> RecvTimeoutError {
    loop {
        if let Err(error) = received.recv_timeout(Duration::from_millis(300)) {
            return error;
        }
    }
}

#[test]
fn in_a_pause_nothing_happens_and_nothing_is_lost() {
    let control = Control::default();
    control.pause();
    assert!(control.is_paused());
    let (sender, received) = mpsc::channel();
    let run = run(MANY, 2);
    let records = thread::scope(|scope| {
        let playing = scope.spawn(|| play_until(&run, &control, |_, number| sender.send(number).unwrap()));
        assert_eq!(received.recv_timeout(Duration::from_millis(300)), Err(RecvTimeoutError::Timeout));
        control.resume();
        assert_eq!((received.recv(), received.recv()), (Ok(0), Ok(1)));
        control.pause();
        // In hundredths of a second: two threads that play would use a hundred of them, or fifty on one core. A thread that
        // the machine held up may be late.
        let rests = (0..20).any(|_| {
            assert_eq!(drain(&received), RecvTimeoutError::Timeout);
            let before = processor_time();
            let silent = received.recv_timeout(Duration::from_millis(500)) == Err(RecvTimeoutError::Timeout);
            silent && processor_time() - before <= 10
        });
        assert!(rests, "it goes on in the pause");
        // A finish waits for the pause's end if games are at hand, as they are unless both threads were between two.
        control.finish();
        assert_eq!(drain(&received), RecvTimeoutError::Timeout);
        control.resume();
        playing.join().unwrap()
    });
    assert_eq!(records, play(&Run { games: records.len() as u64, ..run }));
}

#[test]
fn whoever_sleeps_hears_of_a_stop_or_a_failure() {
    let control = Control::default();
    let (sender, received) = mpsc::channel();
    let long = run(MANY, 2);
    thread::scope(|scope| {
        let playing = scope.spawn(|| play_until(&long, &control, |_, number| sender.send(number).unwrap()));
        received.recv().unwrap();
        control.pause();
        drain(&received);
        control.stop();
        playing.join().unwrap();
    });
    let control = Control::default();
    let failed = long.play_under(&control, |_, _| {
        control.pause();
        Err("the disk is full")
    });
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
}

/// What this process has used so far, in hundredths of a second; nothing is said where that is not told.
fn processor_time() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return 0 };
    let fields: Vec<_> = text.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
