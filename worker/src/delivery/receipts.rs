//! Receipts: what the server has acknowledged, and what it rejected later.

use std::collections::{BTreeSet, VecDeque};

use dataset::Digest;
use protocol::api::work::Notice;

use crate::sentence::sentence;

/// The server validates a shard within minutes, as a rule.
const MAX_REMEMBERED_SHARDS: usize = 500;

/// Games that were acknowledged or rejected since the start.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    /// Games that the server acknowledged.
    pub(crate) accepted: u64,
    /// Games that it rejected.
    pub(crate) refused: u64,
    /// The last acknowledged shards with their numbers of games; the server may reject them later.
    acknowledged_shards: VecDeque<(Digest, u64)>,
    /// Shards whose notices arrived and are not yet acknowledged.
    unacked_notices: BTreeSet<Digest>,
}

/// Content of some notices.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Messages for the owner.
    pub(super) messages: Vec<String>,
    /// Rejected shards, with the reasons to be kept.
    pub(super) rejected: Vec<(Digest, String)>,
}

impl Receipts {
    /// Counts an acknowledged shard. Idempotent: a repeated receipt is ignored.
    pub(crate) fn record_accepted(&mut self, shard: Digest, games: u64) {
        if self.acknowledged_shards.iter().all(|(known, _)| *known != shard) {
            self.accepted += games;
            self.acknowledged_shards.push_back((shard, games));
        }
        if self.acknowledged_shards.len() > MAX_REMEMBERED_SHARDS {
            self.acknowledged_shards.pop_front();
        }
    }

    /// Processes notices. The server repeats a notice until it is acknowledged; each is shown once.
    /// Games that are rejected after their acknowledgement move from accepted to refused.
    pub(super) fn receive_notices(&mut self, notices: Vec<Notice>) -> News {
        let mut news = News::default();
        for notice in notices {
            if !notice.shard.is_none_or(|shard| self.unacked_notices.insert(shard)) {
                continue;
            }
            if notice.kind != "rejected" {
                news.messages.push(sentence(format!("The server says: {}", notice.text)));
                continue;
            }
            let is_this = |(shard, _): &(Digest, u64)| Some(*shard) == notice.shard;
            let known = self.acknowledged_shards.iter().position(is_this);
            let games = known.and_then(|place| self.acknowledged_shards.remove(place)).map_or(0, |(_, games)| games);
            self.accepted = self.accepted.saturating_sub(games);
            self.refused += games;
            let what = if games > 0 { format!("{games} games") } else { "Games".to_owned() };
            let reason = reason_of(&notice);
            news.messages.push(sentence(format!("{what} that were submitted are rejected: {reason}")));
            news.rejected.extend(notice.shard.map(|shard| (shard, reason)));
        }
        news
    }

    /// Returns the notices that the next request acknowledges.
    pub(crate) fn unacked_notices(&self, max: usize) -> Vec<Digest> {
        self.unacked_notices.iter().take(max).copied().collect()
    }

    /// Forgets notices that the server knows to have arrived.
    pub(crate) fn forget_notices(&mut self, acknowledged: &[Digest]) {
        self.unacked_notices.retain(|shard| !acknowledged.contains(shard));
    }
}

/// Formats the reason of a rejection: code, text and shard.
fn reason_of(notice: &Notice) -> String {
    let code = notice.code.as_ref().map_or_else(String::new, |code| format!("{code}, "));
    let shard = notice.shard.map_or_else(String::new, |shard| format!(" (shard {shard})"));
    format!("{code}{}{shard}", notice.text)
}
