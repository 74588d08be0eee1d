//! A backup is taken while games arrive, and a coordinator restored from it continues.

use std::path::Path;

use coordinator_core::{backup, objects::Objects, store::Database};
use protocol::api::{
    path,
    work::{Me, Role},
};
use reqwest::Method;

use crate::{
    bench::{Bench, CAMPAIGN, play, read, shard},
    paging::Visitor,
};

/// The demonstration begins with this backup: its net has its own name, and its events are values.
#[tokio::test]
async fn the_published_backup_is_shown_in_both_languages() {
    let bench = Bench::start().await;
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets/season1/backup");
    backup::restore(&bench.service.store, &bench.service.objects, &saved).await.unwrap();
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE data IS NULL").await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM nets WHERE name = 'gen2-256'").await, 1);
    let mut visitor = Visitor::new(&bench);
    for (language, stopped) in [("en", ">stopped<"), ("zh", ">已停止<")] {
        let home = visitor.get(&format!("/{language}")).await.text;
        assert!(home.contains("season2"), "{home}");
        // The games of both engines that played the generation.
        let campaign = visitor.get(&format!("/{language}/campaigns/season1")).await.text;
        assert!(campaign.contains("61\u{202f}066") && campaign.contains(">gen2-256</a>"), "{campaign}");
        assert!(campaign.contains(stopped), "{campaign}");
    }
}

#[tokio::test]
async fn a_backup_restores_everything() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    bench.upload(&token, &lease, bytes).await;
    bench.validate().await;
    let open = bench.lease(&token, worker, "b").await;

    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("backup");
    let (store, objects) = (&bench.service.store, &bench.service.objects);
    let written = backup::backup(store, objects, &saved).await.unwrap();
    assert_eq!((written.objects, written.missing), (1, 0));
    assert!(backup::backup(store, objects, &saved).await.is_err(), "a backup is not overwritten");
    assert!(backup::restore(store, objects, &saved).await.is_err(), "nothing is overwritten");

    let other = Bench::start().await;
    let restored = backup::restore(&other.service.store, &other.service.objects, &saved).await.unwrap();
    assert_eq!(restored, written);
    let me: Me = read(other.request(Method::GET, path::ME, &token).send().await.unwrap()).await;
    assert_eq!(me.total.games, lease.games);
    assert_eq!(other.lease(&token, worker, "b").await.token, open.token, "the lease continues");
    let bytes = shard(&open.terms, &play(&open.terms, open.games));
    assert!(other.upload(&token, &open, bytes).await.status().is_success());
    other.validate().await;
    let me: Me = read(other.request(Method::GET, path::ME, &token).send().await.unwrap()).await;
    assert_eq!(me.total.games, lease.games + open.games);
    let again = Database::open(&format!("sqlite:{}", folder.path().join("cut").display()), None).await.unwrap();
    let objects = Objects::open(folder.path().join("o").to_str().unwrap()).unwrap();
    let file = saved.join("shards.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    let cut = backup::restore(&again, &objects, &saved).await.unwrap_err().to_string();
    assert!(cut.contains("shards.jsonl, line 1: "), "{cut}");
}
