//! The files of the engine for browsers, and the pages that offer it.

use coordinator_web::engine::{Engine, NotAModule};

use crate::{
    bench::{Bench, CAMPAIGN, settings},
    paging::Visitor,
};

/// The magic and the version that every module begins with.
const MODULE: &[u8] = b"\0asm\x01\0\0\0 and more";

#[tokio::test]
async fn an_engine_is_offered_and_served() {
    let bench = Bench::with_engine(settings(), Engine::new(MODULE.to_vec()).unwrap()).await;
    bench.campaign(CAMPAIGN).await;
    let mut visitor = Visitor::new(&bench);
    for language in ["en", "zh"] {
        assert!(visitor.get(&format!("/{language}")).await.text.contains(&format!("href=\"/{language}/play\"")));
        assert!(visitor.get(&format!("/{language}/judge?moves=h2e2")).await.text.contains("class=\"analysis"));
    }
    let page = visitor.get("/en/play").await.text;
    let (_, rest) = page.split_once("data-engine=\"").unwrap();
    let address = rest.split('"').next().unwrap();
    for (name, kind) in [
        ("chuhe.js", "text/javascript; charset=utf-8"),
        ("engine.js", "text/javascript; charset=utf-8"),
        ("volunteer.js", "text/javascript; charset=utf-8"),
        ("worker.js", "text/javascript; charset=utf-8"),
        ("chuhe.wasm", "application/wasm"),
    ] {
        let file = visitor.get(&format!("{address}/{name}")).await;
        assert_eq!((file.status.as_u16(), &file.headers["content-type"]), (200, &kind.parse().unwrap()), "{name}");
        assert_eq!(file.headers["cross-origin-embedder-policy"], "require-corp", "a page shares memory with it");
        assert!(file.headers["cache-control"].to_str().unwrap().contains("immutable"));
    }
    assert_eq!(visitor.get(&format!("{address}/package.json")).await.status, 404);
    assert_eq!(visitor.get("/engine/000000000000/chuhe.js").await.status, 404, "another version");
}

#[tokio::test]
async fn a_server_without_an_engine_offers_none() {
    let bench = Bench::start().await;
    let mut visitor = Visitor::new(&bench);
    assert!(!visitor.get("/en").await.text.contains("/en/play"));
    assert!(!visitor.get("/en/judge?moves=h2e2").await.text.contains("class=\"analysis"));
    assert_eq!(visitor.get("/en/play").await.status, 404);
}

#[test]
fn another_file_is_no_engine() {
    for bytes in [&b""[..], b"\0asm", b"#!/bin/sh"] {
        assert_eq!(Engine::new(bytes.to_vec()).err(), Some(NotAModule));
    }
}
