//! The object store: one suite, on a folder and on a real S3 server.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use coordinator_core::objects::{Kind, ObjectError, Objects, Read};
use dataset::Digest;
use futures_util::{TryStreamExt as _, future::ready};
use object_store::GetRange;

#[path = "common/s3.rs"]
mod s3;

use s3::environment;

async fn whole(read: Read) -> Vec<u8> {
    read.pieces.try_fold(Vec::new(), |whole, piece| ready(Ok([whole, piece.to_vec()].concat()))).await.unwrap()
}

async fn suite(objects: Objects) {
    let bytes: Vec<u8> = (0..300_000_u32).map(|number| (number * 7) as u8).collect();
    let hash = objects.put(Kind::Shard, bytes.clone().into()).await.unwrap();
    assert_eq!(hash, Digest::of(&bytes));
    assert_eq!(objects.put(Kind::Shard, bytes.clone().into()).await.unwrap(), hash, "twice is once");
    assert_eq!(objects.get(Kind::Shard, hash).await.unwrap(), bytes);
    assert_eq!(objects.length(Kind::Shard, hash).await.unwrap(), 300_000);
    for (range, expected) in [
        (GetRange::Bounded(10..20), 10..20),
        (GetRange::Offset(299_990), 299_990..300_000),
        (GetRange::Suffix(5), 299_995..300_000),
        (GetRange::Bounded(299_999..400_000), 299_999..300_000),
    ] {
        let read = objects.read(Kind::Shard, hash, Some(range)).await.unwrap();
        assert_eq!((read.range.clone(), read.length), (expected.start as u64..expected.end as u64, 300_000));
        assert_eq!(whole(read).await, bytes[expected]);
    }
    let beyond = objects.read(Kind::Shard, hash, Some(GetRange::Offset(300_000))).await;
    assert!(matches!(beyond, Err(ObjectError::Range { length: 300_000 })));
    let other = Digest::of(b"other");
    assert!(matches!(objects.get(Kind::Shard, other).await, Err(ObjectError::Missing)));
    assert!(matches!(objects.get(Kind::Net, hash).await, Err(ObjectError::Missing)), "of another kind");
    assert!(matches!(objects.length(Kind::Shard, other).await, Err(ObjectError::Missing)));
    assert_eq!(objects.older_than(Kind::Shard, i64::MAX).await.unwrap(), [hash]);
    assert!(objects.older_than(Kind::Shard, 0).await.unwrap().is_empty());
    // An object set aside is in no list, and is restored when read.
    for round in 0..3 {
        objects.set_aside(Kind::Shard, hash).await.unwrap();
        objects.set_aside(Kind::Shard, hash).await.unwrap();
        assert!(objects.older_than(Kind::Shard, i64::MAX).await.unwrap().is_empty());
        assert_eq!(objects.aside_before(Kind::Shard, i64::MAX).await.unwrap(), [hash]);
        assert!(objects.aside_before(Kind::Net, i64::MAX).await.unwrap().is_empty());
        let length = match round {
            0 => objects.get(Kind::Shard, hash).await.unwrap().len() as u64,
            1 => objects.read(Kind::Shard, hash, Some(GetRange::Suffix(5))).await.unwrap().length,
            _ => objects.length(Kind::Shard, hash).await.unwrap(),
        };
        assert_eq!(length, 300_000);
        assert_eq!(objects.older_than(Kind::Shard, i64::MAX).await.unwrap(), [hash]);
    }
    objects.set_aside(Kind::Shard, hash).await.unwrap();
    objects.forget(Kind::Shard, hash).await.unwrap();
    objects.forget(Kind::Shard, hash).await.unwrap();
    assert!(matches!(objects.get(Kind::Shard, hash).await, Err(ObjectError::Missing)));
    assert!(matches!(objects.read(Kind::Shard, hash, None).await, Err(ObjectError::Missing)));
}

#[tokio::test]
async fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let objects = Objects::open(folder.path().join("new/objects").to_str().unwrap()).unwrap();
    assert!(objects.folder().unwrap().is_dir());
    suite(objects).await;
}

#[tokio::test]
async fn an_s3_server() {
    let folder = tempfile::tempdir().unwrap();
    let address = s3::serve(folder.path()).await;
    let open = |address_of: &str, secret| Objects::open_with(address_of, environment(address, secret)).unwrap();
    assert_eq!(open("s3://games", "secret").folder(), None);
    suite(open("s3://games", "secret")).await;
    suite(open("s3://games/some/prefix", "secret")).await;
    open("s3://games", "secret").probe().await.unwrap();
    let missing = open("s3://nowhere/some/prefix", "secret").probe().await;
    assert!(matches!(missing, Err(ObjectError::NoBucket)), "{missing:?}");
    let stranger = open("s3://games", "wrong").put(Kind::Net, b"net".to_vec().into()).await;
    assert!(matches!(stranger, Err(ObjectError::Store(_))), "{stranger:?}");
}

#[test]
fn an_invalid_address_is_rejected() {
    for address in ["", "s3://", "http://x", "gs://x"] {
        assert!(matches!(Objects::open(address), Err(ObjectError::Address(_))), "{address}");
    }
}
