-- Whether what an account says of others' games is worth nothing, whatever its state: it was put into quarantine, and not
-- taken out of it, though it may be deleted since.
ALTER TABLE accounts ADD COLUMN distrusted BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET distrusted = 1 WHERE state = 'quarantined';

CREATE INDEX failures_account ON failures (account, id);

-- How far a training got at most, and when it last got further.
ALTER TABLE trainings ADD COLUMN furthest BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trainings ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;

-- When a decided match was looked at again.
ALTER TABLE jobs ADD COLUMN rechecked BIGINT NOT NULL DEFAULT 0;
