//! Requests and responses of the coordinator's HTTP API, version 1.
//!
//! Bodies are JSON, except games, nets and pictures, which are bytes. Clients authenticate with
//! `Authorization: Bearer <token>`. `docs/PROTOCOL.md` lists the paths; [`path`] builds them.
//!
//! * [`work`]: the messages of workers.
//! * [`training`]: the messages of trainers.
//! * [`problem`]: the errors.

pub mod path;
pub mod problem;
pub mod training;
pub mod work;

/// The largest uploaded shard, in bytes.
pub const MAX_SHARD_BYTES: u64 = 16 << 20;

/// The largest uploaded net, in bytes.
pub const MAX_NET_BYTES: u64 = 256 << 20;

/// The largest JSON body, in bytes.
pub const MAX_JSON_BYTES: u64 = 1 << 20;

/// The media type of games.
pub const SHARD_TYPE: &str = "application/vnd.chuhe.shard";

/// The media type of a net.
pub const NET_TYPE: &str = "application/vnd.chuhe.net";

/// The header with the SHA-256 of a body of bytes.
pub const SHA256_HEADER: &str = "chuhe-sha256";

/// The header with the client's version of Chuhe.
pub const VERSION_HEADER: &str = "chuhe-version";
