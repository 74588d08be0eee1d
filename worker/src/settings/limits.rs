//! Ranges of settings that depend on the machine.

use std::{num::NonZeroUsize, ops::RangeInclusive};

use crate::{memory, work::MIN_MEBIBYTES};

/// The allowed values of a setting, and where they come from.
pub(crate) struct Limits {
    pub(crate) range: RangeInclusive<u64>,
    reason: &'static str,
}

/// The limits of the number of cores.
pub(crate) fn cores() -> Limits {
    Limits { range: 1..=all_cores() as u64, reason: "the cores of this machine" }
}

/// The limits of the memory, in mebibytes.
pub(crate) fn memory() -> Limits {
    let total = memory::total_mebibytes().unwrap_or(u64::from(u32::MAX)).max(MIN_MEBIBYTES);
    Limits { range: MIN_MEBIBYTES..=total, reason: "from what one game needs to all memory of this machine" }
}

/// The limits of the number of leases.
pub(crate) fn leases() -> Limits {
    Limits { range: 1..=u64::from(u32::MAX), reason: "without `--leases` it plays on" }
}

pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

impl Limits {
    /// Returns the value if it is in range.
    ///
    /// # Errors
    ///
    /// A text that names the range.
    pub(crate) fn check(&self, value: u64) -> Result<u64, String> {
        if self.range.contains(&value) { Ok(value) } else { Err(self.error()) }
    }

    /// Parses a whole number in range.
    ///
    /// # Errors
    ///
    /// A text that names the range.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, String> {
        self.check(text.parse().map_err(|_| self.error())?)
    }

    fn error(&self) -> String {
        let Self { range, reason } = self;
        format!("a whole number from {} to {} is wanted ({reason})", range.start(), range.end())
    }
}
