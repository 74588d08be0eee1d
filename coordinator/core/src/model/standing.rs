//! The standing of an account: what is lent to it.

use crate::clock::Time;

/// The work that an account has shown so far, and its faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Nodes of its accepted games, less those that faults cost.
    pub proven_nodes: i64,
    /// Faults that it had no proven nodes to pay for.
    pub faults: i64,
    /// It gets no lease before this time.
    pub waits_until: Time,
}

/// A fault of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A lease ran out, and games of it are missing.
    Lapsed,
    /// An audit was given back, or a lease was held for a while and given back without any game.
    Dropped,
    /// An upload was rejected.
    Rejected,
}
