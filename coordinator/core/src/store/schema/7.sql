-- Work in steps of a bounded size.

-- Accounts whose standing changed: their shards up to one are reviewed.
CREATE TABLE reviews (
    account BIGINT PRIMARY KEY REFERENCES accounts (id),
    reviewed_until BIGINT NOT NULL,
    begins BIGINT NOT NULL,             -- whether a quarantine begins, or ends
    is_new BIGINT NOT NULL,             -- whether the account's state has changed
    decided_by BIGINT,
    reason TEXT,                        -- none: its uploads lost their proof, and no event is recorded
    uploads BIGINT NOT NULL DEFAULT 0   -- that left the pool, or came back
);

DROP INDEX shards_account;
CREATE INDEX shards_account ON shards (account, id);
CREATE INDEX shards_clean ON shards (account, id) WHERE audited_games > 0 AND audited_games >= games / 10;

-- The manifest of a training set, in parts. Sets of older versions have it in their row.
CREATE TABLE manifest_parts (
    manifest TEXT NOT NULL,
    part BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (manifest, part)
);

CREATE INDEX manifest_parts_first ON manifest_parts (manifest) WHERE part = 0;
