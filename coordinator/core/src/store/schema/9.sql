-- The standing of accounts, and auditors that the coordinator draws.

DROP INDEX shards_clean;
ALTER TABLE accounts DROP COLUMN clean_until;

ALTER TABLE accounts ADD COLUMN proven_nodes BIGINT NOT NULL DEFAULT 0;  -- of accepted games, less what faults cost
ALTER TABLE accounts ADD COLUMN faults BIGINT NOT NULL DEFAULT 0;        -- that it had nothing to pay for
ALTER TABLE accounts ADD COLUMN waits_until BIGINT NOT NULL DEFAULT 0;   -- it gets no lease before

ALTER TABLE shards ADD COLUMN auditor BIGINT;                             -- the account that shall audit it
ALTER TABLE shards ADD COLUMN auditor_until BIGINT NOT NULL DEFAULT 0;    -- then another one is drawn
DROP INDEX shards_wanted;
CREATE INDEX shards_undrawn ON shards (bench_signature, auditor_until) WHERE audit = 'wanted';
CREATE INDEX shards_auditor ON shards (auditor) WHERE audit = 'wanted';

CREATE INDEX leases_quiet ON leases (job, created) WHERE state = 'active';
CREATE INDEX shards_waiting ON shards (account) WHERE state = 'received';
CREATE INDEX shards_refused ON shards (account, job, first) WHERE state = 'rejected';
CREATE INDEX shards_refused_files ON shards (received) WHERE state = 'rejected' AND object = 'present';
