//! Moving average of the playing speed.

use std::{collections::VecDeque, time::Duration};

const WINDOW_GAMES: usize = 200;

/// The last games: positions, nodes, thread time.
#[derive(Debug, Default)]
pub(crate) struct Speed(VecDeque<(u64, u64, Duration)>);

impl Speed {
    /// Adds a game: its positions, their nodes, and its thread time.
    pub(crate) fn add(&mut self, positions: u64, nodes: u64, took: Duration) {
        if self.0.len() >= WINDOW_GAMES {
            self.0.pop_front();
        }
        self.0.push_back((positions, nodes, took));
    }

    fn seconds(&self) -> f64 {
        self.0.iter().map(|game| game.2.as_secs_f64()).sum()
    }

    /// Returns the thread time of a game, in seconds; none before the first game.
    pub(crate) fn per_game(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.seconds() / self.0.len() as f64)
    }

    /// Returns positions and nodes per second of one thread; none before the first game.
    pub(crate) fn per_thread(&self) -> Option<(f64, f64)> {
        let seconds = self.seconds();
        let sum = |of: fn(&(u64, u64, Duration)) -> u64| self.0.iter().map(of).sum::<u64>() as f64 / seconds;
        (seconds > 0.0).then(|| (sum(|game| game.0), sum(|game| game.1)))
    }
}
