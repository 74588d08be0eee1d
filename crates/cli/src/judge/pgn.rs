//! Files of games in PGN, judged on all cores and streamed.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::{
    notation::reader::{ReadError, TokenKind, Transcript, outcome},
    rules::{Outcome, Reason, RuleSet},
    text::counted,
};

use crate::Finding;

/// Bytes per parallel chunk: enough for all cores, little memory.
const CHUNK_BYTES: usize = 4 << 20;

/// No game is longer. The limit rejects a file without games before it fills the memory.
const MAX_GAME_BYTES: usize = 16 << 20;

/// A game's text, and the line where it begins.
struct Text {
    line: usize,
    bytes: Vec<u8>,
}

/// Whether the claimed result is that of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Agreement {
    Agrees,
    Differs,
    /// The rules do not end the game, or it claims nothing: resignation, time, adjudication.
    Undecided,
}

/// A judged game.
#[derive(Serialize)]
struct Judged {
    rules: &'static str,
    claimed: Option<&'static str>,
    outcome: &'static str,
    reason: Option<Reason>,
    ply: usize,
    moves_after_end: usize,
    agreement: Agreement,
    #[serde(skip)]
    skipped: [u64; 3],
}

#[derive(Default, Serialize)]
struct Sum {
    games: u64,
    agree: u64,
    differ: u64,
    undecided: u64,
    refused: u64,
    skipped_comments: u64,
    skipped_variations: u64,
    skipped_glyphs: u64,
}

/// Judges all games of all files. `rules` has precedence over a game's tag.
pub(super) fn run(
    paths: &[PathBuf],
    rules: Option<RuleSet>,
    threads: NonZeroUsize,
    json: bool,
    out: &mut impl Write,
) -> Result<Finding> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let mut sum = Sum::default();
    let progress = io::stderr().is_terminal();
    for path in paths {
        let (name, reader): (_, Box<dyn BufRead>) = if path == Path::new("-") {
            ("standard input".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| name.clone())?;
            (name, Box::new(BufReader::with_capacity(1 << 16, file)))
        };
        let mut games = Games { reader, line: 0, ahead: None };
        let mut number = 0_u64;
        while let Some(chunk) = games.chunk().with_context(|| name.clone())? {
            let judged: Vec<_> = pool.install(|| chunk.par_iter().map(|text| judge(&text.bytes, rules)).collect());
            for (text, judged) in chunk.iter().zip(judged) {
                number += 1;
                sum.add(judged.as_ref().ok());
                print(&name, number, text.line, &judged, json, out)?;
            }
            if progress {
                write!(io::stderr(), "\r\x1b[K{} games, {} differ, {} refused", sum.games, sum.differ, sum.refused)?;
            }
        }
        if progress {
            writeln!(io::stderr())?;
        }
        if number == 0 {
            bail!("{name}: no games");
        }
    }
    sum.print(json, out)?;
    if sum.refused > 0 {
        bail!("{} could not be read", counted(sum.refused as usize, "game"));
    }
    Ok(if sum.differ == 0 { Finding::Holds } else { Finding::Fails })
}

fn judge(bytes: &[u8], rules: Option<RuleSet>) -> Result<Judged, String> {
    let text = str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
    let said = |error: ReadError| error.to_string();
    let transcript = Transcript::read("", text).map_err(said)?;
    let rules = match (rules, transcript.tag("Rules")) {
        (Some(rules), _) => rules,
        (None, Some(name)) => name.parse().unwrap_or_default(),
        (None, None) => RuleSet::default(),
    };
    let tag = transcript.tag("Result");
    let claimed = match (transcript.result, tag) {
        (Some(result), Some(tag)) if result != outcome(tag) => {
            return Err(format!("the result at the end is not that of the tag, `{}`", xiangqi::text::shortened(tag)));
        }
        (Some(result), _) => Some(result),
        (None, tag) => tag.map(outcome),
    };
    let replay = transcript.play(rules).map_err(said)?;
    let ending = replay.game.status().ending();
    let agreement = match (claimed, ending.map(|ending| ending.outcome)) {
        (None, _) | (Some(Some(_)), None) => Agreement::Undecided,
        (Some(claimed), judged) if claimed == judged => Agreement::Agrees,
        _ => Agreement::Differs,
    };
    let name = |outcome: Option<Outcome>| outcome.map_or("ongoing", Outcome::name);
    let skipped = |kind| transcript.skipped.iter().filter(|skipped| skipped.kind == kind).count() as u64;
    Ok(Judged {
        rules: rules.name(),
        claimed: claimed.map(name),
        outcome: name(ending.map(|ending| ending.outcome)),
        reason: ending.map(|ending| ending.reason),
        ply: replay.game.len(),
        moves_after_end: replay.moves_after_end,
        agreement,
        skipped: [TokenKind::Comment, TokenKind::Variation, TokenKind::Glyph].map(skipped),
    })
}

