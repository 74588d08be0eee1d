//! Retention: which games are kept, and what stays of expired ones.

use std::{collections::BTreeSet, sync::Arc};

use coordinator_core::{
    clock::DAY,
    model::{AccountId, CampaignCommand, ShardId},
    ops::{retention::ExpireShards, uploads::CountStoredBytes},
    retention,
    store::Accounts,
};

use super::{
    campaigns::{command, gating, row},
    cases,
    disputes::{lift, quarantine},
    receiving::counted,
};
use crate::{
    common::lab::{CAMPAIGN, Lab, NO_AUDIT, Player},
    op,
};

cases! {
    training_data_of_a_published_net_is_pinned
    needed_shards_do_not_expire
    shards_that_another_campaign_learns_from_do_not_expire
    expired_shards_are_not_compared
    finished_leases_of_expired_games_are_merged
    the_bytes_of_an_account_are_counted_in_steps
    a_quarantine_after_expiry_takes_counts_and_brings_them_back
}

/// Segments of expired self-play.
const STALE_SEGMENTS: &str = "SELECT COUNT(*) FROM segments JOIN shards ON shards.id = segments.shard
    JOIN jobs ON jobs.id = shards.job WHERE shards.object = 'expired' AND jobs.kind = 'selfplay'";

/// Expires shards received more than this many days ago; returns their number.
async fn expire(lab: &Lab, days: i64) -> u64 {
    let before = lab.now().after(-days * DAY);
    let pinned = op!(lab.read, [], |c| retention::pinned(c)).unwrap();
    let (pinned, mut expired, mut after) = (Arc::new(pinned), 0, Some(ShardId(0)));
    while let Some(from) = after {
        let (marked, next) = lab.run(ExpireShards { before, pinned: Arc::clone(&pinned), after: from }).await.unwrap();
        (expired, after) = (expired + marked, next);
    }
    expired
}

async fn the_bytes_of_an_account_are_counted_in_steps(lab: Lab) {
    let (judge, other) = (lab.judge("judge").await, lab.player("other").await);
    let (id, _) = lab.campaign("one").await;
    let check = async |step: &str| {
        for player in [judge, other] {
            let account = AccountId(player.account);
            let found = op!(lab.read, [], |c| Accounts::on(c).stored_bytes(account)).unwrap();
            let sum = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM shards WHERE object = 'present' AND account";
            assert_eq!(found as i64, lab.value::<i64>(&format!("{sum} = {account}")).await, "{step}");
        }
    };
    let counted = async || {
        lab.run(CountStoredBytes { step: 2 }).await.unwrap();
        lab.value::<i64>("SELECT CAST(value AS BIGINT) FROM settings WHERE name = 'stored_bytes_until'").await
    };
    for _ in 0..4 {
        lab.play(judge, 1).await;
        lab.play(other, 1).await;
        check("before").await;
    }
    assert_eq!([counted().await, counted().await, counted().await], [0, 2, 4]);
    check("after four shards").await;
    command(&lab, id, CampaignCommand::Stop).await.unwrap();
    lab.clock.advance(30 * DAY);
    assert!(expire(&lab, 7).await > 0, "counted shards and others");
    check("after expiry").await;
    assert_eq!(counted().await, 4, "the newest stay uncounted");
    check("at the end").await;
}

/// The hashes of a kind of jobs' shards whose object is in this state.
async fn hashes(lab: &Lab, kind: &str, object: &str) -> BTreeSet<String> {
    let query = format!(
        "SELECT shards.hash FROM shards JOIN jobs ON jobs.id = shards.job
         WHERE jobs.kind = '{kind}' AND shards.object = '{object}'"
    );
    lab.rows::<(String,)>(&query).await.into_iter().map(|row| row.0).collect()
}

async fn training_data_of_a_published_net_is_pinned(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, gate) = gating(&lab, judge, 0).await;
    let learned = op!(lab.read, [], |c| retention::pinned(c)).unwrap();
    assert!(!learned.is_empty());
    lab.play(judge, 8).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.generation, 1, "it is promoted");
    let games = counted(&lab, gate).await;
    command(&lab, id, CampaignCommand::Stop).await.unwrap();
    assert_eq!(expire(&lab, 30).await, 0, "it is too young");
    lab.clock.advance(31 * DAY);
    assert!(expire(&lab, 30).await > 0);
    assert_eq!(expire(&lab, 30).await, 0, "once is enough");
    let kept = "SELECT COUNT(*) FROM shards WHERE object = 'expired' AND (entry IS NOT NULL OR figures IS NOT NULL)";
    assert_eq!(lab.value::<i64>(kept).await, 0, "the details of an expired shard are summed already");
    assert_eq!(lab.value::<i64>(STALE_SEGMENTS).await, 0);
    assert!(learned.is_subset(&hashes(&lab, "selfplay", "present").await));
    assert_eq!(hashes(&lab, "match", "present").await, BTreeSet::new(), "nothing is learned from matches");
    assert_eq!(counted(&lab, gate).await, games, "what was counted stays");
    assert!(learned.is_disjoint(&hashes(&lab, "selfplay", "expired").await));
}

