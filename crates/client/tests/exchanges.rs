//! Whole exchanges with a server, and with what may answer in its place.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use client::{Client, Error, HostLookup, Settings, SystemClock};
use dataset::Digest;
use protocol::api::{
    path,
    problem::{Code, PROBLEM_TYPE, Problem},
    work::{Receipt, ReceiptStatus},
};
use testkit::http::{Listener, Request, Response};

fn client(url: &str, token: Option<&str>) -> Client {
    let mut settings = Settings::new(
        url.parse().unwrap(),
        token.map(|token| token.parse().unwrap()),
        Arc::new(SystemClock::default()),
    );
    settings.idle_timeout = Duration::from_secs(2);
    Client::new(settings).unwrap()
}

/// A server that records its requests and answers each with the same response.
fn answering(response: Response) -> (Listener, Arc<Mutex<Vec<Request>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let server = Listener::answering(move |request| {
        kept.lock().unwrap().push(request);
        response.clone()
    });
    (server.unwrap(), seen)
}

fn json(value: &impl serde::Serialize) -> Response {
    Response::new(200, "application/json", serde_json::to_vec(value).unwrap())
}

#[test]
fn games_are_handed_in_with_their_hash_and_a_receipt_is_for_them() {
    let bytes = b"games".to_vec();
    let receipt = Receipt { status: ReceiptStatus::Duplicate, shard: Digest::of(&bytes), notices: Vec::new() };
    let (server, seen) = answering(json(&receipt));
    let client = client(&server.url(), Some("secret"));
    assert_eq!(client.upload("lease", 7, bytes.clone()).unwrap(), receipt);
    let error = client.upload("lease", 7, b"other".to_vec()).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }) && error.is_transient(), "{error}");
    let seen = seen.lock().unwrap();
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("PUT", "/api/v1/leases/lease/games/7"));
    let header = |name: &str| seen[0].headers[name].as_str();
    assert_eq!(header("chuhe-sha256"), Digest::of(&bytes).to_string());
    assert_eq!(header("authorization"), "Bearer secret");
    assert_eq!(header("content-type"), "application/vnd.chuhe.shard");
    assert_eq!(header("chuhe-version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(header("connection"), "close");
    assert_eq!(seen[0].body, bytes);
}

/// A captive portal (a hotel's network before it is paid for) answers every address with its page.
#[test]
fn a_page_is_not_a_response_of_the_coordinator() {
    for status in [200, 201] {
        let (server, _) = answering(Response::new(status, "text/html", "<html>Welcome to the hotel</html>"));
        let client = client(&server.url(), Some("secret"));
        for result in [client.release("lease", 7), client.put_candidate("training", b"net".to_vec())] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Status { .. }) && error.is_transient(), "{error}");
            assert!(error.to_string().contains("not the coordinator's"), "{error}");
        }
    }
    for status in [201, 204] {
        let (server, _) = answering(Response::new(status, "text/plain", ""));
        client(&server.url(), Some("secret")).release("lease", 7).unwrap();
    }
}

#[test]
fn rejections_have_their_code() {
    let problem = Problem::new(Code::Blocked, "This machine makes mistakes: write to us.");
    let text = serde_json::to_vec(&problem).unwrap();
    let (server, _) = answering(Response::new(403, PROBLEM_TYPE, text.clone()).with("retry-after", 90));
    let error = client(&server.url(), None).me().unwrap_err();
    assert_eq!((error.code(), error.is_transient()), (Some(Code::Blocked), false));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(90)));
    assert!(error.to_string().ends_with(": This machine makes mistakes: write to us."), "{error}");

    // The same JSON with another content type is not a rejection by the coordinator.
    let (server, _) = answering(Response::new(403, "text/html", text));
    let error = client(&server.url(), None).me().unwrap_err();
    assert_eq!((error.code(), error.is_transient()), (None, true));
}

