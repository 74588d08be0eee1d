//! Manifests: the shards of a training set.
//!
//! A manifest is a text that never changes; its SHA-256 names the training set. It lists shards by
//! their SHA-256, with their headers' fields and the scale fitted on their own games (see
//! [`scale`](crate::scale)).

mod known;
mod locate;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Digest,
    codec::Ply,
    scale::Scale,
    shard::{Shard, ShardError},
};

pub use known::KNOWN_DIGESTS;

/// The format and version that a manifest names.
pub const FORMAT: &str = "chuhe manifest 1";

/// A training set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// The games of all shards.
    pub games: u64,
    /// The positions of all shards.
    pub positions: u64,
    /// The shards of the set, each by its hash.
    pub shards: Vec<Entry>,
}

/// A shard of a training set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The SHA-256 of its file.
    pub sha256: String,
    /// The length of its file.
    pub bytes: u64,
    /// The number of its games.
    pub games: u64,
    /// Their positions with a searched move.
    pub positions: u64,
    /// Games by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// The origin of its games.
    pub provenance: Provenance,
    /// The score→result scale in tenths of a unit, fitted on its own games; none if they do not
    /// determine one.
    pub scale_tenths: Option<u32>,
}

/// The fields of a shard's header that describe the origin of its games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named like the header's fields")]
pub struct Provenance {
    pub bench_signature: u64,
    pub net: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<OpponentProvenance>,
    pub rules: String,
    pub hard_nodes: u64,
    pub soft_nodes: Option<u64>,
    pub book: Option<String>,
    pub random_plies: u32,
    pub seed: u64,
    pub first_game: u64,
}

/// The opponent, in a shard of match games; absent from the text of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named like the header's fields")]
pub struct OpponentProvenance {
    pub net: Option<String>,
    pub hard_nodes: u64,
    pub soft_nodes: Option<u64>,
}

/// The reason why there is no manifest.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum ManifestError {
    #[error("{}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", path.display())]
    Shard { path: PathBuf, source: ShardError },
    #[error("{}: {cause}", path.display())]
    In { path: PathBuf, cause: Box<ManifestError> },
    #[error("not a manifest: {0}")]
    NotJson(serde_json::Error),
    #[error("its format is `{found}`; this program reads `{FORMAT}`")]
    Format { found: String },
    #[error("it counts {stated} {what}, its shards {sum}")]
    Sum { what: &'static str, stated: u64, sum: u64 },
    #[error("it counts {stated} {what} in {}, which has {found}", path.display())]
    Count { path: PathBuf, what: &'static str, stated: u64, found: u64 },
    #[error("it names the shard {0} twice")]
    Twice(String),
    #[error("the scale of the shard {0} is 0")]
    NoScale(String),
    #[error("`{0}` is no SHA-256")]
    NotADigest(String),
    #[error("no file in {} is the shard {digest}", folder.display())]
    Missing { digest: Digest, folder: PathBuf },
    #[error("{} has the length of the shard {expected}, but its SHA-256 is {found}: it was altered", path.display())]
    Altered { path: PathBuf, expected: Digest, found: Digest },
    #[error("the shard {0} is quarantined")]
    Quarantined(Digest),
}

impl ManifestError {
    /// Whether this machine failed: a file that it cannot open or read, lacks or has altered.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unreadable { .. } | Self::Missing { .. } | Self::Altered { .. } => true,
            Self::Shard { source, .. } => matches!(source, ShardError::Io(_)),
            Self::In { cause, .. } => cause.is_local(),
            _ => false,
        }
    }
}

impl Manifest {
    /// Builds the manifest of some files, in this order.
    ///
    /// # Errors
    ///
    /// If one cannot be read, is not a shard, is listed twice, or was played under a clock.
    pub fn of_files<P: AsRef<Path>>(paths: &[P]) -> Result<Self, ManifestError> {
        let shards = paths.iter().map(|path| {
            let path = path.as_ref();
            let unreadable = |source| ManifestError::Unreadable { path: path.to_owned(), source };
            let bytes = fs::read(path).map_err(unreadable)?;
            Entry::of(&bytes).map_err(|source| ManifestError::Shard { path: path.to_owned(), source })
        });
        let shards = shards.collect::<Result<Vec<_>, _>>()?;
        let games = shards.iter().map(|entry| entry.games).sum();
        let positions = shards.iter().map(|entry| entry.positions).sum();
        let manifest = Self { format: FORMAT.to_owned(), games, positions, shards };
        manifest.check()?;
        Ok(manifest)
    }

