-- Whether what an account says of others' games is worth nothing, whatever its state: it was put into quarantine, and not
-- taken out of it, though it may be deleted since.
ALTER TABLE accounts ADD COLUMN distrusted BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET distrusted = 1 WHERE state = 'quarantined'
    OR EXISTS (SELECT 1 FROM shards WHERE shards.account = accounts.id AND shards.state = 'quarantined');

CREATE INDEX failures_account ON failures (account, id);

-- How far a training got at most; how far this attempt, and when it last got further.
ALTER TABLE trainings ADD COLUMN furthest BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trainings ADD COLUMN step BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trainings ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;

-- When a decided match was looked at again.
ALTER TABLE jobs ADD COLUMN rechecked BIGINT NOT NULL DEFAULT 0;

-- When games of a lease came last.
ALTER TABLE leases ADD COLUMN delivered BIGINT NOT NULL DEFAULT 0;
