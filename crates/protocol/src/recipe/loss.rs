//! The loss function.

use serde::Serialize;

use super::{RecipeError, RecipeFault, table::Table};

/// The loss: the absolute difference, raised to a power, between the net's expected result and a
/// target. The target mixes the expected result of the search's score with the game's result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The power: 1 to 4.
    pub exponent: f64,
    /// λ in the first epoch: the score's share of the target; the rest is the game's result. 0 to
    /// 1.
    pub lambda_start: f64,
    /// λ in the last epoch, interpolated linearly between; as in the first if not given.
    pub lambda_end: f64,
    /// The scale, in hundredths of a pawn, of the net's own scores: 1 to 10,000; the weighted mean
    /// of the sources' scales if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_scale: Option<f64>,
}

impl Default for Loss {
    fn default() -> Self {
        Self { exponent: 2.5, lambda_start: 0.8, lambda_end: 0.8, output_scale: None }
    }
}

impl Loss {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["exponent", "lambda_start", "lambda_end", "output_scale"])?;
        let default = Self::default();
        let lambda_start = table.number("lambda_start", 0.0..=1.0)?;
        let lambda_end = table.number("lambda_end", 0.0..=1.0)?;
        if lambda_end.is_some() && lambda_start.is_none() {
            let what = format!("`{}`", table.path_of(&"lambda_end"));
            let fault = RecipeFault::Needs { what, needed: table.path_of(&"lambda_start") };
            return Err(table.error("lambda_end", fault));
        }
        let lambda_start = lambda_start.unwrap_or(default.lambda_start);
        Ok(Self {
            exponent: table.number("exponent", 1.0..=4.0)?.unwrap_or(default.exponent),
            lambda_start,
            lambda_end: lambda_end.unwrap_or(lambda_start),
            output_scale: table.number("output_scale", 1.0..=10_000.0)?,
        })
    }
}