fn print(
    file: &str,
    game: u64,
    line: usize,
    judged: &Result<Judged, String>,
    json: bool,
    out: &mut impl Write,
) -> Result<()> {
    #[derive(Serialize)]
    struct Report<'a> {
        file: &'a str,
        game: u64,
        line: usize,
        #[serde(flatten)]
        judged: Option<&'a Judged>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a String>,
    }
    if json {
        let report = Report { file, game, line, judged: judged.as_ref().ok(), error: judged.as_ref().err() };
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    write!(out, "{file}, line {line}, game {game}: ")?;
    match judged {
        Err(error) => writeln!(out, "refused: {error}")?,
        Ok(judged) => {
            let verb = match judged.agreement {
                Agreement::Agrees => "agrees",
                Agreement::Differs => "DIFFERS",
                Agreement::Undecided => "undecided",
            };
            let claimed = judged.claimed.unwrap_or("nothing");
            write!(out, "{verb}: claimed {claimed}, {} after {}", judged.outcome, counted(judged.ply, "ply"))?;
            if let Some(reason) = judged.reason {
                write!(out, ": {reason}")?;
            }
            if judged.moves_after_end > 0 {
                write!(out, "; moves after the end: {}", judged.moves_after_end)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

impl Sum {
    fn add(&mut self, judged: Option<&Judged>) {
        self.games += 1;
        let Some(judged) = judged else {
            self.refused += 1;
            return;
        };
        match judged.agreement {
            Agreement::Agrees => self.agree += 1,
            Agreement::Differs => self.differ += 1,
            Agreement::Undecided => self.undecided += 1,
        }
        let [comments, variations, glyphs] = judged.skipped;
        self.skipped_comments += comments;
        self.skipped_variations += variations;
        self.skipped_glyphs += glyphs;
    }

    fn print(&self, json: bool, out: &mut impl Write) -> Result<()> {
        if json {
            serde_json::to_writer(&mut *out, self)?;
            writeln!(out)?;
            return Ok(());
        }
        let Self { games, agree, differ, undecided, refused, .. } = self;
        let [comments, variations, glyphs] = [self.skipped_comments, self.skipped_variations, self.skipped_glyphs];
        writeln!(out, "skipped: {comments} comments, {variations} variations, {glyphs} glyphs")?;
        writeln!(out, "{games} games: {agree} agree, {differ} differ, {undecided} undecided, {refused} refused")?;
        Ok(())
    }
}

/// The games of a file. A game ends where tags follow its moves, or at the end of a line with a
/// result.
struct Games<R> {
    reader: R,
    line: usize,
    /// The first line of the next game.
    ahead: Option<Vec<u8>>,
}

impl<R: BufRead> Games<R> {
    fn chunk(&mut self) -> Result<Option<Vec<Text>>> {
        let mut games = Vec::new();
        let mut bytes = 0;
        while bytes < CHUNK_BYTES {
            let Some(game) = self.game()? else { break };
            bytes += game.bytes.len();
            games.push(game);
        }
        Ok((!games.is_empty()).then_some(games))
    }

    fn game(&mut self) -> Result<Option<Text>> {
        let mut game = Text { line: 0, bytes: Vec::new() };
        let (mut has_moves, mut is_over, mut in_comment) = (false, false, false);
        loop {
            let line = if let Some(line) = self.ahead.take() {
                line
            } else {
                let mut line = Vec::new();
                self.reader.by_ref().take(MAX_GAME_BYTES as u64).read_until(b'\n', &mut line)?;
                self.line += 1;
                line
            };
            let content = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line).trim_ascii();
            let is_tag = !in_comment && content.starts_with(b"[");
            let begins_next = !content.is_empty() && (is_over || has_moves && is_tag);
            if line.is_empty() || begins_next {
                if begins_next {
                    self.ahead = Some(line);
                }
                return Ok((game.line > 0).then_some(game));
            }
            if game.line == 0 && !content.is_empty() {
                game.line = self.line;
            }
            if game.line > 0 {
                let brace = content.iter().rev().find(|byte| matches!(byte, b'{' | b'}'));
                in_comment = brace.map_or(in_comment, |brace| *brace == b'{');
                has_moves |= !is_tag && !content.is_empty();
                is_over = !in_comment && !is_tag && (is_over || ends_with_result(content));
                game.bytes.extend_from_slice(&line);
            }
            if game.bytes.len() >= MAX_GAME_BYTES {
                bail!("line {}: a game is longer than {} MiB", game.line, MAX_GAME_BYTES >> 20);
            }
        }
    }
}

fn ends_with_result(content: &[u8]) -> bool {
    const RESULTS: [&[u8]; 4] = [b"1-0", b"0-1", b"1/2-1/2", b"*"];
    let word = content.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    RESULTS.contains(&word)
}
