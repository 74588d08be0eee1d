//! Changes of settings.

use std::sync::Arc;

use crate::{
    choices::{self, Choices},
    model::{AccountId, Event, Setting},
    settings::Settings,
    store::{Operation, StoreError, Tx},
};

/// Changes a setting.
pub struct ChangeSetting {
    /// The settings of the command line.
    pub defaults: Arc<Settings>,
    /// The setting.
    pub setting: Setting,
    /// Its new value.
    pub value: String,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for ChangeSetting {
    const NAME: &'static str = "change_setting";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let setting = self.setting;
        let before: Choices = choices::choices(&mut tx.connection(), &self.defaults).await?;
        let mut after = before;
        after.set(setting, self.value.trim())?;
        if after == before {
            return Ok(());
        }
        let (value, before) = (after.value(setting), before.value(setting));
        tx.settings().set(setting.stored_name(), &value).await?;
        tx.record_event(self.by, Event::SettingsChanged { setting, value, before }).await?;
        Ok(())
    }
}
