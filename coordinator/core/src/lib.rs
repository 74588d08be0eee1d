//! The coordinator: hands out games, validates uploads, schedules trainings and gates, promotes
//! stronger nets. It knows nothing of HTTP servers and pages.
//!
//! Its memory holds no state that another coordinator on the same database could not rebuild. Each
//! operation on the [`store`] is one transaction.
//!
//! * [`store`]: the database (`SQLite` or `PostgreSQL`) and its transactions; [`objects`]: games
//!   and nets as files.
//! * [`model`]: ids, states, kinds, events; [`rules`]: what may follow, pure; [`ops`]: the
//!   operations.
//! * [`clock`]: the injected time; the database's clock is never read.
//! * [`people`]: secrets: tokens, passwords.
//! * [`mod@matches`], [`gate`]: standing and verdict of matches.
//! * [`ratings`]: strength of the champions, from matches between them.
//! * [`timed`]: matches under a clock, which decide nothing.
//! * [`events`]: the event log for people; [`webhooks`]: notifications of other services.
//! * [`reports`]: read models; [`games`]: stored games, and the judge.
//! * [`retention`]: which games are kept; [`choices`]: settings that administrators change at run
//!   time; [`settings`]: those of the command line.
//! * [`service`]: what all tasks share; [`validator`] and [`driver`]: background tasks, with
//!   their [`pulse`]; [`backup`]; [`folder`]; [`file_lock`].

#![allow(clippy::items_after_statements, reason = "a row's type is beside its query")]
#![allow(
    clippy::missing_errors_doc,
    reason = "every operation fails if the database does, or with a problem for its caller"
)]

pub mod backup;
pub mod choices;
pub mod clock;
pub mod driver;
pub mod events;
pub mod file_lock;
pub mod folder;
pub mod games;
pub mod gate;
pub mod matches;
pub mod model;
pub mod objects;
pub mod ops;
pub mod people;
pub mod pulse;
pub mod ratings;
pub mod reports;
pub mod retention;
pub mod rules;
pub mod service;
pub mod settings;
pub mod store;
pub mod timed;
pub mod validator;
pub mod webhooks;
