//! The last completed step of each background task, for the readiness probe.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::clock::Time;

/// A background task with steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The scheduler.
    Scheduler,
    /// The validator.
    Validator,
}

impl Task {
    /// Every task.
    pub const ALL: [Self; 2] = [Self::Scheduler, Self::Validator];

    /// The name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::Validator => "validator",
        }
    }
}

/// The times of the last completed steps.
#[derive(Debug, Default)]
pub struct Pulse([AtomicI64; Task::ALL.len()]);

impl Pulse {
    /// Records a completed step.
    pub fn record(&self, task: Task, now: Time) {
        self.0[task as usize].store(now.0, Relaxed);
    }

    /// The time of the task's last step; none if it completed none yet.
    #[must_use]
    pub fn last(&self, task: Task) -> Option<Time> {
        Some(Time(self.0[task as usize].load(Relaxed))).filter(|last| last.0 != 0)
    }

    /// Milliseconds since the task's last step; none if it completed none yet.
    #[must_use]
    pub fn age(&self, task: Task, now: Time) -> Option<i64> {
        self.last(task).map(|last| (now.0 - last.0).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_has_an_age_of_its_own() {
        let pulse = Pulse::default();
        pulse.record(Task::Validator, Time(5_000));
        assert_eq!(pulse.age(Task::Scheduler, Time(9_000)), None);
        assert_eq!(pulse.age(Task::Validator, Time(9_000)), Some(4_000));
        // The clock was set back.
        assert_eq!(pulse.age(Task::Validator, Time(1_000)), Some(0));
    }
}
