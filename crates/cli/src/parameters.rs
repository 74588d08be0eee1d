//! The flag `--param`: overridden parameters of the search.

use anyhow::{Context as _, Result};
use engine::Parameters;

/// Checks one flag's assignments; for clap.
pub(crate) fn parse(text: &str) -> Result<String, String> {
    text.parse::<Parameters>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// The parameters of all flags together.
pub(crate) fn joined(texts: &[String], flag: &'static str) -> Result<Parameters> {
    texts.join(" ").parse().context(flag)
}
