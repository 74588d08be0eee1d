//! Games for readers: as JSON, as PGN, and judged.

use protocol::api::{problem::Code, work::Role};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, problem, read},
    paging::Visitor,
    rulebook::{self, CHASE},
};

fn encode(query: &[(&str, &str)]) -> String {
    serde_urlencoded::to_string(query).unwrap()
}

async fn get(bench: &Bench, path: &str) -> reqwest::Response {
    bench.request(Method::GET, path, "").send().await.unwrap()
}

#[tokio::test]
async fn a_game_says_how_it_ended_and_why() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let listed: Value = read(get(&bench, "/api/v1/games?job=901").await).await;
    assert_eq!(listed[0]["shard"], json!(shard));
    assert_eq!((&listed[0]["open"], &listed[0]["reasons"]["perpetual_chase"]), (&json!(true), &json!(1)));
    let all: Value = read(get(&bench, "/api/v1/games").await).await;
    assert_eq!(all, listed, "there is no other");
    assert_eq!(read::<Value>(get(&bench, "/api/v1/games?before=901").await).await, json!([]));

    let games: Value = read(get(&bench, &format!("/api/v1/games/{shard}")).await).await;
    let reasons: Vec<_> = games["games"].as_array().unwrap().iter().map(|game| game["reason"].clone()).collect();
    assert_eq!(reasons, ["perpetual_chase", "perpetual_check", "repetition"]);
    let games: Value = read(get(&bench, &format!("/api/v1/games/{shard}?reason=repetition")).await).await;
    assert_eq!((&games["found"], &games["games"][0]["game"]), (&json!(1), &json!(2)));

    let game: Value = read(get(&bench, &format!("/api/v1/games/{shard}/0")).await).await;
    assert_eq!((&game["outcome"], &game["reason"]), (&json!("black_wins"), &json!("perpetual_chase")));
    assert_eq!(game["moves"].as_array().unwrap().len(), 8);
    assert_eq!(game["scores"][1], json!(20), "Black's -20, seen from Red");
    assert_eq!(game["deeds"][0]["explanation"]["en"], "Red's chariot on h2 chases Black's cannon on h6");
    assert_eq!(game["job"], 901);

    let pgn = get(&bench, &format!("/api/v1/games/{shard}/0/pgn?notation=wxf")).await;
    assert!(pgn.headers()["content-type"].to_str().unwrap().starts_with("application/x-chess-pgn"));
    assert!(pgn.headers()["content-disposition"].to_str().unwrap().contains(".pgn"));
    let pgn = pgn.text().await.unwrap();
    let back = dataset::pgn::read(&pgn).unwrap();
    assert_eq!(back[0].moves.iter().map(|(mv, _)| mv.to_string()).collect::<Vec<_>>().join(" "), CHASE.1);
    assert_eq!((back[0].tag("Termination"), back[0].tag("Red")), (Some("perpetual_chase"), Some("plain")));
}

