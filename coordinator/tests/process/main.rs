//! The coordinator as a process: killed, watched by the system, and under load.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what was passed by, and what was seen, is worth a line")]

mod killed;
mod program;
mod synced;
