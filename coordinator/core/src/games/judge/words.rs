//! Messages for input that cannot be judged.

use board::character;
use xiangqi::{Color, Fen, FenError, Piece, PieceKind, Square, notation::NotationError};

use super::{MAX_FEN_BYTES, MAX_MOVES, MAX_TEXT_BYTES, Wrong};

impl Wrong {
    /// One sentence that names the place.
    #[must_use]
    pub fn sentence(&self, chinese: bool) -> String {
        if chinese { self.chinese() } else { self.english() }
    }

    fn english(&self) -> String {
        match self {
            Self::Rules(name) => format!("Rules: `{}` is none of cxr, wxf, axf, wikibook, simple.", printable(name)),
            Self::LongFen(length) => {
                format!("Position: the text has {length} bytes; a FEN has at most {MAX_FEN_BYTES}.")
            }
            Self::Fen(error) => format!("Position: {error}."),
            Self::LongMoves(length) => {
                format!("Moves: the text has {length} bytes; at most {MAX_TEXT_BYTES} are read.")
            }
            Self::ManyMoves => format!("Moves: there are more than {MAX_MOVES}."),
            Self::Move { number, error } => format!("Move {number}: {error}."),
            Self::OpenComment => "Moves: a comment or a tag is not closed.".to_owned(),
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::Rules(name) => {
                format!("规则：“{}”不是 cxr、wxf、axf、wikibook、simple 之一。", printable(name))
            }
            Self::LongFen(length) => format!("局面：文本有{length}字节，FEN 最多{MAX_FEN_BYTES}字节。"),
            Self::Fen(error) => format!("局面：{}。", of_fen(error)),
            Self::LongMoves(length) => format!("着法：文本有{length}字节，最多读{MAX_TEXT_BYTES}字节。"),
            Self::ManyMoves => format!("着法：超过{MAX_MOVES}步。"),
            Self::Move { number, error } => format!("第{number}步：{}。", of_move(error)),
            Self::OpenComment => "着法：注释或标签没有结束。".to_owned(),
        }
    }
}

/// Foreign text on one line, without control characters.
fn printable(text: &str) -> String {
    text.chars().flat_map(|letter| if letter.is_control() { '?' } else { letter }.to_lowercase()).take(40).collect()
}

const fn side(color: Color) -> &'static str {
    match color {
        Color::Red => "红方",
        Color::Black => "黑方",
    }
}

fn piece(color: Color, kind: PieceKind) -> String {
    format!("{}{}", side(color), character(Piece::new(color, kind)))
}

fn of_move(error: &NotationError) -> String {
    match error {
        NotationError::NotAMove { text, .. } | NotationError::NotRecognized { text } => {
            format!("“{text}”不是任何已知记谱法的着法")
        }
        NotationError::NothingThere { text, side: color, from, .. } => {
            format!("“{text}”：{from} 上没有{}的棋子", side(*color))
        }
        NotationError::OwnPieceThere { text, side: color, kind, to, .. } => {
            format!("“{text}”：{to} 上是{}自己的棋子（{}）", side(*color), character(Piece::new(*color, *kind)))
        }
        NotationError::OutOfReach { text, side: color, kind, from, to, .. } => {
            format!("“{text}”：{from} 上的{}走不到 {to}", piece(*color, *kind))
        }
        NotationError::NoSuchPiece { text, side: color } => format!("“{text}”：{}没有这样的棋子", side(*color)),
        NotationError::NoSuchMove { text } => format!("“{text}”：该棋子走不到那里"),
        NotationError::KingInCheck { text, side: color } => format!("“{text}”：走后{}仍被将军", side(*color)),
        NotationError::Ambiguous { text, one, other } => format!("“{text}”：可以是 {one}，也可以是 {other}"),
    }
}

fn of_fen(error: &FenError) -> String {
    let point = |square: &Square| square.to_string();
    match error {
        FenError::Empty => "FEN 是空的".to_owned(),
        FenError::RankWidth { rank, width } => format!("FEN 棋盘：第{rank}线有{width}个点，应为 9 个"),
        FenError::RankCount { count } => format!("FEN 棋盘：有{count}线，应为 10 线"),
        FenError::UnknownLetter { letter, rank, file } => {
            format!("FEN 棋盘：第{rank}线 {file} 路的“{}”既不是棋子也不是空点数", letter.escape_debug())
        }
        FenError::UnknownLetterBehind { letter, rank } => {
            format!("FEN 棋盘：第{rank}线第九点之后的“{}”无法识别", letter.escape_debug())
        }
        FenError::Misplaced { piece: misplaced, square } => {
            format!("FEN 棋盘：{}不能在 {}", piece(misplaced.color(), misplaced.kind()), point(square))
        }
        FenError::TooMany { piece: extra, square } => {
            format!(
                "FEN 棋盘：{}多于{}个，{} 上的是多余的",
                piece(extra.color(), extra.kind()),
                extra.kind().max_count(),
                point(square)
            )
        }
        FenError::NoKing { color } => format!("FEN 棋盘：{}没有将（帅）", side(*color)),
        FenError::KingsFacing { square } => {
            format!("FEN 棋盘：将帅在 {} 路照面", char::from(b'a' + square.file()))
        }
        FenError::LeftInCheck { left_in_check, king } => {
            format!(
                "FEN 行棋方：轮到{}走，而{}的将（帅）（{king}）正被将军",
                side(!*left_in_check),
                side(*left_in_check)
            )
        }
        FenError::NoSide => "FEN 行棋方：缺少；红方为 w（或 r），黑方为 b".to_owned(),
        FenError::UnknownSide { text } => format!("FEN 行棋方：“{text}”不是 w（或 r）或 b"),
        FenError::NotDash { number, text } => format!("FEN 第{number}项：“{text}”应为 -"),
        FenError::NotANumber { number, text, .. } => {
            format!("FEN 第{number}项：“{text}”不是不超过 {} 的整数", Fen::MAX_COUNTER)
        }
        FenError::TooLong { text } => format!("FEN：第六项之后还有“{text}”"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge;

    #[test]
    fn the_place_is_named_in_both_languages() {
        let sentences = |fen: &str, moves: &str| {
            let wrong = judge(fen, moves, "").err().unwrap();
            [false, true].map(|chinese| wrong.sentence(chinese))
        };
        assert_eq!(
            sentences("", "h2e2 h9g7 b0b3"),
            ["Move 3: `b0b3`: Red's horse on b0 does not go to b3.", "第3步：“b0b3”：b0 上的红方傌走不到 b3。"]
        );
        assert_eq!(
            sentences("4k4/9/9/9/9/9/9/9/9/4K4 w", ""),
            ["Position: FEN board: the kings face each other on file e.", "局面：FEN 棋盘：将帅在 e 路照面。"]
        );
        assert_eq!(
            sentences("", "e2e4!"),
            ["Move 1: `e2e4!` is not a move in any known notation.", "第1步：“e2e4!”不是任何已知记谱法的着法。"]
        );
    }
}
