//! The rules of the ledger: pure functions of what is given, tested without a database.

pub mod audits;
pub mod case;
pub mod counting;
#[cfg(test)]
mod drawings;
#[cfg(test)]
mod fixtures;
pub mod granting;
mod leases;
pub mod segments;
mod shards;
pub mod sizing;
mod validation;

pub use validation::Credit;
