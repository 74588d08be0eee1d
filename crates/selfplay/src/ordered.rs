//! Parallel work with ordered results.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use crate::control::{CancelToken, Control};

/// Runs the work items `0..count` on threads. `receive` gets the results in order, without gaps,
/// until it breaks, an item fails, or `control` ends the run. A started item is abandoned only if
/// `control` stops or the run is cancelled.
///
/// Each thread makes a worker. `work` may check its token, and give up by returning `None`.
pub(crate) fn in_order<W, T: Send, E: Send>(
    count: u64,
    threads: usize,
    control: &Control,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, u64, &CancelToken<'_>) -> Result<Option<T>, E> + Sync,
    mut receive: impl FnMut(u64, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let token = CancelToken::new(control);
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        // Also if `receive` or a worker panics.
        let _guard = CancelOnDrop(&token);
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (token, next, worker, work) = (&token, &next, &worker, &work);
            scope.spawn(move || {
                let _guard = CancelOnPanic(token);
                let mut worker = worker();
                // Checked before an item is taken: taken items are done and leave no gap.
                while token.may_start() {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        break;
                    }
                    let Some(result) = work(&mut worker, number, token).transpose() else { break };
                    // After a failure no later result is received, and the worker would fail again.
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

struct CancelOnDrop<'a>(&'a CancelToken<'a>);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

struct CancelOnPanic<'a>(&'a CancelToken<'a>);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(count: u64, threads: usize, last: u64, bad: u64) -> (Vec<u64>, Result<(), u64>) {
        let mut seen = Vec::new();
        let work = |(): &mut (), number, _: &CancelToken<'_>| {
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
    fn a_started_item_is_finished_unless_the_run_is_stopped() {
        for (threads, stop) in [(1, false), (3, false), (7, false), (1, true)] {
            let (control, begun) = (Control::default(), AtomicU64::new(0));
            let work = |(): &mut (), number, token: &CancelToken<'_>| {
                begun.fetch_add(1, Relaxed);
                if number == 5 {
                    if stop { control.stop() } else { control.finish() }
                }
                Ok::<_, ()>(token.should_continue().then_some(number))
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
