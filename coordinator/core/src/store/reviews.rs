//! The table of reviews: accounts whose uploads are reviewed in steps, since their standing
//! changed.

use super::{
    convert::{flag, row},
    error::StoreError,
    operation::repository,
};
use crate::model::{AccountId, Review, ShardId};

row!(Review { account, reviewed_until, begins: flag, is_new: flag, decided_by, reason, uploads });

repository!(
    /// The reviews, within a transaction.
    Reviews, reviews
);

impl Reviews<'_> {
    /// Whether any account is under review. Then nothing is decided: games that count now may
    /// leave.
    pub async fn any(&mut self) -> Result<bool, StoreError> {
        Ok(self.first().await?.is_some())
    }

    /// A pending review.
    pub async fn first(&mut self) -> Result<Option<Review>, StoreError> {
        let query = "SELECT account, reviewed_until, begins, is_new, decided_by, reason, uploads FROM reviews
                     ORDER BY account LIMIT 1";
        Ok(sqlx::query_as(query).fetch_optional(self.0.raw()).await?)
    }

    /// The review of an account, locked until the transaction ends.
    pub async fn lock(&mut self, account: AccountId) -> Result<Option<Review>, StoreError> {
        let query = self.0.for_update(
            "SELECT account, reviewed_until, begins, is_new, decided_by, reason, uploads FROM reviews WHERE account = $1",
        );
        Ok(sqlx::query_as(query).bind(account).fetch_optional(self.0.raw()).await?)
    }

    /// Begins a review.
    pub async fn begin(&mut self, review: &Review) -> Result<(), StoreError> {
        let query = "INSERT INTO reviews (account, reviewed_until, begins, is_new, decided_by, reason, uploads)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let query = sqlx::query(query).bind(review.account).bind(review.reviewed_until).bind(i64::from(review.begins));
        let query = query.bind(i64::from(review.is_new)).bind(review.decided_by).bind(review.reason.clone());
        query.bind(review.uploads).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Stores the progress of a review.
    pub async fn advance(&mut self, review: &Review, until: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE reviews SET reviewed_until = $3 WHERE account = $1 AND reviewed_until = $2";
        let query = sqlx::query(query).bind(review.account).bind(review.reviewed_until).bind(until);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Adds uploads that left the pool or came back to a pending review.
    pub async fn count(&mut self, account: AccountId, uploads: i64) -> Result<(), StoreError> {
        let query = "UPDATE reviews SET uploads = uploads + $2 WHERE account = $1";
        sqlx::query(query).bind(account).bind(uploads).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends a review.
    pub async fn end(&mut self, account: AccountId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM reviews WHERE account = $1").bind(account).execute(self.0.raw()).await?;
        Ok(())
    }
}
