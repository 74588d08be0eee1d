//! Labels for the database's states, kinds, roles and reasons.

use super::{labels::label, language::Language};

/// The label of a state, kind, role or reason; an unknown one stays as it is.
#[must_use]
pub fn state(language: Language, word: &str) -> String {
    match (label(word), language) {
        (Some((english, _)), Language::English) => english.to_owned(),
        (Some((_, chinese)), Language::Chinese) => chinese.to_owned(),
        (None, _) => word.replace('_', " "),
    }
}