#[test]
fn pages_of_proxies_are_errors() {
    let (server, _) = answering(Response::new(200, "text/html", "<html>Welcome</html>"));
    let error = client(&server.url(), None).server().unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }) && error.is_transient(), "{error}");
    let (server, _) = answering(Response::new(502, "text/html", "<html>\n bad\u{7} gateway</html>"));
    let error = client(&server.url(), None).server().unwrap_err();
    let context = format!("asking for the server's name ({})", server.url());
    assert_eq!(
        error.to_string(),
        format!("{context}: the answer was 502 (`<html> bad gateway</html>`), not the coordinator's")
    );
}

#[test]
fn no_error_shows_a_lease() {
    let error = client("http://127.0.0.1:9", None).release("very-secret", 1).unwrap_err();
    assert!(matches!(error, Error::Network { .. }) && error.is_transient());
    assert!(!format!("{error} {error:?}").contains("very-secret"), "{error:?}");
    // A scheme that needs certificates works too.
    let error = client("https://127.0.0.1:9", None).release("very-secret", 1).unwrap_err();
    assert!(matches!(error, Error::Network { .. }), "{error}");
}

#[test]
fn network_errors_name_their_cause() {
    let text = |url: &str| {
        let error = client(url, None).server().unwrap_err();
        assert!(matches!(error, Error::Network { .. }) && error.is_transient(), "{error:?}");
        error.to_string()
    };
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = format!("http://127.0.0.1:{port}");
    assert_eq!(
        text(&closed),
        format!("no server answers at {closed} (connection refused); is the address right, and does the server run?")
    );
    // A label of 64 letters is in no name server, and none is asked.
    let host = format!("{}.invalid", "a".repeat(64));
    assert_eq!(
        text(&format!("http://{host}")),
        format!("there is no host `{host}`; is the address right, and is this machine online?")
    );
    let lookup = |url: &str| client(url, None).server().unwrap_err().host_lookup();
    assert_eq!(lookup(&closed), HostLookup::Found);
    assert_eq!(lookup(&format!("http://{host}")), HostLookup::NoSuchHost);
    // A server of plain HTTP does not understand the beginning of TLS.
    let plain = Listener::start(|mut stream| {
        use std::io::Write as _;
        let _ = stream.write_all(&Response::new(400, "text/plain", "").to_bytes());
    })
    .unwrap();
    let tls = plain.url().replace("http:", "https:");
    assert_eq!(text(&tls), format!("{tls} speaks no TLS; is {} meant?", plain.url()));
    // A server of TLS answers plain HTTP with an alert.
    let alert = Listener::start(|mut stream| {
        use std::io::Write as _;
        let _ = Request::read(&mut stream);
        let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 10]);
    })
    .unwrap();
    let tls = alert.url().replace("http:", "https:");
    assert_eq!(text(&alert.url()), format!("{} speaks no plain HTTP; is {tls} meant?", alert.url()));
    let closing = Listener::start(drop).unwrap();
    assert!(text(&closing.url()).contains(&closing.url()), "{}", text(&closing.url()));
}

#[test]
fn a_mirror_that_does_not_answer_is_named() {
    let client = client("https://games.example.org", None);
    let error = client.get_url("http://127.0.0.1:9/secret", 10).unwrap_err().to_string();
    assert!(error.starts_with("no server answers at http://127.0.0.1:9 (connection refused)"), "{error}");
}

#[test]
fn a_silent_server_times_out() {
    let server = Listener::start(|stream| {
        std::thread::sleep(Duration::from_secs(6));
        drop(stream);
    });
    let server = server.unwrap();
    let url = server.url();
    let error = client(&url, None).server().unwrap_err();
    assert_eq!(error.to_string(), format!("{url} is silent: no answer in time"));
}

