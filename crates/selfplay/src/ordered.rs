//! Work that many threads do and one receives in order.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

/// Does the pieces of work `0..count` on some threads; `receive` gets the results in order, without gaps, until it
/// breaks or a piece fails.
///
/// Each thread makes itself a worker. `work` may look at the flag, which says that nothing more is wanted, and give up
/// with `None`.
pub(crate) fn in_order<W, T: Send, E: Send>(
    count: u64,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, u64, &AtomicBool) -> Result<Option<T>, E> + Sync,
    mut receive: impl FnMut(u64, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        // Also when `receive` panics, or a worker.
        let _stopping = StopOnDrop(&stop);
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (stop, next, worker, work) = (&stop, &next, &worker, &work);
            scope.spawn(move || {
                let _stopping = StopOnPanic(stop);
                let mut worker = worker();
                while !stop.load(Relaxed) {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        break;
                    }
                    let Some(result) = work(&mut worker, number, stop).transpose() else { break };
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

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(count: u64, threads: usize, last: u64, bad: u64) -> (Vec<u64>, Result<(), u64>) {
        let mut seen = Vec::new();
        let work = |(): &mut (), number, _: &AtomicBool| {
            if number % 3 == 0 {
                thread::yield_now();
            }
            if number == bad { Err(number) } else { Ok(Some(number * number)) }
        };
        let result = in_order(
            count,
            threads,
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
}
