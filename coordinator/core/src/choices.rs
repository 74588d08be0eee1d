//! Settings that administrators change at run time. They are stored in the database, so they apply
//! to all its coordinators and override the command line. Each change is an event.

use crate::{
    clock::Time,
    events::{Event, record_event},
    model::{AccountState, Refusal, Registration, Setting},
    people,
    settings::Settings,
    store::{Connection, StoreError},
};

impl Setting {
    /// The name in the database; a prefix separates it from the coordinator's internal settings.
    const fn stored_name(self) -> &'static str {
        match self {
            Self::Registration => "chosen.registration",
            Self::KeepDays => "chosen.keep_days",
            Self::AuditPercent => "chosen.audit_percent",
        }
    }
}

impl Registration {
    /// The initial state of an account.
    #[must_use]
    pub const fn first_state(self, is_invited: bool) -> AccountState {
        if matches!(self, Self::Approval) && !is_invited { AccountState::Pending } else { AccountState::Active }
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
    pub fn value(&self, key: Setting) -> String {
        match key {
            Setting::Registration => self.registration.name().to_owned(),
            Setting::KeepDays => self.keep_days.unwrap_or(0).to_string(),
            Setting::AuditPercent => self.audit_percent.to_string(),
        }
    }

    /// Sets a value from text; returns whether it is valid.
    fn set(&mut self, key: Setting, value: &str) -> bool {
        match key {
            Setting::Registration => match value.parse() {
                Ok(registration) => self.registration = registration,
                Err(_) => return false,
            },
            Setting::KeepDays => match parse_up_to(value, 36_500) {
                Some(days) => self.keep_days = Some(days).filter(|days| *days > 0),
                None => return false,
            },
            Setting::AuditPercent => match parse_up_to(value, 100) {
                Some(percent) => self.audit_percent = percent,
                None => return false,
            },
        }
        true
    }
}

fn parse_up_to(text: &str, max: u32) -> Option<u32> {
    text.parse().ok().filter(|number| *number <= max)
}

/// Returns the current values.
pub async fn choices(connection: &mut Connection<'_>, defaults: &Settings) -> Result<Choices, StoreError> {
    let mut choices = Choices::of(defaults);
    for &key in Setting::ALL {
        if let Some(value) = people::setting(connection, key.stored_name()).await? {
            choices.set(key, &value);
        }
    }
    Ok(choices)
}

/// Returns the minimum audit rate in per cent.
pub async fn audit_percent(connection: &mut Connection<'_>) -> Result<u64, StoreError> {
    let chosen = people::setting(connection, Setting::AuditPercent.stored_name()).await?;
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
    (key, value): (Setting, &str),
    by: Option<i64>,
) -> Result<(), StoreError> {
    let before = choices(connection, defaults).await?;
    let mut after = before;
    if !after.set(key, value.trim()) {
        return Err(match key {
            Setting::Registration => Refusal::BadRegistration.into(),
            Setting::KeepDays => Refusal::BadKeepDays.into(),
            Setting::AuditPercent => Refusal::BadAuditPercent.into(),
        });
    }
    if after == before {
        return Ok(());
    }
    people::set_setting(connection, key.stored_name(), &after.value(key)).await?;
    let event = Event::SettingsChanged { setting: key, value: after.value(key), before: before.value(key) };
    record_event(connection, now, by, event).await?;
    Ok(())
}
