//! Requests and answers of the coordinator's HTTP interface, version 1.
//!
//! Bodies are JSON, except games, nets and pictures, which are bytes. Whoever asks says who it is with
//! `Authorization: Bearer <token>`. `docs/PROTOCOL.md` lists the addresses; [`path`] makes them.
//!
//! * [`work`]: what workers ask and are told.
//! * [`training`]: what trainers ask and are told.
//! * [`problem`]: how a request is refused.

pub mod path;
pub mod problem;
pub mod training;
pub mod work;

/// How many bytes an uploaded shard has at most.
pub const MOST_SHARD_BYTES: u64 = 16 << 20;

/// How many bytes an uploaded net has at most.
pub const MOST_NET_BYTES: u64 = 256 << 20;

/// How many bytes a JSON body has at most.
pub const MOST_JSON_BYTES: u64 = 1 << 20;

/// The type of a body of games.
pub const SHARD_TYPE: &str = "application/vnd.chuhe.shard";

/// The type of a body that is a net.
pub const NET_TYPE: &str = "application/vnd.chuhe.net";

/// The header that holds the SHA-256 of a body of bytes.
pub const SHA256_HEADER: &str = "chuhe-sha256";

/// The header with which a program says which version of Chuhe it is.
pub const VERSION_HEADER: &str = "chuhe-version";
