//! Webhooks, with a real receiver.

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
use coordinator_core::{
    clock::HOUR,
    events::record_event,
    model::{Event, Reason, Stall, WebhookId},
    ops::{
        disputes::{SetQuarantine, set_quarantine},
        webhooks::{AddWebhook, DEFAULT_KINDS, RemoveWebhook},
    },
    people::secret,
    query,
    store::{StoreError, Webhooks},
    webhooks::{self, Sender, signature},
};
use protocol::api::{problem::Code, work::Role};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::bench::{Bench, settings};

/// A receiver's reaction.
#[derive(Clone, Copy, Debug)]
enum Reaction {
    Accept,
    Fail,
    Redirect,
    Stall,
}

#[derive(Clone, Default)]
struct Receiver {
    requests: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    reactions: Arc<Mutex<VecDeque<Reaction>>>,
}

impl Receiver {
    /// Starts a receiver with these reactions, one after the other; afterwards it accepts.
    async fn start(reactions: &[Reaction]) -> (Self, SocketAddr) {
        let receiver = Self::default();
        receiver.reactions.lock().unwrap().extend(reactions);
        let app = Router::new().route("/{*place}", post(receive)).with_state(receiver.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        (receiver, address)
    }

    fn take_requests(&self) -> Vec<(HeaderMap, String)> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    receiver.requests.lock().unwrap().push((headers, body));
    let reaction = receiver.reactions.lock().unwrap().pop_front().unwrap_or(Reaction::Accept);
    match reaction {
        Reaction::Accept => StatusCode::NO_CONTENT.into_response(),
        Reaction::Fail => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Reaction::Redirect => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response(),
        Reaction::Stall => {
            tokio::time::sleep(Duration::from_mins(1)).await;
            StatusCode::NO_CONTENT.into_response()
        }
    }
}

async fn add(bench: &Bench, address: String, kinds: &[&str]) -> Result<(WebhookId, String), StoreError> {
    let (kinds, secret) = (kinds.iter().map(|&kind| kind.to_owned()).collect(), secret("webhook_")?);
    let webhook = bench.service.run(AddWebhook { address, kinds, secret: secret.clone() }).await?;
    Ok((webhook, secret))
}

async fn cause_event(bench: &Bench, kind: &'static str) {
    let now = bench.clock.now();
    let (campaign, name, net) = ("one".to_owned(), "one-1".to_owned(), "00".to_owned());
    let event = match kind {
        "promotion" => Event::Promotion { campaign, net, name, generation: 1, job: None },
        "candidate" => Event::Candidate { net, name },
        "stall" => Event::Stall(Stall::Campaign { campaign, reason: Reason::NoTrainer }),
        _ => Event::Disk { is_low: true, free_mebibytes: 7 },
    };
    let noted = bench.service.store.write(move |mut c| {
        let event = event.clone();
        Box::pin(async move { record_event(&mut c, now, None, event).await })
    });
    noted.await.unwrap();
}

/// Delivers the due events, as a process just started.
async fn deliver(bench: &Bench) -> (usize, usize) {
    let sender = Sender::new(Duration::from_millis(500)).unwrap();
    webhooks::deliver(&bench.service.store, &bench.clock, &sender).await.unwrap()
}

#[tokio::test]
async fn events_are_delivered_once_and_signed() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[]).await;
    let (_, secret) = add(&bench, format!("http://{at}/hook?key=1"), &DEFAULT_KINDS).await.unwrap();
    cause_event(&bench, "promotion").await;
    cause_event(&bench, "candidate").await;
    bench.account("eve", Role::Volunteer).await;
    let now = bench.clock.now();
    let (account, reason) = ("eve".into(), "by hand".into());
    let change = SetQuarantine { account, begins: true, by: None, reason };
    set_quarantine(&bench.service.store, now, change).await.unwrap();
    assert_eq!(deliver(&bench).await, (2, 2));
    let requests = receiver.take_requests();
    let kinds: Vec<Value> =
        requests.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap()["kind"].clone()).collect();
    assert_eq!(kinds, ["promotion", "quarantine"], "only subscribed kinds are delivered");
    for (headers, body) in &requests {
        let sent = headers["chuhe-signature"].to_str().unwrap();
        assert_eq!(sent, signature(&secret, now.seconds(), body));
        assert_ne!(sent, signature("webhook_another", now.seconds(), body));
        assert_ne!(sent, signature(&secret, now.seconds(), &format!("{body} ")));
        let value: Value = serde_json::from_str(body).unwrap();
        assert_eq!(value["delivery"].to_string(), headers["chuhe-delivery"].to_str().unwrap());
        assert!(value["text"].as_str().is_some_and(|text| !text.is_empty()) && value["at"] == now.0, "{value}");
    }
    bench.clock.advance(24 * HOUR);
    assert_eq!(deliver(&bench).await, (0, 0));
    assert!(receiver.take_requests().is_empty());
}

