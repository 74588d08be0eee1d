-- 12
-- Nets whose games fall, related accounts, keys of trusted workers.

ALTER TABLE manifests ADD COLUMN since BIGINT NOT NULL DEFAULT 0;         -- the oldest generation of its games
ALTER TABLE manifests ADD COLUMN fallen_games BIGINT NOT NULL DEFAULT 0;  -- games of it that are in quarantine
ALTER TABLE jobs ADD COLUMN reversed BIGINT NOT NULL DEFAULT 0;           -- whether a gate now proves the net that it rejected
ALTER TABLE workers ADD COLUMN token BIGINT;                               -- of its last request; no other one if it is trusted
ALTER TABLE workers ADD COLUMN trusted_after BIGINT NOT NULL DEFAULT 0;    -- its uploads up to this one are not trusted
ALTER TABLE workers ADD COLUMN network TEXT;                               -- a hash of its block of addresses

CREATE INDEX shards_pairs ON shards (job, account, state, games) WHERE pairs IS NOT NULL;
CREATE INDEX workers_network ON workers (network) WHERE network IS NOT NULL;
CREATE INDEX invitations_used_by ON invitations (used_by);
CREATE INDEX invitations_created_by ON invitations (created_by);
CREATE INDEX manifests_campaign ON manifests (campaign, generation);
CREATE INDEX jobs_reversed ON jobs (campaign) WHERE reversed = 1;
CREATE INDEX jobs_recheck ON jobs (id) WHERE recheck > 0;
