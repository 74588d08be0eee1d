//! The coordinator: hands out games, validates uploads, schedules trainings and gates, promotes
//! stronger nets.
//!
//! Its memory holds no state that another coordinator on the same database could not rebuild. Each
//! operation on the [`store`] is one transaction.
//!
//! * [`store`]: the database (`SQLite` or `PostgreSQL`) and its transactions; [`objects`]: games
//!   and nets as files.
//! * [`clock`]: the injected time; the database's clock is never read.
//! * [`work`]: games to play: leases, uploads, validation, audits, quarantine.
//! * [`people`]: accounts, tokens, machines.
//! * [`campaigns`]: generations, trainings, gates, promotions.
//! * [`ratings`]: strength of the champions, from matches between them.
//! * [`timed`]: matches under a clock, which decide nothing.
//! * [`events`]: the event log for people; [`webhooks`]: notifications of other services;
//!   [`reports`]: read models.
//! * [`live`]: live view of a match.
//! * [`retention`]: which games are kept; [`choices`]: settings that administrators change at run
//!   time.
//! * [`messages`]: the coordinator's own sentences in Chinese; [`games`]: stored games, and the judge.
//! * [`service`]: what all tasks share; [`settings`]: the command line's.
//! * [`app`]: the web's state; [`router`]: all routes; [`http`]: the interface for programs;
//!   [`pages`]: the interface for people.
//! * [`validator`] and [`driver`]: background tasks; [`backup`].

#![allow(clippy::items_after_statements, reason = "a row's type is beside its query")]

pub mod app;
pub mod backup;
pub mod campaigns;
pub mod choices;
pub mod clock;
pub mod command;
pub mod driver;
pub mod events;
pub mod games;
pub mod gate;
pub mod http;
pub mod live;
pub mod messages;
pub mod objects;
pub mod pages;
pub mod people;
pub mod ratings;
pub mod reports;
pub mod retention;
pub mod router;
pub mod service;
pub mod settings;
pub mod store;
pub mod timed;
pub mod validator;
pub mod webhooks;
pub mod work;
