//! The price of trust: games played again, withheld or taken out, and the shares of the work.

use serde::Serialize;

use crate::{
    clock::Time,
    model::ShardState,
    rules::audits,
    store::{Connection, StoreError, convert::row},
};

/// The price of trust on a server, from its first day on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// Validated games, with those played again.
    pub validated: i64,
    /// Those of them that were played again: audits, and second results of late games.
    pub replayed: i64,
    /// Games of disputed uploads.
    pub disputed: i64,
    /// Games in quarantine.
    pub quarantined: i64,
    /// Rulings of referees on disputed or wrong games.
    pub rulings: i64,
    /// Open jobs.
    pub jobs: i64,
    /// Those of them whose engine version has a referee at work.
    pub jobs_with_referee: i64,
    /// Uploads that wait for a referee's check.
    pub unchecked: i64,
    /// Active accounts with proven work.
    pub accounts: i64,
    /// Proven work of all of them, in nodes.
    pub proven_nodes: i64,
    /// Proven work of the account with the most.
    pub largest_nodes: i64,
}

struct Games {
    state: ShardState,
    games: i64,
}

struct Counts {
    once: i64,
    rulings: i64,
    accounts: i64,
    proven_nodes: i64,
    largest_nodes: i64,
}

struct Job {
    bench_signature: i64,
    jobs: i64,
    claimed: Option<String>,
}

row!(Games { state, games });
row!(Counts { once, rulings, accounts, proven_nodes, largest_nodes });
row!(Job { bench_signature, jobs, claimed });

/// Reads what trust costs.
pub async fn trust(connection: &mut Connection<'_>, now: Time) -> Result<Trust, StoreError> {
    let query = "SELECT state, CAST(SUM(games) AS BIGINT) AS games FROM totals GROUP BY state";
    let states: Vec<Games> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let of = |state| states.iter().find(|row| row.state == state).map_or(0, |row| row.games);
    let query = "SELECT (SELECT CAST(COALESCE(SUM(counted_games), 0) AS BIGINT) FROM jobs) AS once,
                        (SELECT COUNT(*) FROM rulings) AS rulings,
                        COUNT(*) AS accounts, CAST(COALESCE(SUM(proven_nodes), 0) AS BIGINT) AS proven_nodes,
                        COALESCE(MAX(proven_nodes), 0) AS largest_nodes
                 FROM accounts WHERE state = 'active' AND proven_nodes > 0";
    let counts: Counts = sqlx::query_as(query).fetch_one(connection.raw()).await?;
    let query = "SELECT jobs.bench_signature AS bench_signature, COUNT(*) AS jobs, MAX(settings.value) AS claimed
                 FROM jobs LEFT JOIN settings ON settings.name = 'referee.' || CAST(jobs.bench_signature AS TEXT)
                 WHERE jobs.state = 'open' GROUP BY jobs.bench_signature";
    let jobs: Vec<Job> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let (mut jobs_with_referee, mut unchecked) = (0, 0);
    for job in &jobs {
        let claimed = job.claimed.as_deref().and_then(|time| time.parse().ok()).map(Time);
        jobs_with_referee += if audits::is_at_work(now, claimed) { job.jobs } else { 0 };
        let query = "SELECT COUNT(*) FROM shards WHERE bench_signature = $1 AND checked = 0 AND state = 'validated'
                     AND object = 'present' AND time_losses IS NULL AND validated > $2";
        let query =
            sqlx::query_scalar::<_, i64>(query).bind(job.bench_signature).bind(audits::checks_since(now, claimed));
        unchecked += query.fetch_one(connection.raw()).await?;
    }
    Ok(Trust {
        validated: of(ShardState::Validated),
        replayed: of(ShardState::Validated) - counts.once,
        disputed: of(ShardState::Disputed),
        quarantined: of(ShardState::Quarantined),
        rulings: counts.rulings,
        jobs: jobs.iter().map(|job| job.jobs).sum(),
        jobs_with_referee,
        unchecked,
        accounts: counts.accounts,
        proven_nodes: counts.proven_nodes,
        largest_nodes: counts.largest_nodes,
    })
}
