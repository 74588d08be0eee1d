//! The terms of an upload.

use std::ops::Range;

use dataset::Header;
use protocol::api::problem::Code;

use crate::{
    model::{AccountId, LeaseToken},
    rules::sizing::unit,
    store::{Connection, Leases, StoreError},
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
}

/// Returns the terms for an upload that begins with this game.
///
/// # Errors
///
/// If there is no such lease, it is another account's, or it does not have the game.
pub async fn expectation(
    connection: Connection<'_>,
    account: AccountId,
    token: &LeaseToken,
    first: u64,
) -> Result<Expectation, StoreError> {
    let lease = Leases::on(connection).with_header(token, account).await?;
    let unit = unit(&lease.header) as u64;
    let all = lease.numbers.start as u64..lease.numbers.end as u64;
    if !all.contains(&first) || !(first - all.start).is_multiple_of(unit) {
        let detail = format!("the lease has the games {} to {}; none begins at {first}", all.start, all.end - 1);
        return Err(StoreError::rejected(Code::WrongGames, detail));
    }
    Ok(Expectation { header: lease.header, games: first..all.end, unit })
}
