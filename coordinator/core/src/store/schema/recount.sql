-- All counters, from the rows that they count.
UPDATE shards SET
    bench_signature = (SELECT jobs.bench_signature FROM jobs WHERE jobs.id = shards.job),
    held_games = COALESCE((SELECT SUM(segments.games) FROM segments
                           WHERE segments.shard = shards.id AND segments.state = 'held'), 0);
UPDATE jobs SET
    settled_games = COALESCE((SELECT SUM(held_games) FROM shards
                              WHERE shards.job = jobs.id AND shards.state <> 'received'), 0),
    counted_games = COALESCE((SELECT SUM(held_games) FROM shards
                              WHERE shards.job = jobs.id AND shards.state = 'validated'), 0),
    counted_positions = COALESCE((SELECT SUM(positions * held_games / games) FROM shards
                                  WHERE shards.job = jobs.id AND shards.state = 'validated'), 0);
