//! What counts as an error, and how much.

use serde::Serialize;

use super::{RecipeError, RecipeFault, table::Table};

/// What counts as an error, and how much: the distance between the result that the net expects and a target between
/// what the search's score expects and how the game ended, raised to a power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The power: 1 to 4.
    pub exponent: f64,
    /// The score's part in the target in the first epoch; the rest is the game's result. 0 to 1.
    pub lambda_start: f64,
    /// The same in the last epoch; between them it moves evenly. As in the first if not given.
    pub lambda_end: f64,
    /// The scale, in hundredths of a pawn, on which the net's own scores mean results: 1 to 10,000. The weighted mean of
    /// the sources' scales if none.
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
