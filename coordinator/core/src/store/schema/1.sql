-- People.

CREATE TABLE accounts (
    id IDENTITY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,                 -- volunteer, trainer, maintainer, admin
    state TEXT NOT NULL,                -- pending, active, blocked, quarantined, deleted
    message TEXT,                       -- what its workers are told when it is not active
    password TEXT,                      -- argon2id, for pages only
    created BIGINT NOT NULL,
    clean_games BIGINT NOT NULL DEFAULT 0,  -- games that were played again elsewhere and were the same
    clean_until BIGINT NOT NULL DEFAULT 0   -- the newest shard with such games
);

-- Names that differ in case only are the same.
CREATE UNIQUE INDEX accounts_name ON accounts (LOWER(name));

CREATE TABLE invitations (
    hash TEXT PRIMARY KEY,              -- SHA-256 of the invitation's secret
    role TEXT NOT NULL,
    created_by BIGINT NOT NULL REFERENCES accounts (id),
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    used_by BIGINT REFERENCES accounts (id)
);

CREATE TABLE tokens (
    id IDENTITY,
    account BIGINT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,               -- how the token begins, by which people recognise it
    hash TEXT NOT NULL UNIQUE,          -- SHA-256 of the token
    role TEXT NOT NULL,                 -- no more than the account's
    created BIGINT NOT NULL,
    last_used BIGINT,
    expires BIGINT,
    revoked BIGINT
);

CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    account BIGINT NOT NULL REFERENCES accounts (id),
    csrf TEXT NOT NULL,                 -- what its forms carry
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL
);

CREATE INDEX sessions_account ON sessions (account);
CREATE INDEX sessions_expires ON sessions (expires);

CREATE TABLE workers (
    id IDENTITY,
    account BIGINT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    bench_signature BIGINT NOT NULL,
    threads BIGINT NOT NULL,
    memory_mebibytes BIGINT NOT NULL,
    system TEXT NOT NULL,
    instruction_set TEXT NOT NULL,
    nodes_per_second BIGINT,
    trusted BIGINT NOT NULL DEFAULT 0,
    blocked TEXT,                       -- the message with which it is blocked
    created BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    UNIQUE (account, name)
);

CREATE INDEX workers_seen ON workers (last_seen);

