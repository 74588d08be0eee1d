//! Downloads of files that are named by their hashes.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use dataset::Digest;
use protocol::api::path::ROOT;
use reqwest::{
    StatusCode,
    header::{CONTENT_RANGE, RANGE},
};
use sha2::{Digest as _, Sha256};

use crate::{
    connection::Client,
    error::{Error, RequestContext},
};

impl Client {
    /// Downloads a file of the coordinator (`path`, see [`net`](protocol::api::path::net)) to
    /// `into`. It appears there when it is whole, has the hash and is safe on disk. An interrupted
    /// download is resumed by the next call.
    ///
    /// A `mirror` serves the same files under its own address instead of `/api/v1`; it is tried
    /// first, without the token.
    ///
    /// # Errors
    ///
    /// See [`Error`]. A file with another hash is deleted.
    pub fn fetch(
        &self,
        path: &str,
        sha256: Digest,
        max_bytes: u64,
        into: &Path,
        mirror: Option<&str>,
    ) -> Result<(), Error> {
        let part = Part::of(into)?;
        let elsewhere = mirror.zip(path.strip_prefix(ROOT));
        if let Some((mirror, path)) = elsewhere {
            let address = format!("{}{path}", mirror.trim_end_matches('/'));
            if self.fetch_from(&address, false, &part, sha256, max_bytes).is_ok() {
                return part.finish(into);
            }
        }
        self.fetch_from(&self.settings.server.of(path), true, &part, sha256, max_bytes)?;
        part.finish(into)
    }

    /// Downloads a file from any URL, without the token, as [`fetch`](Self::fetch) does.
    ///
    /// # Errors
    ///
    /// As [`fetch`](Self::fetch).
    pub fn fetch_url(&self, address: &str, sha256: Digest, max_bytes: u64, into: &Path) -> Result<(), Error> {
        let part = Part::of(into)?;
        self.fetch_from(address, false, &part, sha256, max_bytes)?;
        part.finish(into)
    }

    /// Downloads a small file from any URL, without the token and without a known hash.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn get_url(&self, address: &str, max_bytes: u64) -> Result<Vec<u8>, Error> {
        let context = self.context("fetching a file from elsewhere");
        let response = self.request_file(address, false).send().map_err(|error| Error::network(&context, &error))?;
        if !response.status().is_success() {
            return Err(self.error_of(&context, response));
        }
        let mut bytes = Vec::new();
        let read = response.take(max_bytes).read_to_end(&mut bytes);
        read.map_err(|error| Error::network(&context, &error))?;
        Ok(bytes)
    }

    fn fetch_from(
        &self,
        address: &str,
        with_token: bool,
        part: &Part,
        sha256: Digest,
        max_bytes: u64,
    ) -> Result<(), Error> {
        let context = self.context("fetching a file");
        let (mut file, mut length, mut hash) = part.open()?;
        if length > 0 && Digest::from(<[u8; 32]>::from(hash.clone().finalize())) == sha256 {
            return Ok(());
        }
        let mut request = self.request_file(address, with_token);
        if length > 0 {
            request = request.header(RANGE, format!("bytes={length}-"));
        }
        let mut response = request.send().map_err(|error| Error::network(&context, &error))?;
        let resumes = response.status() == StatusCode::PARTIAL_CONTENT
            && response
                .headers()
                .get(CONTENT_RANGE)
                .is_some_and(|range| range.to_str().is_ok_and(|range| range.starts_with(&format!("bytes {length}-"))));
        if !resumes {
            // The download starts over; after an error response the next call does.
            file.set_len(0).and_then(|()| file.rewind()).map_err(|source| part.failed(source))?;
            (length, hash) = (0, Sha256::new());
            if response.status() != StatusCode::OK {
                return Err(self.error_of(&context, response));
            }
        }
        let mut piece = vec![0; 1 << 16];
        loop {
            let count = match response.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Err(Error::network(&context, &error)),
            };
            length += count as u64;
            if length > max_bytes {
                part.remove();
                return Err(Error::malformed(&context, format_args!("it has more than {max_bytes} bytes")));
            }
            file.write_all(&piece[..count]).map_err(|source| part.failed(source))?;
            hash.update(&piece[..count]);
        }
        file.sync_all().map_err(|source| part.failed(source))?;
        let found = Digest::from(<[u8; 32]>::from(hash.finalize()));
        if found == sha256 {
            return Ok(());
        }
        part.remove();
        Err(Error::WrongBytes {
            context: RequestContext { action: "fetching a file", ..context },
            expected: sha256,
            found,
        })
    }
}

fn names_no_file(path: &Path) -> Error {
    Error::Storage { path: path.to_owned(), source: io::Error::new(io::ErrorKind::InvalidInput, "names no file") }
}

/// A file that is not yet whole.
struct Part {
    path: PathBuf,
}

impl Part {
    /// The partial file next to `into`.
    fn of(into: &Path) -> Result<Self, Error> {
        let name = into.file_name().ok_or_else(|| names_no_file(into))?;
        Ok(Self { path: into.with_file_name(format!(".{}.part", name.to_string_lossy())) })
    }

    /// Opens the partial file at its end; returns its length and its hash so far.
    fn open(&self) -> Result<(File, u64, Sha256), Error> {
        let open = || {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
            let mut hash = Sha256::new();
            let mut piece = vec![0; 1 << 16];
            loop {
                let count = file.read(&mut piece)?;
                if count == 0 {
                    let length = file.seek(SeekFrom::End(0))?;
                    return Ok((file, length, hash));
                }
                hash.update(&piece[..count]);
            }
        };
        open().map_err(|source| self.failed(source))
    }

    fn finish(&self, into: &Path) -> Result<(), Error> {
        let name = || {
            fs::rename(&self.path, into)?;
            match into.parent() {
                Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
                _ => Ok(()),
            }
        };
        name().map_err(|source| self.failed(source))
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Storage { path: self.path.clone(), source }
    }
}
