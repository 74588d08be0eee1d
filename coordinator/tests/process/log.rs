//! The coordinator's log contains no secrets, at any level.

use std::{
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use dataset::Digest;
use protocol::api::{
    NET_TYPE, SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    work::{Answer, Ask, Lease, Work, Worker},
};
use reqwest::{Client, Method, Response, redirect::Policy};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    program::{self, Place, admin, play},
    started::{self, machine},
};

struct Visitor {
    client: Client,
    port: u16,
}

impl Visitor {
    async fn send(&self, method: Method, path: &str, token: &str, kind: &str, body: Vec<u8>) -> Response {
        let request = self.client.request(method, format!("http://127.0.0.1:{}{path}", self.port));
        let request = request.header("content-type", kind).header(VERSION_HEADER, env!("CARGO_PKG_VERSION"));
        let request = request.header(SHA256_HEADER, Digest::of(&body).to_string());
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        request.body(body).send().await.unwrap()
    }

    async fn post(&self, path: &str, token: &str, body: &impl serde::Serialize) -> Response {
        self.send(Method::POST, path, token, "application/json", serde_json::to_vec(body).unwrap()).await
    }

    async fn page(&self, path: &str, cookie: &str) -> Response {
        let request = self.client.get(format!("http://127.0.0.1:{}{path}", self.port)).header("cookie", cookie);
        request.send().await.unwrap()
    }

    /// As [`Self::send`], but so slowly that it is logged; returns the status of the response.
    async fn send_slowly(&self, path: &str, token: &str, kind: &str) -> u16 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: {kind}\r\n\
             {VERSION_HEADER}: {}\r\n{SHA256_HEADER}: {}\r\ncontent-length: 4\r\nconnection: close\r\n\r\nsl",
            env!("CARGO_PKG_VERSION"),
            Digest::of(b"slow"),
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(4)).await;
        stream.write_all(b"ow").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Signs in to the pages; the cookie and the form's field are secrets as well.
    async fn sign_in(&self, name: &str, password: &str) -> (Response, [String; 2]) {
        let page = self.page("/en/sign-in", "").await;
        let cookie = secret_of(&page);
        let text = page.text().await.unwrap();
        let (_, rest) = text.split_once("name=\"form\" value=\"").unwrap();
        let form = rest.split_once('"').unwrap().0.to_owned();
        let request = self.client.post(format!("http://127.0.0.1:{}/en/sign-in", self.port));
        let request = request.header("cookie", format!("chuhe_form={cookie}"));
        let request = request.header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let fields = [("form", form.as_str()), ("name", name), ("password", password)];
        let answer = request.body(serde_urlencoded::to_string(fields).unwrap()).send().await.unwrap();
        (answer, [cookie, form])
    }
}

/// The value of the cookie that a response sets.
fn secret_of(answer: &Response) -> String {
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().split_once('=').unwrap().1.to_owned()
}

async fn read<T: serde::de::DeserializeOwned>(answer: Response) -> T {
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{status}: {error}: {text}"))
}

