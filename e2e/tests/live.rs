//! A watched match, played by a real worker for a real coordinator.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::time::Duration;

use e2e::{Coordinator, Role, Stage, wait_for};
use serde_json::Value;

const LONG: Duration = Duration::from_mins(3);

#[test]
fn a_watched_match_is_shown_while_a_worker_plays_it() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let boss = coordinator.account("boss", Role::Maintainer);
    let player = coordinator.account("player", Role::Volunteer);
    let made = coordinator.admin(&["match", "--nodes", "20000", "--pairs", "50", "--fixed"]);
    let job = serde_json::from_str::<Value>(&made).unwrap()["job"].as_i64().unwrap();
    let (status, answer) = coordinator.ask("POST", &format!("/api/v1/matches/{job}/live"), &boss, "{}");
    assert_eq!(status, 204, "{answer}");

    let worker = stage.worker(&coordinator, &player, "worker");
    let mut last = (0, 0);
    let mut seen = 0;
    // The board changes: the view is live.
    wait_for("a live board", LONG, || {
        let (_, text) = coordinator.ask("GET", "/api/v1/live-game", &boss, "");
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
    let (status, page) = coordinator.ask("GET", "/en/live-game", &boss, "");
    assert!(status == 200 && page.contains("<svg class=\"board\""), "{page}");
    worker.signal("INT");
    assert_eq!(worker.end(LONG), 0);
}
