//! The table of comparisons, and rows about the shards that they concern.

use std::collections::BTreeSet;

use sqlx::AssertSqlSafe;

use super::{
    convert::{flag, numbers, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{
        AccountId, Comparison, ComparisonId, ComparisonState, Dispute, Evidence, JobId, LeaseId, MAX_GAMES_PER_LEASE,
        Part, Player, ShardEvidence, ShardId, ToCompare, common,
    },
};

row!(Comparison { id, job, left, right, numbers: numbers, state, game });
row!(ToCompare { comparison, left, right, first, games, left_checked, right_checked });
row!(Dispute { comparison, job, game });
row!(ShardEvidence {
    id,
    job,
    account,
    numbers: numbers,
    state,
    is_validated: flag,
    object,
    audit,
    audited_games,
    is_trusted: flag,
    is_distrusted: flag,
    kind,
    audited,
    checked_game,
});

/// The columns of a comparison.
const ROW: &str = "comparisons.id AS id, comparisons.job AS job, left_shard AS left, right_shard AS right,
                   comparisons.first AS first, comparisons.games AS games, comparisons.state AS state, game";

/// The sides of a comparison $1 and of the disputes over games $3 to $4 of job $2.
const NEAR_COMPARISON: &str = "open AS (SELECT left_shard, right_shard FROM comparisons WHERE id = $1
                 UNION SELECT left_shard, right_shard FROM comparisons
                 WHERE job = $2 AND state = 'different' AND first < $4 AND first + games > $3),
     near AS (SELECT left_shard AS shard FROM open UNION SELECT right_shard FROM open)";

/// The shards of an account $1 after $2 up to $3, and those that were compared with them.
const NEAR_ACCOUNT: &str = "own AS (SELECT id AS shard FROM shards WHERE account = $1 AND id > $2 AND id <= $3),
     near AS (SELECT shard FROM own
              UNION SELECT right_shard FROM own CROSS JOIN comparisons WHERE left_shard = own.shard
              UNION SELECT left_shard FROM own CROSS JOIN comparisons WHERE right_shard = own.shard)";

/// A shard $1.
const NEAR_SHARD: &str = "near AS (SELECT id AS shard FROM shards WHERE id = $1)";

/// All comparisons of the shards nearby. `CROSS JOIN` keeps `SQLite` from reading all comparisons
/// instead: it takes a common table expression for a long one.
fn comparisons_of(near: &str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!(
        "WITH {near} SELECT {ROW} FROM near CROSS JOIN comparisons WHERE left_shard = near.shard
         UNION SELECT {ROW} FROM near CROSS JOIN comparisons WHERE right_shard = near.shard"
    ))
}

/// The shards nearby, and the sides of all their comparisons.
fn shards_of(near: &str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!(
        "WITH {near}, sides AS (
             SELECT left_shard AS shard FROM near CROSS JOIN comparisons WHERE left_shard = near.shard
             UNION SELECT right_shard FROM near CROSS JOIN comparisons WHERE left_shard = near.shard
             UNION SELECT left_shard FROM near CROSS JOIN comparisons WHERE right_shard = near.shard
             UNION SELECT right_shard FROM near CROSS JOIN comparisons WHERE right_shard = near.shard
             UNION SELECT shard FROM near)
         SELECT shards.id AS id, shards.job AS job, shards.account AS account, shards.first AS first,
                shards.games AS games, shards.state AS state, audit, audited_games, object, checked_game,
                CASE WHEN validated IS NULL THEN 0 ELSE 1 END AS is_validated,
                CASE WHEN workers.trusted = 1 AND shards.id > workers.trusted_after THEN 1 ELSE 0 END AS is_trusted,
                accounts.distrusted AS is_distrusted,
                leases.kind AS kind, leases.audited AS audited
         FROM sides CROSS JOIN shards JOIN leases ON leases.id = shards.lease
         JOIN workers ON workers.id = shards.worker JOIN accounts ON accounts.id = shards.account
         WHERE shards.id = sides.shard"
    ))
}

repository!(
    /// The comparisons, within a transaction.
    Comparisons, comparisons
);

