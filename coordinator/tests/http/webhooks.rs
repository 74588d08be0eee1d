//! Who outside is told what happened: by a server that receives.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use coordinator::{
    clock::HOUR,
    events::{Event, note},
    people,
    store::{Failure, Store as _},
    webhooks::{self, Sender, signature},
    work::quarantine,
};
use protocol::api::{problem::Code, work::Role};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::bench::{Bench, settings};

/// What a receiver does with what comes.
#[derive(Clone, Copy, Debug)]
enum How {
    Thank,
    Fail,
    SendElsewhere,
    SayNothing,
}

#[derive(Clone, Default)]
struct Receiver {
    came: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    how: Arc<Mutex<VecDeque<How>>>,
}

impl Receiver {
    /// One that does these things, one after the other, and thanks afterwards.
    async fn start(how: &[How]) -> (Self, SocketAddr) {
        let receiver = Self::default();
        receiver.how.lock().unwrap().extend(how);
        let app = Router::new().route("/{*place}", post(receive)).with_state(receiver.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        (receiver, address)
    }

    fn came(&self) -> Vec<(HeaderMap, String)> {
        std::mem::take(&mut self.came.lock().unwrap())
    }
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    receiver.came.lock().unwrap().push((headers, body));
    let how = receiver.how.lock().unwrap().pop_front().unwrap_or(How::Thank);
    match how {
        How::Thank => StatusCode::NO_CONTENT.into_response(),
        How::Fail => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        How::SendElsewhere => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response(),
        How::SayNothing => {
            tokio::time::sleep(Duration::from_mins(1)).await;
            StatusCode::NO_CONTENT.into_response()
        }
    }
}

async fn add(bench: &Bench, address: String, kinds: &[&str]) -> Result<(i64, String), Failure> {
    let (now, kinds): (_, Vec<String>) = (bench.clock.now(), kinds.iter().map(|&kind| kind.to_owned()).collect());
    let added = bench.service.store.write(move |mut c| {
        let (address, kinds) = (address.clone(), kinds.clone());
        Box::pin(async move { webhooks::add(&mut c, now, &address, &kinds).await })
    });
    added.await
}

async fn happens(bench: &Bench, kind: &'static str) {
    let now = bench.clock.now();
    let noted = bench.service.store.write(move |mut c| {
        let event =
            Event { kind, account: None, subject: "campaign:one".to_owned(), text: format!("campaign {kind} began") };
        Box::pin(async move { note(&mut c, now, event.clone()).await })
    });
    noted.await.unwrap();
}

/// Tells what is due, as a process does that has just been started.
async fn deliver(bench: &Bench) -> (usize, usize) {
    let sender = Sender::new(Duration::from_millis(500)).unwrap();
    webhooks::deliver(&bench.service.store, &bench.clock, &sender).await.unwrap()
}

#[tokio::test]
async fn what_happens_is_told_once_and_signed() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[]).await;
    let (_, secret) = add(&bench, format!("http://{at}/hook?key=1"), &webhooks::USUAL_KINDS).await.unwrap();
    happens(&bench, "promotion").await;
    happens(&bench, "candidate").await;
    bench.account("eve", Role::Volunteer).await;
    let now = bench.clock.now();
    let done = bench.service.store.write(move |mut c| {
        Box::pin(async move {
            let eve = people::account_by_name(&mut c, "eve").await?;
            quarantine::quarantine(&mut c, now, eve, None, "by hand").await
        })
    });
    done.await.unwrap();
    assert_eq!(deliver(&bench).await, (2, 2));
    let came = receiver.came();
    let kinds: Vec<Value> =
        came.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap()["kind"].clone()).collect();
    assert_eq!(kinds, ["promotion", "quarantine"], "and not what nobody asked for");
    for (headers, body) in &came {
        let said = headers["chuhe-signature"].to_str().unwrap();
        assert_eq!(said, signature(&secret, now.seconds(), body));
        assert_ne!(said, signature("webhook_another", now.seconds(), body));
        assert_ne!(said, signature(&secret, now.seconds(), &format!("{body} ")));
        let value: Value = serde_json::from_str(body).unwrap();
        assert_eq!(value["delivery"].to_string(), headers["chuhe-delivery"].to_str().unwrap());
        assert!(value["text"].as_str().is_some_and(|text| !text.is_empty()) && value["at"] == now.0, "{value}");
    }
    bench.clock.advance(24 * HOUR);
    assert_eq!(deliver(&bench).await, (0, 0));
    assert!(receiver.came().is_empty());
}

