//! Registration of workers.

use protocol::{
    api::{problem::Code, work::Machine},
    is_name,
};

use crate::{
    model::{AccountId, TokenId, WorkerId},
    store::{Operation, StoreError, Tx},
};

/// Maximum workers of an account.
const MAX_WORKERS: i64 = 1_000;

/// Maximum threads of a worker.
pub const MAX_THREADS: u32 = 4_096;

/// Registers a worker, or updates a known one.
pub struct RegisterWorker {
    /// Its account.
    pub account: AccountId,
    /// The token of the request.
    pub token: Option<TokenId>,
    /// Its machine.
    pub machine: Machine,
    /// A hash of the block of addresses that it is in.
    pub network: Option<String>,
}

impl Operation for RegisterWorker {
    const NAME: &'static str = "register_worker";
    type Output = WorkerId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<WorkerId, StoreError> {
        let (now, machine) = (tx.now(), &self.machine);
        let refuse = |code, detail| Err(StoreError::rejected(code, detail));
        if !is_name(&machine.name) {
            return refuse(Code::Invalid, format!("{:?} is no name of a worker", machine.name));
        }
        if !(1..=MAX_THREADS).contains(&machine.threads) {
            let detail = format!("a worker has 1 to {MAX_THREADS} threads, not {}", machine.threads);
            return refuse(Code::Invalid, detail);
        }
        if tx.workers().count_others(self.account, &machine.name).await? >= MAX_WORKERS {
            return refuse(Code::Quota, format!("an account has at most {MAX_WORKERS} workers"));
        }
        let worker = tx.workers().register(now, self.account, machine, self.network.as_deref()).await?;
        tx.workers().key(worker).await?.check(worker, self.token)?;
        tx.workers().bind_token(worker, self.token).await?;
        Ok(worker)
    }
}
