//! The snapshot: a status file for `chuhe-worker status` and other programs.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
    time::Duration,
};

use client::ServerAddress;
use protocol::api::work::{Contribution, Me};
use serde::{Deserialize, Serialize};

use super::account::Known;
use crate::{
    delivery::Figures,
    settings::Settings,
    state::remove,
    work::{Job, Shutdown, WorkState},
};

const FILE_NAME: &str = "status.json";
/// The file is padded with blanks to a multiple of this: an update rarely needs more disk space.
const PADDING_BYTES: usize = 8192;
/// The reason before the first response.
pub(crate) const ASKING_REASON: &str = "Asking for games.";

/// Status of a worker.
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
    /// Since the start.
    pub games: u64,
    pub positions: u64,
    pub nodes: u64,
    /// Sum over all playing threads, from the last games.
    pub positions_per_second: Option<f64>,
    pub nodes_per_second: Option<f64>,
    pub games_accepted: u64,
    pub games_refused: u64,
    /// Number of pending results.
    pub outbox: usize,
    /// Why they cannot be sent.
    pub outbox_reason: Option<String>,
    /// Number of results in the folder `refused`.
    pub refused: usize,
    /// Time that threads had nothing to play.
    pub idle_seconds: f64,
    pub contribution: Option<Contributions>,
    /// Estimated time until the next promotion, if the candidate passes its match.
    #[serde(default)]
    pub promotion_seconds: Option<u64>,
}

/// Activity of a worker.
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
    /// Returns the name as in JSON.
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

/// A lease in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct JobSnapshot {
    /// `self-play` or `match`.
    pub kind: String,
    /// Hash of the net; none for the plain evaluation.
    pub net: Option<String>,
    pub games: u64,
    pub finished: u64,
    pub at_hand: u64,
    /// Time until the lease expires.
    pub seconds_left: u64,
    /// Sum over the threads that play its games.
    pub positions_per_second: Option<f64>,
    pub nodes_per_second: Option<f64>,
}

impl JobSnapshot {
    fn of(job: &Job, is_playing: bool, now: Duration) -> Self {
        let threads = job.at_hand.len() as f64;
        let speed = job.speed.per_thread().filter(|_| is_playing);
        Self {
            kind: job.kind().to_owned(),
            net: job.terms.net.map(|net| net.to_string()),
            games: job.lease.games,
            finished: job.finished.len() as u64,
            at_hand: job.at_hand.len() as u64,
            seconds_left: job.expires.saturating_sub(now).as_secs(),
            positions_per_second: speed.map(|speed| (speed.0 * threads).round()),
            nodes_per_second: speed.map(|speed| (speed.1 * threads).round()),
        }
    }
}

/// Work of the owner's account, with the games of this worker that the server has accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Contributions {
    pub account: String,
    pub today: Contribution,
    pub total: Contribution,
    pub rank: Option<u64>,
    /// Address of the account's page.
    pub page: String,
}

impl Contributions {
    fn of(me: &Me, server: &ServerAddress) -> Self {
        let is_whole = me.page.contains("://");
        let page = || server.of(&format!("/{}", me.page.trim_start_matches('/')));
        Self {
            account: me.account.clone(),
            today: me.today,
            total: me.total,
            rank: me.rank,
            page: if is_whole { me.page.clone() } else { page() },
        }
    }
}

/// The rest of a snapshot, beside the work.
pub(crate) struct View<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) server: &'a ServerAddress,
    /// Last report of the server about the account.
    pub(crate) known: Known,
    /// Number of results in the folder `refused`.
    pub(crate) refused: usize,
    pub(crate) delivered: Figures,
    pub(crate) now: Duration,
    pub(crate) since_1970: Duration,
}

impl Snapshot {
    pub(crate) fn of(state: &WorkState, view: View<'_>) -> Self {
        let View { settings, server, known, refused, delivered, now, since_1970 } = view;
        let jobs: Vec<_> = state.jobs.iter().map(|job| JobSnapshot::of(job, state.pause.is_none(), now)).collect();
        let doing = match (state.shutdown, state.pause) {
            (Shutdown::Stop, _) => Doing::Stopping,
            (Shutdown::Finish, _) => Doing::Finishing,
            (_, Some(_)) => Doing::Resting,
            _ if jobs.is_empty() => Doing::Waiting,
            _ => Doing::Playing,
        };
        let wait_reason = || state.wait_reason.clone().unwrap_or_else(|| ASKING_REASON.to_owned());
        let reason = match doing {
            Doing::Resting => state.pause.map(|pause| pause.reason().to_owned()),
            Doing::Waiting => Some(delivered.disk_error.unwrap_or_else(wait_reason)),
            _ => delivered.disk_error.or_else(|| state.idle_reason().cloned()),
        };
        let speed = state.speed.per_thread().filter(|_| doing != Doing::Resting);
        let slots = state.thread_slots.unwrap_or(settings.cores);
        let playing_threads = slots.min(settings.cores) as f64;
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            server: server.to_string(),
            name: settings.name.clone(),
            doing,
            reason,
            cores: settings.cores,
            jobs,
            games: state.totals.games,
            positions: state.totals.positions,
            nodes: state.totals.nodes,
            positions_per_second: speed.map(|speed| (speed.0 * playing_threads).round()),
            nodes_per_second: speed.map(|speed| (speed.1 * playing_threads).round()),
            games_accepted: delivered.accepted,
            games_refused: delivered.refused,
            outbox: delivered.waiting,
            outbox_reason: delivered.send_error,
            refused,
            idle_seconds: state.totals.idle.as_secs_f64(),
            contribution: known.with_own_games(delivered.accepted).map(|me| Contributions::of(&me, server)),
            promotion_seconds: known.promotion_at.and_then(|at| at.checked_sub(since_1970)).map(|left| left.as_secs()),
        }
    }

    /// Writes the status file without sync: losing it loses nothing. On a full disk, when people
    /// look, the old file is overwritten in place.
    pub(crate) fn write(&self, root: &Path) {
        let Ok(mut text) = serde_json::to_vec(self) else { return };
        text.resize(text.len().next_multiple_of(PADDING_BYTES), b' ');
        let (new, path) = (root.join(".status.new"), root.join(FILE_NAME));
        if fs::write(&new, &text).and_then(|()| fs::rename(&new, &path)).is_err() {
            let _ = fs::remove_file(&new);
            let _ = overwrite(&path, &text);
        }
    }

    /// Reads a status file; none if it is missing or unreadable.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(root.join(FILE_NAME)).ok()?).ok()
    }

    pub(crate) fn remove(root: &Path) {
        let _ = remove(&root.join(FILE_NAME));
    }
}

fn overwrite(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}