#[tokio::test]
async fn failed_deliveries_are_retried_with_growing_pauses() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[Reaction::Fail, Reaction::Stall, Reaction::Fail]).await;
    add(&bench, format!("http://{at}/hook"), &["stall"]).await.unwrap();
    cause_event(&bench, "stall").await;
    let mut pauses = Vec::new();
    let mut waited = 0;
    while pauses.len() < 4 {
        let (tried, delivered) = deliver(&bench).await;
        if tried > 0 {
            assert_eq!(delivered, usize::from(pauses.len() == 3), "the fourth is accepted");
            pauses.push(std::mem::take(&mut waited));
        }
        bench.clock.advance(1_000);
        waited += 1;
        assert!(waited < 1_000, "it is given up after {pauses:?}");
    }
    assert!(pauses[1] >= 10 && pauses[2] > pauses[1] && pauses[3] > pauses[2], "{pauses:?}");
    let requests = receiver.take_requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|(headers, body)| {
        (&headers["chuhe-delivery"], body) == (&requests[0].0["chuhe-delivery"], &requests[0].1)
    }));
    bench.clock.advance(24 * HOUR);
    assert_eq!(deliver(&bench).await, (0, 0));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[Reaction::Redirect]).await;
    add(&bench, format!("http://{at}/hook"), &["disk"]).await.unwrap();
    cause_event(&bench, "disk").await;
    assert_eq!(deliver(&bench).await, (1, 0));
    assert_eq!(receiver.take_requests().len(), 1, "the other address was not asked");
}

#[tokio::test]
async fn an_unreachable_receiver_delays_no_other_and_is_given_up() {
    let bench = Bench::start().await;
    let (receiver, at) = Receiver::start(&[]).await;
    let gone = { TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap() };
    add(&bench, format!("http://{gone}/hook"), &["disk"]).await.unwrap();
    add(&bench, format!("http://{at}/hook"), &["disk"]).await.unwrap();
    cause_event(&bench, "disk").await;
    assert_eq!(deliver(&bench).await, (2, 1));
    assert_eq!(receiver.take_requests().len(), 1);
    let mut tries = 1;
    for _ in 0..200 {
        bench.clock.advance(HOUR);
        tries += deliver(&bench).await.0;
    }
    assert!((10..40).contains(&tries), "{tries}");
    assert_eq!(bench.number("SELECT COUNT(*) FROM deliveries WHERE done < 0").await, 1);
}

#[tokio::test]
async fn a_full_disk_is_one_event_and_its_recovery_another() {
    let mut full = settings();
    full.least_free_bytes = u64::MAX;
    let bench = Bench::with(full).await;
    for _ in 0..3 {
        bench.step().await;
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'disk'").await, 1);
    let mut service = bench.service.service.clone();
    service.settings = Arc::new(settings());
    for _ in 0..3 {
        coordinator_core::driver::tick(&service).await.unwrap();
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'disk'").await, 2);
}

#[tokio::test]
async fn an_invalid_address_is_rejected() {
    let bench = Bench::start().await;
    for address in ["http://example.org/hook", "ftp://127.0.0.1/", "https://me:secret@example.org/", "nonsense"] {
        match add(&bench, address.to_owned(), &["disk"]).await {
            Err(StoreError::Rejected(problem)) => assert_eq!(problem.code(), Code::Invalid, "{address}"),
            other => panic!("{address}: {other:?}"),
        }
    }
    assert!(add(&bench, "https://example.org/".to_owned(), &["weather"]).await.is_err());
    let (id, secret) = add(&bench, "https://example.org/".to_owned(), &["disk"]).await.unwrap();
    let listed = bench.service.store.read(query!(|c| Webhooks::on(c).list().await)).await.unwrap();
    assert!(!listed.to_string().contains(&secret) && listed[0]["webhook"] == id.0, "{listed}");
    cause_event(&bench, "disk").await;
    bench.service.run(RemoveWebhook { webhook: id }).await.unwrap();
    assert_eq!(deliver(&bench).await, (0, 0));
}
