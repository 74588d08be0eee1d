//! The paths of the API, relative to the server's address.

use std::fmt::Display;

/// The common prefix.
pub const ROOT: &str = "/api/v1";
/// `GET`: [`Server`](super::work::Server).
pub const SERVER: &str = "/api/v1/server";
/// `GET`: [`Me`](super::work::Me).
pub const ME: &str = "/api/v1/me";
/// `POST` [`Machine`](super::work::Machine): [`Worker`](super::work::Worker).
pub const WORKERS: &str = "/api/v1/workers";
/// `POST` [`Ask`](super::work::Ask): [`Answer`](super::work::Answer).
pub const LEASES: &str = "/api/v1/leases";
/// `POST` [`Failure`](super::work::Failure).
pub const FAILURES: &str = "/api/v1/failures";
/// `POST` [`Claim`](super::training::Claim): [`Offer`](super::training::Offer).
pub const TRAININGS: &str = "/api/v1/trainings";
/// `GET`: campaigns; `POST` a campaign's text: creates one.
pub const CAMPAIGNS: &str = "/api/v1/campaigns";
/// `GET`: the event log.
pub const EVENTS: &str = "/api/v1/events";

/// `POST` [`Renew`](super::work::Renew): [`Renewed`](super::work::Renewed).
#[must_use]
pub fn renewal(lease: &str) -> String {
    format!("{LEASES}/{lease}/renewal")
}

/// `POST` [`GiveBack`](super::work::GiveBack).
#[must_use]
pub fn release(lease: &str) -> String {
    format!("{LEASES}/{lease}/giving-back")
}

/// `PUT` a shard of the lease's games that begins with this one: [`Receipt`](super::work::Receipt).
#[must_use]
pub fn games(lease: &str, first: u64) -> String {
    format!("{LEASES}/{lease}/games/{first}")
}

/// `POST` [`Live`](super::work::Live).
#[must_use]
pub fn live(lease: &str) -> String {
    format!("{LEASES}/{lease}/live")
}

/// `POST` [`Progress`](super::training::Progress): [`Renewed`](super::work::Renewed).
#[must_use]
pub fn progress(training: &str) -> String {
    format!("{TRAININGS}/{training}/progress")
}

/// `PUT` the candidate's file.
#[must_use]
pub fn candidate(training: &str) -> String {
    format!("{TRAININGS}/{training}/net")
}

/// `PUT` a plot of its losses (SVG).
#[must_use]
pub fn curves(training: &str) -> String {
    format!("{TRAININGS}/{training}/curves")
}

/// `POST` [`Completion`](super::training::Completion): [`Accepted`](super::training::Accepted).
#[must_use]
pub fn completion(training: &str) -> String {
    format!("{TRAININGS}/{training}/completion")
}

/// `POST` [`Abandon`](super::training::Abandon).
#[must_use]
pub fn abandonment(training: &str) -> String {
    format!("{TRAININGS}/{training}/abandonment")
}

/// `GET`: a net's file.
#[must_use]
pub fn net(hash: impl Display) -> String {
    format!("{ROOT}/nets/{hash}")
}

/// `GET`: a book's file.
#[must_use]
pub fn book(hash: impl Display) -> String {
    format!("{ROOT}/books/{hash}")
}

/// `GET`: a shard's file.
#[must_use]
pub fn shard(hash: impl Display) -> String {
    format!("{ROOT}/shards/{hash}")
}

/// `GET`: a training set's manifest.
#[must_use]
pub fn manifest(hash: impl Display) -> String {
    format!("{ROOT}/manifests/{hash}")
}
