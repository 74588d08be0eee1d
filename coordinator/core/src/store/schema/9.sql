-- The standing of accounts.

DROP INDEX shards_clean;
ALTER TABLE accounts DROP COLUMN clean_until;

ALTER TABLE accounts ADD COLUMN proven_nodes BIGINT NOT NULL DEFAULT 0;  -- of accepted games, less what faults cost
ALTER TABLE accounts ADD COLUMN faults BIGINT NOT NULL DEFAULT 0;        -- that it had nothing to pay for
ALTER TABLE accounts ADD COLUMN waits_until BIGINT NOT NULL DEFAULT 0;   -- it gets no lease before

CREATE INDEX leases_quiet ON leases (job, created) WHERE state = 'active';
CREATE INDEX shards_waiting ON shards (account) WHERE state = 'received';
CREATE INDEX shards_refused ON shards (account, job, first) WHERE state = 'rejected';
CREATE INDEX shards_refused_files ON shards (received) WHERE state = 'rejected' AND object = 'present';