    /// The manifest's text: one line of JSON for each shard, so that people and programs can
    /// compare two.
    #[must_use]
    pub fn to_text(&self) -> String {
        let entries: Vec<_> = self.shards.iter().map(json).collect();
        let (format, shards) = (json(&self.format), entries.join(",\n"));
        format!(
            "{{\"format\":{format},\"games\":{},\"positions\":{},\"shards\":[\n{shards}\n]}}\n",
            self.games, self.positions
        )
    }

    /// Parses a manifest's text.
    ///
    /// # Errors
    ///
    /// If it is not a manifest, or its totals are wrong.
    pub fn from_text(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_str(text).map_err(ManifestError::NotJson)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Reads a manifest's file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a manifest.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ManifestError> {
        let path = path.as_ref();
        let unreadable = |source| ManifestError::Unreadable { path: path.to_owned(), source };
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Self::from_text(&text).map_err(|error| ManifestError::In { path: path.to_owned(), cause: Box::new(error) })
    }

    /// The training set's name: the SHA-256 of the text.
    #[must_use]
    pub fn hash(&self) -> Digest {
        Digest::of(self.to_text().as_bytes())
    }

    fn check(&self) -> Result<(), ManifestError> {
        if self.format != FORMAT {
            return Err(ManifestError::Format { found: self.format.clone() });
        }
        let sums = [
            ("games", self.games, self.shards.iter().map(|entry| u128::from(entry.games)).sum::<u128>()),
            ("positions", self.positions, self.shards.iter().map(|entry| u128::from(entry.positions)).sum()),
        ];
        for (what, stated, sum) in sums {
            if sum != u128::from(stated) {
                return Err(ManifestError::Sum { what, stated, sum: sum as u64 });
            }
        }
        let mut names = std::collections::BTreeSet::new();
        for entry in &self.shards {
            if entry.sha256.parse::<Digest>().is_err() {
                return Err(ManifestError::NotADigest(entry.sha256.clone()));
            }
            if !names.insert(&entry.sha256) {
                return Err(ManifestError::Twice(entry.sha256.clone()));
            }
            if entry.scale_tenths == Some(0) {
                return Err(ManifestError::NoScale(entry.sha256.clone()));
            }
        }
        Ok(())
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("its keys are words and its numbers whole")
}

impl Entry {
    /// Builds the entry of a shard from the bytes of its file.
    ///
    /// # Errors
    ///
    /// If they are not a shard, or one of games under a clock.
    pub fn of(bytes: &[u8]) -> Result<Self, ShardError> {
        let shard = Shard::new(bytes)?;
        if shard.header().clock.is_some() {
            return Err(ShardError::Timed);
        }
        let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
        let mut scale = Scale::default();
        for block in 0..shard.index().len() {
            let scores = std::cell::RefCell::new(Vec::new());
            shard.block(block)?.read_with(
                |Ply { position, scored, .. }| {
                    scores.borrow_mut().extend(scored.score.map(|score| (score, position.turn())));
                },
                |_, record| {
                    *outcomes.entry(record.outcome.name().to_owned()).or_default() += 1;
                    for (score, turn) in scores.borrow_mut().drain(..).filter(|_| record.reason.is_label()) {
                        scale.add(score, crate::training::result_for(record.outcome, turn));
                    }
                },
            )?;
        }
        let header = shard.header();
        let provenance = Provenance {
            bench_signature: header.bench_signature,
            net: header.net.map(|net| net.to_string()),
            opponent: header.opponent.map(|opponent| OpponentProvenance {
                net: opponent.net.map(|net| net.to_string()),
                hard_nodes: opponent.hard_nodes,
                soft_nodes: opponent.soft_nodes,
            }),
            rules: header.rules.name().to_owned(),
            hard_nodes: header.settings.hard_nodes,
            soft_nodes: header.settings.soft_nodes,
            book: header.openings.book.map(|book| book.to_string()),
            random_plies: header.openings.plies,
            seed: header.seed,
            first_game: header.first_game,
        };
        Ok(Self {
            sha256: Digest::of(bytes).to_string(),
            bytes: bytes.len() as u64,
            games: shard.games(),
            positions: shard.positions(),
            outcomes,
            provenance,
            scale_tenths: scale.fit(),
        })
    }
}