#[test]
fn redirects_are_followed_for_files_alone_and_never_with_the_token() {
    let net = b"net".repeat(1000);
    let (files, seen) = answering(Response::new(200, "application/octet-stream", net.clone()));
    let elsewhere = format!("{}/somewhere", files.url().replace("127.0.0.1", "localhost"));
    let (server, _) = answering(Response::new(302, "text/plain", "").with("location", elsewhere));
    let client = client(&server.url(), Some("secret"));
    assert!(matches!(client.me(), Err(Error::Status { status: 302, .. })));
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("net");
    client.fetch(&path::net(Digest::of(&net)), Digest::of(&net), 1 << 20, &into, None).unwrap();
    assert_eq!(fs::read(into).unwrap(), net);
    assert!(!seen.lock().unwrap().iter().any(|request| request.headers.contains_key("authorization")));
}

#[test]
fn an_interrupted_download_is_resumed() {
    let net: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    let whole = net.clone();
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&ranges);
    // Breaks off twice, then ignores the range and breaks off again; the fourth response is whole.
    let server = Listener::start(move |mut stream| {
        use std::io::Write as _;
        let Ok((request, _)) = Request::read(&mut stream) else { return };
        let range = request.headers.get("range").cloned();
        let mut ranges = kept.lock().unwrap();
        ranges.push(range.clone());
        let from = range.map_or(0, |range| range["bytes=".len()..range.len() - 1].parse::<usize>().unwrap());
        let response = match ranges.len() {
            3 => Response::new(200, "x", &whole[..]),
            _ if from > 0 => {
                let place = format!("bytes {from}-{}/{}", whole.len() - 1, whole.len());
                Response::new(206, "x", &whole[from..]).with("content-range", place)
            }
            _ => Response::new(200, "x", &whole[..]),
        };
        let bytes = response.to_bytes();
        let cut = if ranges.len() < 4 { 100_000 } else { bytes.len() };
        let _ = stream.write_all(&bytes[..cut]);
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("deep/net");
    let client = client(&server.url(), None);
    let fetch = || client.fetch(&path::net(Digest::of(&net)), Digest::of(&net), 1 << 20, &into, None);
    for _ in 0..3 {
        assert!(matches!(fetch(), Err(Error::Network { .. })));
        assert!(!into.exists());
    }
    fetch().unwrap();
    assert_eq!(fs::read(&into).unwrap(), net);
    let ranges = ranges.lock().unwrap();
    assert!(ranges[0].is_none() && ranges[1..].iter().all(Option::is_some), "{ranges:?}");
    let names: Vec<_> = fs::read_dir(into.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn a_file_with_another_hash_is_deleted() {
    let (server, _) = answering(Response::new(200, "x", "not the net"));
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("net");
    let client = client(&server.url(), None);
    let error = client.fetch("/api/v1/nets/x", Digest::of(b"net"), 1 << 20, &into, None).unwrap_err();
    assert!(matches!(error, Error::WrongBytes { .. }), "{error}");
    let error = client.fetch("/api/v1/nets/x", Digest::of(b"net"), 5, &into, None).unwrap_err();
    assert!(error.to_string().contains("more than 5 bytes"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_mirror_is_tried_first_and_not_trusted() {
    let (server, at_server) = answering(Response::new(200, "x", "net"));
    let (mirror, at_mirror) = answering(Response::new(200, "x", "something else"));
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("net");
    let client = client(&server.url(), Some("secret"));
    let name = path::net(Digest::of(b"net"));
    client.fetch(&name, Digest::of(b"net"), 1 << 20, &into, Some(&format!("{}/files/", mirror.url()))).unwrap();
    assert_eq!(fs::read(&into).unwrap(), b"net");
    let at_mirror = at_mirror.lock().unwrap();
    assert_eq!(at_mirror[0].path, format!("/files/nets/{}", Digest::of(b"net")));
    assert!(!at_mirror[0].headers.contains_key("authorization"));
    assert_eq!(at_server.lock().unwrap()[0].headers["authorization"], "Bearer secret");
}
