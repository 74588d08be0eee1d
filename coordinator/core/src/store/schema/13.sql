-- Ringers.

ALTER TABLE shards ADD COLUMN checked_game BIGINT;   -- the game that a referee played again, to the same moves
