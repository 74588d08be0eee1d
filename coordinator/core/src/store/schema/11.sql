-- Referees.

-- Their rulings on games: of a dispute, or of a check of one shard.
CREATE TABLE rulings (
    id IDENTITY,
    job BIGINT NOT NULL REFERENCES jobs (id),
    game BIGINT NOT NULL,
    certificate TEXT NOT NULL,          -- JSON
    at BIGINT NOT NULL
);

-- Whether a referee played a game of the shard again.
ALTER TABLE shards ADD COLUMN checked BIGINT NOT NULL DEFAULT 0;

CREATE INDEX shards_unchecked ON shards (bench_signature, id)
    WHERE checked = 0 AND state = 'validated' AND object = 'present' AND time_losses IS NULL;
