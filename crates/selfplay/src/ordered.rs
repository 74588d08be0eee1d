//! Work that many threads do and one receives in order.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use crate::control::{Control, Leave};

/// Does the pieces of work `0..count` on some threads; `receive` gets the results in order, without gaps, until it
/// breaks, a piece fails, or `control` ends it. A piece that was begun is only then given up when `control` stops or
/// nobody wants its result.
///
/// Each thread makes itself a worker. `work` may ask its leave whether it is to go on, and give up with `None`.
pub(crate) fn in_order<W, T: Send, E: Send>(
    count: u64,
    threads: usize,
    control: &Control,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, u64, &Leave<'_>) -> Result<Option<T>, E> + Sync,
    mut receive: impl FnMut(u64, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let leave = Leave::new(control);
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        // Also when `receive` panics, or a worker.
        let _taking = TakeOnDrop(&leave);
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (leave, next, worker, work) = (&leave, &next, &worker, &work);
            scope.spawn(move || {
                let _taking = TakeOnPanic(leave);
                let mut worker = worker();
                // Asked before a number is taken: what was taken is done, and leaves no gap.
                while leave.begins() {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        break;
                    }
                    let Some(result) = work(&mut worker, number, leave).transpose() else { break };
                    // After a failure nothing later is received, and a worker that failed would do so again.
                    let failed = result.is_err();
                    if sender.send((number, result)).is_err() || failed {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (number, result) in &receiver {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&due) {
                if receive(due, result?)?.is_break() {
                    return Ok(());
                }
                due += 1;
            }
        }
        Ok(())
    })
}

struct TakeOnDrop<'a>(&'a Leave<'a>);

impl Drop for TakeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.take();
    }
}

struct TakeOnPanic<'a>(&'a Leave<'a>);

impl Drop for TakeOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(count: u64, threads: usize, last: u64, bad: u64) -> (Vec<u64>, Result<(), u64>) {
        let mut seen = Vec::new();
        let work = |(): &mut (), number, _: &Leave<'_>| {
            if number % 3 == 0 {
                thread::yield_now();
            }
            if number == bad { Err(number) } else { Ok(Some(number * number)) }
        };
        let result = in_order(
            count,
            threads,
            &Control::default(),
            || (),
            work,
            |number, square| {
                assert_eq!(square, number * number);
                seen.push(number);
                Ok(if number == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        );
        (seen, result)
    }

    #[test]
    fn results_come_in_order_until_a_break_or_an_error() {
        for threads in [1, 2, 7] {
            assert_eq!(run(100, threads, 1000, 1000), ((0..100).collect(), Ok(())));
            assert_eq!(run(100, threads, 41, 1000), ((0..=41).collect(), Ok(())));
            assert_eq!(run(100, threads, 1000, 17), ((0..17).collect(), Err(17)));
            assert_eq!(run(0, threads, 1000, 17), (vec![], Ok(())));
        }
    }

    #[test]
    fn what_was_begun_is_finished_unless_it_is_stopped() {
        for (threads, stop) in [(1, false), (3, false), (7, false), (1, true)] {
            let (control, begun) = (Control::default(), AtomicU64::new(0));
            let work = |(): &mut (), number, leave: &Leave<'_>| {
                begun.fetch_add(1, Relaxed);
                if number == 5 {
                    if stop { control.stop() } else { control.finish() }
                }
                Ok::<_, ()>(leave.goes_on().then_some(number))
            };
            let mut received = 0;
            let count = |_, _| {
                received += 1;
                Ok(ControlFlow::Continue(()))
            };
            in_order(1_000_000, threads, &control, || (), work, count).expect("no work fails");
            let begun = begun.into_inner();
            assert!(begun < 1_000_000);
            assert_eq!(received, if stop { 5 } else { begun }, "{threads} threads");
        }
    }
}
