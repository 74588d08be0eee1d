//! The verdict of a test, and its bounds.

use std::fmt;

/// The verdict of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Decision {
    /// No verdict yet.
    Continue,
    /// The player is not stronger: a candidate fails.
    AcceptH0,
    /// The player is stronger: a candidate passes.
    AcceptH1,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Continue => "continue",
            Self::AcceptH0 => "accept_h0",
            Self::AcceptH1 => "accept_h1",
        })
    }
}

/// The interval of no verdict. Prints as `(-2.944, 2.944)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bounds {
    /// A: below it H0 is accepted.
    pub lower: f64,
    /// B: above it H1 is accepted.
    pub upper: f64,
}

impl Bounds {
    /// The verdict on an LLR.
    ///
    /// If corrected bounds have crossed, so that the LLR is beyond both, H0 is accepted: a
    /// correction promotes nothing.
    #[must_use]
    pub fn decide(&self, llr: f64) -> Decision {
        if llr < self.lower {
            Decision::AcceptH0
        } else if llr > self.upper {
            Decision::AcceptH1
        } else {
            Decision::Continue
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(3);
        write!(f, "({:.places$}, {:.places$})", self.lower, self.upper)
    }
}

#[cfg(test)]
mod tests {
    use super::Decision::{AcceptH0, AcceptH1, Continue};
    use super::*;

    #[test]
    fn a_bound_itself_does_not_decide() {
        let bounds = Bounds { lower: -1.0, upper: 2.0 };
        let verdicts = [-1.1, -1.0, 0.0, 2.0, 2.1].map(|llr| bounds.decide(llr));
        assert_eq!(verdicts, [AcceptH0, Continue, Continue, Continue, AcceptH1]);
        assert_eq!(Bounds { lower: 1.0, upper: -1.0 }.decide(0.0), AcceptH0);
    }
}
