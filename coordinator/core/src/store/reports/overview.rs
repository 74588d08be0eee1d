//! The home page's data: current work, its speed, and the strength reached.

use serde::Serialize;
use stats::EloEstimate;

use super::workers::{Active, active_now};
use crate::{
    clock::{HOUR, Time},
    gate::{self, Decided},
    model::{CampaignId, CampaignState, CampaignStep, EventId, JobId, Playing, PromotionKind},
    store::{Connection, Leases, StoreError, convert::row},
};

/// Promotions listed, the newest.
const MAX_POINTS: usize = 1_000;

/// Current work, its speed, and the strength reached.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Overview {
    /// Active campaigns, the most important first.
    pub campaigns: Vec<Running>,
    /// Validated in the last hour.
    pub hour: Volume,
    /// Validated in all, each game once: audits are no further games.
    pub total: Volume,
    /// Games being played.
    pub playing: Playing,
    /// Machines seen within ten minutes.
    pub workers: i64,
    /// Number of threads of these machines.
    pub threads: i64,
    /// Promotions of the campaign with the latest one, in order.
    pub strength: Vec<Point>,
    /// The last public events, the newest first.
    pub events: Vec<PublicEvent>,
}

/// A number of validated games and positions.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Volume {
    /// Number of games.
    pub games: i64,
    /// Number of their positions with a searched move.
    pub positions: i64,
}

row!(Volume { games, positions });

/// A campaign in one line.
#[derive(Clone, Debug, Serialize)]
pub struct Running {
    /// Name of the campaign.
    pub name: String,
    /// State: running, paused, stuck, stopped, complete.
    pub state: CampaignState,
    /// Phase: collecting, training, gating.
    pub phase: CampaignStep,
    /// Number of the current generation.
    pub generation: i64,
    /// The hash of the champion; none for the plain evaluation.
    pub champion: Option<String>,
    /// The champion's name, for people.
    pub champion_name: Option<String>,
    /// Begin of the phase, in milliseconds since 1970.
    pub phase_since: i64,
}

row!(Running { name, state, phase, generation, champion, champion_name, phase_since });

/// A promoted net, and its gain over the one before.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Number of the promotion in its campaign, counted from 1.
    pub number: usize,
    /// Name of the campaign.
    pub campaign: String,
    /// SHA-256 of the net; none for the plain evaluation.
    pub net: Option<String>,
    /// The net's name, for people.
    pub name: String,
    /// Kind: gate, hand, rollback.
    pub kind: PromotionKind,
    /// Time of the promotion, in milliseconds since 1970.
    pub at: i64,
    /// Id of the gate's match, if there was one.
    pub job: Option<JobId>,
    /// Elo over the previous net, from the gate's games.
    pub gain: Option<EloEstimate>,
    /// Elo over the campaign's first net: the sum of gains.
    pub elo: f64,
    /// Lower end of the 95 % interval of `elo`.
    pub low: f64,
    /// Upper end of the 95 % interval of `elo`.
    pub high: f64,
}

/// An event about a campaign or a net.
#[derive(Clone, Debug, Serialize)]
pub struct PublicEvent {
    /// The event's id.
    pub event: EventId,
    /// Time, in milliseconds since 1970.
    pub at: i64,
    /// Kind of the event, such as `promotion`.
    pub kind: String,
    /// Subject, as `kind:name`.
    pub subject: String,
    /// One sentence for people.
    pub text: String,
    /// Its parameters as JSON.
    #[serde(skip)]
    pub data: Option<String>,
}

row!(PublicEvent { event, at, kind, subject, text, data });

/// Reads the home page's data.
pub async fn overview(connection: &mut Connection<'_>, now: Time) -> Result<Overview, StoreError> {
    let campaigns = running(connection, false).await?;
    let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(positions), 0) AS BIGINT) AS positions
                 FROM shards WHERE validated > $1";
    let hour = sqlx::query_as(query).bind(now.0 - HOUR).fetch_one(connection.raw()).await?;
    let query = "SELECT CAST(COALESCE(SUM(counted_games), 0) AS BIGINT) AS games,
                        CAST(COALESCE(SUM(counted_positions), 0) AS BIGINT) AS positions FROM jobs";
    let total = sqlx::query_as(query).fetch_one(connection.raw()).await?;
    let Active { workers, threads } = active_now(connection, now).await?;
    let playing = Leases::on(connection.reborrow()).playing(None).await?;
    let query = "SELECT campaign FROM promotions ORDER BY id DESC LIMIT 1";
    let last: Option<CampaignId> = sqlx::query_scalar(query).fetch_optional(connection.raw()).await?;
    let strength = match last {
        Some(campaign) => strength(connection, campaign).await?,
        None => Vec::new(),
    };
    Ok(Overview { campaigns, hour, total, playing, workers, threads, strength, events: events(connection).await? })
}

