//! Matches: standing, decision, and rechecks after a quarantine.

use dataset::Header;
use protocol::campaign::Gate;
use stats::{Decision, Hypotheses, Pentanomial, Sprt};

use super::{jobs, nets};
use crate::{
    clock::Time,
    events::{Event, record_event},
    gate::{self, Verdict},
    model::{JobId, Reason},
    store::{Connection, StoreError},
    timed::result::{self, TimedResult},
    work::{counting, header_of, lock_job},
};

/// Creates a match between two nets outside all campaigns. A `match` ends with its test; other
/// kinds (`rating`, `timed`) play all pairs.
pub async fn create(
    connection: &mut Connection<'_>,
    now: Time,
    kind: &str,
    header: &Header,
    gate: &Gate,
) -> Result<i64, StoreError> {
    let text = serde_json::to_string(gate).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let limit = i64::from(gate.most_pairs) * 2;
    jobs::create(connection, now, None, kind, header, Some(text), Some(limit)).await
}

/// Returns how many games of a passed gate still need an audit; requests more audits if none are
/// under way.
pub(super) async fn missing_audits(
    connection: &mut Connection<'_>,
    job: i64,
    verdict: &Verdict,
    percent: u32,
) -> Result<Option<i64>, StoreError> {
    let below = verdict.pairs as i64 * 2;
    let audited = counting::audited(connection, job, below).await?;
    let needed = (audited.games * i64::from(percent) + 99) / 100;
    let query = "SELECT COUNT(*) FROM comparisons WHERE job = $1 AND state IN ('waiting', 'different') AND first < $2";
    let open: i64 = sqlx::query_scalar(query).bind(job).bind(below).fetch_one(connection.raw()).await?;
    let missing = needed - audited.clean;
    if missing <= 0 && open == 0 {
        return Ok(None);
    }
    if audited.waiting < missing && open == 0 {
        // The order by hash is unpredictable: it depends on games that were not played yet. A
        // partly audited shard comes last, for an audit of another part.
        let query = "UPDATE shards SET audit = 'wanted' WHERE id = (
                         SELECT shards.id FROM shards JOIN segments ON segments.shard = shards.id
                         JOIN workers ON workers.id = shards.worker
                         WHERE shards.job = $1 AND segments.first < $2 AND shards.audit IN ('none', 'clean')
                         AND shards.audited_games < shards.games AND workers.trusted = 0 AND shards.state = 'validated'
                         AND shards.object = 'present'
                         ORDER BY shards.audit DESC, shards.hash LIMIT 1)";
        sqlx::query(query).bind(job).bind(below).execute(connection.raw()).await?;
    }
    Ok(Some(missing.max(open)))
}

/// The standing of a match.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Standing {
    /// The test's current verdict.
    pub verdict: Verdict,
    /// Number of counted pairs, without a gap.
    pub pairs: u64,
    /// The SPRT with its hypotheses and error rates.
    pub test: Sprt,
    /// Number of pairs between two looks of the test.
    pub batch_pairs: u32,
    /// The result under a clock. The test then decides nothing, and the counts cover all pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<TimedResult>,
}

/// Returns the SPRT of a gate.
///
/// # Errors
///
/// If the gate's parameters are invalid.
pub fn test_of(gate: &Gate) -> Result<Sprt, StoreError> {
    let corrupt = |error: stats::SprtError| StoreError::Corrupt(format!("a gate that is none: {error}"));
    let hypotheses = Hypotheses::new(gate.elo0, gate.elo1).map_err(corrupt)?;
    Sprt::new(gate.model, hypotheses).with_error_rates(gate.alpha, gate.beta).map_err(corrupt)
}

/// Returns the standing of a match.
///
/// # Errors
///
/// If the job is no match.
pub async fn standing(connection: &mut Connection<'_>, job: i64) -> Result<Standing, StoreError> {
    Ok(standing_and_pairs(connection, job).await?.0)
}

/// Returns the standing of a match and its pairs.
///
/// # Errors
///
/// If the job is no match.
pub(crate) async fn standing_and_pairs(
    connection: &mut Connection<'_>,
    job: i64,
) -> Result<(Standing, Vec<u8>), StoreError> {
    let query = "SELECT gate, header FROM jobs WHERE id = $1";
    let (gate, header): (Option<String>, String) = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    let header = header_of(&header)?;
    let gate: Gate = gate
        .and_then(|text| serde_json::from_str(&text).ok())
        .ok_or_else(|| StoreError::Corrupt(format!("job {job}, which is no match")))?;
    let test = test_of(&gate)?;
    let pairs = counting::pairs(connection, job).await?;
    let counts = gate::counts(&pairs);
    let timed = result::result(connection, job, &header, counts).await?;
    let verdict =
        if timed.is_some() { gate::undecided(&test, counts) } else { gate::judge(&test, gate.batch_pairs, &pairs) };
    let verdict = verdict.map_err(|error| StoreError::Corrupt(format!("a gate without solution: {error}")))?;
    let standing = Standing { verdict, pairs: pairs.len() as u64, test, batch_pairs: gate.batch_pairs, timed };
    Ok((standing, pairs))
}

