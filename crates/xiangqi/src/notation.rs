//! x
use crate::{Move, Position, Square};
/// e
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct NotationError;
impl Position {
    /// p
    pub fn parse_move(&self, t: &str) -> Result<Move, NotationError> {
        let f: Square = t[..2].parse().map_err(|_| NotationError)?;
        let to: Square = t[2..].parse().map_err(|_| NotationError)?;
        Ok(Move::new(f, to))
    }
}
