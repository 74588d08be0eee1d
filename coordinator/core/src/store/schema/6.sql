-- Counters, kept by the operations that change what they count.

-- Games of the segments that a shard holds, and the engine of its games.
ALTER TABLE shards ADD COLUMN held_games BIGINT NOT NULL DEFAULT 0;
ALTER TABLE shards ADD COLUMN bench_signature BIGINT NOT NULL DEFAULT 0;

-- Of a job: games that shards with a verdict hold, those of validated shards, their positions, and how often a validated
-- shard was withdrawn.
ALTER TABLE jobs ADD COLUMN settled_games BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN counted_games BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN counted_positions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN withdrawals BIGINT NOT NULL DEFAULT 0;

-- Indices of the rows that are looked for, instead of all rows.
DROP INDEX shards_state;
CREATE INDEX shards_received ON shards (id) WHERE state = 'received';
CREATE INDEX shards_set_aside ON shards (id) WHERE state IN ('rejected', 'disputed', 'quarantined');
CREATE INDEX shards_untold ON shards (worker, id) WHERE state = 'rejected' AND told = 0;
CREATE INDEX shards_listed ON shards (job, id) WHERE state = 'validated';
CREATE INDEX shards_public ON shards (job, id)
    WHERE state = 'validated' AND object = 'present' AND audit NOT IN ('wanted', 'leased');
DROP INDEX shards_audit;
CREATE INDEX shards_wanted ON shards (bench_signature, hash) WHERE audit = 'wanted';
CREATE INDEX shards_audited ON shards (id) WHERE audit = 'leased';
DROP INDEX segments_open;
CREATE INDEX segments_open ON segments (job, first) WHERE state = 'open';
DROP INDEX leases_due;
CREATE INDEX leases_due ON leases (expires) WHERE state = 'active';
CREATE INDEX leases_lost ON leases (account, job, first) WHERE state IN ('expired', 'returned');
DROP INDEX comparisons_state;
CREATE INDEX comparisons_different ON comparisons (id) WHERE state = 'different';
CREATE INDEX comparisons_waiting ON comparisons (id) WHERE state = 'waiting';
CREATE INDEX deliveries_due ON deliveries (next_at, id) WHERE done = 0;
CREATE INDEX deliveries_webhook ON deliveries (webhook, done);
