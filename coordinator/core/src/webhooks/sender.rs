//! Posts deliveries that are due.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, redirect::Policy};
use sha2::Sha256;

use crate::{
    clock::{Clock, Time},
    ops::webhooks::{ClaimDeliveries, RecordAttempt, origin},
    query,
    store::{Database, Due, StoreError, Webhooks},
};

/// Interval between checks for due deliveries.
const TICK: Duration = Duration::from_secs(2);

/// Timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum simultaneous posts.
const MAX_BATCH: i64 = 16;

/// The HTTP client of webhooks.
#[derive(Clone, Debug)]
pub struct Sender {
    client: Client,
}

impl Sender {
    /// Creates a client with this timeout.
    ///
    /// # Errors
    ///
    /// If the system's certificates cannot be loaded.
    pub fn new(timeout: Duration) -> Result<Self, reqwest::Error> {
        // rustls needs a crypto provider; an already installed one is no error.
        drop(rustls::crypto::ring::default_provider().install_default());
        // No redirects: deliveries go to the configured address only.
        let client = Client::builder().redirect(Policy::none()).timeout(timeout).connect_timeout(timeout);
        let client = client.user_agent(concat!("chuhe-coordinator/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(Self { client })
    }

    async fn post(&self, now: Time, due: &Due) -> Result<(), String> {
        let seconds = now.seconds();
        let request = self.client.post(&due.address).header("content-type", "application/json");
        let request = request.header("chuhe-event", &due.kind).header("chuhe-delivery", due.delivery.0);
        let request = request.header("chuhe-signature", signature(&due.secret, seconds, &due.body));
        match request.body(due.body.clone()).send().await {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(format!("the response was {}", response.status())),
            // The error's text may contain the address.
            Err(error) if error.is_timeout() => Err("the request timed out".to_owned()),
            Err(error) if error.is_connect() => Err("the connection was refused".to_owned()),
            Err(_) => Err("the connection broke off".to_owned()),
        }
    }
}

/// Signs a body: `t=SECONDS,v1=HEX`, the HMAC-SHA-256 by the webhook's secret of the seconds since
/// 1970, a full stop, and the body.
///
/// # Panics
///
/// Never: a key of any length will do.
#[must_use]
pub fn signature(secret: &str, seconds: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length will do");
    mac.update(format!("{seconds}.{body}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    bytes.iter().fold(format!("t={seconds},v1="), |mut text, byte| {
        for digit in [byte >> 4, byte & 0xf] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
        text
    })
}

/// Posts all due deliveries once. Returns their number and how many got a 2xx response.
pub async fn deliver(store: &Database, clock: &Clock, sender: &Sender) -> Result<(usize, usize), StoreError> {
    let now = clock.now();
    let any = store.read(query!(|connection| Webhooks::on(connection).is_any_due(now).await));
    // A write waits for the disk, and mostly nothing is due.
    if !any.await? {
        return Ok((0, 0));
    }
    let due = store.run(now, ClaimDeliveries { limit: MAX_BATCH }).await?;
    let posts = due.iter().map(|due| async {
        let result = sender.post(now, due).await;
        if let Err(why) = &result {
            tracing::warn!(delivery = due.delivery.0, to = origin(&due.address), why, "a webhook delivery failed");
        }
        (due.delivery, result.is_ok())
    });
    let results = futures_util::future::join_all(posts).await;
    let now = clock.now();
    for &(delivery, is_delivered) in &results {
        store.run(now, RecordAttempt { delivery, is_delivered }).await?;
    }
    Ok((results.len(), results.iter().filter(|(_, is_delivered)| *is_delivered).count()))
}

/// Delivers until stopped.
pub async fn serve(store: Database, clock: Clock, mut stop: tokio::sync::watch::Receiver<bool>) {
    let sender = match Sender::new(REQUEST_TIMEOUT) {
        Ok(sender) => sender,
        Err(error) => return tracing::error!(%error, "webhooks are disabled: there is no HTTP client"),
    };
    loop {
        let delivered = deliver(&store, &clock, &sender).await;
        if let Err(error) = &delivered {
            tracing::error!(%error, "webhook deliveries failed");
        }
        // A full batch: more may be due.
        let pause =
            if matches!(delivered, Ok((found, _)) if found as i64 == MAX_BATCH) { Duration::ZERO } else { TICK };
        tokio::select! {
            () = tokio::time::sleep(pause) => if *stop.borrow() { break },
            changed = stop.changed() => if changed.is_err() || *stop.borrow() { break },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::signature;

    /// Reference: `printf '1700000000.{}' | openssl dgst -sha256 -hmac webhook_secret`.
    #[test]
    fn a_signature_matches_openssl() {
        assert_eq!(signature("webhook_secret", 1_700_000_000, "{}"), EXPECTED);
    }

    const EXPECTED: &str = "t=1700000000,v1=ca75efd9530f177dc4a05f3ae74173030f9a04894316967f9a63f704d10c0674";
}
