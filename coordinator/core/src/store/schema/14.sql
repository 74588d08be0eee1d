-- Checks of gates come first.

CREATE INDEX shards_unchecked_pairs ON shards (bench_signature, id)
    WHERE pairs IS NOT NULL AND checked = 0 AND state = 'validated' AND object = 'present' AND time_losses IS NULL;
