//! Optimisers: AdamW, RAdam, and Lookahead around either.
//!
//! Every operation is exact IEEE arithmetic on one element, so a step gives the same bits on every
//! machine.

/// The update rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Adam with decoupled weight decay.
    AdamW,
    /// RAdam: `AdamW` with a rectified variance in the first steps.
    RAdam,
}

/// An optimiser and its hyperparameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimizer {
    /// The update rule.
    pub method: Method,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the divisor to keep it from zero.
    pub epsilon: f64,
    /// Decoupled weight decay per step, in units of the learning rate.
    pub weight_decay: f64,
    /// Lookahead, if used.
    pub lookahead: Option<Lookahead>,
}

impl Default for Optimizer {
    /// `AdamW` with the usual hyperparameters, which are also a recipe's defaults.
    fn default() -> Self {
        Self { method: Method::AdamW, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, lookahead: None }
    }
}

/// Lookahead: every `steps` steps the slow weights move towards the fast ones, which restart there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookahead {
    /// Steps between synchronisations.
    pub steps: u64,
    /// The share of the way that the slow weights move.
    pub blend: f32,
}

/// The coefficients of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    weight_scale: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    scaled_rate: f32,
    /// Square root of the second moment's bias correction; none if RAdam steps along the first
    /// moment alone.
    bias_correction: Option<f32>,
    blend: Option<f32>,
}

/// A step's coefficients in 64 bits, for other backends.
#[cfg(feature = "torch")]
pub(crate) struct Coefficients {
    pub(crate) weight_scale: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    pub(crate) scaled_rate: f64,
    pub(crate) bias_correction: Option<f64>,
    pub(crate) blend: Option<f64>,
}

#[cfg(feature = "torch")]
impl Step {
    pub(crate) fn coefficients(&self) -> Coefficients {
        Coefficients {
            weight_scale: self.weight_scale.into(),
            beta1: self.beta1.into(),
            beta2: self.beta2.into(),
            epsilon: self.epsilon.into(),
            scaled_rate: self.scaled_rate.into(),
            bias_correction: self.bias_correction.map(Into::into),
            blend: self.blend.map(Into::into),
        }
    }
}

impl Optimizer {
    /// Computes the coefficients of a step, counted from 1.
    #[must_use]
    pub fn step(&self, number: u64, learning_rate: f64) -> Step {
        let time = number as f64;
        let (decay1, decay2) = (libm::pow(self.beta1, time), libm::pow(self.beta2, time));
        let root = libm::sqrt(1.0 - decay2);
        // Bias correction of both moments.
        let unrectified = learning_rate / (1.0 - decay1);
        let (scaled_rate, correction) = match self.method {
            Method::AdamW => (unrectified, Some(root)),
            // Variance rectification; `rho` is the length of the approximated moving average.
            Method::RAdam => {
                let rho_inf = 2.0 / (1.0 - self.beta2) - 1.0;
                let rho = rho_inf - 2.0 * time * decay2 / (1.0 - decay2);
                if rho > 5.0 {
                    let rectified = ((rho - 4.0) * (rho - 2.0) * rho_inf) / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho);
                    (unrectified * libm::sqrt(rectified), Some(root))
                } else {
                    (unrectified, None)
                }
            }
        };
        Step {
            weight_scale: (1.0 - learning_rate * self.weight_decay) as f32,
            beta1: self.beta1 as f32,
            beta2: self.beta2 as f32,
            epsilon: self.epsilon as f32,
            scaled_rate: scaled_rate as f32,
            bias_correction: correction.map(|root| root as f32),
            blend: self.lookahead.filter(|it| number.is_multiple_of(it.steps)).map(|it| it.blend),
        }
    }
}

/// A group of parameters with the optimiser's state of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The parameters.
    pub values: Vec<f32>,
    /// First moments: moving averages of the gradients.
    pub first: Vec<f32>,
    /// Second moments: moving averages of the squared gradients.
    pub second: Vec<f32>,
    /// Lookahead's slow weights, if used.
    pub slow: Vec<f32>,
}

impl Group {
    /// A group with fresh optimiser state.
    #[must_use]
    pub fn new(values: Vec<f32>, optimizer: &Optimizer) -> Self {
        let zeros = vec![0.0; values.len()];
        let slow = if optimizer.lookahead.is_some() { values.clone() } else { Vec::new() };
        Self { values, first: zeros.clone(), second: zeros, slow }
    }

    /// Steps all parameters; weight clipping keeps them within ±`limit`.
    #[inline(always)]
    pub(crate) fn step(&mut self, step: &Step, gradient: &[f32], limit: f32) {
        self.step_part(0, step, gradient, limit);
    }

    /// Steps the parameters from a place on, as many as there are gradients.
    #[inline(always)]
    pub(crate) fn step_part(&mut self, from: usize, step: &Step, gradient: &[f32], limit: f32) {
        let Step { weight_scale, beta1, beta2, epsilon, scaled_rate, bias_correction, blend } = *step;
        let part = from..from + gradient.len();
        let (values, first) = (&mut self.values[part.clone()], &mut self.first[part.clone()]);
        let numbers = values.iter_mut().zip(first).zip(&mut self.second[part.clone()]).zip(gradient);
        // Adam with decoupled weight decay, then weight clipping.
        if let Some(root) = bias_correction {
            for (((value, first), second), gradient) in numbers {
                *first = beta1 * *first + (1.0 - beta1) * gradient;
                *second = beta2 * *second + (1.0 - beta2) * (gradient * gradient);
                let moved = *value * weight_scale - scaled_rate * *first / (second.sqrt() / root + epsilon);
                *value = moved.clamp(-limit, limit);
            }
        } else {
            for (((value, first), second), gradient) in numbers {
                *first = beta1 * *first + (1.0 - beta1) * gradient;
                *second = beta2 * *second + (1.0 - beta2) * (gradient * gradient);
                *value = (*value * weight_scale - scaled_rate * *first).clamp(-limit, limit);
            }
        }
        // Lookahead: synchronise the slow and the fast weights.
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