CREATE TABLE failures (
    id IDENTITY,
    account BIGINT NOT NULL REFERENCES accounts (id),
    worker BIGINT REFERENCES workers (id),
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- Validated games by account and day (UTC).
CREATE TABLE contributions (
    account BIGINT NOT NULL REFERENCES accounts (id),
    day BIGINT NOT NULL,
    games BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    PRIMARY KEY (account, day)
);

-- Nets and training sets.

CREATE TABLE nets (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    state TEXT NOT NULL,                -- base, candidate, promoted, rejected, disputed, rolled_back
    campaign BIGINT,
    generation BIGINT,
    parent TEXT,                        -- the champion it was made to beat
    bytes BIGINT NOT NULL,
    manifest TEXT,
    architecture TEXT NOT NULL,         -- one line for people
    created BIGINT NOT NULL,
    promoted BIGINT,
    disputed TEXT                       -- why
);

CREATE INDEX nets_parent ON nets (parent);
CREATE INDEX nets_created ON nets (created);

CREATE TABLE books (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    created BIGINT NOT NULL
);

CREATE TABLE manifests (
    hash TEXT PRIMARY KEY,
    campaign BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    games BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    text TEXT NOT NULL,
    created BIGINT NOT NULL
);

-- Campaigns.

CREATE TABLE campaigns (
    id IDENTITY,
    name TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    state TEXT NOT NULL,                -- running, paused, stuck, stopped, complete
    reason TEXT,                        -- why it is stuck
    phase TEXT NOT NULL,                -- collecting, training, gating
    generation BIGINT NOT NULL,         -- of the games that are played now, from 0
    champion TEXT,                      -- none: the plain evaluation
    candidates BIGINT NOT NULL,         -- how many of this generation were rejected
    wanted_positions BIGINT NOT NULL,   -- of this generation before a net is trained
    selfplay BIGINT,                    -- the jobs of this generation, as far as there are any
    training BIGINT,
    gate BIGINT,
    created_by BIGINT REFERENCES accounts (id),
    created BIGINT NOT NULL,
    phase_since BIGINT NOT NULL,
    changed BIGINT NOT NULL             -- counts changes
);

-- Games to play: a series of numbered games which are functions of the header.
CREATE TABLE jobs (
    id IDENTITY,
    campaign BIGINT REFERENCES campaigns (id),
    generation BIGINT NOT NULL,
    kind TEXT NOT NULL,                 -- selfplay, match, rating
    state TEXT NOT NULL,                -- open, paused, closed
    header TEXT NOT NULL,               -- JSON
    bench_signature BIGINT NOT NULL,
    net TEXT,
    opponent TEXT,                      -- of a match; none for the plain evaluation
    gate TEXT,                          -- of a match: how it is judged, JSON
    decision TEXT,                      -- of a match: what was decided, JSON
    priority BIGINT NOT NULL,
    game_limit BIGINT,                  -- no game has this number or a higher one
    frontier BIGINT NOT NULL DEFAULT 0, -- from this number on no game was leased
    nodes_per_game BIGINT NOT NULL,     -- how much a game costs, as far as is known
    spread BIGINT NOT NULL DEFAULT 0,   -- workers begin with it at different times within so many milliseconds
    last_leased BIGINT NOT NULL DEFAULT 0,
    recheck BIGINT NOT NULL DEFAULT 0,  -- whether games of it went or came after its decision
    created BIGINT NOT NULL,
    closed BIGINT
);

CREATE INDEX jobs_open ON jobs (state, priority);
CREATE INDEX jobs_net ON jobs (net);
CREATE INDEX jobs_campaign ON jobs (campaign, generation);

CREATE TABLE leases (
    id IDENTITY,
    token TEXT NOT NULL UNIQUE,         -- its name in requests, in which only its account may use it
    job BIGINT NOT NULL REFERENCES jobs (id),
    worker BIGINT NOT NULL REFERENCES workers (id),
    account BIGINT NOT NULL REFERENCES accounts (id),
    nonce TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- fresh, audit, settle
    state TEXT NOT NULL,                -- active, done, expired, returned
    first BIGINT NOT NULL,
    games BIGINT NOT NULL,
    finished BIGINT NOT NULL DEFAULT 0,
    audited BIGINT,                     -- the shard that is played again
    duration BIGINT NOT NULL,           -- how long it was given for
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL
);

-- Who asks the same again is told the same, as long as it holds.
CREATE UNIQUE INDEX leases_nonce ON leases (worker, nonce) WHERE state = 'active';

CREATE INDEX leases_due ON leases (state, expires);
CREATE INDEX leases_worker ON leases (worker, state);
CREATE INDEX leases_account ON leases (account, state);
CREATE INDEX leases_audited ON leases (audited, state);

-- Every game below a job's frontier is in one segment: so it is counted once.
CREATE TABLE segments (
    job BIGINT NOT NULL REFERENCES jobs (id),
    first BIGINT NOT NULL,
    games BIGINT NOT NULL,
    state TEXT NOT NULL,                -- open: to be played; leased; held: by a shard
    lease BIGINT REFERENCES leases (id),
    shard BIGINT,
    PRIMARY KEY (job, first)
);

CREATE INDEX segments_open ON segments (job, state, first);
CREATE INDEX segments_lease ON segments (lease);
CREATE INDEX segments_shard ON segments (shard);

-- What was uploaded.
CREATE TABLE shards (
    id IDENTITY,
    hash TEXT NOT NULL,
    job BIGINT NOT NULL REFERENCES jobs (id),
    lease BIGINT NOT NULL REFERENCES leases (id),
    worker BIGINT NOT NULL REFERENCES workers (id),
    account BIGINT NOT NULL REFERENCES accounts (id),
    first BIGINT NOT NULL,
    games BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT NOT NULL,                -- received, validated, rejected, disputed, quarantined
    code TEXT,                          -- why it was rejected
    detail TEXT,
    received BIGINT NOT NULL,
    validated BIGINT,
    claimed_until BIGINT NOT NULL DEFAULT 0,
    told BIGINT NOT NULL DEFAULT 0,     -- whether its worker knows of the rejection
    audit TEXT NOT NULL,                -- none, wanted, leased, clean
    audited_games BIGINT NOT NULL DEFAULT 0,
    outcomes TEXT,                      -- JSON, when validated
    reasons TEXT,
    pairs BYTES,                        -- of a match: each pair's score for the candidate, 0 to 4
    entry TEXT,                         -- its line in a manifest
    object TEXT NOT NULL,               -- present, expired
    UNIQUE (lease, hash)
);

CREATE INDEX shards_validated ON shards (validated, games, positions);
CREATE INDEX shards_worker ON shards (worker, state);
CREATE INDEX shards_state ON shards (state, claimed_until);
CREATE INDEX shards_job ON shards (job, first);
CREATE INDEX shards_hash ON shards (hash);
CREATE INDEX shards_lease ON shards (lease);
CREATE INDEX shards_account ON shards (account, state, received);
CREATE INDEX shards_audit ON shards (audit, job);

-- Shards by the day (UTC) on which they were validated, or received if they were not.
CREATE TABLE totals (
    job BIGINT NOT NULL REFERENCES jobs (id),
    day BIGINT NOT NULL,
    state TEXT NOT NULL,                -- validated, rejected, disputed, quarantined
    shards BIGINT NOT NULL,
    games BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (job, day, state)
);

-- How the games of validated shards ended.
CREATE TABLE labels (
    job BIGINT NOT NULL REFERENCES jobs (id),
    kind TEXT NOT NULL,                 -- outcome, reason
    label TEXT NOT NULL,
    games BIGINT NOT NULL,
    PRIMARY KEY (job, kind, label)
);

-- The same games from two: are they the same?
CREATE TABLE comparisons (
    id IDENTITY,
    job BIGINT NOT NULL REFERENCES jobs (id),
    left_shard BIGINT NOT NULL REFERENCES shards (id),
    right_shard BIGINT NOT NULL REFERENCES shards (id),
    first BIGINT NOT NULL,
    games BIGINT NOT NULL,
    state TEXT NOT NULL,                -- waiting, equal, different, settled, void
    game BIGINT,                        -- the first that differs
    settled_by BIGINT,                  -- the lease of the trusted worker that settles it
    created BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL DEFAULT 0,
    UNIQUE (left_shard, right_shard, first)
);

CREATE INDEX comparisons_state ON comparisons (state, claimed_until);
CREATE INDEX comparisons_job ON comparisons (job, state);
CREATE INDEX comparisons_right ON comparisons (right_shard, state);
CREATE INDEX comparisons_settled_by ON comparisons (settled_by);

-- Nets to train.
CREATE TABLE trainings (
    id IDENTITY,
    campaign BIGINT NOT NULL REFERENCES campaigns (id),
    generation BIGINT NOT NULL,
    state TEXT NOT NULL,                -- open, leased, done, failed
    recipe TEXT NOT NULL,
    manifests TEXT NOT NULL,            -- JSON
    champion TEXT,
    token TEXT UNIQUE,                  -- SHA-256 of the secret of who has it
    account BIGINT REFERENCES accounts (id),
    trainer TEXT,
    expires BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    progress TEXT,                      -- JSON
    candidate TEXT,                     -- the hash of the uploaded net
    curves TEXT,                        -- the hash of the uploaded picture
    reason TEXT,                        -- why it failed
    created BIGINT NOT NULL,
    finished BIGINT
);

CREATE INDEX trainings_candidate ON trainings (candidate);
CREATE INDEX trainings_campaign ON trainings (campaign, generation);

CREATE TABLE promotions (
    id IDENTITY,
    campaign BIGINT NOT NULL REFERENCES campaigns (id),
    net TEXT,
    previous TEXT,
    kind TEXT NOT NULL,                 -- gate, hand, rollback
    account BIGINT REFERENCES accounts (id),
    job BIGINT REFERENCES jobs (id),
    at BIGINT NOT NULL,
    reason TEXT
);

CREATE INDEX promotions_campaign ON promotions (campaign, id);

-- What happened.
CREATE TABLE events (
    id IDENTITY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    account BIGINT,                     -- who did it; none: the coordinator
    subject TEXT NOT NULL,              -- what it happened to: kind:name
    text TEXT NOT NULL,                 -- one sentence for people
    data TEXT                           -- JSON
);

CREATE INDEX events_subject ON events (subject);

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE webhooks (
    id IDENTITY,
    address TEXT NOT NULL,
    secret TEXT NOT NULL,
    kinds TEXT NOT NULL,
    created BIGINT NOT NULL
);

CREATE TABLE deliveries (
    id IDENTITY,
    webhook BIGINT NOT NULL REFERENCES webhooks (id),
    event BIGINT NOT NULL REFERENCES events (id),
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    done BIGINT NOT NULL DEFAULT 0
);
