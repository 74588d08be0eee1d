//! Words that nobody else has.

/// A word made up from the machine's randomness: for names and questions, never for anything that a game depends on.
pub(crate) fn new_word() -> String {
    format!("{:016x}{:016x}", new_number(), new_number())
}

/// A number of that kind.
pub(crate) fn new_number() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}
