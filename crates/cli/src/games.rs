//! The games of files in PGN, read on all cores and streamed.

use std::{
    io::BufRead,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use dataset::pgn::Utf8Lines;
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::notation::reader::{GameText, Games, ReadError, Skipped, TokenKind, Transcript};

use crate::{
    input,
    interrupt::{self, Interrupted},
    live_line::LiveLine,
};

/// Bytes per parallel chunk: enough for all cores, little memory.
const CHUNK_BYTES: usize = 1 << 20;

/// The place of a game.
pub(crate) struct GamePlace<'a> {
    /// The file's name in messages.
    pub(crate) file: &'a str,
    /// The line where it begins.
    pub(crate) line: usize,
    /// Its number in the file, from 1.
    pub(crate) number: u64,
}

/// Work on the games of files.
pub(crate) trait GameWork: Sync {
    /// The fate of a game.
    type Done: Send;
    /// The sum of all games.
    type Sum;

    /// The sentence after Ctrl-C.
    const INTERRUPTED: &'static str;

    /// Works on a game, on any thread. `number` counts the games of all files, from 1.
    fn work(&self, number: u64, transcript: &Transcript) -> Result<Self::Done, ReadError>;

    /// Adds a game to the sum, in the order of the files.
    fn add(&mut self, sum: &mut Self::Sum, place: &GamePlace<'_>, done: Result<Self::Done, ReadError>) -> Result<()>;

    /// Describes the sum so far, for the progress line.
    fn progress(sum: &Self::Sum) -> String;
}

/// Reads all games of all files, plain or compressed, `-` for standard input. A file without games
/// is an error.
pub(crate) fn process<W: GameWork>(
    paths: &[PathBuf],
    threads: NonZeroUsize,
    work: &mut W,
    sum: &mut W::Sum,
) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let mut live = LiveLine::new();
    let mut all = 0;
    for path in paths {
        let mut games = Chunks::open(path)?;
        while let Some(chunk) = games.next()? {
            let one = |(index, text): (usize, &GameText)| work.work(all + index as u64 + 1, &text.transcript()?);
            let done: Vec<_> = pool.install(|| chunk.par_iter().enumerate().map(one).collect());
            for (text, done) in chunk.iter().zip(done) {
                games.number += 1;
                all += 1;
                let place = GamePlace { file: &games.name, line: text.line, number: games.number };
                work.add(sum, &place, done)?;
            }
            live.show(|| W::progress(sum))?;
            // An error removes the partial file of an import.
            if interrupt::is_requested() {
                return Err(Interrupted(W::INTERRUPTED.to_owned()).into());
            }
        }
        if games.games.get_ref().is_gbk() {
            live.announce(&format!("{}: read as GBK", games.name))?;
        }
    }
    Ok(())
}

/// The games of a file.
struct Chunks {
    name: String,
    games: Games<Utf8Lines<Box<dyn BufRead>>>,
    /// The games that were handled.
    number: u64,
}

impl Chunks {
    fn open(path: &Path) -> Result<Self> {
        let (name, reader) = input::open(path)?;
        Ok(Self { name, games: Games::new(Utf8Lines::new(reader)), number: 0 })
    }

    /// The next games, none at the end.
    fn next(&mut self) -> Result<Option<Vec<GameText>>> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while bytes < CHUNK_BYTES {
            let Some(game) = self.games.next() else { break };
            let game = game.with_context(|| self.name.clone())?;
            bytes += game.bytes.len();
            chunk.push(game);
        }
        if self.number == 0 && chunk.is_empty() {
            bail!("{}: no games", self.name);
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

/// The number of skipped parts by kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct SkippedCounts {
    #[serde(rename = "skipped_comments")]
    pub(crate) comments: u64,
    #[serde(rename = "skipped_variations")]
    pub(crate) variations: u64,
    #[serde(rename = "skipped_glyphs")]
    pub(crate) glyphs: u64,
    /// Tags, numbers, keywords and dashes without use.
    #[serde(rename = "skipped_others")]
    pub(crate) others: u64,
}

impl SkippedCounts {
    pub(crate) fn of(parts: &[Skipped]) -> Self {
        let mut counts = Self::default();
        for part in parts {
            match part.kind {
                TokenKind::Comment => counts.comments += 1,
                TokenKind::Variation => counts.variations += 1,
                TokenKind::Glyph => counts.glyphs += 1,
                _ => counts.others += 1,
            }
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.comments += other.comments;
        self.variations += other.variations;
        self.glyphs += other.glyphs;
        self.others += other.others;
    }

    /// `skipped: 2 comments, …`, with a word behind `comments`.
    pub(crate) fn line(&self, of_comments: &str) -> String {
        let Self { comments, variations, glyphs, others } = self;
        format!("skipped: {comments} comments{of_comments}, {variations} variations, {glyphs} glyphs, {others} others")
    }
}
