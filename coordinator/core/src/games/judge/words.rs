//! Messages for input that cannot be judged, and for its skipped parts.

use board::character;
use xiangqi::{
    Color, Fen, FenError, Piece, PieceKind, Square,
    notation::{
        NotationError,
        reader::{Hint, Place, ReadError, ReadErrorKind, Skipped, TokenKind},
    },
    text::shortened,
};

use super::{
    MAX_MOVES, MAX_TEXT_BYTES, Wrong,
    list::{MAX_GAMES, MAX_LIST_BYTES},
};

impl Wrong {
    /// One sentence that names the place.
    #[must_use]
    pub fn sentence(&self, chinese: bool) -> String {
        if chinese { self.chinese() } else { self.english() }
    }

    fn english(&self) -> String {
        match self {
            Self::Rules(name) => format!("Rules: `{}` is none of cxr, wxf, axf, wikibook, simple.", printable(name)),
            Self::TooLong(length) => {
                format!("The text has {length} bytes; of one game at most {MAX_TEXT_BYTES} are read.")
            }
            Self::ManyMoves => format!("There are more than {MAX_MOVES} moves."),
            Self::Read(error) => {
                let kind = match (error.in_position, &error.kind) {
                    (_, ReadErrorKind::Fen(_)) | (true, _) => "Position: ",
                    _ => "",
                };
                capitalised(&format!("{kind}{error}."))
            }
            Self::TooLongFile(length) => {
                format!("The file has {length} bytes; at most {MAX_LIST_BYTES} are read. {UNBOUNDED}")
            }
            Self::ManyGames => format!("The file has more than {MAX_GAMES} games. {UNBOUNDED}"),
            Self::NoGames => "The file has no games.".to_owned(),
            Self::TwoInputs => "There are a file and a text: judge one of the two.".to_owned(),
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::Rules(name) => {
                format!("规则：“{}”不是 cxr、wxf、axf、wikibook、simple 之一。", printable(name))
            }
            Self::TooLong(length) => format!("文本有{length}字节，单局最多读{MAX_TEXT_BYTES}字节。"),
            Self::ManyMoves => format!("着法超过{MAX_MOVES}步。"),
            Self::Read(error) => of_reader(error),
            Self::TooLongFile(length) => {
                format!("文件有{length}字节，最多读{MAX_LIST_BYTES}字节。{UNBOUNDED_CHINESE}")
            }
            Self::ManyGames => format!("文件超过{MAX_GAMES}局。{UNBOUNDED_CHINESE}"),
            Self::NoGames => "文件中没有对局。".to_owned(),
            Self::TwoInputs => "同时有文件和文本，请只提交其中之一。".to_owned(),
        }
    }
}

/// Where longer files are judged.
const UNBOUNDED: &str = "`chuhe judge --pgn` reads files of any length.";
const UNBOUNDED_CHINESE: &str = "更大的文件可用 `chuhe judge --pgn` 裁决。";

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A skipped part with its place.
#[must_use]
pub fn skipped_sentence(part: &Skipped, chinese: bool) -> String {
    if !chinese {
        return part.to_string();
    }
    let kind = match part.kind {
        TokenKind::Variation => "变着",
        TokenKind::Glyph => "评注符号",
        TokenKind::Tag => "无用标签",
        TokenKind::Number => "多余数字",
        TokenKind::Keyword => "多余单词",
        TokenKind::Dash => "多余横线",
        _ => "注释",
    };
    format!("{}的{kind}“{}”", place(part.place), shortened(&part.text))
}

/// A hint.
#[must_use]
pub fn hint_sentence(hint: &Hint, chinese: bool) -> String {
    if !chinese {
        return hint.to_string();
    }
    let (first, other) = (side(hint.first), side(hint.first.opponent()));
    format!("数字全是对方的写法（红方用汉字，黑方用阿拉伯数字）：局面为{first}先走，而文本从{other}开始")
}

fn place(place: Place) -> String {
    format!("第{}行第{}字", place.line, place.column)
}

fn of_reader(error: &ReadError) -> String {
    let text = match &error.kind {
        ReadErrorKind::Fen(error) => return format!("局面：{}。", of_fen(error)),
        ReadErrorKind::Move { number, error } => format!("第{number}步：{}", of_move(error)),
        ReadErrorKind::Unknown { text, number } => format!("第{number}步：{}", not_a_move(text)),
        ReadErrorKind::Tag { text } => format!("“{text}”不是形如 [Event \"x\"] 的标签"),
        ReadErrorKind::Unclosed { text } => format!("“{text}”的括号没有结束"),
        ReadErrorKind::SecondPosition => "出现第二个局面，或着法之后又有局面".to_owned(),
        ReadErrorKind::SecondResult { text } => format!("第二个结果“{text}”"),
        ReadErrorKind::AfterResult { text } => format!("结果之后还有着法“{text}”"),
        ReadErrorKind::OtherResult { text, tag } => format!("结果“{text}”与标签“{tag}”不同"),
        ReadErrorKind::TagAfterResult { tag } => format!("标签“{tag}”与前面的结果不同"),
        ReadErrorKind::NotUtf8 => "有字节既不是 UTF-8 也不是 GBK".to_owned(),
    };
    let is_placed = error.place.line > 1 || !text.starts_with('第');
    let kind = if error.in_position { "局面：" } else { "" };
    let place = if is_placed { format!("{}：", place(error.place)) } else { String::new() };
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("（{}）", hint_sentence(hint, true)));
    format!("{kind}{place}{text}{hint}。")
}

fn not_a_move(text: &str) -> String {
    format!("“{text}”不是任何已知记谱法的着法")
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
        NotationError::NotAMove { text, .. } | NotationError::NotRecognized { text } => not_a_move(text),
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
    use xiangqi::notation::reader::Transcript;

    use super::{super::judge, hint_sentence, skipped_sentence};

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
            sentences("", "e2e4x"),
            ["Move 1: `e2e4x` is not a move in any known notation.", "第1步：“e2e4x”不是任何已知记谱法的着法。"]
        );
        assert_eq!(
            sentences("", "h2e2\n {x"),
            ["Line 2, column 2: the bracket of `{x` is not closed.", "第2行第2字：“{x”的括号没有结束。"]
        );
        assert_eq!(
            sentences("", "h2e2 1-0 h9g7"),
            ["Line 1, column 10: a move after the result: `h9g7`.", "第1行第10字：结果之后还有着法“h9g7”。"]
        );
    }

    #[test]
    fn notes_are_named_in_both_languages() {
        let black = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b";
        let read = Transcript::read(black, "炮二平五 {好}\n马8进7 !? (马2进3)").unwrap();
        assert_eq!(
            read.skipped.iter().map(|part| skipped_sentence(part, true)).collect::<Vec<_>>(),
            ["第1行第6字的注释“{好}”", "第2行第6字的评注符号“!?”", "第2行第9字的变着“(马2进3)”"]
        );
        assert_eq!(skipped_sentence(&read.skipped[0], false), "comment `{好}` at line 1, column 6");
        assert!(hint_sentence(&read.hint().unwrap(), true).ends_with("局面为黑方先走，而文本从红方开始"));
    }
}
