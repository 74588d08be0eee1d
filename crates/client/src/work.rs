//! Requests of workers.

use dataset::Digest;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, path,
    work::{Answer, Ask, Failure, GiveBack, Live, Machine, Me, Notice, Receipt, Renew, Renewed, Server, Work, Worker},
};
use reqwest::Method;

use crate::{
    connection::{Body, Client},
    error::Error,
    text::printable,
};

const NOTHING: Body<'_, ()> = Body::Nothing;

/// Makes a notice printable.
fn clean(notice: &mut Notice) {
    notice.text = printable(&notice.text);
    notice.code = notice.code.take().map(|code| printable(&code));
}

/// All of these fail alike; see [`Error`].
#[allow(clippy::missing_errors_doc, reason = "documented once, above")]
impl Client {
    /// The coordinator's description of itself.
    pub fn server(&self) -> Result<Server, Error> {
        let server: Server = self.request("asking for the server's name", Method::GET, path::SERVER, NOTHING)?;
        Ok(Server { name: printable(&server.name), ..server })
    }

    /// The account of the token's owner.
    pub fn me(&self) -> Result<Me, Error> {
        self.request("asking whose token it is", Method::GET, path::ME, NOTHING)
    }

    /// Registers a machine.
    pub fn register(&self, machine: &Machine) -> Result<Worker, Error> {
        self.request("announcing this machine", Method::POST, path::WORKERS, Body::Json(machine))
    }

    /// Acquires leases: games to play.
    pub fn ask(&self, ask: &Ask) -> Result<Answer, Error> {
        let mut answer: Answer = self.request("asking for games", Method::POST, path::LEASES, Body::Json(ask))?;
        if let Work::Wait { reason, .. } = &mut answer.work {
            *reason = printable(reason);
        }
        answer.notices.iter_mut().for_each(clean);
        Ok(answer)
    }

    /// Renews a lease and reports its progress.
    pub fn renew(&self, lease: &str, finished: u64) -> Result<Renewed, Error> {
        let renew = Renew { finished };
        self.request("renewing a lease", Method::POST, &path::renewal(lease), Body::Json(&renew))
    }

    /// Releases the rest of a lease.
    pub fn release(&self, lease: &str, from: u64) -> Result<(), Error> {
        let back = GiveBack { from };
        self.send("giving games back", Method::POST, &path::release(lease), Body::Json(&back))
    }

    /// Uploads games. A receipt for other bytes is an error.
    pub fn upload(&self, lease: &str, first: u64, bytes: Vec<u8>) -> Result<Receipt, Error> {
        let sha256 = Digest::of(&bytes);
        let headers = vec![(SHA256_HEADER, sha256.to_string())];
        let body: Body<'_, ()> = Body::Bytes { kind: SHARD_TYPE, bytes, headers };
        let mut receipt: Receipt = self.request("submitting games", Method::PUT, &path::games(lease, first), body)?;
        receipt.notices.iter_mut().for_each(clean);
        if receipt.shard == sha256 {
            return Ok(receipt);
        }
        let cause = format!("it is a receipt for {}, not for {sha256}", receipt.shard);
        Err(Error::malformed(&self.context("submitting games"), cause))
    }

    /// Reports a failure of this machine.
    pub fn report(&self, failure: &Failure) -> Result<(), Error> {
        self.send("reporting a failure", Method::POST, path::FAILURES, Body::Json(failure))
    }

    /// Shows a running game to spectators.
    pub fn show(&self, lease: &str, live: &Live) -> Result<(), Error> {
        self.send("showing a game", Method::POST, &path::live(lease), Body::Json(live))
    }
}
