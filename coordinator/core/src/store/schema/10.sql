-- Auditors that the coordinator draws.

ALTER TABLE shards ADD COLUMN auditor BIGINT;                             -- the account that shall audit it
ALTER TABLE shards ADD COLUMN auditor_until BIGINT NOT NULL DEFAULT 0;    -- then another one is drawn
DROP INDEX shards_wanted;
CREATE INDEX shards_undrawn ON shards (bench_signature, auditor_until) WHERE audit = 'wanted';
CREATE INDEX shards_auditor ON shards (auditor) WHERE audit = 'wanted';
