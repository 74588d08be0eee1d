//! PGN ([`dataset::pgn`]), with search notes as comments.

mod comment;

pub use comment::{Comment, ParseCommentError};
pub use dataset::pgn::{PgnError, PgnGame, Terms, nets, read, time_controls};
