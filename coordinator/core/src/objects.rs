//! Object store for shards, nets, books and plots: a folder, or an S3-compatible service.
//!
//! Objects are content-addressed: the name is the SHA-256 of the bytes. So they are immutable, and
//! storing one is idempotent. They are durable when [`Objects::put`] returns.
//!
//! Deletion has two phases. Unreferenced objects are set aside first, and restored when read: a
//! concurrent upload may be about to reference the object.

use std::{
    fmt,
    io::{self, ErrorKind},
    ops::Range,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use dataset::Digest;
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
pub use object_store::GetRange;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreExt as _, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    local::LocalFileSystem,
    path::Path,
    prefix::PrefixStore,
};

use crate::folder;

/// The folder of objects set aside.
const ASIDE: &str = "aside";

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A shard of games.
    Shard,
    /// A net.
    Net,
    /// An opening book.
    Book,
    /// The plot of a training's losses.
    Curves,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Shard, Self::Net, Self::Book, Self::Curves];

    /// The folder of this kind.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Shard => "shards",
            Self::Net => "nets",
            Self::Book => "books",
            Self::Curves => "curves",
        }
    }
}

/// An error of the object store.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The object does not exist.
    #[error("there is no such object")]
    Missing,
    /// The requested range is outside the object.
    #[error("the object has {length} bytes")]
    Range {
        /// The object's length.
        length: u64,
    },
    /// The address is invalid.
    #[error("`{0}` is no address of a store of objects: give a folder or s3://BUCKET/PREFIX")]
    Address(String),
    /// The folder cannot be created or entered.
    #[error("the folder of objects {0} cannot be used (`--objects ADDRESS` names another): {1}")]
    Folder(String, io::Error),
    /// The bucket does not exist.
    #[error("the S3 service has no bucket for the objects: create it, or let `--objects` name another")]
    NoBucket,
    /// The disk is full.
    #[error("the disk of the store of objects is full")]
    DiskFull,
    /// The store failed.
    #[error("the store of objects failed: {0}")]
    Store(object_store::Error),
}

impl From<object_store::Error> for ObjectError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::Missing,
            full if is_disk_full(&full) => Self::DiskFull,
            other => Self::Store(other),
        }
    }
}

/// Whether an error, or one of its causes, is that of a full disk or quota.
fn is_disk_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let of_disk = error.downcast_ref::<io::Error>();
    of_disk.is_some_and(|error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
        || error.source().is_some_and(is_disk_full)
}

/// An object store.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    folder: Option<PathBuf>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// An object being read.
pub struct Read {
    /// The requested bytes as a stream, so that a slow reader holds one piece in memory.
    pub pieces: BoxStream<'static, object_store::Result<Bytes>>,
    /// The range of these bytes.
    pub range: Range<u64>,
    /// The object's length.
    pub length: u64,
}

