-- The bytes of an account's stored games, up to the upload that the setting stored_bytes_until names.
ALTER TABLE accounts ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
