//! Standard output with errors that name it, and the target of `--out`.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use dataset::AtomicFile;

/// Standard output. An error names it, because the message may be all that is seen, as with a full
/// disk behind `>`.
pub(crate) struct StandardOutput(pub(crate) io::Stdout);

fn named(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| named(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| named(&error))
    }
}

/// Whether the reader closed the pipe, as in `chuhe … | head`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// The target of `--out`: a new file, or standard output for `-`.
pub(crate) enum Output {
    File(AtomicFile),
    Standard(BufWriter<StandardOutput>),
}

impl Output {
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Standard(BufWriter::new(StandardOutput(io::stdout()))));
        }
        AtomicFile::begin(path).map(Self::File).map_err(|error| {
            // Such as /dev/stdout.
            let is_device = error.kind() == io::ErrorKind::AlreadyExists && path.starts_with("/dev");
            if is_device {
                io::Error::new(error.kind(), format!("{error}; `--out -` writes to standard output"))
            } else {
                error
            }
        })
    }

    /// Whether counts belong elsewhere: standard output holds the data alone.
    pub(crate) const fn is_standard(&self) -> bool {
        matches!(self, Self::Standard(_))
    }

    /// Flushes, and gives a file its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::File(file) => file.finish(),
            Self::Standard(mut out) => out.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}
