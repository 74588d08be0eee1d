//! Games from transcripts.

use std::io;

use xiangqi::{
    notation::{
        Notation,
        reader::{Games, ReadError, Transcript},
    },
    rules::Outcome,
};

use super::{PgnGame, tags};

/// An error in a PGN text.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case is")]
pub enum PgnError {
    #[error(transparent)]
    Game(#[from] ReadError),
    #[error(transparent)]
    TooLong(#[from] io::Error),
}

/// Reads all games of a text.
///
/// # Errors
///
/// If it is not PGN, or a move is not legal.
pub fn read(text: &str) -> Result<Vec<PgnGame>, PgnError> {
    Games::new(text.as_bytes()).map(|game| Ok(PgnGame::try_from(&game?.transcript()?)?)).collect()
}

/// Takes the comments behind moves. Variations, glyphs and other comments remain in
/// [`Transcript::skipped`].
impl TryFrom<&Transcript> for PgnGame {
    type Error = ReadError;

    fn try_from(transcript: &Transcript) -> Result<Self, ReadError> {
        let (moves, error) = transcript.legal_moves();
        if let Some(error) = error {
            return Err(error);
        }
        let moves = moves.into_iter().zip(comments(transcript)).collect();
        let notation: Option<Notation> = transcript.tag("Notation").and_then(|name| name.parse().ok());
        let tags = tags::kept(transcript.tags.clone());
        let outcome: Option<Outcome> = transcript.claimed().flatten();
        Ok(Self { tags, start: transcript.start.clone(), moves, outcome, notation: notation.unwrap_or(Notation::Uci) })
    }
}

/// The comment behind each move, empty if there is none.
pub(super) fn comments(transcript: &Transcript) -> Vec<String> {
    let mut comments = vec![String::new(); transcript.moves.len()];
    for skipped in &transcript.skipped {
        let place = skipped.after.checked_sub(1).and_then(|index| comments.get_mut(index));
        if let (Some(comment), Some(text)) = (place, skipped.comment()) {
            if !comment.is_empty() {
                comment.push(' ');
            }
            comment.push_str(&text);
        }
    }
    comments
}
