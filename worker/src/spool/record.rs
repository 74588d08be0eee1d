//! Records, and their encoding.
//!
//! ```text
//! length (4) | check (8) | kind (1) | content
//! ```
//!
//! The length counts kind and content. The check is the first bytes of their SHA-256. A kind is a
//! capital letter in every version. A record with the right check and an unknown kind or content
//! was written by another version.

use std::io;

use dataset::{Digest, Header, codec::BlockEncoder};
use protocol::api::work::Lease;
use serde::{Deserialize, Serialize};

const CHECKSUM_BYTES: usize = 8;
/// Maximum length of a record that is searched behind a damaged one. Leases and games are shorter.
const MAX_SEARCHED_BYTES: usize = 1 << 16;

/// A lease as saved on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedLease {
    /// Address of the server that granted it.
    pub server: String,
    /// Account to which it was granted; none if an earlier version saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Expiry by this machine's clock, in seconds since 1970.
    pub until: u64,
    /// The lease as granted.
    pub lease: Lease,
}

/// One step in the life of a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A lease is requested with this nonce.
    Asked(String),
    /// The lease was granted.
    Lease(Box<SavedLease>),
    /// A game is finished: its number, and the game by [`encode_game`].
    Game(u64, Vec<u8>),
    /// The lease was renewed until this second since 1970.
    Renewed(u64),
    /// No game follows.
    Closed,
    /// The games from this number on were acknowledged or rejected by the server. Only earlier
    /// versions wrote it.
    Settled(u64),
}

/// State of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Requested.
    Asked,
    /// Its games are played.
    Open,
    /// Its games are submitted.
    Closed,
}

impl Record {
    /// Encodes the record with its length and check.
    ///
    /// # Errors
    ///
    /// Never: a lease can be serialised.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let (kind, content) = match self {
            Self::Asked(nonce) => (b'A', nonce.clone().into_bytes()),
            Self::Lease(lease) => (b'L', serde_json::to_vec(lease)?),
            Self::Game(number, game) => (b'G', [&number.to_le_bytes()[..], game].concat()),
            Self::Renewed(until) => (b'R', until.to_le_bytes().to_vec()),
            Self::Closed => (b'C', Vec::new()),
            Self::Settled(first) => (b'S', first.to_le_bytes().to_vec()),
        };
        let rest = [&[kind][..], &content].concat();
        let check = Digest::of(&rest);
        Ok([&(rest.len() as u32).to_le_bytes()[..], &check.as_bytes()[..CHECKSUM_BYTES], &rest].concat())
    }

    /// Splits the first record off; none if it is cut, damaged or unknown.
    #[must_use]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (rest, after) = Self::frame(bytes, &mut { bytes.len() })?;
        Some((Self::parse(rest)?, after))
    }

    /// Splits kind and content of the first record off; none if it is cut or damaged. The budget
    /// bounds the checked bytes.
    pub(super) fn frame<'a>(bytes: &'a [u8], budget: &mut usize) -> Option<(&'a [u8], &'a [u8])> {
        let (length, bytes) = bytes.split_first_chunk::<4>()?;
        let (check, bytes) = bytes.split_first_chunk::<CHECKSUM_BYTES>()?;
        let (rest, after) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let is_within = rest.len() <= *budget;
        *budget = budget.saturating_sub(rest.len());
        let is_sound = || Digest::of(rest).as_bytes()[..CHECKSUM_BYTES] == check[..];
        (is_within && !rest.is_empty() && is_sound()).then_some((rest, after))
    }

    /// Returns whether a record may begin behind a damaged one: its length and its kind are usual.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        let kind = bytes.get(4 + CHECKSUM_BYTES);
        length_of(bytes).is_some_and(|length| length <= MAX_SEARCHED_BYTES) && kind.is_some_and(u8::is_ascii_uppercase)
    }

    /// Returns whether a record begins here and ends after these bytes, as after a torn write.
    pub(super) fn is_cut(bytes: &[u8]) -> bool {
        let length = length_of(bytes).unwrap_or(usize::MAX);
        bytes.len() <= MAX_SEARCHED_BYTES && bytes.len().saturating_sub(4 + CHECKSUM_BYTES) < length
    }

    /// Parses kind and content; none if another version wrote them.
    pub(super) fn parse(rest: &[u8]) -> Option<Self> {
        let (kind, content) = rest.split_first()?;
        let number = || content.try_into().ok().map(u64::from_le_bytes);
        Some(match kind {
            b'A' => Self::Asked(String::from_utf8(content.to_vec()).ok()?),
            b'L' => Self::Lease(serde_json::from_slice(content).ok()?),
            b'G' => {
                let (number, game) = content.split_first_chunk::<8>()?;
                Self::Game(u64::from_le_bytes(*number), game.to_vec())
            }
            b'R' => Self::Renewed(number()?),
            b'C' => Self::Closed,
            b'S' => Self::Settled(number()?),
            _ => return None,
        })
    }
}

/// Returns the length that a record names.
fn length_of(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize)
}

/// Encodes a game on its own.
///
/// # Errors
///
/// If it is not a game of this header.
pub fn encode_game(header: &Header, number: u64, game: &dataset::Record) -> io::Result<Vec<u8>> {
    let mut encoder = BlockEncoder::new();
    encoder.add(header, number, game).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(encoder.finish())
}
