//! Games for readers: as JSON, as PGN, and judged.

use std::fmt::Write as _;

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

    // Games of a trusted worker are never audited: they can be opened at once.
    bench.execute("UPDATE workers SET trusted = 1".to_owned()).await;
    assert_eq!(read::<Value>(get(&bench, of_job).await).await[0]["shard"], json!(shard));
    assert_eq!(read::<Value>(get(&bench, "/api/v1/games").await).await[0]["shard"], json!(shard));
    assert!(get(&bench, &format!("/en/games/{shard}/0")).await.status().is_success());
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

/// The parts of the judge's form, as a browser sends them.
fn multipart(fields: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (name, value) in fields {
        let file = if *name == "pgn" { "; filename=\"games.pgn\"" } else { "" };
        write!(body, "--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n").unwrap();
    }
    body + "--edge--\r\n"
}

/// Sends the judge's form.
pub(crate) async fn send_form(bench: &Bench, path: &str, fields: &[(&str, &str)]) -> reqwest::Response {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let request = client.post(format!("http://{}{path}", bench.address));
    let request = request.header("content-type", "multipart/form-data; boundary=edge");
    request.body(multipart(fields)).send().await.unwrap()
}

/// Two games end by the rules, one differently than it claims; one does not end; one is damaged.
fn games() -> String {
    let (fen, moves) = CHASE;
    let game = |tags: &str, result: &str| format!("{tags}[FEN \"{fen}\"]\n\n{moves} {{x}} {result}\n\n");
    let names = "[White \"<b>one\"]\n[Black \"two\"]\n";
    let resigned = "1. 炮二平五 马8进7 2. 马二进三 红胜\n\n";
    [&game(names, "0-1"), &game("", "1-0"), resigned, "1. h2e2 h9g5 *\n"].concat()
}

#[tokio::test]
async fn a_file_of_games_is_judged_as_a_list() {
    let bench = Bench::start().await;
    let games = games();
    let post = |query: &'static str, body: String| bench.request(Method::POST, query, "").body(body).send();
    let list: Value = read(post("/api/v1/judge", games.clone()).await.unwrap()).await;
    let sum = json!({ "games": 4, "agree": 1, "differ": 1, "undecided": 1, "refused": 1,
                      "skipped_comments": 2, "skipped_variations": 0, "skipped_glyphs": 0, "skipped_others": 0 });
    assert_eq!(list["sum"], sum);
    assert_eq!(list["games"][0]["reason"], "perpetual_chase");
    assert_eq!(list["games"][3]["error"], "Line 13, column 9: move 2: `h9g5`: Black's horse on h9 does not go to g5.");
    let list: Value = read(post("/api/v1/judge?rules=simple", games.clone()).await.unwrap()).await;
    assert_eq!((&list["sum"]["differ"], &list["games"][0]["reason"]), (&json!(2), &json!("repetition")));
    let wrong = problem(post("/api/v1/judge", String::new()).await.unwrap(), Code::Invalid).await;
    assert_eq!(wrong.detail, "The file has no games.");
    let wrong = problem(post("/api/v1/judge", "h2e2 *\n".repeat(501)).await.unwrap(), Code::Invalid).await;
    assert!(wrong.detail.starts_with("The file has more than 500 games."), "{}", wrong.detail);
    problem(post("/api/v1/judge", " ".repeat(2 << 20)).await.unwrap(), Code::TooLarge).await;

    // The page shows the same, of a file and of a text, and its links lead to the boards.
    for field in ["pgn", "moves"] {
        for (path, words) in
            [("/en/judge", ["differs", "undecided", "refused"]), ("/zh/judge", ["不同", "规则未定", "无法读取"])]
        {
            let page = send_form(&bench, path, &[("fen", ""), (field, &games), ("rules", "")]).await;
            assert_eq!(page.status(), StatusCode::OK, "{path} {field}");
            let page = page.text().await.unwrap();
            assert!(words.iter().all(|word| page.contains(word)), "{page}");
            assert!(page.contains("&#60;b&#62;one – two") && !page.contains("<b>one"), "{page}");
            let part = if path == "/en/judge" { "comment `{" } else { "的注释“{" };
            assert!(page.contains("<details><summary>") && page.contains(part), "{page}");
            let link = page.split_once("href=\"").unwrap().1;
            assert!(!link.is_empty() && page.contains(&format!("{path}?fen=3a1kb2")), "{page}");
        }
    }
    let page = send_form(&bench, "/en/judge", &[("moves", "h2e2"), ("pgn", "h2e2 *")]).await;
    assert_eq!(page.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.text().await.unwrap().contains("There are a file and a text"));
}

