-- 12
-- Nets whose games fall.

ALTER TABLE manifests ADD COLUMN since BIGINT NOT NULL DEFAULT 0;         -- the oldest generation of its games
ALTER TABLE manifests ADD COLUMN fallen_games BIGINT NOT NULL DEFAULT 0;  -- games of it that are in quarantine
ALTER TABLE jobs ADD COLUMN reversed BIGINT NOT NULL DEFAULT 0;           -- whether a gate now proves the net that it rejected

CREATE INDEX manifests_campaign ON manifests (campaign, generation);
CREATE INDEX jobs_reversed ON jobs (campaign) WHERE reversed = 1;
CREATE INDEX jobs_recheck ON jobs (id) WHERE recheck > 0;
