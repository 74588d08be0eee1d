//! Learning rate schedules: constant, cosine annealing, step decay, one-cycle, each with linear
//! warm-up.

use protocol::recipe::{Schedule, ScheduleKind};

/// One-cycle: the rising part of the run, unless warm-up steps are set.
const ONE_CYCLE_RISE: f64 = 0.3;

/// One-cycle: the initial rate, as a part of the greatest.
const ONE_CYCLE_INITIAL: f64 = 0.04;

/// The learning rate of a step, counted from 0. Computed in software, so that every machine gets
/// the same bits.
#[must_use]
pub fn learning_rate(schedule: &Schedule, step: u64) -> f64 {
    let (steps, max) = (schedule.steps(), schedule.learning_rate);
    let warm_up = schedule.warm_up_steps;
    let rate = match schedule.kind {
        ScheduleKind::Constant => max,
        ScheduleKind::Cosine { final_learning_rate } => cosine_anneal(max, final_learning_rate, fraction(step, steps)),
        ScheduleKind::Step { decay, decay_epochs } => {
            let times = step / schedule.steps_per_epoch() / u64::from(decay_epochs);
            max * libm::pow(decay, times as f64)
        }
        ScheduleKind::OneCycle { final_learning_rate } => {
            let rise = if warm_up > 0 { warm_up } else { (steps as f64 * ONE_CYCLE_RISE) as u64 };
            return if step < rise {
                cosine_anneal(max * ONE_CYCLE_INITIAL, max, fraction(step, rise))
            } else {
                cosine_anneal(max, final_learning_rate, fraction(step - rise, steps - rise))
            };
        }
    };
    // Linear warm-up.
    if step < warm_up { rate * (step + 1) as f64 / warm_up as f64 } else { rate }
}

fn fraction(step: u64, steps: u64) -> f64 {
    step as f64 / steps.max(1) as f64
}

/// Cosine annealing from one value to another.
fn cosine_anneal(from: f64, to: f64, part: f64) -> f64 {
    to + (from - to) * (1.0 + libm::cos(std::f64::consts::PI * part)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(kind: ScheduleKind, warm_up_steps: u64) -> Schedule {
        Schedule { batch: 10, epochs: 10, positions_per_epoch: 100, learning_rate: 1.0, kind, warm_up_steps }
    }

    fn rates(kind: ScheduleKind, warm_up: u64) -> Vec<f64> {
        let schedule = schedule(kind, warm_up);
        (0..schedule.steps()).map(|step| learning_rate(&schedule, step)).collect()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn a_constant_rate_only_warms_up() {
        let rates = rates(ScheduleKind::Constant, 4);
        assert_eq!(rates[..5], [0.25, 0.5, 0.75, 1.0, 1.0]);
        near(rates[99], 1.0);
    }

    #[test]
    fn a_cosine_falls_over_the_whole_run() {
        let rates = rates(ScheduleKind::Cosine { final_learning_rate: 0.2 }, 0);
        near(rates[0], 1.0);
        near(rates[50], 0.6);
        assert!(rates.is_sorted_by(|one, next| one > next));
        assert!(rates[99] < 0.201);
    }

    #[test]
    fn steps_fall_every_so_many_epochs() {
        let rates = rates(ScheduleKind::Step { decay: 0.5, decay_epochs: 3 }, 0);
        for (step, rate) in rates.iter().enumerate() {
            near(*rate, [1.0, 0.5, 0.25, 0.125][step / 30]);
        }
    }

    #[test]
    fn one_cycle_rises_and_falls() {
        for (warm_up, rise) in [(0, 30), (10, 10)] {
            let rates = rates(ScheduleKind::OneCycle { final_learning_rate: 0.0 }, warm_up);
            near(rates[0], ONE_CYCLE_INITIAL);
            assert!(rates[..=rise].is_sorted_by(|one, next| one < next));
            near(rates[rise], 1.0);
            assert!(rates[rise..].is_sorted_by(|one, next| one > next));
            assert!(rates[99] < 0.01);
        }
    }
}
