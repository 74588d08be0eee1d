-- Computes what the accounts have shown so far from their shards.

UPDATE accounts SET proven_nodes = COALESCE(
    (SELECT CAST(SUM(shards.games * jobs.nodes_per_game) AS BIGINT) FROM shards JOIN jobs ON jobs.id = shards.job
     WHERE shards.account = accounts.id AND shards.state = 'validated'), 0);
