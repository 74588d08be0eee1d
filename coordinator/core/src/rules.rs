//! The rules of the ledger: pure functions of what is given, tested without a database.

mod leases;