impl Comparisons<'_> {
    /// Queues the common games of two shards for comparison, if both files still exist. Games under
    /// a clock are not reproducible: there the first upload is believed.
    pub async fn queue(&mut self, now: Time, job: JobId, left: &Part, right: &Part) -> Result<(), StoreError> {
        let games = common(&left.numbers, &right.numbers);
        if games.is_empty() || left.shard == right.shard {
            return Ok(());
        }
        let query = "INSERT INTO comparisons (job, left_shard, right_shard, first, games, state, created)
                     SELECT job, $2, $3, $4, $5, 'waiting', $6 FROM shards WHERE id = $2 AND job = $1
                     AND NOT EXISTS (SELECT 1 FROM shards AS gone WHERE gone.id IN ($2, $3) AND gone.object <> 'present')
                     AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = $1 AND jobs.kind = 'timed')
                     ON CONFLICT (left_shard, right_shard, first) DO UPDATE SET state = 'waiting'
                     WHERE comparisons.state = 'void'";
        let query = sqlx::query(query).bind(job).bind(left.shard).bind(right.shard).bind(games.start);
        query.bind(games.end - games.start).bind(now).execute(self.0.raw()).await?;
        Ok(())
    }

    /// A trusted worker's result with this game, with which this shard was not compared.
    pub async fn trusted_with(&mut self, shard: &Part, job: JobId, game: i64) -> Result<Option<Part>, StoreError> {
        let query = "SELECT theirs.id AS shard, theirs.first AS first, theirs.games AS games
                     FROM shards AS theirs JOIN workers ON workers.id = theirs.worker
                     WHERE theirs.job = $1 AND theirs.id <> $2 AND workers.trusted = 1
                     AND theirs.id > workers.trusted_after AND theirs.first <= $3
                     AND theirs.first > $3 - $4 AND theirs.first + theirs.games > $3 AND theirs.state = 'validated'
                     AND NOT EXISTS (SELECT 1 FROM comparisons WHERE state <> 'void'
                                     AND comparisons.first <= $3 AND comparisons.first + comparisons.games > $3
                                     AND ((left_shard = theirs.id AND right_shard = $2)
                                          OR (left_shard = $2 AND right_shard = theirs.id)))
                     ORDER BY theirs.id LIMIT 1";
        let query = sqlx::query_as(query).bind(job).bind(shard.shard).bind(game).bind(MAX_GAMES_PER_LEASE);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// Claims comparisons of validated shards until a time.
    pub async fn claim(&mut self, now: Time, limit: i64, until: Time) -> Result<Vec<ToCompare>, StoreError> {
        let query = self.0.skip_locked(
            "SELECT comparisons.id AS comparison, l.hash AS left, r.hash AS right,
                    comparisons.first AS first, comparisons.games AS games,
                    l.checked_game AS left_checked, r.checked_game AS right_checked
             FROM comparisons JOIN shards AS l ON l.id = comparisons.left_shard
                              JOIN shards AS r ON r.id = comparisons.right_shard
             WHERE comparisons.state = 'waiting' AND comparisons.claimed_until < $1
             AND l.validated IS NOT NULL AND r.validated IS NOT NULL
             ORDER BY comparisons.id LIMIT $2",
            "comparisons",
        );
        let rows: Vec<ToCompare> = sqlx::query_as(query).bind(now).bind(limit).fetch_all(self.0.raw()).await?;
        for row in &rows {
            let query = "UPDATE comparisons SET claimed_until = $2 WHERE id = $1";
            sqlx::query(query).bind(row.comparison).bind(until).execute(self.0.raw()).await?;
        }
        Ok(rows)
    }

    /// Ends all claims.
    pub async fn release_claims(&mut self) -> Result<(), StoreError> {
        let query = "UPDATE comparisons SET claimed_until = 0 WHERE state = 'waiting' AND claimed_until > 0";
        sqlx::query(query).execute(self.0.raw()).await?;
        Ok(())
    }

    /// A comparison. Its state is read again under the lock of its job.
    pub async fn get(&mut self, comparison: ComparisonId) -> Result<Comparison, StoreError> {
        let query = AssertSqlSafe(format!("SELECT {ROW} FROM comparisons WHERE id = $1"));
        Ok(sqlx::query_as(query).bind(comparison).fetch_one(self.0.raw()).await?)
    }

    /// Stores the state of a comparison.
    pub async fn save(&mut self, comparison: &Comparison) -> Result<(), StoreError> {
        let query = "UPDATE comparisons SET state = $2, game = $3, claimed_until = 0 WHERE id = $1";
        let query = sqlx::query(query).bind(comparison.id).bind(comparison.state).bind(comparison.game);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Voids the waiting comparisons of a shard.
    pub async fn void_of(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE comparisons SET state = $2
                     WHERE state = 'waiting' AND (left_shard = $1 OR right_shard = $1)";
        sqlx::query(query).bind(shard).bind(ComparisonState::Void).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Finds an unassigned dispute over a game that this worker's account has not played.
    pub async fn to_settle(&mut self, player: &Player) -> Result<Option<Dispute>, StoreError> {
        let query = "SELECT comparisons.id AS comparison, comparisons.job AS job, comparisons.game AS game
                     FROM comparisons JOIN jobs ON jobs.id = comparisons.job
                     WHERE comparisons.state = 'different' AND comparisons.settled_by IS NULL
                     AND jobs.bench_signature = $2
                     AND NOT EXISTS (SELECT 1 FROM shards
                                     WHERE shards.job = comparisons.job AND shards.account = $1
                                     AND shards.first <= comparisons.game AND shards.first > comparisons.game - $3
                                     AND shards.first + shards.games > comparisons.game AND shards.state <> 'rejected')
                     ORDER BY comparisons.id LIMIT 1";
        let query = sqlx::query_as(query).bind(player.account).bind(player.bench_signature).bind(MAX_GAMES_PER_LEASE);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// Assigns a dispute to a lease; false if it is no longer open.
    pub async fn assign(&mut self, comparison: ComparisonId, lease: LeaseId) -> Result<bool, StoreError> {
        let query = "UPDATE comparisons SET settled_by = $2
                     WHERE id = $1 AND state = 'different' AND settled_by IS NULL";
        Ok(sqlx::query(query).bind(comparison).bind(lease).execute(self.0.raw()).await?.rows_affected() == 1)
    }

    /// Reopens disputes whose lease has ended without anything left to compare.
    pub async fn reopen_disputes(&mut self) -> Result<(), StoreError> {
        let query = "UPDATE comparisons SET settled_by = NULL WHERE state = 'different' AND settled_by IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM leases
                                     WHERE leases.id = comparisons.settled_by AND leases.state = 'active')
                     AND NOT EXISTS (SELECT 1 FROM shards JOIN comparisons AS other
                                     ON other.left_shard = shards.id OR other.right_shard = shards.id
                                     WHERE shards.lease = comparisons.settled_by AND other.state = 'waiting')";
        sqlx::query(query).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The evidence around a comparison: its sides, and those of disputes over the same games.
    pub async fn evidence(&mut self, row: &Comparison) -> Result<Evidence, StoreError> {
        let (first, end) = (row.numbers.start, row.numbers.end);
        let query = sqlx::query_as(comparisons_of(NEAR_COMPARISON)).bind(row.id).bind(row.job).bind(first).bind(end);
        let comparisons: Vec<Comparison> = query.fetch_all(self.0.raw()).await?;
        let query = sqlx::query_as(shards_of(NEAR_COMPARISON)).bind(row.id).bind(row.job).bind(first).bind(end);
        let shards = query.fetch_all(self.0.raw()).await?;
        let is_near = |other: &&Comparison| {
            other.id == row.id
                || (other.state == ComparisonState::Different && !common(&other.numbers, &row.numbers).is_empty())
        };
        let complete = comparisons.iter().filter(is_near).flat_map(|row| [row.left, row.right]).collect();
        Ok(Evidence { shards, comparisons, complete })
    }

    /// The evidence around shards of an account, those after one up to another.
    pub async fn evidence_on(
        &mut self,
        account: AccountId,
        after: ShardId,
        until: ShardId,
    ) -> Result<Evidence, StoreError> {
        let query = sqlx::query_as(comparisons_of(NEAR_ACCOUNT)).bind(account).bind(after).bind(until);
        let comparisons: Vec<Comparison> = query.fetch_all(self.0.raw()).await?;
        let query = sqlx::query_as(shards_of(NEAR_ACCOUNT)).bind(account).bind(after).bind(until);
        let shards: Vec<ShardEvidence> = query.fetch_all(self.0.raw()).await?;
        let is_own = |shard: &&ShardEvidence| shard.account == account && shard.id > after && shard.id <= until;
        let own: BTreeSet<ShardId> = shards.iter().filter(is_own).map(|shard| shard.id).collect();
        let sides = comparisons.iter().map(|row| [row.left, row.right]);
        let near = sides.filter(|sides| sides.iter().any(|side| own.contains(side))).flatten();
        let complete = near.chain(own.iter().copied()).collect();
        Ok(Evidence { shards, comparisons, complete })
    }

    /// The evidence on the audit of a shard.
    pub async fn evidence_of(&mut self, shard: ShardId) -> Result<Evidence, StoreError> {
        let comparisons = sqlx::query_as(comparisons_of(NEAR_SHARD)).bind(shard).fetch_all(self.0.raw()).await?;
        let shards = sqlx::query_as(shards_of(NEAR_SHARD)).bind(shard).fetch_all(self.0.raw()).await?;
        Ok(Evidence { shards, comparisons, complete: vec![shard] })
    }

    /// The open comparisons of a match's games below a number.
    pub async fn open_below(&mut self, job: JobId, below: i64) -> Result<i64, StoreError> {
        let query =
            "SELECT COUNT(*) FROM comparisons WHERE job = $1 AND state IN ('waiting', 'different') AND first < $2";
        Ok(sqlx::query_scalar(query).bind(job).bind(below).fetch_one(self.0.raw()).await?)
    }
}
