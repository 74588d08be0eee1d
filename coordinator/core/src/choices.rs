//! Settings that administrators change at run time. They are stored in the database, so they apply
//! to all its coordinators and override the command line. [`ChangeSetting`] changes them.
//!
//! [`ChangeSetting`]: crate::ops::settings::ChangeSetting

use crate::{
    model::{AccountState, Refusal, Registration, Setting},
    settings::Settings,
    store::{Connection, SettingValues, StoreError},
};

impl Setting {
    /// The name in the database; a prefix separates it from the coordinator's internal settings.
    pub(crate) const fn stored_name(self) -> &'static str {
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

    /// Sets a value from text.
    pub(crate) fn set(&mut self, setting: Setting, value: &str) -> Result<(), Refusal> {
        match setting {
            Setting::Registration => self.registration = value.parse().map_err(|_| Refusal::BadRegistration)?,
            Setting::KeepDays => {
                let days = parse_up_to(value, 36_500).ok_or(Refusal::BadKeepDays)?;
                self.keep_days = Some(days).filter(|days| *days > 0);
            }
            Setting::AuditPercent => {
                self.audit_percent = parse_up_to(value, 100).ok_or(Refusal::BadAuditPercent)?;
            }
        }
        Ok(())
    }
}

fn parse_up_to(text: &str, max: u32) -> Option<u32> {
    text.parse().ok().filter(|number| *number <= max)
}

/// Returns the current values.
pub async fn choices(connection: &mut Connection<'_>, defaults: &Settings) -> Result<Choices, StoreError> {
    let mut choices = Choices::of(defaults);
    for &key in Setting::ALL {
        if let Some(value) = SettingValues::on(connection.reborrow()).get(key.stored_name()).await? {
            // A value that is not valid counts as none.
            choices.set(key, &value).ok();
        }
    }
    Ok(choices)
}

/// Returns the minimum audit rate in per cent.
pub async fn audit_percent(connection: &mut Connection<'_>) -> Result<u64, StoreError> {
    let chosen = SettingValues::on(connection.reborrow()).get(Setting::AuditPercent.stored_name()).await?;
    Ok(chosen.and_then(|value| parse_up_to(&value, 100)).unwrap_or(0).into())
}
