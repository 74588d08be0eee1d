-- The time of a worker's last request or upload. A registration is none: it costs nothing.
ALTER TABLE workers ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;
UPDATE workers SET asked = last_seen;
CREATE INDEX workers_asked ON workers (asked);

-- Checks of gates come first.
CREATE INDEX shards_unchecked_pairs ON shards (bench_signature, id)
    WHERE pairs IS NOT NULL AND checked = 0 AND state = 'validated' AND object = 'present' AND time_losses IS NULL;
