//! The terms of an upload.

use std::ops::Range;

use dataset::{Digest, Header};
use protocol::api::problem::Code;

use crate::{
    model::{AccountId, EarlierUpload, Lease, LeaseToken, Refusal, TokenId},
    rules::sizing::unit,
    store::{Connection, Leases, Shards, StoreError, Workers},
};

/// The terms for an upload.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The header that determines the games.
    pub header: Header,
    /// Allowed numbers: those of the lease from the named first game.
    pub games: Range<u64>,
    /// Games that belong together: 2 in a match.
    pub unit: u64,
    /// The uploads of the lease so far.
    earlier: Vec<EarlierUpload>,
}

impl Expectation {
    /// Checks an upload with these games before its file is stored. Returns whether it was received
    /// before.
    ///
    /// # Errors
    ///
    /// If too few of its games are new.
    pub fn is_repeated(&self, hash: Digest, first: u64, games: u64) -> Result<bool, Refusal> {
        if self.earlier.iter().any(|upload| upload.hash == hash) {
            return Ok(true);
        }
        Lease::check_repeat(&(first as i64..(first + games) as i64), &self.earlier)?;
        Ok(false)
    }
}

/// Returns the terms for an upload that begins with this game.
///
/// # Errors
///
/// If there is no such lease, it is another account's, or it does not have the game. If its worker
/// is trusted and has another token.
pub async fn expectation(
    mut connection: Connection<'_>,
    account: AccountId,
    token: Option<TokenId>,
    lease: &LeaseToken,
    first: u64,
) -> Result<Expectation, StoreError> {
    let lease = Leases::on(connection.reborrow()).with_header(lease, account).await?;
    Workers::on(connection.reborrow()).key(lease.worker).await?.check(lease.worker, token)?;
    let unit = unit(&lease.header) as u64;
    let all = lease.numbers.start as u64..lease.numbers.end as u64;
    if !all.contains(&first) || !(first - all.start).is_multiple_of(unit) {
        let detail = format!("the lease has the games {} to {}; none begins at {first}", all.start, all.end - 1);
        return Err(StoreError::rejected(Code::WrongGames, detail));
    }
    let earlier = Shards::on(connection).of_lease(lease.id).await?;
    Ok(Expectation { header: lease.header, games: first..all.end, unit, earlier })
}