#[tokio::test]
async fn games_still_being_checked_are_for_trainers_only() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "open").await;
    for path in [format!("/api/v1/games/{shard}"), format!("/api/v1/games/{shard}/0"), format!("/en/games/{shard}/0")] {
        assert_eq!(get(&bench, &path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(read::<Value>(get(&bench, "/api/v1/games").await).await, json!([]));
    let trainer = bench.account("trainer", Role::Trainer).await;
    let path = format!("/api/v1/games/{shard}/0");
    assert!(bench.request(Method::GET, &path, &trainer).send().await.unwrap().status().is_success());

    // The job's shards are hidden, even their numbers: they would reveal an audit.
    let of_job = "/api/v1/games?job=901";
    assert_eq!(read::<Value>(get(&bench, of_job).await).await, json!([]));
    assert!(!get(&bench, "/en/games?job=901").await.text().await.unwrap().contains(&shard.to_string()[..12]));
    let volunteer = bench.account("volunteer", Role::Volunteer).await;
    let listed = bench.request(Method::GET, of_job, &volunteer).send().await.unwrap();
    assert_eq!(read::<Value>(listed).await, json!([]));
    let listed = bench.request(Method::GET, of_job, &trainer).send().await.unwrap();
    assert_eq!(read::<Value>(listed).await[0]["shard"], json!(shard));
}

#[tokio::test]
async fn a_session_that_shows_a_game_also_reads_its_json() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "open").await;
    let addresses = [
        format!("/en/games/{shard}/0"),
        format!("/api/v1/games/{shard}"),
        format!("/api/v1/games/{shard}/0"),
        format!("/api/v1/games/{shard}/0/pgn"),
        format!("/api/v1/shards/{shard}"),
    ];
    for (name, role, status) in
        [("tom", Role::Trainer, StatusCode::OK), ("ann", Role::Volunteer, StatusCode::NOT_FOUND)]
    {
        let mut visitor = Visitor::signed_in(&bench, name, role).await;
        for address in &addresses {
            let shown = visitor.get(address).await;
            assert_eq!(shown.status, status, "{name} at {address}");
            let for_all = shown.header("cache-control").contains("public");
            assert!(!for_all, "{address}: no shared cache keeps a private page");
        }
        let listed = visitor.get("/api/v1/games?job=901").await.text;
        assert_eq!(listed.contains(&shard.to_string()), role == Role::Trainer);
    }
}

#[tokio::test]
async fn a_missing_game_is_rejected() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    for path in [format!("{shard}/3"), format!("{shard}/18446744073709551615"), "00/1".to_owned(), "x".to_owned()] {
        problem(get(&bench, &format!("/api/v1/games/{path}")).await, Code::NotFound).await;
        assert_eq!(get(&bench, &format!("/zh/games/{path}")).await.status(), StatusCode::NOT_FOUND);
    }
    let path = format!("/api/v1/games/{shard}/0/pgn?notation=morse");
    problem(get(&bench, &path).await, Code::Invalid).await;
}

