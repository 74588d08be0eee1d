//! Requests of trainers.

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
    text::printable,
};

/// All of these fail alike; see [`Error`].
#[allow(clippy::missing_errors_doc, reason = "documented once, above")]
impl Client {
    /// Claims a net to train.
    pub fn claim(&self, claim: &Claim) -> Result<Offer, Error> {
        let mut offer = self.request("asking for a net to train", Method::POST, path::TRAININGS, Body::Json(claim))?;
        if let Offer::Wait { reason, .. } = &mut offer {
            *reason = printable(reason);
        }
        Ok(offer)
    }

    /// Reports the progress of a training.
    pub fn progress(&self, training: &str, progress: &Progress) -> Result<Renewed, Error> {
        self.request("showing a training's progress", Method::POST, &path::progress(training), Body::Json(progress))
    }

    /// Uploads the candidate's file.
    pub fn put_candidate(&self, training: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.put("submitting a net", &path::candidate(training), NET_TYPE, bytes)
    }

    /// Uploads the plot of its losses.
    pub fn put_curves(&self, training: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.put("submitting a picture of losses", &path::curves(training), "image/svg+xml", bytes)
    }

    /// Completes a training: its candidate is uploaded.
    pub fn complete(&self, training: &str, completion: &Completion) -> Result<Accepted, Error> {
        self.request("submitting a training", Method::POST, &path::completion(training), Body::Json(completion))
    }

    /// Abandons a training.
    pub fn abandon(&self, training: &str, abandon: &Abandon) -> Result<(), Error> {
        self.send("giving a training up", Method::POST, &path::abandonment(training), Body::Json(abandon))
    }

    fn put(&self, action: &'static str, path: &str, kind: &'static str, bytes: Vec<u8>) -> Result<(), Error> {
        let headers = vec![(SHA256_HEADER, Digest::of(&bytes).to_string())];
        let body: Body<'_, ()> = Body::Bytes { kind, bytes, headers };
        self.send(action, Method::PUT, path, body)
    }
}
