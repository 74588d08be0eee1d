-- Matches under a clock (jobs of the kind `timed`).

-- Of a match under a clock, for each pair: in how many games the candidate lost on time, and three times that of the other.
ALTER TABLE shards ADD COLUMN time_losses BYTES;
