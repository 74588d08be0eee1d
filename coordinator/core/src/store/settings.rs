//! The table of settings: of administrators, and internal ones.

use super::{error::StoreError, operation::repository};

repository!(
    /// The settings, within a transaction.
    SettingValues, settings
);

impl SettingValues<'_> {
    /// The value of a setting.
    pub async fn get(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let query = "SELECT value FROM settings WHERE name = $1";
        Ok(sqlx::query_scalar(query).bind(name.to_owned()).fetch_optional(self.0.raw()).await?)
    }

    /// Sets a setting.
    pub async fn set(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        self.replace(name, value).await.map(drop)
    }

    /// Sets a setting; whether it had another value, with several coordinators at once too.
    pub async fn replace(&mut self, name: &str, value: &str) -> Result<bool, StoreError> {
        let query = "INSERT INTO settings (name, value) VALUES ($1, $2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value <> excluded.value";
        let query = sqlx::query(query).bind(name.to_owned()).bind(value.to_owned());
        Ok(query.execute(self.0.raw()).await?.rows_affected() > 0)
    }
}
