//! Whole numbers on the command line.

use std::{
    fmt::Display,
    ops::{Bound, RangeBounds},
    str::FromStr,
};

/// A parser of whole numbers within a range, which its error names.
pub(crate) fn whole<T: FromStr + PartialOrd + Display>(
    range: impl RangeBounds<T> + Clone,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            match (range.start_bound(), range.end_bound()) {
                (Bound::Included(least), Bound::Included(most)) => {
                    format!("a whole number from {least} to {most} is wanted")
                }
                (Bound::Included(least), _) => format!("a whole number of at least {least} is wanted"),
                _ => "a whole number is wanted".to_owned(),
            }
        })
    }
}
