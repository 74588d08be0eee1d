//! Reports on both databases.

use coordinator_core::{clock::DAY, games, model::JobId, ops::settings::FollowClock, store::reports::games as rows};

use super::{campaigns::gating, cases};
use crate::{
    common::{
        lab::{ALL_AUDITS, Lab, NO_AUDIT},
        reports::read_all,
    },
    op,
};

cases! {
    every_report_can_be_read
    closed_jobs_have_public_games
    games_under_a_second_audit_are_not_public
    a_clock_that_is_set_back_stalls_no_lease
}

async fn every_report_can_be_read(lab: Lab) {
    let (judge, new) = (lab.judge("judge").await, lab.player("new").await);
    let (id, _) = gating(&lab, judge, 0).await;
    lab.play(new, 2).await;
    lab.play(judge, 1).await;
    read_all(&lab, id, new.account).await;
}

/// The hashes of the public shards before one, the newest first.
async fn public(lab: &Lab, before: Option<i64>) -> Vec<i64> {
    op!(lab.read, [], |c| games::shards(&mut c, false, None, before)).unwrap().into_iter().map(|row| row.id.0).collect()
}

async fn closed_jobs_have_public_games(lab: Lab) {
    let (one, _) = lab.campaign("one").await;
    let (_, second) = lab.campaign("two").await;
    let new = lab.player("new").await;
    for nonce in 0..6 {
        let lease = lab.lease(new, &format!("n{nonce}"), 10).await;
        lab.deliver(new, &lease).await;
        lab.clock.advance(1);
    }
    lab.validate(NO_AUDIT).await;
    assert_eq!(public(&lab, None).await, Vec::<i64>::new(), "their jobs are open");
    lab.execute("UPDATE jobs SET state = 'closed'").await;
    let jobs: Vec<(i64,)> = lab.rows("SELECT DISTINCT job FROM shards").await;
    assert_eq!(jobs.len(), 2, "of both campaigns: {one} {second}");
    assert_eq!(public(&lab, None).await, [6, 5, 4, 3, 2, 1], "the newest first, of all jobs together");
    assert_eq!(public(&lab, Some(4)).await, [3, 2, 1]);
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 5").await;
    lab.execute("UPDATE shards SET object = 'expired' WHERE id = 2").await;
    lab.execute(&format!("UPDATE jobs SET state = 'open' WHERE id = {second}")).await;
    let open: Vec<(i64,)> = lab.rows(&format!("SELECT id FROM shards WHERE job = {second}")).await;
    let expected = [6, 4, 3, 1].into_iter().filter(|id| !open.contains(&(*id,)));
    assert_eq!(public(&lab, None).await, expected.collect::<Vec<_>>(), "but for audited, expired and running ones");
    lab.execute("UPDATE workers SET trusted = 1").await;
    assert_eq!(public(&lab, None).await, [6, 4, 3, 1], "a trusted worker's games do not wait for their job's end");
}

/// A trusted worker's audit is a ringer: an account that could read the first upload would know it.
async fn games_under_a_second_audit_are_not_public(lab: Lab) {
    lab.campaign("one").await;
    let (judge, new) = (lab.judge("judge").await, lab.player("new").await);
    for nonce in ["1", "2"] {
        let lease = lab.lease(new, nonce, 10).await;
        lab.deliver(new, &lease).await;
    }
    lab.validate(NO_AUDIT).await;
    lab.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1").await;
    let audit = lab.audit(judge, "1").await.unwrap();
    lab.deliver(judge, &audit).await;
    lab.validate(ALL_AUDITS).await;
    lab.compare().await;
    lab.execute("UPDATE jobs SET state = 'closed'").await;
    let audits = lab.rows::<(String,)>("SELECT audit FROM shards ORDER BY id").await;
    assert_eq!(audits.into_iter().map(|audit| audit.0).collect::<Vec<_>>(), ["clean", "none", "wanted"]);
    let hash: String = lab.value("SELECT hash FROM shards WHERE id = 1").await;
    let hash: dataset::Digest = hash.parse().unwrap();
    let is_public = async || op!(lab.read, [hash], |c| rows::is_public(&mut c, hash)).unwrap();
    assert_eq!((public(&lab, None).await, is_public().await), (vec![2], false));
    let job: i64 = lab.value("SELECT job FROM shards WHERE id = 1").await;
    let of_job = op!(lab.read, [job], |c| games::shards(&mut c, false, Some(JobId(job)), None)).unwrap();
    assert_eq!(of_job.into_iter().map(|row| row.id.0).collect::<Vec<_>>(), [2]);
    lab.execute("UPDATE shards SET audit = 'clean' WHERE id = 3").await;
    assert_eq!((public(&lab, None).await, is_public().await), (vec![3, 2, 1], true));
}

async fn a_clock_that_is_set_back_stalls_no_lease(lab: Lab) {
    lab.long_campaign().await;
    let new = lab.player("new").await;
    let lease = lab.lease(new, "1", 4).await;
    let second = lab.lease(new, "2", 4).await;
    lab.deliver(new, &second).await;
    lab.execute(&format!("UPDATE shards SET claimed_until = {}", lab.now().0 + 60_000)).await;
    lab.clock.advance(-DAY);
    lab.run(FollowClock).await.unwrap();
    lab.validate(ALL_AUDITS).await;
    assert_eq!(lab.value::<String>("SELECT state FROM shards").await, "validated");
    assert!(lab.renew(new, &lease.token, 1).await.unwrap() > 0, "a worker that plays keeps its lease");
    lab.clock.advance(DAY / 2);
    assert_eq!(lab.expire().await, 1);
}
