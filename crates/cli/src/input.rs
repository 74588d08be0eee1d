//! Files of games and cases as input: plain or compressed, or standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read as _},
    path::Path,
};

use anyhow::{Context as _, Result};
use flate2::bufread::MultiGzDecoder;

/// The first bytes of gzip and of zstd.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Opens a file, `-` for standard input. Returns its name in messages, and its text: gzip and zstd
/// are recognised by their first bytes.
pub(crate) fn open(path: &Path) -> Result<(String, Box<dyn BufRead>)> {
    let (name, mut reader): (_, Box<dyn BufRead>) = if path == Path::new("-") {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| name.clone())?;
        (name, Box::new(BufReader::with_capacity(1 << 16, file)))
    };
    let mut head = Vec::new();
    reader.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head).with_context(|| name.clone())?;
    let (is_gzip, is_zstd) = (head.starts_with(&GZIP), head == ZSTD);
    let whole = Cursor::new(head).chain(reader);
    let text: Box<dyn BufRead> = if is_gzip {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole)))
    } else if is_zstd {
        let decoder = zstd::stream::read::Decoder::with_buffer(whole).with_context(|| name.clone())?;
        Box::new(BufReader::with_capacity(1 << 16, decoder))
    } else {
        Box::new(whole)
    };
    Ok((name, text))
}
