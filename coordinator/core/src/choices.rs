//! Settings that administrators change at run time. They are stored in the database, so they apply
//! to all its coordinators and override the command line. Each change is an event.

use std::{fmt, str::FromStr};

use protocol::api::problem::Code;

use crate::{
    clock::Time,
    events::{Event, record_event},
    people,
    settings::Settings,
    store::{Connection, StoreError},
};

/// The key of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The conditions under which people may create accounts.
    Registration,
    /// Retention in days of games that no published net was trained on; 0: unlimited.
    KeepDays,
    /// Minimum audit rate in per cent, however many clean games an account has.
    AuditPercent,
}

impl Key {
    /// All keys.
    pub const ALL: [Self; 3] = [Self::Registration, Self::AuditPercent, Self::KeepDays];

    /// The key's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registration => "registration",
            Self::KeepDays => "keep_days",
            Self::AuditPercent => "audit_percent",
        }
    }

    /// The name in the database; a prefix separates it from the coordinator's internal settings.
    const fn stored_name(self) -> &'static str {
        match self {
            Self::Registration => "chosen.registration",
            Self::KeepDays => "chosen.keep_days",
            Self::AuditPercent => "chosen.audit_percent",
        }
    }
}

/// The error of an unknown key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such setting")]
pub struct NoSuchKey;

impl FromStr for Key {
    type Err = NoSuchKey;

    fn from_str(text: &str) -> Result<Self, NoSuchKey> {
        Self::ALL.into_iter().find(|key| key.name() == text).ok_or(NoSuchKey)
    }
}

/// The conditions under which people may create accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// Anyone may register.
    Open,
    /// Anyone, subject to a maintainer's approval unless invited.
    Approval,
    /// Only invited people may register.
    Invitation,
}

impl Registration {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Open, Self::Approval, Self::Invitation];

    /// The policy's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open_to_all",
            Self::Approval => "by_approval",
            Self::Invitation => "by_invitation",
        }
    }

    /// The initial state of an account.
    #[must_use]
    pub const fn first_state(self, is_invited: bool) -> &'static str {
        if matches!(self, Self::Approval) && !is_invited { "pending" } else { "active" }
    }
}

/// The values of all settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The registration policy.
    pub registration: Registration,
    /// Retention of games in days; none: unlimited.
    pub keep_days: Option<u32>,
    /// Minimum audit rate in per cent.
    pub audit_percent: u32,
}

impl Choices {
    /// The values given at the start.
    #[must_use]
    pub fn of(defaults: &Settings) -> Self {
        let registration = match (defaults.invitation_only, defaults.approval) {
            (true, _) => Registration::Invitation,
            (false, true) => Registration::Approval,
            (false, false) => Registration::Open,
        };
        Self { registration, keep_days: defaults.keep_days, audit_percent: 0 }
    }

    /// Returns a value as text.
    #[must_use]
    pub fn value(&self, key: Key) -> String {
        match key {
            Key::Registration => self.registration.name().to_owned(),
            Key::KeepDays => self.keep_days.unwrap_or(0).to_string(),
            Key::AuditPercent => self.audit_percent.to_string(),
        }
    }

    /// Sets a value from text; returns whether it is valid.
    fn set(&mut self, key: Key, value: &str) -> bool {
        match key {
            Key::Registration => match Registration::ALL.into_iter().find(|it| it.name() == value) {
                Some(registration) => self.registration = registration,
                None => return false,
            },
            Key::KeepDays => match parse_up_to(value, 36_500) {
                Some(days) => self.keep_days = Some(days).filter(|days| *days > 0),
                None => return false,
            },
            Key::AuditPercent => match parse_up_to(value, 100) {
                Some(percent) => self.audit_percent = percent,
                None => return false,
            },
        }
        true
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn parse_up_to(text: &str, max: u32) -> Option<u32> {
    text.parse().ok().filter(|number| *number <= max)
}

/// Returns the current values.
pub async fn choices(connection: &mut Connection<'_>, defaults: &Settings) -> Result<Choices, StoreError> {
    let mut choices = Choices::of(defaults);
    for key in Key::ALL {
        if let Some(value) = people::setting(connection, key.stored_name()).await? {
            choices.set(key, &value);
        }
    }
    Ok(choices)
}

/// Returns the minimum audit rate in per cent.
pub async fn audit_percent(connection: &mut Connection<'_>) -> Result<u64, StoreError> {
    let chosen = people::setting(connection, Key::AuditPercent.stored_name()).await?;
    Ok(chosen.and_then(|value| parse_up_to(&value, 100)).unwrap_or(0).into())
}

/// Changes a setting.
///
/// # Errors
///
/// If the value is invalid.
pub async fn choose(
    connection: &mut Connection<'_>,
    now: Time,
    defaults: &Settings,
    (key, value): (Key, &str),
    by: Option<i64>,
) -> Result<(), StoreError> {
    let before = choices(connection, defaults).await?;
    let mut after = before;
    if !after.set(key, value.trim()) {
        let detail = match key {
            Key::Registration => "registration is open_to_all, by_approval or by_invitation",
            Key::KeepDays => "keep_days is a whole number from 0 to 36500",
            Key::AuditPercent => "audit_percent is a whole number from 0 to 100",
        };
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    if after == before {
        return Ok(());
    }
    people::set_setting(connection, key.stored_name(), &after.value(key)).await?;
    let text = format!("{key} is now {}, before {}", after.value(key), before.value(key));
    let subject = format!("setting:{key}");
    record_event(connection, now, Event { kind: "settings_changed", account: by, subject, text }).await?;
    Ok(())
}
