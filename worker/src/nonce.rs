//! Random identifiers from the system's entropy.

/// Returns a random id for files and requests; no game depends on it.
pub(crate) fn random_id() -> String {
    format!("{:016x}{:016x}", random_seed(), random_seed())
}

/// Returns a random seed.
pub(crate) fn random_seed() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}
