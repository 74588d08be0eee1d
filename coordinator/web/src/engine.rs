//! The engine as WebAssembly with its scripts: visitors analyse positions, and play games as
//! volunteers. The files import each other, so they share one address, which changes with them.

use axum::body::Bytes;
use dataset::Digest;

use crate::file::{File, SCRIPT};

/// The magic and the version with which a file of WebAssembly begins.
const MAGIC: &[u8] = b"\0asm\x01\0\0\0";

/// The engine's files.
pub struct Engine {
    files: Vec<File>,
    version: String,
}

/// Not a WebAssembly module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no WebAssembly module; `scripts/wasm` makes one")]
pub struct NotAModule;

impl Engine {
    /// The engine of a module.
    ///
    /// # Errors
    ///
    /// If the bytes are no module.
    pub fn new(module: Vec<u8>) -> Result<Self, NotAModule> {
        if !module.starts_with(MAGIC) {
            return Err(NotAModule);
        }
        let script = |name, bytes: &'static [u8]| File::new(name, SCRIPT, Bytes::from_static(bytes));
        let files = vec![
            script("chuhe.js", include_bytes!("../../../crates/wasm/npm/chuhe.js")),
            script("engine.js", include_bytes!("../../../crates/wasm/npm/engine.js")),
            script("volunteer.js", include_bytes!("../../../crates/wasm/npm/volunteer.js")),
            script("worker.js", include_bytes!("../../../crates/wasm/npm/worker.js")),
            File::new("chuhe.wasm", "application/wasm", module.into()),
        ];
        let versions: String = files.iter().map(File::version).collect();
        let version = Digest::of(versions.as_bytes()).to_string()[..12].to_owned();
        Ok(Self { files, version })
    }

    /// The address of its files.
    pub(crate) fn address(&self) -> String {
        format!("/engine/{}", self.version)
    }

    /// A file of the engine, if it is of this version.
    pub(crate) fn file(&self, version: &str, name: &str) -> Option<&File> {
        self.files.iter().find(|file| self.version == version && file.name() == name)
    }
}
