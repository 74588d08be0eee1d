-- What positions are like: of a shard as JSON (none if it was validated before there were figures), and of the validated
-- shards of a job together.
ALTER TABLE shards ADD COLUMN figures TEXT;

CREATE TABLE figures (
    job BIGINT PRIMARY KEY REFERENCES jobs (id),
    figures TEXT NOT NULL
);
