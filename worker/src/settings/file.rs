//! Configuration file.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use anyhow::{Result, anyhow, ensure};
use client::{ServerAddress, Token};
use dataset::as_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::flags;
use crate::hours::Hours;

/// Content of the file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the same as in the settings")]
pub struct File {
    #[serde(default, with = "optional", skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerAddress>,
    #[serde(default, deserialize_with = "token", serialize_with = "reveal", skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mebibytes: Option<u64>,
    #[serde(default, with = "optional", skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_battery: Option<bool>,
}

impl File {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its content is invalid.
    pub fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text?,
        };
        Self::from_text(&text)
    }

    /// Parses the content.
    ///
    /// # Errors
    ///
    /// If it is invalid.
    pub fn from_text(text: &str) -> Result<Self> {
        let file: Self =
            toml::from_str(text).map_err(|error| anyhow!("{}{}", position_of(text, &error), error.message()))?;
        if let Some(name) = &file.name {
            ensure!(flags::parse_name(name).is_ok(), "name: a name is one line of at most 60 letters");
        }
        Ok(file)
    }

    /// Writes the file atomically, readable by its owner only: the token is a secret.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = format!(
            "# The configuration of chuhe-worker; `chuhe-worker configure` writes it.\n{}",
            toml::to_string(self)?
        );
        let new = path.with_extension("toml.new");
        let _ = fs::remove_file(&new);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        Ok(())
    }
}

#[allow(clippy::ref_option, reason = "serde calls it so")]
fn reveal<S: Serializer>(token: &Option<Token>, serializer: S) -> Result<S::Ok, S::Error> {
    token.as_ref().map(Token::reveal).serialize(serializer)
}

/// Parses a token without showing a bad one in the error.
fn token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Token>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

/// Formats the position of an error. The line is not shown: it may hold the token.
fn position_of(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return String::new() };
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {}, column {column}: ", before.matches('\n').count() + 1)
}

/// Serialises optional values by `Display` and `FromStr`.
mod optional {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserializer, Serialize as _, Serializer};

    use super::as_text;

    #[allow(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_string).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        as_text::deserialize(deserializer).map(Some)
    }
}
