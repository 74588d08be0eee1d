//! Work: the leases that are played, the numbers of their games, and the players.
//!
//! The `provider` acquires leases ahead of need, the `pool` plays their games, and `renewal`
//! extends them. Game threads write no file: finished games are queued for the
//! [`delivery`](crate::delivery).

mod files;
mod job;
mod live_view;
mod mode;
mod pool;
mod prepare;
mod provider;
mod renewal;
mod request;
mod sleep;
mod state;
mod task;

pub(crate) use {
    files::Files,
    job::Job,
    live_view::LiveView,
    mode::{PauseReason, Shutdown},
    pool::Pool,
    prepare::{MIN_MEBIBYTES, Preparer},
    provider::{Provider, backoff},
    renewal::Renewal,
    request::Requester,
    sleep::SleepDetector,
    state::{Work, WorkState},
};