async fn needed_shards_do_not_expire(lab: Lab) {
    let new = lab.player("new").await;
    let (id, _) = lab.campaign("one").await;
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    let other = lab.lease(new, "2", 10).await;
    lab.deliver(new, &other).await;
    lab.clock.advance(100 * DAY);
    assert_eq!(expire(&lab, 1).await, 0, "they wait for validation");
    lab.validate(NO_AUDIT).await;
    assert_eq!(expire(&lab, 1).await, 0, "their generation is still played");
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    command(&lab, id, CampaignCommand::Stop).await.unwrap();
    assert_eq!(expire(&lab, 1).await, 1, "one is to be played again by others");
    lab.execute("UPDATE shards SET audit = 'clean' WHERE id = 1").await;
    assert_eq!(expire(&lab, 1).await, 1);
}

async fn shards_that_another_campaign_learns_from_do_not_expire(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = lab.campaign("one").await;
    lab.play(judge, 2).await;
    command(&lab, id, CampaignCommand::Stop).await.unwrap();
    let heir = lab.create(&CAMPAIGN.replace("\"test\"", "\"two\"\nlearns_from = [\"one\"]")).await.unwrap();
    lab.clock.advance(100 * DAY);
    assert_eq!(expire(&lab, 1).await, 0);
    command(&lab, heir, CampaignCommand::Pause).await.unwrap();
    assert_eq!(expire(&lab, 1).await, 0, "it may go on");
    command(&lab, heir, CampaignCommand::Stop).await.unwrap();
    assert!(expire(&lab, 1).await > 0);
}

async fn expired_shards_are_not_compared(lab: Lab) {
    let (old, new) = (lab.player("old").await, lab.player("new").await);
    let (id, job) = lab.campaign("one").await;
    let late = lab.lease(old, "1", 10).await;
    lab.clock.advance(DAY);
    lab.expire().await;
    let lease = lab.lease(new, "1", 10).await;
    lab.deliver(new, &lease).await;
    lab.validate(NO_AUDIT).await;
    command(&lab, id, CampaignCommand::Stop).await.unwrap();
    lab.clock.advance(40 * DAY);
    assert_eq!(expire(&lab, 30).await, 1);
    lab.deliver(old, &late).await;
    lab.validate(NO_AUDIT).await;
    assert_eq!(lab.compare().await, 0);
    assert_eq!(counted(&lab, job).await, (10, 1_000), "they are counted once");
}

/// A stopped campaign whose self-play has expired: its job, and two players with four uploads each.
async fn expired(lab: &Lab) -> (i64, Player, Player) {
    let (one, two) = (lab.player("one").await, lab.player("two").await);
    let (id, job) = lab.long_campaign().await;
    for _ in 0..2 {
        lab.play(one, 2).await;
        lab.play(two, 2).await;
    }
    command(lab, id, CampaignCommand::Stop).await.unwrap();
    lab.clock.advance(40 * DAY);
    assert_eq!(expire(lab, 30).await, 8);
    (job, one, two)
}

async fn finished_leases_of_expired_games_are_merged(lab: Lab) {
    let (job, ..) = expired(&lab).await;
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM leases").await, 2, "one for each worker");
    assert_eq!(lab.value::<i64>(STALE_SEGMENTS).await, 0);
    let foreign = "SELECT COUNT(*) FROM shards JOIN leases ON leases.id = shards.lease
                   WHERE leases.worker <> shards.worker OR leases.job <> shards.job";
    assert_eq!(lab.value::<i64>(foreign).await, 0);
    let held: i64 = lab.value(&format!("SELECT CAST(SUM(held_games) AS BIGINT) FROM shards WHERE job = {job}")).await;
    assert_eq!((lab.tally(job).await.games, held > 0), (held, true), "no count changes");
}

async fn a_quarantine_after_expiry_takes_counts_and_brings_them_back(lab: Lab) {
    let (job, one, _) = expired(&lab).await;
    let all = lab.tally(job).await;
    let of = format!("SELECT CAST(SUM(held_games) AS BIGINT) FROM shards WHERE account = {}", one.account);
    let own: i64 = lab.value(&of).await;
    quarantine(&lab, one).await;
    assert_eq!(lab.tally(job).await.games, all.games - own);
    lift(&lab, one).await;
    assert_eq!(lab.tally(job).await, all);
}