impl Objects {
    /// Opens a folder, which is created if necessary, or an S3-compatible service:
    /// `s3://BUCKET/PREFIX`. Credentials and endpoint come from the environment
    /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`,
    /// `AWS_ALLOW_HTTP`).
    ///
    /// # Errors
    ///
    /// If the address is invalid or the folder cannot be created.
    pub fn open(address: &str) -> Result<Self, ObjectError> {
        Self::open_with(address, std::env::vars())
    }

    /// [`open`](Self::open) with another environment.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(
        address: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ObjectError> {
        if let Some(rest) = address.strip_prefix("s3://") {
            // rustls needs a crypto provider; an already installed one is no error.
            drop(rustls::crypto::ring::default_provider().install_default());
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(ObjectError::Address(address.to_owned()));
            }
            let retry =
                RetryConfig { max_retries: 5, retry_timeout: Duration::from_secs(30), ..RetryConfig::default() };
            let mut builder = AmazonS3Builder::new().with_bucket_name(bucket).with_retry(retry);
            for (name, value) in environment {
                if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>()
                    && name.starts_with("AWS_")
                {
                    builder = builder.with_config(key, value);
                }
            }
            let store = builder.build()?;
            let store: Arc<dyn ObjectStore> = match prefix.trim_matches('/') {
                "" => Arc::new(store),
                prefix => Arc::new(PrefixStore::new(store, Path::from(prefix))),
            };
            return Ok(Self { store, folder: None });
        }
        if address.contains("://") || address.is_empty() {
            return Err(ObjectError::Address(address.to_owned()));
        }
        let folder = PathBuf::from(address);
        folder::create_private(&folder).map_err(|error| ObjectError::Folder(address.to_owned(), error))?;
        let store = LocalFileSystem::new_with_prefix(&folder)?.with_fsync(true);
        Ok(Self { store: Arc::new(store), folder: Some(folder) })
    }

    /// Asks an S3 service for the bucket. A folder was tried when it was opened.
    ///
    /// # Errors
    ///
    /// If there is no such bucket, or the service does not answer.
    pub async fn probe(&self) -> Result<(), ObjectError> {
        if self.folder.is_some() {
            return Ok(());
        }
        match self.store.list(None).next().await.transpose() {
            // The library has no kind of error for it, but quotes the service's response.
            Err(error) if error.to_string().contains("NoSuchBucket") => Err(ObjectError::NoBucket),
            answered => answered.map(drop).map_err(ObjectError::from),
        }
    }

    fn path(kind: Kind, hash: Digest) -> Path {
        let name = hash.to_string();
        Path::from_iter([kind.folder(), &name[..2], &name])
    }

    /// The path of an object set aside.
    fn aside(kind: Kind, hash: Digest) -> Path {
        Path::from_iter([ASIDE, kind.folder(), &hash.to_string()])
    }

    /// Stores bytes and returns their hash.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn put(&self, kind: Kind, bytes: Bytes) -> Result<Digest, ObjectError> {
        let hash = Digest::of(&bytes);
        self.store.put(&Self::path(kind, hash), bytes.into()).await?;
        Ok(hash)
    }

    /// Returns all bytes of an object.
    ///
    /// # Errors
    ///
    /// If it does not exist.
    pub async fn get(&self, kind: Kind, hash: Digest) -> Result<Bytes, ObjectError> {
        match self.store.get(&Self::path(kind, hash)).await {
            Err(object_store::Error::NotFound { .. }) => self.restore(kind, hash).await,
            found => Ok(found?.bytes().await?),
        }
    }

    /// Reads a range of an object.
    ///
    /// # Errors
    ///
    /// If it does not exist, or the range is outside.
    pub async fn read(&self, kind: Kind, hash: Digest, range: Option<GetRange>) -> Result<Read, ObjectError> {
        let path = Self::path(kind, hash);
        let options = GetOptions { range, ..GetOptions::default() };
        let mut found = self.store.get_opts(&path, options.clone()).await;
        if let Err(object_store::Error::NotFound { .. }) = found {
            self.restore(kind, hash).await?;
            found = self.store.get_opts(&path, options).await;
        }
        match found {
            Ok(found) => {
                let (range, length) = (found.range.clone(), found.meta.size);
                Ok(Read { pieces: found.into_stream(), range, length })
            }
            Err(object_store::Error::NotFound { .. }) => Err(ObjectError::Missing),
            Err(error) => match self.store.head(&path).await {
                Ok(meta) => Err(ObjectError::Range { length: meta.size }),
                Err(_) => Err(error.into()),
            },
        }
    }

    /// Returns the length of an object.
    ///
    /// # Errors
    ///
    /// If it does not exist.
    pub async fn length(&self, kind: Kind, hash: Digest) -> Result<u64, ObjectError> {
        match self.store.head(&Self::path(kind, hash)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(self.restore(kind, hash).await?.len() as u64),
            found => Ok(found?.size),
        }
    }

    /// Sets an object aside; reading it restores it.
    ///
    /// # Errors
    ///
    /// If the store fails; a missing object is no error.
    pub async fn set_aside(&self, kind: Kind, hash: Digest) -> Result<(), ObjectError> {
        let path = Self::path(kind, hash);
        // Copied, not moved: the new time of modification tells how long it has been aside.
        match self.store.get(&path).await {
            Ok(found) => drop(self.store.put(&Self::aside(kind, hash), found.bytes().await?.into()).await?),
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        self.delete(&path).await
    }

    /// Restores an object that was set aside.
    ///
    /// # Errors
    ///
    /// If it was not set aside, or the store fails.
    pub async fn restore(&self, kind: Kind, hash: Digest) -> Result<Bytes, ObjectError> {
        let bytes = self.store.get(&Self::aside(kind, hash)).await?.bytes().await?;
        self.store.put(&Self::path(kind, hash), bytes.clone().into()).await?;
        Ok(bytes)
    }

    /// Deletes an object that was set aside.
    ///
    /// # Errors
    ///
    /// If the store fails; a missing object is no error.
    pub async fn forget(&self, kind: Kind, hash: Digest) -> Result<(), ObjectError> {
        self.delete(&Self::aside(kind, hash)).await
    }

    async fn delete(&self, path: &Path) -> Result<(), ObjectError> {
        match self.store.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the hashes of the objects of a kind stored before a time (milliseconds since 1970).
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn older_than(&self, kind: Kind, time: i64) -> Result<Vec<Digest>, ObjectError> {
        self.in_folder(&Path::from(kind.folder()), time).await
    }

    /// Returns the hashes of the objects of a kind set aside before a time.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn aside_before(&self, kind: Kind, time: i64) -> Result<Vec<Digest>, ObjectError> {
        self.in_folder(&Path::from_iter([ASIDE, kind.folder()]), time).await
    }

    async fn in_folder(&self, folder: &Path, time: i64) -> Result<Vec<Digest>, ObjectError> {
        let all = self.store.list(Some(folder));
        let old = all.try_filter(|meta| std::future::ready(meta.last_modified.timestamp_millis() < time));
        let named = old.map(|meta| meta.map(|meta| meta.location.filename().and_then(|name| name.parse().ok())));
        Ok(named.try_collect::<Vec<Option<Digest>>>().await?.into_iter().flatten().collect())
    }

    /// Returns the folder of the store; none for a service.
    #[must_use]
    pub fn folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_known_by_its_cause() {
        let failed = |kind: ErrorKind| {
            let source = Box::new(io::Error::from(kind));
            ObjectError::from(object_store::Error::Generic { store: "folder", source })
        };
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
            assert!(matches!(failed(kind), ObjectError::DiskFull), "{kind}");
        }
        assert!(matches!(failed(ErrorKind::PermissionDenied), ObjectError::Store(_)));
    }
}
