//! Webhooks: addresses to which events are posted.
//!
//! Transactional outbox: the transaction that records an event also inserts a delivery per address.
//! So deliveries survive restarts, and a rolled-back event is never sent. [`deliver`] posts those
//! that are due and retries all without a 2xx response, with exponential backoff, for some days.
//!
//! Delivery is at least once: a receiver recognises a repeated delivery by its number.

mod sender;

pub use sender::{Sender, deliver, serve, signature};
