//! What a worker is doing, as others read it from its folder.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use client::{Clock, ServerAddress};
use protocol::api::work::{Contribution, Me};
use serde::{Deserialize, Serialize};

use crate::{
    desk::{Ending, State},
    settings::Settings,
    state::remove,
};

const NAME: &str = "status.json";
/// The file is filled up with blanks to a multiple of this: what is longer than before needs no more room as a rule.
const ROOM: usize = 8192;
/// The reason at the beginning, when nobody knows better.
pub(crate) const ASKING: &str = "Asking for games.";

/// How things stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Snapshot {
    pub version: String,
    pub process: u32,
    pub server: String,
    pub name: String,
    /// `playing`, `resting`, `waiting`, `finishing` or `stopping`.
    pub doing: Doing,
    /// Why it does not play, or not with all cores, in one sentence.
    pub reason: Option<String>,
    pub cores: usize,
    pub jobs: Vec<JobSnapshot>,
    /// Since the worker began.
    pub games: u64,
    pub positions: u64,
    pub nodes: u64,
    /// Of all threads that play together, by the last games.
    pub positions_per_second: Option<f64>,
    pub nodes_per_second: Option<f64>,
    pub games_accepted: u64,
    pub games_refused: u64,
    /// Results on their way.
    pub outbox: usize,
    /// Why they are not on their way.
    pub outbox_reason: Option<String>,
    /// Results that the server will never take; they lie in the folder `refused`.
    pub refused: usize,
    /// How long threads had nothing to play.
    pub idle_seconds: f64,
    pub contribution: Option<Contributions>,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Doing {
    Playing,
    Resting,
    Waiting,
    Finishing,
    Stopping,
}

impl Doing {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Resting => "resting",
            Self::Waiting => "waiting",
            Self::Finishing => "finishing",
            Self::Stopping => "stopping",
        }
    }
}

/// A lease under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct JobSnapshot {
    /// `self-play` or `match`.
    pub kind: String,
    /// The net's name; none for the plain evaluation.
    pub net: Option<String>,
    pub games: u64,
    pub finished: u64,
    pub at_hand: u64,
    /// How long until others may be given its games.
    pub seconds_left: u64,
    /// Of the threads that play its games, by the last of these.
    pub positions_per_second: Option<f64>,
    pub nodes_per_second: Option<f64>,
}

/// Validated work of the worker's owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Contributions {
    pub account: String,
    pub today: Contribution,
    pub total: Contribution,
    pub rank: Option<u64>,
    /// Its page's address.
    pub page: String,
}

impl Snapshot {
    pub(crate) fn of(
        state: &State,
        settings: &Settings,
        server: &ServerAddress,
        refused: usize,
        clock: &dyn Clock,
    ) -> Self {
        let now = clock.now();
        let jobs = state.jobs.iter().map(|job| {
            let threads = job.at_hand.len() as f64;
            let speed = job.speed.of_a_thread().filter(|_| state.rest.is_none());
            JobSnapshot {
                kind: job.kind().to_owned(),
                net: job.header().net.map(|net| net.to_string()),
                games: job.saved.lease.games,
                finished: job.finished.len() as u64,
                at_hand: job.at_hand.len() as u64,
                seconds_left: job.due.saturating_sub(now).as_secs(),
                positions_per_second: speed.map(|speed| (speed.0 * threads).round()),
                nodes_per_second: speed.map(|speed| (speed.1 * threads).round()),
            }
        });
        let jobs: Vec<_> = jobs.collect();
        let doing = match (state.ending, state.rest) {
            (Ending::Stop, _) => Doing::Stopping,
            (Ending::Finish, _) => Doing::Finishing,
            (_, Some(_)) => Doing::Resting,
            _ if jobs.is_empty() => Doing::Waiting,
            _ => Doing::Playing,
        };
        let waiting = || state.waiting.clone().unwrap_or_else(|| ASKING.to_owned());
        let reason = match doing {
            Doing::Resting => state.rest.map(|rest| rest.reason().to_owned()),
            Doing::Waiting => Some(state.disk().cloned().unwrap_or_else(waiting)),
            _ => state.disk().or_else(|| state.idle()).cloned(),
        };
        let speed = state.speed.of_a_thread().filter(|_| doing != Doing::Resting);
        let seats = state.seats.unwrap_or(settings.cores);
        let playing = seats.min(settings.cores) as f64;
        let contribution = state.me.as_ref().map(|me| Contributions {
            account: me.account.clone(),
            today: me.today,
            total: me.total,
            rank: me.rank,
            page: page_of(server, me),
        });
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            server: server.to_string(),
            name: settings.name.clone(),
            doing,
            reason,
            cores: settings.cores,
            jobs,
            games: state.done.games,
            positions: state.done.positions,
            nodes: state.done.nodes,
            positions_per_second: speed.map(|speed| (speed.0 * playing).round()),
            nodes_per_second: speed.map(|speed| (speed.1 * playing).round()),
            games_accepted: state.done.accepted,
            games_refused: state.done.refused,
            outbox: state.outbox,
            outbox_reason: state.sending.clone(),
            refused,
            idle_seconds: state.done.idle.as_secs_f64(),
            contribution,
        }
    }

    /// Writes it for others. It says only what is: nothing is lost with it, so it is not synced. On a full disk, which is
    /// when people look, the old one is written over in its place.
    pub(crate) fn write(&self, root: &Path) {
        let Ok(mut text) = serde_json::to_vec(self) else { return };
        text.resize(text.len().next_multiple_of(ROOM), b' ');
        let (new, path) = (root.join(".status.new"), root.join(NAME));
        if fs::write(&new, &text).and_then(|()| fs::rename(&new, &path)).is_err() {
            let _ = fs::remove_file(&new);
            let _ = write_over(&path, &text);
        }
    }

    /// Reads what a worker has written; none if there is none.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(root.join(NAME)).ok()?).ok()
    }

    pub(crate) fn remove(root: &Path) {
        let _ = remove(&root.join(NAME));
    }
}

fn write_over(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

pub(crate) fn page_of(server: &ServerAddress, me: &Me) -> String {
    if me.page.contains("://") { me.page.clone() } else { server.of(&format!("/{}", me.page.trim_start_matches('/'))) }
}