#[tokio::test]
async fn a_game_can_be_stepped_through_without_a_script() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let page = |query: &str| {
        let path = format!("/en/games/{shard}/0{query}");
        let bench = &bench;
        async move {
            let answer = get(bench, &path).await;
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            answer.text().await.unwrap()
        }
    };
    let first = page("?ply=0").await;
    // The chariot stands on i2 before the first move, on h2 after it.
    assert!(first.contains(r##"<use href="#piece-R" x="530" y="462"/>"##), "{first}");
    assert!(first.contains(r#"href="?ply=1" data-step="on""#));
    let second = page("?ply=1").await;
    assert!(second.contains(r##"<use href="#piece-R" x="470" y="462"/>"##));
    assert!(second.contains(r#"<g class="board-marks" data-ply="1" display="inline"><path class="arrow chase""#));
    assert!(second.contains("Red&#39;s chariot on h2 chases Black&#39;s cannon on h6"), "{second}");
    assert!(page("?ply=99999").await.contains("<span data-now>8</span> / 8"));
    let chinese = get(&bench, &format!("/zh/games/{shard}/0?flip=1")).await.text().await.unwrap();
    assert!(chinese.contains("车一平二") && chinese.contains("红车（h2）捉黑炮（h6）") && chinese.contains("长捉"));
    assert!(chinese.contains(r##"<use href="#piece-k" x="230" y="582"/>"##), "Black is at the bottom");
    for page in [first, second, chinese] {
        assert!(page.len() < 100_000 && !page.contains("style="), "{}", page.len());
    }
    for path in ["/en/games".to_owned(), format!("/zh/games/{shard}?reason=repetition"), "/en/games?job=901".to_owned()]
    {
        let page = get(&bench, &path).await;
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        assert!(page.text().await.unwrap().contains(&shard.to_string()), "{path}");
    }
}

#[tokio::test]
async fn anything_can_be_judged() {
    let bench = Bench::start().await;
    let ask = |path: &'static str, fen: &str, moves: &str, rules: &str| {
        let query = encode(&[("fen", fen), ("moves", moves), ("rules", rules)]);
        bench.request(Method::GET, &format!("{path}?{query}"), "").send()
    };
    let judged: Value = read(ask("/api/v1/judge", CHASE.0, CHASE.1, "").await.unwrap()).await;
    assert_eq!((&judged["reason"], &judged["red"]["class"]), (&json!("perpetual_chase"), &json!("chase")));
    let judged: Value = read(ask("/api/v1/judge", CHASE.0, CHASE.1, "simple").await.unwrap()).await;
    assert_eq!(judged["reason"], "repetition");
    let judged: Value = read(ask("/api/v1/judge", "", "炮二平五 马8进7", "wxf").await.unwrap()).await;
    assert_eq!((&judged["outcome"], &judged["moves"][1]), (&json!("ongoing"), &json!("h9g7")));
    let wrong = problem(ask("/api/v1/judge", "", "h2e2 h2e2", "").await.unwrap(), Code::Invalid).await;
    assert!(wrong.detail.starts_with("Move 2: `h2e2`"), "{}", wrong.detail);

    let page = ask("/en/judge", CHASE.0, CHASE.1, "cxr").await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    let page = page.text().await.unwrap();
    assert!(
        page.contains("Black wins") && page.contains("perpetual chase") && page.contains("The cycle, move by move")
    );
    assert!(page.len() < 100_000, "{}", page.len());
    let page = ask("/zh/judge", "", "h2e2 b0b3", "cxr").await.unwrap();
    assert_eq!(page.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.text().await.unwrap().contains("第2步："));
    let empty = get(&bench, "/en/judge").await.text().await.unwrap();
    assert!(empty.contains("Example 13") && empty.contains("Red loses by perpetual check"), "ready examples");
    // A draw by repetition shows the facts of the cycle too.
    let (fen, moves) = rulebook::ALLOWED;
    let page = ask("/en/judge", fen, moves, "cxr").await.unwrap().text().await.unwrap();
    assert!(page.contains("Draw") && page.contains("nothing is checked, threatened or chased"), "{page}");
}

/// Any address yields a page, soon, and nothing of it becomes markup.
#[tokio::test]
async fn hostile_queries_get_pages() {
    let bench = Bench::start().await;
    let script = "<script>alert(1)</script>\"'><svg onload=x>";
    let long = "a0a1 ".repeat(3_000);
    let queries = [
        (script, script, script),
        ("", &long, ""),
        (&long, "", ""),
        ("\0\u{202e}\u{fffd}", "\u{200b}", "simple"),
        ("4k4/9/9/9/9/9/9/9/4R4/3K5 w - - 4294967295 99999999999", "", ""),
        ("", "{{{{[[[[;;;;", "axf"),
        ("position fen moves moves moves", "1. 2. 3. 4.", "wxf"),
    ];
    for (fen, moves, rules) in queries {
        for path in ["/en/judge", "/api/v1/judge"] {
            let query = [("fen", fen), ("moves", moves), ("rules", rules), ("ply", "-1"), ("notation", script)];
            let path = format!("{path}?{}", encode(&query));
            let answer = get(&bench, &path).await;
            let status = answer.status();
            assert!(status.is_success() || status == StatusCode::UNPROCESSABLE_ENTITY, "{path} {status}");
            let text = answer.text().await.unwrap();
            let is_page = path.starts_with("/en");
            assert!(!is_page || !text.contains("<script>alert") && !text.contains("<svg onload"), "{path}");
        }
    }
    // The connection rejects a request whose head is too long.
    let path = format!("/en/judge?moves={}", "a0a1+".repeat(20_000));
    let answer = bench.request(Method::GET, &path, "").send().await;
    assert!(answer.is_err() || answer.unwrap().status().is_client_error());
}
