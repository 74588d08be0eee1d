//! Games as PGN ([`dataset::pgn`]), and what players thought of their moves as comments in it.

mod comment;

pub use comment::{Comment, ParseCommentError};
pub use dataset::pgn::{PgnError, PgnErrorKind, PgnGame, read};
