//! Objects that nobody names go, and none that anybody names.

use coordinator::{
    clock::{Clock, HOUR},
    driver,
    objects::{Kind, ObjectError},
    store::Store as _,
    work::receiving::{self, Upload},
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

/// As if whoever put it had been killed before it was noted, the day before: the bench's clock is far ahead.
async fn orphan(bench: &Bench, bytes: Vec<u8>) -> Digest {
    bench.service.objects.put(Kind::Shard, bytes.into()).await.unwrap()
}

async fn sweep(bench: &Bench) -> u64 {
    driver::sweep(&bench.service).await.unwrap()
}

/// The shards that are there, and those that were set aside.
async fn there(bench: &Bench) -> (Vec<Digest>, Vec<Digest>) {
    let objects = &bench.service.objects;
    let found = objects.older_than(Kind::Shard, i64::MAX).await.unwrap();
    (found, objects.aside_before(Kind::Shard, i64::MAX).await.unwrap())
}

#[tokio::test]
async fn what_nobody_names_is_set_aside_and_then_goes() {
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
    // What expired is named no more.
    bench.execute("UPDATE shards SET object = 'expired'".to_owned()).await;
    assert_eq!(sweep(&bench).await, 1);
    assert_eq!(there(&bench).await, (vec![], vec![named]));
}

/// It is so much later than on the machine, whose times files have.
fn set_clock(bench: &Bench, later: i64) {
    bench.clock.advance(Clock::System.now().after(later).0 - bench.clock.now().0);
}

/// What is an hour old may be on its way to a name.
#[tokio::test]
async fn what_is_young_stays() {
    let (bench, ..) = with_lease().await;
    let young = orphan(&bench, b"young".to_vec()).await;
    set_clock(&bench, HOUR);
    assert_eq!(sweep(&bench).await, 0);
    assert_eq!(there(&bench).await, (vec![young], vec![]));
}

/// Whoever put it again just before may need longer than a moment to note it.
#[tokio::test]
async fn what_was_set_aside_lies_there_for_an_hour() {
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

/// Somebody puts an old orphan again; before it is noted, it is swept: the games are there all the same.
#[tokio::test]
async fn a_sweep_between_putting_and_noting_loses_nothing() {
    for is_read_first in [true, false] {
        let (bench, token, lease) = with_lease().await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let positions = Shard::new(&bytes[..]).unwrap().positions();
        let length = bytes.len() as u64;
        let hash = orphan(&bench, bytes).await;
        assert_eq!(sweep(&bench).await, 1);
        let account = bench.service.identify(&token).await.unwrap().account;
        let upload = Upload {
            token: lease.token.clone(),
            account,
            hash,
            bytes: length,
            first: lease.terms.first_game,
            games: lease.games,
            positions,
        };
        let now = bench.clock.now();
        let noted = bench.service.store.write(move |mut c| {
            let upload = upload.clone();
            Box::pin(async move { receiving::receive(&mut c, now, &upload).await })
        });
        noted.await.unwrap();
        if is_read_first {
            bench.validate().await;
        }
        assert_eq!(sweep(&bench).await, 0);
        assert_eq!(there(&bench).await, (vec![hash], vec![]));
        bench.validate().await;
        assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1);
    }
}