#[tokio::test]
async fn who_fails_or_says_nothing_is_told_again_and_later_each_time() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[How::Fail, How::SayNothing, How::Fail]).await;
    add(&bench, format!("http://{at}/hook"), &["stall"]).await.unwrap();
    happens(&bench, "stall").await;
    let mut pauses = Vec::new();
    let mut waited = 0;
    while pauses.len() < 4 {
        let (tried, told) = deliver(&bench).await;
        if tried > 0 {
            assert_eq!(told, usize::from(pauses.len() == 3), "the fourth is thanked for");
            pauses.push(std::mem::take(&mut waited));
        }
        bench.clock.advance(1_000);
        waited += 1;
        assert!(waited < 1_000, "it is given up after {pauses:?}");
    }
    assert!(pauses[1] >= 10 && pauses[2] > pauses[1] && pauses[3] > pauses[2], "{pauses:?}");
    let came = receiver.came();
    assert_eq!(came.len(), 4);
    assert!(
        came.iter().all(|(headers, body)| {
            (&headers["chuhe-delivery"], body) == (&came[0].0["chuhe-delivery"], &came[0].1)
        })
    );
    bench.clock.advance(24 * HOUR);
    assert_eq!(deliver(&bench).await, (0, 0));
}

#[tokio::test]
async fn who_sends_elsewhere_is_not_followed() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[How::SendElsewhere]).await;
    add(&bench, format!("http://{at}/hook"), &["disk"]).await.unwrap();
    happens(&bench, "disk").await;
    assert_eq!(deliver(&bench).await, (1, 0));
    assert_eq!(receiver.came().len(), 1, "the other address was not asked");
}

#[tokio::test]
async fn nobody_there_holds_up_nobody_else_and_is_given_up_in_the_end() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[]).await;
    let gone = { TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap() };
    add(&bench, format!("http://{gone}/hook"), &["disk"]).await.unwrap();
    add(&bench, format!("http://{at}/hook"), &["disk"]).await.unwrap();
    happens(&bench, "disk").await;
    assert_eq!(deliver(&bench).await, (2, 1));
    assert_eq!(receiver.came().len(), 1);
    let mut tries = 1;
    for _ in 0..200 {
        bench.clock.advance(HOUR);
        tries += deliver(&bench).await.0;
    }
    assert!((10..40).contains(&tries), "{tries}");
    assert_eq!(bench.number("SELECT COUNT(*) FROM deliveries WHERE done < 0").await, 1);
}

#[tokio::test]
async fn a_disk_that_fills_is_told_once_and_once_when_it_is_well() {
    let mut full = settings();
    full.least_free_bytes = u64::MAX;
    let bench = Bench::with(full).await;
    for _ in 0..3 {
        bench.step().await;
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'disk'").await, 1);
    let mut service = bench.service.clone();
    service.settings = Arc::new(settings());
    for _ in 0..3 {
        coordinator::driver::step(&service).await.unwrap();
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'disk'").await, 2);
}

#[tokio::test]
async fn what_is_no_address_is_refused() {
    let bench = Bench::start().await;
    for address in ["http://example.org/hook", "ftp://127.0.0.1/", "https://me:secret@example.org/", "nonsense"] {
        match add(&bench, address.to_owned(), &["disk"]).await {
            Err(Failure::Refused(problem)) => assert_eq!(problem.code, Code::Invalid, "{address}"),
            other => panic!("{address}: {other:?}"),
        }
    }
    assert!(add(&bench, "https://example.org/".to_owned(), &["weather"]).await.is_err());
    let (id, secret) = add(&bench, "https://example.org/".to_owned(), &["disk"]).await.unwrap();
    let listed = bench.service.store.read(|mut c| Box::pin(async move { webhooks::list(&mut c).await })).await.unwrap();
    assert!(!listed.to_string().contains(&secret) && listed[0]["webhook"] == id, "{listed}");
    happens(&bench, "disk").await;
    let now = bench.clock.now();
    let removed =
        bench.service.store.write(move |mut c| Box::pin(async move { webhooks::remove(&mut c, now, id).await }));
    removed.await.unwrap();
    assert_eq!(deliver(&bench).await, (0, 0));
}
