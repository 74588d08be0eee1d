//! The coordinator: hands out games, proves what comes back, has nets trained and tested, promotes what is stronger.
//!
//! No state lives in its memory that another coordinator on the same database could not rebuild. Each operation on the
//! [`store`] is one transaction: it happened, or it did not.
//!
//! * [`store`]: the database (`SQLite` or `PostgreSQL`), and transactions on it; [`objects`]: games and nets as files.
//! * [`clock`]: the time, which is always said and never asked of the database.
//! * [`work`]: games to play: leases, what comes back, its validation, audits, quarantine.
//! * [`people`]: accounts, tokens, machines.
//! * [`campaigns`]: generations, trainings, gates, promotions.
//! * [`ratings`]: how strong the champions are, from matches between them.
//! * [`timed`]: matches under a clock, which decide nothing.
//! * [`events`]: what happened, for people; [`webhooks`]: who else is told; [`reports`]: what there is.
//! * [`live`]: what people see of a match while it is played.
//! * [`retention`]: which games are kept; [`choices`]: what administrators choose while it runs.
//! * [`http`]: the interface for programs; [`pages`]: the one for people; [`validator`] and [`driver`]: what goes on behind it; [`backup`].

#![allow(clippy::items_after_statements, reason = "the type of a row stands beside the query that gives it")]

pub mod backup;
pub mod campaigns;
pub mod choices;
pub mod clock;
pub mod command;
pub mod driver;
pub mod events;
pub mod gate;
pub mod http;
pub mod live;
pub mod objects;
pub mod pages;
pub mod people;
pub mod ratings;
pub mod reports;
pub mod retention;
pub mod service;
pub mod store;
pub mod timed;
pub mod validator;
pub mod webhooks;
pub mod work;

mod games;
mod sentences;
