-- How often games were handed out that nobody has brought yet, and of a lease, the how manieth time it was.
ALTER TABLE segments ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN attempts BIGINT NOT NULL DEFAULT 1;
