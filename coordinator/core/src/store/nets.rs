//! The table of nets.

use dataset::Digest;

use super::{connection::Connection, error::StoreError};

/// The nets, within a transaction.
pub struct Nets<'t>(Connection<'t>);

impl<'t> Nets<'t> {
    /// The nets, for a function that is no operation.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// The name of a net.
    pub async fn name(&mut self, net: Digest) -> Result<Option<String>, StoreError> {
        let query = "SELECT name FROM nets WHERE hash = $1";
        Ok(sqlx::query_scalar(query).bind(net.to_string()).fetch_optional(self.0.raw()).await?)
    }
}
