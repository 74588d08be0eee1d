//! The binary records of other trainers.

use std::{
    fs::File,
    io::{BufReader, Read as _, Write},
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use dataset::sfen::{Entry, LENGTH};

use super::Line;

/// Writes the positions of all files. Returns their number.
pub(super) fn convert(paths: &[PathBuf], target: &mut impl Write) -> Result<u64> {
    let mut positions = 0;
    for path in paths {
        let name = path.display();
        let file = File::open(path).with_context(|| name.to_string())?;
        let size = file.metadata().with_context(|| name.to_string())?.len();
        if size % LENGTH as u64 != 0 {
            bail!("{name}: {size} bytes are not a whole number of records of {LENGTH}");
        }
        let mut reader = BufReader::new(file);
        let mut bytes = [0; LENGTH];
        for number in 0..size / LENGTH as u64 {
            reader.read_exact(&mut bytes).with_context(|| name.to_string())?;
            let entry = Entry::from_bytes(&bytes)
                .with_context(|| format!("{name}: record {number} at byte {}", number * LENGTH as u64))?;
            let Entry { fen, mv, score, ply, result } = entry;
            let line = Line {
                game: None,
                fen: fen.to_string(),
                mv: mv.to_string(),
                score: Some(score.into()),
                result: Some(result),
                ply: ply.into(),
                reason: None,
            };
            line.write(&mut *target).context("--out")?;
            positions += 1;
        }
    }
    Ok(positions)
}