#[tokio::test]
async fn names_and_tags_are_kept_at_the_address() {
    let bench = Bench::start().await;
    let text = "[Event \"a \\\"cup\\\"\"]\n[Red \"<one>\"]\n[Black \"two\"]\n[Result \"*\"]\n\n1. h2e2 {good} h9g7 *";
    let page = send_form(&bench, "/en/judge", &[("moves", text)]).await.text().await.unwrap();
    assert!(
        page.contains("comment `{good}` at line 6, column 9") && page.contains("<p class=\"player\">two</p>"),
        "{page}"
    );
    let names_only = text.replace("[Result \"*\"]\n", "").replace(" {good}", "").replace(" *", "");
    let sent = send_form(&bench, "/en/judge", &[("moves", &names_only)]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let address = sent.headers()["location"].to_str().unwrap().to_owned();
    assert!(address.contains("Red") && address.ends_with("h2e2+h9g7"), "{address}");
    let page = get(&bench, &address).await.text().await.unwrap();
    for words in ["<p class=\"player\">two</p>", "<p class=\"player\">&#60;one&#62;</p>", "a &#34;cup&#34;"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let flipped = get(&bench, &format!("{address}&flip=1")).await.text().await.unwrap();
    assert!(flipped.find("<p class=\"player\">two</p>") > flipped.find("<p class=\"player\">&#60;one"), "{flipped}");
    // The links of a list lead to the same.
    let list = send_form(&bench, "/en/judge", &[("pgn", text)]).await.text().await.unwrap();
    let mut links = list.split("href=\"").map(|link| link.split('"').next().unwrap());
    let link = links.find(|link| link.contains("Red")).unwrap();
    let page = get(&bench, &link.replace("&#38;", "&")).await.text().await.unwrap();
    assert!(page.contains("<p class=\"player\">two</p>") && page.contains("The text claims: ongoing."), "{page}");
}

#[tokio::test]
async fn a_file_in_gbk_is_judged() {
    let bench = Bench::start().await;
    // `[Event "赛"] 1. 炮二平五 红胜`.
    let gbk = b"[Event \"\xc8\xfc\"]\n1. \xc5\xda\xb6\xfe\xc6\xbd\xce\xe5 \xba\xec\xca\xa4\n".to_vec();
    let list: Value = read(bench.request(Method::POST, "/api/v1/judge", "").body(gbk).send().await.unwrap()).await;
    assert_eq!((&list["games"][0]["moves"][0], &list["games"][0]["claimed"]), (&json!("h2e2"), &json!("red_wins")));
}

#[tokio::test]
async fn skipped_parts_are_named_on_the_page() {
    let bench = Bench::start().await;
    // Moves behind a semicolon are moves.
    let sent = send_form(&bench, "/en/judge", &[("moves", "1. C2=5, H8+7; 2. H2+3, R9=8; 3. R1=2, H2+3")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let address = sent.headers()["location"].to_str().unwrap();
    assert_eq!(address, "/en/judge?moves=h2e2+h9g7+h0g2+i9h9+i0h0+b9c7");
    let text = "1. 炮二平五 {好} 马8进7 (1... 马2进3) 红胜";
    let page = send_form(&bench, "/en/judge", &[("moves", text)]).await.text().await.unwrap();
    for words in ["comment `{好}` at line 1, column 9", "variation `(1... 马2进3)`", "The text claims: red wins."] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(page.contains("href=\"/en/judge?moves=h2e2+h9g7\""), "{page}");
    let page = send_form(&bench, "/zh/judge", &[("moves", text)]).await.text().await.unwrap();
    assert!(page.contains("第1行第9字的注释“{好}”") && page.contains("文本自称：红胜。"), "{page}");
    let black = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b";
    let page = send_form(&bench, "/en/judge", &[("fen", black), ("moves", "炮二平五 马8进7")]).await;
    assert!(page.text().await.unwrap().contains("Black moves first in the position"));
    let query = encode(&[("moves", "1. h2e2 {solid} h9g7!")]);
    let judged: Value = read(get(&bench, &format!("/api/v1/judge?{query}")).await).await;
    assert_eq!(judged["skipped"][0], json!({ "kind": "comment", "line": 1, "column": 9, "text": "{solid}" }));
    // A stray field, a field that is no text, and a body that is no form.
    let page = send_form(&bench, "/en/judge", &[("moves", "h2e2"), ("other", "x")]).await;
    assert_eq!(page.status(), StatusCode::SEE_OTHER);
    let page = bench.request(Method::POST, "/en/judge", "").body("moves=h2e2").send().await.unwrap();
    assert!(page.status().is_client_error());
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