async fn lease(visitor: &Visitor, token: &str) -> Lease {
    let worker: Worker = read(visitor.post(path::WORKERS, token, &machine("one")).await).await;
    loop {
        let ask = Ask {
            worker: worker.worker,
            nonce: "one".to_owned(),
            threads: 1,
            nodes_per_second: Some(1_000),
            most_seconds: Some(2),
            acknowledged: Vec::new(),
        };
        let answer: Answer = read(visitor.post(path::LEASES, token, &ask).await).await;
        if let Work::Games(lease) = answer.work {
            return lease;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn no_secret_is_in_the_log() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().unwrap();
    let place = Place::folder(folder.path());
    program::prepare(&place);
    let password = "correct-horse-battery";
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    command.args(["admin", "user", "password", "ann"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{password}\n").as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    admin(&place, &["user", "role", "ann", "admin"]);
    let token = admin(&place, &["token", "create", "ann"]);

    let hook = "http://127.0.0.1:9/services/behind-the-host";
    let added = admin(&place, &["webhook", "add", hook]);
    let (_, hook_secret) = added.split_once("secret").unwrap();
    let hook_secret = hook_secret.trim_matches(|sign: char| !sign.is_ascii_alphanumeric()).to_owned();

    let log = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&log);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    command.arg("serve").env("CHUHE_LOG", "trace");
    let (mut process, port) = started::serve(&mut command, move |line| {
        let mut log = sink.lock().unwrap();
        log.push_str(&line);
        log.push('\n');
    });
    let visitor = Visitor { client: Client::builder().redirect(Policy::none()).build().unwrap(), port };

    // Uploads, valid and invalid, under a lease whose token is a secret.
    let lease = lease(&visitor, &token).await;
    let games = path::games(&lease.token, lease.terms.first_game);
    let bad = visitor.send(Method::PUT, &games, &token, SHARD_TYPE, b"bad".to_vec()).await;
    assert!(bad.status().is_client_error());
    let good = visitor.send(Method::PUT, &games, &token, SHARD_TYPE, play(&lease)).await;
    assert!(good.status().is_success());
    let renewal = format!("/api/v1/leases/{}/renewal", lease.token);
    assert!(visitor.post(&renewal, &token, &json!({ "finished": 1 })).await.status().is_client_error());
    assert_eq!(visitor.send_slowly(&games, &token, SHARD_TYPE).await / 100, 4);
    // A training, whose token is a secret.
    let train = json!({ "command": "train" });
    let claim = json!({ "name": "one", "version": "1", "backend": "cpu" });
    let training = loop {
        drop(visitor.post("/api/v1/campaigns/quick/commands", &token, &train).await);
        let offer: Value = read(visitor.post(path::TRAININGS, &token, &claim).await).await;
        if let Some(training) = offer["token"].as_str() {
            break training.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let net = format!("/api/v1/trainings/{training}/net");
    assert_eq!(visitor.send_slowly(&net, &token, NET_TYPE).await / 100, 4);
    // An event for a webhook that does not respond.
    let quarantine = json!({ "reason": "to see" });
    drop(visitor.post("/api/v1/registrations", "", &json!({ "name": "carl", "licence": "CC0-1.0" })).await);
    let quarantined = visitor.post("/api/v1/accounts/carl/quarantine", &token, &quarantine).await;
    assert!(quarantined.status().is_success(), "{:?}", quarantined.text().await);
    // An invalid token, a token shown once, an invitation.
    let stranger = "chuhe_notatokenofthisserver";
    assert_eq!(visitor.post(path::WORKERS, stranger, &machine("two")).await.status().as_u16(), 401);
    let made: Value = read(visitor.post("/api/v1/tokens", &token, &json!({ "name": "more" })).await).await;
    let made = made["token"].as_str().unwrap().to_owned();
    let invited: Value = read(visitor.post("/api/v1/invitations", &token, &json!({ "role": "volunteer" })).await).await;
    let invitation = invited["invitation"].as_str().unwrap().to_owned();
    let wanted = json!({ "name": "bob", "licence": "CC0-1.0", "invitation": invitation });
    let registered: Value = read(visitor.post("/api/v1/registrations", "", &wanted).await).await;
    let registered = registered["token"].as_str().unwrap().to_owned();
    // A sign-in after a wrong password.
    let wrong = "correct-horse-buttery";
    let (answer, _) = visitor.sign_in("ann", wrong).await;
    assert_eq!(answer.status().as_u16(), 403);
    let (answer, [form_cookie, form]) = visitor.sign_in("ann", password).await;
    assert_eq!(answer.status().as_u16(), 303, "{:?}", answer.text().await);
    let session = secret_of(&answer);
    let page = visitor.page("/en/me", &format!("chuhe_session={session}")).await;
    assert!(page.status().is_success());

    let is_logged = |what: &str| log.lock().unwrap().contains(what);
    while !is_logged("127.0.0.1:9") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Command::new("kill").arg(process.id().to_string()).status().unwrap();
    process.wait().unwrap();
    // The reading thread ends with the pipe.
    while Arc::strong_count(&log) > 1 {
        tokio::task::yield_now().await;
    }
    let log = log.lock().unwrap().clone();
    assert!(log.contains("DEBUG") && log.contains("SELECT"), "the log is complete: {} bytes", log.len());
    for line in ["/leases/…/games/", "/trainings/…/net"] {
        assert!(log.contains(line), "the slow request is logged, without the secret in {line}");
    }
    let own = [token.as_str(), &lease.token, stranger, &made, &invitation, &registered, &training, &hook_secret];
    let own = own.into_iter().chain(["behind-the-host"]);
    let secrets = own.chain([wrong, password, &session, &form_cookie, &form]);
    for secret in secrets {
        assert!(secret.len() > 12, "{secret}");
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} is in the log");
    }
}

/// The log's lines are lost; games are validated all the same.
#[tokio::test]
async fn a_closed_log_stops_nothing() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().unwrap();
    let place = Place::folder(folder.path());
    program::prepare(&place);
    admin(&place, &["user", "role", "ann", "admin"]);
    let token = admin(&place, &["token", "create", "ann"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    // Every task writes lines at each step.
    command.arg("serve").env("CHUHE_LOG", "trace");
    let (mut process, port, lines) = started::begin(&mut command);
    drop(lines);
    let visitor = Visitor { client: Client::builder().redirect(Policy::none()).build().unwrap(), port };

    let lease = lease(&visitor, &token).await;
    let games = path::games(&lease.token, lease.terms.first_game);
    let answer = visitor.send(Method::PUT, &games, &token, SHARD_TYPE, play(&lease)).await;
    assert!(answer.status().is_success());
    let shows = async |path: &str, line: &str| {
        let text = visitor.page(path, "").await.text().await.unwrap();
        text.lines().any(|own| own.starts_with(line))
    };
    while !shows("/metrics", "chuhe_shards{state=\"validated\"} 1").await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    while !shows("/readyz", "scheduler: last step ").await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(shows("/readyz", "validator: last step ").await);
    assert_eq!(process.try_wait().unwrap(), None, "no background task has ended");
    Command::new("kill").arg(process.id().to_string()).status().unwrap();
    assert!(process.wait().unwrap().success());
}
