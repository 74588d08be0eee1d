//! The PGN writer.

use std::fmt;

use xiangqi::Color;

use super::{PgnGame, sign, tags};

/// The line width.
const WIDTH: usize = 100;

/// Writes the whole game and an empty line after it, so that games can be concatenated.
impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fen = self.start.to_string();
        for (name, value) in tags::written(&self.tags, sign(self.outcome), &fen, self.notation.name()) {
            writeln!(
                f,
                "[{name} \"{}\"]",
                value.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
            )?;
        }
        writeln!(f)?;
        let mut lines = Lines { f, width: 0 };
        let mut position = self.start.position.clone();
        let mut number = self.start.move_number;
        let mut after_comment = true;
        for (mv, comment) in &self.moves {
            if position.turn() == Color::Red {
                lines.word(&format!("{number}."))?;
            } else {
                if after_comment {
                    lines.word(&format!("{number}..."))?;
                }
                number += 1;
            }
            lines.word(&position.format_move(*mv, self.notation))?;
            after_comment = !comment.is_empty();
            if after_comment {
                // A brace would end the comment.
                for word in format!("{{{}}}", comment.replace('}', ")")).split_whitespace() {
                    lines.word(word)?;
                }
            }
            let _ = position.make(*mv);
        }
        lines.word(sign(self.outcome))?;
        write!(f, "\n\n")
    }
}

/// A writer that wraps words.
struct Lines<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    width: usize,
}

impl Lines<'_, '_> {
    fn word(&mut self, word: &str) -> fmt::Result {
        let width = word.chars().count();
        if self.width > 0 {
            if self.width + 1 + width > WIDTH {
                self.f.write_str("\n")?;
                self.width = 0;
            } else {
                self.f.write_str(" ")?;
                self.width += 1;
            }
        }
        self.width += width;
        self.f.write_str(word)
    }
}
