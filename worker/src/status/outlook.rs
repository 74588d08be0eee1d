//! When the next net may be promoted, by the server's public reports.

use std::time::Duration;

use client::Client;
use serde::{Deserialize, de::DeserializeOwned};

const MAX_REPORT_BYTES: u64 = 1 << 24;

/// The report `/overview`, as far as it is used.
#[derive(Debug, Deserialize)]
struct Overview {
    campaigns: Vec<Campaign>,
    /// Validated in the last hour.
    hour: Volume,
}

#[derive(Debug, Deserialize)]
struct Campaign {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Volume {
    positions: u64,
}

/// The report of a campaign's progress, as far as it is used. Times are in milliseconds.
#[derive(Debug, Deserialize)]
struct Progress {
    state: String,
    phase: String,
    phase_since: u64,
    wanted_positions: u64,
    positions: u64,
    generations: Vec<Generation>,
}

#[derive(Debug, Deserialize)]
struct Generation {
    training: Option<u64>,
    gating: Option<u64>,
}

/// Requests the time until the next promotion, if its candidate passes. None if the server's
/// reports do not tell: an earlier generation shows how long training and match take.
#[must_use]
pub fn request(client: &Client, since_1970: Duration) -> Option<Duration> {
    let overview: Overview = report(client, "/api/v1/overview")?;
    let name = &overview.campaigns.first()?.name;
    let progress: Progress = report(client, &format!("/api/v1/campaigns/{name}/progress"))?;
    estimate(&progress, overview.hour.positions, since_1970)
}

fn report<T: DeserializeOwned>(client: &Client, path: &str) -> Option<T> {
    let bytes = client.get_url(&client.server_address().of(path), MAX_REPORT_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn estimate(progress: &Progress, positions_per_hour: u64, now: Duration) -> Option<Duration> {
    let known = progress.generations.iter().find_map(|generation| generation.training.zip(generation.gating));
    let (training, gating) = known.filter(|_| progress.state == "running")?;
    let [training, gating] = [training, gating].map(Duration::from_millis);
    let passed = now.saturating_sub(Duration::from_millis(progress.phase_since));
    let left = match progress.phase.as_str() {
        "collecting" if positions_per_hour > 0 => {
            let missing = progress.wanted_positions.saturating_sub(progress.positions);
            Duration::from_secs(missing.saturating_mul(3600) / positions_per_hour) + training + gating
        }
        "training" => training.saturating_sub(passed) + gating,
        // A match that takes longer than the last one may take any time.
        "gating" => gating.checked_sub(passed)?,
        _ => return None,
    };
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_is_expected_as_long_as_the_last_generation_took() {
        let second = 1000;
        let at = |phase: &str, state: &str| Progress {
            state: state.to_owned(),
            phase: phase.to_owned(),
            phase_since: 50 * second,
            wanted_positions: 1_000,
            positions: 400,
            generations: vec![
                Generation { training: None, gating: None },
                Generation { training: Some(100 * second), gating: Some(30 * second) },
            ],
        };
        let estimate =
            |progress: &Progress, rate| estimate(progress, rate, Duration::from_mins(1)).map(|left| left.as_secs());
        assert_eq!(estimate(&at("collecting", "running"), 1_200), Some(1_800 + 130));
        assert_eq!(estimate(&at("collecting", "running"), 0), None);
        assert_eq!(estimate(&at("training", "running"), 0), Some(90 + 30));
        assert_eq!(estimate(&at("gating", "running"), 0), Some(20));
        assert_eq!(estimate(&Progress { phase_since: 0, ..at("gating", "running") }, 0), None);
        assert_eq!(estimate(&at("gating", "paused"), 0), None);
        assert_eq!(estimate(&Progress { generations: Vec::new(), ..at("gating", "running") }, 0), None);
    }
}
