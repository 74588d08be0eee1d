//! What trainers ask.

use dataset::Digest;
use protocol::api::{
    NET_TYPE, SHA256_HEADER, path,
    training::{Abandon, Accepted, Claim, Completion, Offer, Progress},
    work::Renewed,
};
use reqwest::Method;

use crate::{
    connection::{Body, Client},
    error::Error,
};

/// What can go wrong is the same everywhere, and [`Error`] says it.
#[allow(clippy::missing_errors_doc, reason = "said once, above")]
impl Client {
    /// Asks for a net to train.
    pub fn claim(&self, claim: &Claim) -> Result<Offer, Error> {
        self.ask_for("asking for a net to train", Method::POST, path::TRAININGS, Body::Json(claim))
    }

    /// Shows how far a training is.
    pub fn progress(&self, training: &str, progress: &Progress) -> Result<Renewed, Error> {
        self.ask_for("showing a training's progress", Method::POST, &path::progress(training), Body::Json(progress))
    }

    /// Hands in the candidate's file.
    pub fn put_candidate(&self, training: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.put("handing in a net", &path::candidate(training), NET_TYPE, bytes)
    }

    /// Hands in the picture of its losses.
    pub fn put_curves(&self, training: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.put("handing in a picture of losses", &path::curves(training), "image/svg+xml", bytes)
    }

    /// Says that the candidate is there.
    pub fn complete(&self, training: &str, completion: &Completion) -> Result<Accepted, Error> {
        self.ask_for("handing in a training", Method::POST, &path::completion(training), Body::Json(completion))
    }

    /// Gives a training up.
    pub fn abandon(&self, training: &str, abandon: &Abandon) -> Result<(), Error> {
        self.tell("giving a training up", Method::POST, &path::abandonment(training), Body::Json(abandon))
    }

    fn put(&self, what: &'static str, path: &str, kind: &'static str, bytes: Vec<u8>) -> Result<(), Error> {
        let headers = vec![(SHA256_HEADER, Digest::of(&bytes).to_string())];
        let body: Body<'_, ()> = Body::Bytes { kind, bytes, headers };
        self.tell(what, Method::PUT, path, body)
    }
}
