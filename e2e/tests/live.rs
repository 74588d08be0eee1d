//! A match that people watch, played by a real worker for a real coordinator.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use e2e::{Coordinator, Role, Stage, wait_for};
use serde_json::Value;

const LONG: Duration = Duration::from_mins(3);

/// Asks, and reads the answer to its end: status and body.
fn ask(coordinator: &Coordinator<'_>, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
    let address = coordinator.address().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn a_marked_match_is_seen_while_a_worker_plays_it() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let boss = coordinator.account("boss", Role::Maintainer);
    let player = coordinator.account("player", Role::Volunteer);
    let made = coordinator.admin(&["match", "--nodes", "20000", "--pairs", "50", "--fixed"]);
    let job = serde_json::from_str::<Value>(&made).unwrap()["job"].as_i64().unwrap();
    let (status, answer) = ask(&coordinator, "POST", &format!("/api/v1/matches/{job}/live"), &boss, "{}");
    assert_eq!(status, 204, "{answer}");

    let worker = stage.worker(&coordinator, &player, "worker");
    let mut last = (0, 0);
    let mut seen = 0;
    // Two sights that differ: it is alive.
    wait_for("a live board", LONG, || {
        let (_, text) = ask(&coordinator, "GET", "/api/v1/live-game", &boss, "");
        let text = text.get(text.find('{')?..=text.rfind('}')?)?.replace("\r\n", "");
        let answer: Value = serde_json::from_str(&text).ok()?;
        let board = &answer["board"];
        let now = (board["game"].as_u64()?, board["moves"]["uci"].as_array()?.len());
        assert_eq!(board["match"].as_i64(), Some(job));
        if now != last {
            last = now;
            seen += 1;
        }
        (seen >= 3).then_some(())
    });
    let (status, page) = ask(&coordinator, "GET", "/en/live-game", &boss, "");
    assert!(status == 200 && page.contains("<svg class=\"board\""), "{page}");
    worker.signal("INT");
    assert_eq!(worker.end(LONG), 0);
}
