//! From gradients to numbers.
//!
//! Every operation is exact IEEE arithmetic on one element, so that a step gives the same bits on every machine.

/// Which optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Adam with decoupled weight decay.
    AdamW,
    /// The same with a rectified variance in the first steps.
    RAdam,
}

/// An optimiser and its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimizer {
    /// Which.
    pub method: Method,
    /// How much of the mean gradient is kept.
    pub beta1: f64,
    /// How much of the mean square is kept.
    pub beta2: f64,
    /// What keeps divisors from zero.
    pub epsilon: f64,
    /// How much of a weight is lost in a step, as a part of the learning rate.
    pub weight_decay: f64,
    /// Every so many steps the weights go back part of the way to where they were then.
    pub lookahead: Option<Lookahead>,
}

impl Default for Optimizer {
    /// `AdamW` with the field's usual numbers, which are also a recipe's.
    fn default() -> Self {
        Self { method: Method::AdamW, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, lookahead: None }
    }
}

/// A second, slower set of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookahead {
    /// How many steps the fast weights are ahead.
    pub steps: u64,
    /// How far the slow weights follow them.
    pub blend: f32,
}

/// What one step does to every number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    keep: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    rate: f32,
    /// What a root of a mean square is divided by; none if the step is along the mean gradient alone.
    root: Option<f32>,
    blend: Option<f32>,
}

/// A step's numbers, for backends that do it in their own way.
#[cfg(feature = "torch")]
pub(crate) struct Numbers {
    pub(crate) keep: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    pub(crate) rate: f64,
    pub(crate) root: Option<f64>,
    pub(crate) blend: Option<f64>,
}

#[cfg(feature = "torch")]
impl Step {
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers {
            keep: self.keep.into(),
            beta1: self.beta1.into(),
            beta2: self.beta2.into(),
            epsilon: self.epsilon.into(),
            rate: self.rate.into(),
            root: self.root.map(Into::into),
            blend: self.blend.map(Into::into),
        }
    }
}

impl Optimizer {
    /// The step with this number, counted from 1.
    #[must_use]
    pub fn step(&self, number: u64, learning_rate: f64) -> Step {
        let time = number as f64;
        let (decay1, decay2) = (libm::pow(self.beta1, time), libm::pow(self.beta2, time));
        let root = libm::sqrt(1.0 - decay2);
        let mean = learning_rate / (1.0 - decay1);
        let (rate, root) = match self.method {
            Method::AdamW => (mean, Some(root)),
            Method::RAdam => {
                let most = 2.0 / (1.0 - self.beta2) - 1.0;
                let length = most - 2.0 * time * decay2 / (1.0 - decay2);
                if length > 5.0 {
                    let rectified = ((length - 4.0) * (length - 2.0) * most) / ((most - 4.0) * (most - 2.0) * length);
                    (mean * libm::sqrt(rectified), Some(root))
                } else {
                    (mean, None)
                }
            }
        };
        Step {
            keep: (1.0 - learning_rate * self.weight_decay) as f32,
            beta1: self.beta1 as f32,
            beta2: self.beta2 as f32,
            epsilon: self.epsilon as f32,
            rate: rate as f32,
            root: root.map(|root| root as f32),
            blend: self.lookahead.filter(|it| number.is_multiple_of(it.steps)).map(|it| it.blend),
        }
    }
}

/// Numbers that are learned, with what the optimiser remembers of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The numbers.
    pub values: Vec<f32>,
    /// Their mean gradients.
    pub first: Vec<f32>,
    /// The means of their squares.
    pub second: Vec<f32>,
    /// The slow weights, where there are any.
    pub slow: Vec<f32>,
}

impl Group {
    /// Numbers of which nothing is remembered.
    #[must_use]
    pub fn new(values: Vec<f32>, optimizer: &Optimizer) -> Self {
        let zeros = vec![0.0; values.len()];
        let slow = if optimizer.lookahead.is_some() { values.clone() } else { Vec::new() };
        Self { values, first: zeros.clone(), second: zeros, slow }
    }

    /// A step; no number ends further from zero than `limit`.
    #[inline(always)]
    pub(crate) fn step(&mut self, step: &Step, gradient: &[f32], limit: f32) {
        self.step_part(0, step, gradient, limit);
    }

    /// A step of the numbers from a place on, as many as there are gradients.
    #[inline(always)]
    pub(crate) fn step_part(&mut self, from: usize, step: &Step, gradient: &[f32], limit: f32) {
        let Step { keep, beta1, beta2, epsilon, rate, root, blend } = *step;
        let part = from..from + gradient.len();
        let (values, first) = (&mut self.values[part.clone()], &mut self.first[part.clone()]);
        let numbers = values.iter_mut().zip(first).zip(&mut self.second[part.clone()]).zip(gradient);
        if let Some(root) = root {
            for (((value, first), second), gradient) in numbers {
                *first = beta1 * *first + (1.0 - beta1) * gradient;
                *second = beta2 * *second + (1.0 - beta2) * (gradient * gradient);
                let moved = *value * keep - rate * *first / (second.sqrt() / root + epsilon);
                *value = moved.clamp(-limit, limit);
            }
        } else {
            for (((value, first), second), gradient) in numbers {
                *first = beta1 * *first + (1.0 - beta1) * gradient;
                *second = beta2 * *second + (1.0 - beta2) * (gradient * gradient);
                *value = (*value * keep - rate * *first).clamp(-limit, limit);
            }
        }
        if let Some(blend) = blend {
            for (value, slow) in self.values[part.clone()].iter_mut().zip(&mut self.slow[part]) {
                *slow += blend * (*value - *slow);
                *value = *slow;
            }
        }
    }
}

#[cfg(test)]
mod tests;
