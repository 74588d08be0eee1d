-- Missing games of a lease that its account has paid for.
ALTER TABLE leases ADD COLUMN charged BIGINT NOT NULL DEFAULT 0;

-- Audits that their accounts left.
CREATE INDEX leases_left ON leases (created, account) WHERE kind = 'audit' AND state IN ('expired', 'returned');

-- Games that several leases did not deliver.
CREATE INDEX segments_contested ON segments (job, first) WHERE state = 'leased' AND attempts >= 3;
