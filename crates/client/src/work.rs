//! What workers ask.

use dataset::Digest;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, path,
    work::{Answer, Ask, Failure, GiveBack, Live, Machine, Me, Receipt, Renew, Renewed, Server, Worker},
};
use reqwest::Method;

use crate::{
    connection::{Body, Client},
    error::Error,
};

const NOTHING: Body<'_, ()> = Body::Nothing;

/// What can go wrong is the same everywhere, and [`Error`] says it.
#[allow(clippy::missing_errors_doc, reason = "said once, above")]
impl Client {
    /// What the coordinator says of itself.
    pub fn server(&self) -> Result<Server, Error> {
        self.ask_for("asking for the server's name", Method::GET, path::SERVER, NOTHING)
    }

    /// What the coordinator says of the token's owner.
    pub fn me(&self) -> Result<Me, Error> {
        self.ask_for("asking whose token it is", Method::GET, path::ME, NOTHING)
    }

    /// Says that a machine is there.
    pub fn register(&self, machine: &Machine) -> Result<Worker, Error> {
        self.ask_for("announcing this machine", Method::POST, path::WORKERS, Body::Json(machine))
    }

    /// Asks for games to play.
    pub fn ask(&self, ask: &Ask) -> Result<Answer, Error> {
        self.ask_for("asking for games", Method::POST, path::LEASES, Body::Json(ask))
    }

    /// Shows that a lease gets on.
    pub fn renew(&self, lease: &str, finished: u64) -> Result<Renewed, Error> {
        let renew = Renew { finished };
        self.ask_for("renewing a lease", Method::POST, &path::renewal(lease), Body::Json(&renew))
    }

    /// Gives the rest of a lease back.
    pub fn give_back(&self, lease: &str, from: u64) -> Result<(), Error> {
        let back = GiveBack { from };
        self.tell("giving games back", Method::POST, &path::giving_back(lease), Body::Json(&back))
    }

    /// Hands in games. A receipt for other bytes is no receipt.
    pub fn upload(&self, lease: &str, first: u64, bytes: Vec<u8>) -> Result<Receipt, Error> {
        let sha256 = Digest::of(&bytes);
        let headers = vec![(SHA256_HEADER, sha256.to_string())];
        let body: Body<'_, ()> = Body::Bytes { kind: SHARD_TYPE, bytes, headers };
        let receipt: Receipt = self.ask_for("handing in games", Method::PUT, &path::games(lease, first), body)?;
        if receipt.shard == sha256 {
            return Ok(receipt);
        }
        let cause = format!("it is a receipt for {}, not for {sha256}", receipt.shard);
        Err(Error::answer(&self.asked("handing in games"), cause))
    }

    /// Says that something went wrong here.
    pub fn report(&self, failure: &Failure) -> Result<(), Error> {
        self.tell("reporting a failure", Method::POST, path::FAILURES, Body::Json(failure))
    }

    /// Shows people a game.
    pub fn show(&self, lease: &str, live: &Live) -> Result<(), Error> {
        self.tell("showing a game", Method::POST, &path::live(lease), Body::Json(live))
    }
}