/// Returns the results of all counted pairs without a gap, including those after the decision.
pub async fn counts(connection: &mut Connection<'_>, job: i64) -> Result<Pentanomial, StoreError> {
    Ok(gate::counts(&counting::pairs(connection, job).await?))
}

/// Rechecks decided matches whose games have changed. A decision that no longer holds is disputed,
/// and the match resumes to fill the gap. Returns the number of matches.
pub async fn recheck(connection: &mut Connection<'_>, now: Time) -> Result<u64, StoreError> {
    // Oldest recheck first, so matches that wait for games do not delay the others.
    let query = "SELECT id FROM jobs WHERE recheck = 1 AND decision IS NOT NULL ORDER BY rechecked, id LIMIT 50";
    let jobs: Vec<i64> = sqlx::query_scalar(query).fetch_all(connection.raw()).await?;
    for &job in &jobs {
        let game_limit = lock_job(connection, job).await?.game_limit;
        let query = "SELECT jobs.decision, jobs.net, jobs.kind, campaigns.state
                     FROM jobs LEFT JOIN campaigns ON campaigns.id = jobs.campaign WHERE jobs.id = $1";
        type Row = (Option<String>, Option<String>, String, Option<String>);
        let (decision, net, kind, campaign): Row = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
        let Some(decided) = decision.and_then(|text| serde_json::from_str::<Verdict>(&text).ok()) else { continue };
        let standing = standing(connection, job).await?;
        let is_out = game_limit.is_some_and(|limit| standing.pairs as i64 * 2 >= limit);
        let Some(campaign) = campaign else {
            // No net depends on it: it is decided anew.
            let stands = standing.verdict == decided && (is_out || kind == "match");
            let query =
                "UPDATE jobs SET recheck = 0, decision = CASE WHEN $2 = 1 THEN decision ELSE NULL END WHERE id = $1";
            sqlx::query(query).bind(job).bind(i64::from(stands)).execute(connection.raw()).await?;
            jobs::set_state(connection, now, job, if stands { "closed" } else { "open" }).await?;
            continue;
        };
        let decision = standing.verdict.decision;
        let has_gap = decision == Decision::Continue && !is_out;
        let plays = has_gap && !matches!(campaign.as_str(), "paused" | "stopped");
        let query = "UPDATE jobs SET recheck = $2, rechecked = $3 WHERE id = $1";
        sqlx::query(query).bind(job).bind(i64::from(has_gap)).bind(now.0).execute(connection.raw()).await?;
        jobs::set_state(connection, now, job, if plays { "open" } else { "closed" }).await?;
        if let Some(net) = net {
            update_net(connection, now, job, &net, decided.decision, &standing).await?;
        }
    }
    Ok(jobs.len() as u64)
}

/// Updates the state of a net whose gate was rechecked.
async fn update_net(
    connection: &mut Connection<'_>,
    now: Time,
    job: i64,
    net: &str,
    decided: Decision,
    standing: &Standing,
) -> Result<(), StoreError> {
    let (decision, pairs) = (standing.verdict.decision, standing.pairs);
    let name = nets::name_of_text(connection, net).await?;
    let (hash, job) = (net.to_owned(), JobId(job));
    if decided == Decision::AcceptH1 {
        let stands = decision == decided;
        let (from, to) = if stands { ("disputed", "promoted") } else { ("promoted", "disputed") };
        let why = (!stands).then_some(Reason::GateUnproven { pairs });
        let query = "UPDATE nets SET state = $3, disputed = $4 WHERE hash = $1 AND state = $2";
        let query = sqlx::query(query).bind(net.to_owned()).bind(from).bind(to).bind(why);
        if query.execute(connection.raw()).await?.rows_affected() > 0 {
            let event = if stands {
                Event::Promoted { net: hash, name, job }
            } else {
                Event::Disputed { net: hash, name, job, pairs }
            };
            record_event(connection, now, None, event).await?;
        }
    } else if decision == Decision::AcceptH1 {
        record_event(connection, now, None, Event::GateReversed { net: hash, name, job, pairs }).await?;
    }
    Ok(())
}

/// Decides and closes finished matches outside of campaigns.
pub async fn conclude(connection: &mut Connection<'_>, now: Time) -> Result<u64, StoreError> {
    let query = "SELECT id, kind, game_limit FROM jobs
                 WHERE campaign IS NULL AND decision IS NULL AND state = 'open' AND gate IS NOT NULL ORDER BY id LIMIT 100";
    let jobs: Vec<(i64, String, Option<i64>)> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let mut concluded = 0;
    for (id, kind, limit) in jobs {
        if lock_job(connection, id).await?.state != "open" {
            continue;
        }
        let standing = standing(connection, id).await?;
        let is_out = limit.is_some_and(|limit| standing.pairs as i64 * 2 >= limit);
        if is_out || (kind == "match" && standing.verdict.decision != Decision::Continue) {
            jobs::decide(connection, id, &standing.verdict).await?;
            jobs::set_state(connection, now, id, "closed").await?;
            concluded += 1;
        }
    }
    Ok(concluded)
}