/// Campaigns: the active ones, or all.
pub async fn running(connection: &mut Connection<'_>, all: bool) -> Result<Vec<Running>, StoreError> {
    let query = "SELECT campaigns.name AS name, campaigns.state AS state, phase, campaigns.generation AS generation,
                        champion, nets.name AS champion_name, phase_since
                 FROM campaigns LEFT JOIN nets ON nets.hash = campaigns.champion
                 WHERE $1 = 1 OR campaigns.state IN ('running', 'paused', 'stuck')
                 ORDER BY CASE campaigns.state WHEN 'running' THEN 0 WHEN 'stuck' THEN 1 WHEN 'paused' THEN 2 ELSE 3 END,
                          campaigns.id DESC LIMIT 200";
    Ok(sqlx::query_as(query).bind(i64::from(all)).fetch_all(connection.raw()).await?)
}

/// A campaign's promotions, with their strength by its gates.
pub async fn strength(connection: &mut Connection<'_>, campaign: CampaignId) -> Result<Vec<Point>, StoreError> {
    struct Row {
        campaign: String,
        net: Option<String>,
        name: Option<String>,
        kind: PromotionKind,
        at: i64,
        job: Option<JobId>,
        decision: Option<String>,
    }

    row!(Row { campaign, net, name, kind, at, job, decision });
    let query = "SELECT campaigns.name AS campaign, promotions.net AS net, nets.name AS name, promotions.kind AS kind,
                        promotions.at AS at, promotions.job AS job, jobs.decision AS decision
                 FROM promotions JOIN campaigns ON campaigns.id = promotions.campaign
                 LEFT JOIN nets ON nets.hash = promotions.net LEFT JOIN jobs ON jobs.id = promotions.job
                 WHERE promotions.campaign = $1 ORDER BY promotions.id";
    let rows: Vec<Row> = sqlx::query_as(query).bind(campaign).fetch_all(connection.raw()).await?;
    let mut points: Vec<Point> = Vec::new();
    for row in rows {
        let decided = row.decision.and_then(|text| serde_json::from_str::<Decided>(&text).ok());
        let gain = decided.and_then(|decided| decided.elo.or_else(|| gate::elo(None, decided.verdict.counts)));
        // A rollback restores the earlier net with its earlier strength.
        let earlier = points.iter().rev().find(|point| row.kind == PromotionKind::Rollback && point.net == row.net);
        let (elo, low, high) = match (earlier, points.last(), gain) {
            (Some(earlier), ..) => (earlier.elo, earlier.low, earlier.high),
            (None, ..) if row.kind == PromotionKind::Rollback => (0.0, 0.0, 0.0),
            (None, before, gain) => {
                let (elo, error) = before.map_or((0.0, 0.0), |point| (point.elo, (point.high - point.low) / 2.0));
                let own = gain.map_or(0.0, |gain| gain.error());
                let error = (error * error + own * own).sqrt();
                let elo = elo + gain.map_or(0.0, |gain| gain.elo);
                (elo, elo - error, elo + error)
            }
        };
        let name = row.name.or_else(|| row.net.as_ref().map(|net| net.chars().take(12).collect()));
        points.push(Point {
            number: points.len() + 1,
            campaign: row.campaign,
            net: row.net,
            name: name.unwrap_or_default(),
            kind: row.kind,
            at: row.at,
            job: row.job,
            gain: gain.filter(|gain| gain.elo.is_finite()),
            elo,
            low,
            high,
        });
    }
    // Sums need all promotions; only the newest are listed.
    points.drain(..points.len().saturating_sub(MAX_POINTS));
    Ok(points)
}

/// The last events of campaigns and nets. Events about people are not public.
async fn events(connection: &mut Connection<'_>) -> Result<Vec<PublicEvent>, StoreError> {
    const MAX_SCANNED: i64 = 2_000;
    let query = "SELECT id AS event, at, kind, subject, text, data FROM events
                 WHERE id > (SELECT COALESCE(MAX(id), 0) FROM events) - $1
                 AND (subject LIKE 'campaign:%' OR subject LIKE 'net:%') ORDER BY id DESC LIMIT 12";
    Ok(sqlx::query_as(query).bind(MAX_SCANNED).fetch_all(connection.raw()).await?)
}
