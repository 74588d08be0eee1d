//! State of the pages in memory.

mod attempts;
pub(crate) mod changes;

use std::sync::Arc;

use coordinator_core::reports::matches;

pub use changes::Live;

use attempts::Attempts;

/// State of the pages in memory; a restart may lose it.
pub struct Memory {
    /// Sign-in attempts.
    pub(crate) attempts: Attempts,
    /// Viewers and recent events.
    pub live: Arc<Live>,
    /// Cache of matches' figures.
    pub matches: matches::Memory,
}

impl Default for Memory {
    fn default() -> Self {
        Self::with_matches(matches::Memory::default())
    }
}

impl Memory {
    /// With a given cache of matches. Pages with stale figures of a match reload.
    #[must_use]
    pub fn with_matches(matches: matches::Memory) -> Self {
        let live = Arc::new(Live::default());
        let listeners = Arc::clone(&live);
        matches.set_on_change(move || listeners.send("changed", r#"["games"]"#));
        Self { attempts: Attempts::default(), live, matches }
    }
}
