//! An upload is acknowledged with 2xx only when it is durable. `strace` records the system calls.
//! Between the request and its response there must be syncs of the object's file, of the folder
//! with its name, and of the database's log.
//!
//! `kill -9` cannot show this: the system keeps the writes of a killed process.

use std::{path::Path, process::Command, time::Duration};

use dataset::Digest;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    work::{Answer, Ask, Work, Worker},
};
use reqwest::{Client, StatusCode};
use testkit::trace::{Call, calls, can_watch};

use crate::{
    program::{self, Place, play},
    started::machine,
};

async fn upload(folder: &Path, port: u16, token: &str) -> Digest {
    let client = Client::new();
    let address = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let post = async |path: &str, body: Vec<u8>| {
        let request = client.post(address(path)).bearer_auth(token).header("content-type", "application/json");
        let answer = request.header(VERSION_HEADER, env!("CARGO_PKG_VERSION")).body(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.bytes().await.unwrap()
    };
    let worker = post(path::WORKERS, serde_json::to_vec(&machine("watched")).unwrap()).await;
    let worker: Worker = serde_json::from_slice(&worker).unwrap();
    for nonce in 0..100 {
        let nonce = format!("{nonce}");
        let ask = Ask {
            worker: worker.worker,
            nonce,
            threads: 1,
            nodes_per_second: Some(1_000),
            most_seconds: Some(2),
            acknowledged: Vec::new(),
        };
        let answer: Answer =
            serde_json::from_slice(&post(path::LEASES, serde_json::to_vec(&ask).unwrap()).await).unwrap();
        let Work::Games(lease) = answer.work else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let bytes = play(&lease);
        let hash = Digest::of(&bytes);
        assert!(!folder.join("objects/shards").join(&hash.to_string()[..2]).exists(), "its folder is new");
        let request = client.put(address(&path::games(&lease.token, lease.terms.first_game))).bearer_auth(token);
        let request = request.header("content-type", SHARD_TYPE).header(SHA256_HEADER, hash.to_string());
        let answer = request.header(VERSION_HEADER, env!("CARGO_PKG_VERSION")).body(bytes).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED);
        return hash;
    }
    panic!("there are no games");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_comes_after_the_syncs() {
    if !can_watch("the syncs before an answer") {
        return;
    }
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().unwrap();
    let place = Place::folder(folder.path());
    let token = program::prepare(&place);
    let file = folder.path().join("trace");
    let watch = "trace=fsync,fdatasync,rename,renameat,renameat2,linkat,link,read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg";
    let by = ["strace", "-f", "-y", "-s", "64", "-e", watch, "-o", file.to_str().unwrap(), "--"];
    let (mut process, port) = program::start(&by, &place);
    let hash = upload(folder.path(), port, &token).await.to_string();
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.id())).unwrap();
    for child in children.split_whitespace() {
        assert!(Command::new("kill").arg(child).status().unwrap().success());
    }
    process.wait().unwrap();

    let trace = std::fs::read_to_string(&file).unwrap();
    let calls = calls(&trace);
    let request = calls
        .iter()
        .find(|call| call.is(&["read", "readv", "recvfrom", "recvmsg"]) && call.text.contains("\"PUT /api/v1/leases/"))
        .expect("the request was read");
    let answer = calls
        .iter()
        .find(|call| {
            call.began > request.ended
                && call.is(&["write", "writev", "sendto", "sendmsg"])
                && call.text.contains("\"HTTP/1.1 201 ")
        })
        .expect("the answer was written");
    let between: Vec<&Call> =
        calls.iter().filter(|call| call.began > request.ended && call.ended < answer.began).collect();
    let syncs: Vec<&Call> = between
        .iter()
        .copied()
        .filter(|call| call.is(&["fsync", "fdatasync"]) && call.text.trim_end().ends_with("= 0"))
        .collect();
    let named = between
        .iter()
        .find(|call| call.is(&["rename", "renameat", "renameat2", "link", "linkat"]) && call.text.contains(&hash));
    let seen: Vec<&String> = syncs.iter().map(|call| &call.text).collect();
    let named = named.unwrap_or_else(|| panic!("the object got its name before the answer: {seen:?}"));
    let shards = format!("/objects/shards/{}", &hash[..2]);
    let of_file = |call: &&&Call| call.text.contains(&format!("{shards}/")) && call.ended < named.began;
    let of_folder = |call: &&&Call| call.text.contains(&format!("{shards}>")) && call.began > named.ended;
    let of_parent = |call: &&&Call| call.text.contains("/objects/shards>");
    let object =
        syncs.iter().find(of_file).unwrap_or_else(|| panic!("no sync of the object before its name: {seen:?}"));
    let its_folder = syncs.iter().find(of_folder).unwrap_or_else(|| panic!("no sync of its folder: {seen:?}"));
    assert!(syncs.iter().any(|call| of_parent(&call)), "the new folder's name was not synced: {seen:?}");
    let log = syncs.iter().find(|call| call.text.contains("chuhe.db-wal>") && call.began > object.ended);
    let log = log.unwrap_or_else(|| panic!("no sync of the database's log after the object's: {seen:?}"));
    assert!(its_folder.ended < log.began, "the row is committed when the object has its name: {seen:?}");
    println!("between the request and its answer: {seen:#?}");
}
