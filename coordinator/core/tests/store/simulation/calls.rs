//! Requests to a coordinator and their responses, as values, so that two can run concurrently.

use coordinator_core::{
    model::{AccountId, CampaignCommand as Command, CampaignId, NetState, ToCompare, ToValidate},
    ops::{
        campaigns::GateNet,
        disputes::{ClaimComparisons, RecordComparison, ReviewShards, SetQuarantine},
        validation::ClaimShards,
    },
    store::StoreError,
};
use dataset::Digest;
use protocol::api::{
    problem::Code,
    work::{ReceiptStatus, Work},
};

use crate::common::lab::{Lab, Object, Player, SIGNATURE, new_net};

/// Duration of a coordinator's claim on tasks, in milliseconds.
const CLAIM: i64 = 60_000;

/// A request.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are two at a time")]
pub(super) enum Call {
    Ask { player: Player, nonce: String, games: u32, draw: u64 },
    Upload { player: Player, token: String, object: Object },
    Renew { player: Player, token: String, finished: u64 },
    GiveBack { player: Player, token: String, from: u64 },
    TakeShards { most: i64 },
    Judge { task: ToValidate, draw: u64 },
    TakeComparisons { most: i64 },
    Compared { task: ToCompare },
    Expire,
    Drive { campaign: i64 },
    Recheck,
    Review { limit: i64 },
    Conclude,
    Train { player: Player, net: Digest, how: u64 },
    Gate { campaign: i64, net: Digest },
    Quarantine { player: Player },
    Lift { player: Player },
    Command { campaign: i64, command: Command },
}

/// A response.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there are two at a time")]
pub(super) enum Reply {
    Work(Result<Work, StoreError>),
    Receipt(Result<ReceiptStatus, Code>),
    Renewed(Result<u32, Code>),
    Shards(Vec<ToValidate>),
    Comparisons(Vec<ToCompare>),
    Done,
}

impl Call {
    /// Whether one quarantines an account and the other lifts its quarantine.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quarantine { player }, Self::Lift { player: other })
            | (Self::Lift { player }, Self::Quarantine { player: other }) => player.account == other.account,
            _ => false,
        }
    }

    /// Sends the request to a coordinator.
    pub(super) async fn ask(self, lab: &Lab) -> Reply {
        let now = lab.now();
        let until = now.after(CLAIM);
        match self {
            Self::Ask { player, nonce, games, draw } => Reply::Work(lab.request(player, &nonce, games, draw).await),
            Self::Upload { player, token, object } => Reply::Receipt(lab.upload(player, &token, &object).await),
            Self::Renew { player, token, finished } => Reply::Renewed(lab.renew(player, &token, finished).await),
            Self::GiveBack { player, token, from } => {
                lab.release(player, &token, from).await.expect("games can be released");
                Reply::Done
            }
            Self::TakeShards { most } => {
                Reply::Shards(lab.run(ClaimShards { limit: most, until }).await.expect("tasks can be taken"))
            }
            Self::Judge { task, draw } => {
                lab.judge_shard(task.shard.0, lab.replay(&task.hash, &task.header), draw).await;
                Reply::Done
            }
            Self::TakeComparisons { most } => {
                Reply::Comparisons(lab.run(ClaimComparisons { limit: most, until }).await.expect("tasks can be taken"))
            }
            Self::Compared { task } => {
                let (differs, comparison) = (lab.difference(&task), task.comparison);
                must(lab.run(RecordComparison { comparison, differs }).await)
            }
            Self::Expire => {
                lab.expire().await;
                Reply::Done
            }
            Self::Drive { campaign } => must(lab.advance(campaign, SIGNATURE).await),
            Self::Recheck => {
                lab.recheck().await;
                Reply::Done
            }
            Self::Review { limit } => must(lab.run(ReviewShards { limit }).await),
            Self::Conclude => {
                lab.conclude().await;
                Reply::Done
            }
            Self::Train { player, net, how } => {
                train(lab, player, net, how).await;
                Reply::Done
            }
            Self::Quarantine { player } => must(set_quarantine(lab, player, true).await),
            Self::Lift { player } => must(set_quarantine(lab, player, false).await),
            Self::Gate { campaign, net } => {
                let (net, recipe) = (new_net(net, NetState::Candidate), "name = \"other\"".to_owned());
                may(lab.run(GateNet { campaign: CampaignId(campaign).into(), net, recipe, by: None }).await)
            }
            Self::Command { campaign, command } => may(lab.command(campaign, command, None, None).await),
        }
    }
}

async fn set_quarantine(lab: &Lab, player: Player, begins: bool) -> Result<(), StoreError> {
    let (account, reason) = (AccountId(player.account).into(), "by hand".into());
    lab.run(SetQuarantine { account, begins, by: None, reason }).await
}

fn must<T>(outcome: Result<T, StoreError>) -> Reply {
    match outcome {
        Ok(_) => Reply::Done,
        Err(failure) => panic!("the coordinator fails: {failure:?}"),
    }
}

fn may(outcome: Result<(), StoreError>) -> Reply {
    match outcome {
        Ok(()) | Err(StoreError::Rejected(_)) => Reply::Done,
        Err(failure) => panic!("{failure:?}"),
    }
}

/// A trainer, which may stop anywhere.
async fn train(lab: &Lab, player: Player, net: Digest, how: u64) {
    let Some(training) = lab.claim(player, "trainer").await else { return };
    if how.is_multiple_of(5) {
        return;
    }
    // Another trainer may have claimed it meanwhile, or the campaign was stopped.
    if lab.put_net(player, &training.token, net).await.is_ok() && !how.is_multiple_of(7) {
        lab.complete(player, &training.token, net).await.ok();
    }
}
