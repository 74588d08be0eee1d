//! The sweep removes unreferenced objects, and no others.

use coordinator_core::{
    clock::{Clock, HOUR},
    driver,
    model::LeaseToken,
    objects::{Kind, ObjectError},
    ops::uploads::ReceiveUpload,
};
use dataset::{Digest, shard::Shard};
use protocol::api::work::{Lease, Role};

use crate::bench::{Bench, CAMPAIGN, play, shard};

async fn with_lease() -> (Bench, String, Lease) {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    (bench, token, lease)
}

/// Stores an object without a reference, as after a crash a day ago: the bench's clock is far
/// ahead.
async fn orphan(bench: &Bench, bytes: Vec<u8>) -> Digest {
    bench.service.objects.put(Kind::Shard, bytes.into()).await.unwrap()
}

async fn sweep(bench: &Bench) -> u64 {
    driver::sweep(&bench.service).await.unwrap()
}

/// The shards in the store, and those set aside.
async fn there(bench: &Bench) -> (Vec<Digest>, Vec<Digest>) {
    let objects = &bench.service.objects;
    let found = objects.older_than(Kind::Shard, i64::MAX).await.unwrap();
    (found, objects.aside_before(Kind::Shard, i64::MAX).await.unwrap())
}

#[tokio::test]
async fn an_unreferenced_object_is_set_aside_and_then_deleted() {
    let (bench, token, lease) = with_lease().await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    let named = Digest::of(&bytes);
    assert!(bench.upload(&token, &lease, bytes).await.status().is_success());
    let lost = orphan(&bench, b"lost".to_vec()).await;
    assert_eq!(sweep(&bench).await, 1);
    assert_eq!(there(&bench).await, (vec![named], vec![lost]));
    assert_eq!(sweep(&bench).await, 0);
    assert_eq!(there(&bench).await, (vec![named], vec![]));
    let gone = bench.service.objects.get(Kind::Shard, lost).await;
    assert!(matches!(gone, Err(ObjectError::Missing)), "{gone:?}");
    // An expired shard is no longer referenced.
    bench.execute("UPDATE shards SET object = 'expired'".to_owned()).await;
    assert_eq!(sweep(&bench).await, 1);
    assert_eq!(there(&bench).await, (vec![], vec![named]));
}

/// Sets the bench's clock to `later` after the machine's, which dates the files.
fn set_clock(bench: &Bench, later: i64) {
    bench.clock.advance(Clock::System.now().after(later).0 - bench.clock.now().0);
}

/// An object younger than an hour may still get its reference.
#[tokio::test]
async fn a_young_object_stays() {
    let (bench, ..) = with_lease().await;
    let young = orphan(&bench, b"young".to_vec()).await;
    set_clock(&bench, HOUR);
    assert_eq!(sweep(&bench).await, 0);
    assert_eq!(there(&bench).await, (vec![young], vec![]));
}

/// A repeated upload of the object may still be recording its reference.
#[tokio::test]
async fn an_object_set_aside_is_kept_for_an_hour() {
    let (bench, ..) = with_lease().await;
    let lost = orphan(&bench, b"lost".to_vec()).await;
    assert_eq!(sweep(&bench).await, 1);
    set_clock(&bench, HOUR * 5 / 6);
    assert_eq!(sweep(&bench).await, 0);
    assert_eq!(there(&bench).await, (vec![], vec![lost]));
    set_clock(&bench, HOUR + 1);
    assert_eq!(sweep(&bench).await, 0);
    assert_eq!(there(&bench).await, (vec![], vec![]));
}

/// Race: an old orphan is stored again, and swept before its reference is recorded.
#[tokio::test]
async fn a_sweep_between_storing_and_recording_loses_nothing() {
    for is_read_first in [true, false] {
        let (bench, token, lease) = with_lease().await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let positions = Shard::new(&bytes[..]).unwrap().positions();
        let length = bytes.len() as u64;
        let hash = orphan(&bench, bytes).await;
        assert_eq!(sweep(&bench).await, 1);
        let account = bench.service.identify(&token).await.unwrap().account;
        let upload = ReceiveUpload {
            lease: LeaseToken(lease.token.clone()),
            account,
            token: None,
            hash,
            bytes: length,
            first: lease.terms.first_game,
            games: lease.games,
            positions,
        };
        bench.service.run(upload).await.unwrap();
        if is_read_first {
            bench.validate().await;
        }
        assert_eq!(sweep(&bench).await, 0);
        assert_eq!(there(&bench).await, (vec![hash], vec![]));
        bench.validate().await;
        assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1);
    }
}
