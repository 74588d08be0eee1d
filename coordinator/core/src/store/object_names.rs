//! References of rows to objects.

use dataset::Digest;

use super::{connection::Connection, error::StoreError};
use crate::objects::Kind;

/// References to objects, within a transaction.
pub struct ObjectNames<'t>(Connection<'t>);

impl<'t> ObjectNames<'t> {
    /// References to objects.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// Whether a row names the object.
    pub async fn is_named(&mut self, kind: Kind, hash: Digest) -> Result<bool, StoreError> {
        let query = match kind {
            Kind::Shard => "SELECT COUNT(*) FROM shards WHERE hash = $1 AND object = 'present'",
            Kind::Net => {
                "SELECT (SELECT COUNT(*) FROM nets WHERE hash = $1)
                      + (SELECT COUNT(*) FROM trainings WHERE candidate = $1)"
            }
            Kind::Book => "SELECT COUNT(*) FROM books WHERE hash = $1",
            Kind::Curves => "SELECT COUNT(*) FROM trainings WHERE curves = $1",
        };
        let named: i64 = sqlx::query_scalar(query).bind(hash.to_string()).fetch_one(self.0.raw()).await?;
        Ok(named > 0)
    }
}
