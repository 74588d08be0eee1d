//! Invitations.

use protocol::api::work::Role;

use crate::{
    clock::DAY,
    model::{AccountId, AccountKey, Authority, Event},
    people::hash_of,
    store::{Operation, StoreError, Tx},
};

/// The validity of an invitation.
const VALIDITY_MS: i64 = 7 * DAY;

/// Creates an invitation, valid for a week.
pub struct Invite {
    /// The inviting account.
    pub by: AccountKey,
    /// The role of the new account.
    pub role: Role,
    /// The rights with which it acts; all for the command line.
    pub rights: Option<Authority>,
    /// The invitation's secret, from [`secret`](crate::people::secret).
    pub secret: String,
}

impl Operation for Invite {
    const NAME: &'static str = "invite";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.rights.as_ref().map_or(Ok(()), Authority::check_lasting)?;
        let (now, by) = (tx.now(), tx.accounts().get(&self.by).await?.id);
        tx.accounts().invite(now, hash_of(&self.secret), self.role, by, now.after(VALIDITY_MS)).await?;
        tx.record_event(Some(by), Event::Invited { account: by, role: self.role }).await?;
        Ok(())
    }
}

/// Redeems an invitation for a new account; returns its role.
pub struct RedeemInvitation {
    /// The invitation's secret.
    pub secret: String,
    /// The new account.
    pub account: AccountId,
}

impl Operation for RedeemInvitation {
    const NAME: &'static str = "redeem_invitation";
    type Output = Role;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Role, StoreError> {
        let now = tx.now();
        tx.accounts().redeem(now, hash_of(&self.secret), self.account).await
    }
}
