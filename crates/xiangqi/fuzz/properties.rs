//! Properties that hold for any input. The fuzz targets search for counterexamples; the tests
//! replay the corpora.

use xiangqi::{
    Fen, Position,
    notation::{
        self, Notation,
        reader::{self, Games, Place, ReadError, Tokens, Transcript},
    },
    rules::{Game, RuleSet, Status},
};

/// A text is rejected, or a valid position that reads back as itself.
pub(crate) fn fen(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let fen: Fen = match text.parse() {
        Ok(fen) => fen,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "an error of more than one line");
            return;
        }
    };
    assert_eq!(fen.to_string().parse(), Ok(fen.clone()));
    let mut position = fen.position;
    assert_eq!(position.mirrored().mirrored(), position);
    assert_eq!(position.flipped().flipped(), position);
    let moves = position.legal_moves();
    assert_eq!(moves.len(), position.count_legal_moves());
    assert_eq!(moves.is_empty(), !position.has_legal_move());
    let before = position.clone();
    let checks = position.checks();
    for mv in moves {
        assert!(position.is_legal(mv));
        let gives_check = position.gives_check(mv);
        assert_eq!(checks.given_by(mv, &position), gives_check);
        let undo = position.make(mv);
        assert_eq!(position.in_check(), gives_check);
        // Legal moves lead to valid positions, and incremental state equals state computed afresh.
        assert_eq!(Position::from_fen(&position.to_string()), Ok(position.clone()));
        position.unmake(mv, undo);
        assert_eq!(position, before);
    }
}

/// A FEN, a line end, and a text in some notation: rejected, or a legal move that is formatted and
/// parsed back.
pub(crate) fn move_text(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Some((fen, text)) = text.split_once('\n') else { return };
    let Ok(position) = Position::from_fen(fen) else { return };
    let _ = notation::parse_any(&position, text);
    for notation in Notation::ALL {
        if let Ok(mv) = position.parse_move_in(text, notation) {
            assert!(position.is_legal(mv), "{text} was read as {mv}");
            for notation in Notation::ALL {
                let printed = position.format_move(mv, notation);
                assert_eq!(position.parse_move_in(&printed, notation), Ok(mv), "{printed}");
            }
        }
    }
}

/// A FEN, a line end, and bytes that choose moves. The game and its history agree with a position
/// that has none, the verdict can be explained, and taking everything back leads to the start.
pub(crate) fn game(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let Ok(Ok(fen)) = str::from_utf8(&data[..end]).map(str::parse::<Fen>) else { return };
    let choices = data.get(end + 1..).unwrap_or_default();
    let rules = RuleSet::ALL[choices.first().map_or(0, |byte| usize::from(*byte) % RuleSet::ALL.len())];
    let mut game = Game::new(fen.clone(), rules);
    let mut position = fen.position.clone();
    let mut statuses = vec![*game.status()];
    for choice in choices {
        let moves = position.legal_moves();
        if game.status() != &Status::Ongoing {
            break;
        }
        let mv = moves[usize::from(*choice) % moves.len()];
        let _ = position.make(mv);
        game.push(mv).expect("a legal move in a game that is ongoing");
        assert_eq!(game.position(), &position);
        statuses.push(*game.status());
    }
    if let Some(ending) = game.status().ending() {
        let explanation = game.explain(ending);
        assert!(explanation.english.ends_with('.') && explanation.chinese.ends_with('。'));
        assert_eq!(ending.ply, game.len());
    }
    while game.pop().is_some() {
        statuses.pop();
        assert_eq!(game.status(), &statuses[statuses.len() - 1]);
    }
    assert_eq!(game.position(), &fen.position);
}

/// Games in any notation. The games of a file are its bytes. The tokens of a text are its letters,
/// and each letter is read, named as skipped, or in a text with an error.
pub(crate) fn reader(data: &[u8]) {
    let games: Vec<_> = Games::new(data).map(|game| game.expect("memory is read without an error")).collect();
    let whole = games.iter().flat_map(|game| &game.bytes).copied().collect::<Vec<_>>();
    let before = data.len() - whole.len();
    assert!(data.ends_with(&whole), "the games are not the end of the file");
    let blank = String::from_utf8_lossy(&data[..before]);
    let is_blank = |letter: char| letter.is_ascii_whitespace() || letter == '\u{feff}';
    assert!(blank.chars().all(is_blank), "more than blanks before the first game");
    for game in &games {
        let first = whole_line(data, game.line);
        assert!(game.bytes.starts_with(first), "line {} is not that of the game", game.line);
        if let Err(error) = game.transcript() {
            assert!(error.place.line >= game.line, "{error}");
            one_line(&error);
        }
    }
    let Ok(text) = str::from_utf8(data) else { return };
    for tokens in [Tokens::new(text), Tokens::of_position(text)] {
        let mut end = 0;
        for token in tokens {
            assert_eq!((token.start, token.text), (end, &text[end..end + token.text.len()]));
            assert!(!token.text.is_empty());
            end += token.text.len();
        }
        assert_eq!(end, text.len(), "the rest is in no token");
    }
    accounts_for_all(text, Transcript::read("", text));
    accounts_for_all(text, Transcript::read(text, ""));
}

/// A text from which all that was read or named is erased, bit by bit.
struct Sheet {
    /// The letters of each line, none where one was erased.
    lines: Vec<Vec<Option<char>>>,
}

impl Sheet {
    fn new(text: &str) -> Self {
        Self { lines: text.split('\n').map(|line| line.chars().map(Some).collect()).collect() }
    }

    /// Erases a part at its place, letter by letter. Nothing is erased twice.
    fn erase(&mut self, place: Place, part: &str, blanks_between: bool) {
        let (mut line, mut column) = (place.line - 1, place.column - 1);
        for expected in part.chars() {
            if expected == '\n' {
                (line, column) = (line + 1, 0);
                continue;
            }
            while blanks_between && self.lines[line][column].is_some_and(char::is_whitespace) {
                column += 1;
            }
            let found = self.lines[line][column].take().expect("a letter that is in two parts");
            // Moves are given in narrow letters.
            let narrow = char::from_u32((found as u32).wrapping_sub(0xfee0)).filter(|_| blanks_between);
            assert!(found == expected || narrow == Some(expected), "{found:?} at {place} is not in {part:?}");
            column += 1;
        }
    }

    /// The letters that are left, with their places; erased ones and line ends are blanks.
    fn rest(&self) -> Vec<(char, Place)> {
        let mut rest = Vec::new();
        for (line, letters) in self.lines.iter().enumerate() {
            for (column, letter) in letters.iter().copied().chain([None]).enumerate() {
                rest.push((letter.unwrap_or(' '), Place { line: line + 1, column: column + 1 }));
            }
        }
        rest
    }
}

/// Checks that moves and named skipped parts are the whole text. Both are erased at their places.
/// Each letter that is left is explained by what the transcript holds besides, or is punctuation.
/// No code of the reader says which letters belong to what.
fn accounts_for_all(text: &str, read: Result<Transcript, ReadError>) {
    let read = match read {
        Ok(read) => read,
        Err(error) => return one_line(&error),
    };
    let mut sheet = Sheet::new(text);
    for mv in &read.moves {
        sheet.erase(mv.place, &mv.text, true);
    }
    for part in &read.skipped {
        sheet.erase(part.place, &part.text, false);
        let before = read.moves.iter().filter(|mv| mv.place < part.place).count();
        assert_eq!(part.after, before, "{part}");
    }
    let places = read.skipped.windows(2).all(|pair| pair[0].place < pair[1].place);
    assert!(places, "the skipped parts are not in order");
    explain(&sheet.rest(), &read);
    for rules in RuleSet::ALL {
        match read.judge(Some(rules)) {
            Ok(judged) => {
                let replay = &judged.replay;
                assert_eq!(replay.game.len() + replay.moves_after_end, read.moves.len(), "a move was dropped");
            }
            Err(error) => one_line(&error),
        }
    }
}

/// Explains letters by the tags, the result, the position and the numbers of a transcript. Each is
/// used once.
fn explain(rest: &[(char, Place)], read: &Transcript) {
    let text: String = rest.iter().map(|(letter, _)| *letter).collect();
    let place = |behind: &str| rest[text.chars().count() - behind.chars().count()].1;
    let mut tags = read.tags.iter();
    let (mut result, mut has_position, mut numbers, mut has_mark) = (None, false, Vec::new(), false);
    let mut behind = text.as_str();
    while let Some(first) = behind.chars().next() {
        let here = behind;
        let moves_before = read.moves.iter().filter(|mv| mv.place < place(here)).count();
        let rule = here.len() - here.trim_start_matches(first).len();
        if let Some(tag) = here.strip_prefix('[') {
            let (name, value) = tags.next().expect("a tag that is not kept");
            let (found, tag) = tag.trim_start().split_at(name.len());
            assert!(found.eq_ignore_ascii_case(name), "another tag's name");
            let mut letters = tag.trim_start().strip_prefix('"').expect("a value in quotes").chars();
            for expected in value.chars() {
                let found = letters.next().filter(|letter| *letter != '\\').or_else(|| letters.next());
                assert_eq!(found, Some(expected), "another tag's value");
            }
            let end = letters.as_str();
            let end = end.strip_prefix('\\').unwrap_or(end).strip_prefix('"').expect("the end of the value");
            behind = end.trim_start_matches([' ', '\t']).strip_prefix(']').expect("the end of the tag");
            has_position |= name == "FEN";
        } else if is_punctuation(first) {
            behind = &here[first.len_utf8()..];
        } else if matches!(first, '=' | '-' | '_') && rule >= 3 {
            behind = &here[rule..];
        } else if let Some(end) = result_at(here, read) {
            assert_eq!(result.replace(moves_before), None, "a second result");
            behind = &here[end..];
        } else if let Some(end) = position_at(here, read).filter(|_| !has_position && moves_before == 0) {
            has_position = true;
            behind = &here[end..];
        } else if let Some(keyword) = ["position", "fen", "moves"].into_iter().find(|word| begins_with(here, word)) {
            behind = &here[keyword.len()..];
            let follows = behind.trim_start_matches(|letter: char| is_punctuation(letter) || "=-_".contains(letter));
            assert_eq!(moves_before, 0, "`{keyword}` among moves");
            assert!(
                keyword == "moves" || begins_with(follows, "fen") || position_at(follows, read).is_some(),
                "`{keyword}` without a position"
            );
        } else {
            let named = here.strip_prefix('第');
            let text = named.unwrap_or(here).trim_start();
            let end = text.find(|letter: char| !(letter.is_numeric() || "十一二三四五六七八九".contains(letter)));
            let (digits, end) = text.split_at(end.unwrap_or(text.len()));
            assert!(!digits.is_empty(), "{first:?} at {} is neither read nor named", place(here));
            behind = if named.is_some() { end.trim_start().strip_prefix("回合").expect("a number") } else { end };
            has_mark = named.is_some() || behind.starts_with(|letter| ".．…⋯、:".contains(letter));
            numbers.push((value(digits), moves_before));
        }
    }
    assert_eq!(tags.next(), None, "a tag that is not in the text");
    assert_eq!(result.is_some(), read.result.is_some(), "a result that is not in the text");
    assert!(result.is_none_or(|before| before == read.moves.len()), "moves after the result");
    assert!(has_position || read.start == Fen::start(), "a position that is not in the text");
    assert!(numbers.is_empty() || !read.moves.is_empty(), "numbers without moves");
    assert!(numbers.windows(2).all(|pair| pair[0].1 < pair[1].1), "two numbers at one place: {numbers:?}");
    let counts = |step: usize, offset: usize| {
        numbers.windows(2).all(|pair| {
            let [one, other] = [pair[0], pair[1]].map(|(value, before)| value - ((before + offset) / step) as i64);
            one == other
        })
    };
    assert!(counts(2, 0) || counts(2, 1) || counts(1, 0), "numbers that do not count the moves: {numbers:?}");
    if let [(value, before)] = numbers[..] {
        let firsts = [before / 2, before, before.div_ceil(2)].map(|counted| value - counted as i64);
        let is_usual = firsts.iter().any(|first| [1, i64::from(read.start.move_number)].contains(first));
        assert!(is_usual || before == 0 && has_mark, "the number {value} alone counts nothing");
    }
}

fn is_punctuation(letter: char) -> bool {
    letter.is_whitespace() || ",|.:;，、；。：…⋯．\u{feff}".contains(letter)
}

fn begins_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The value of digits of any width, or of Chinese numerals.
fn value(digits: &str) -> i64 {
    let numeral = |letter: char| "一二三四五六七八九".chars().position(|numeral| numeral == letter);
    digits.chars().fold(0, |value, letter| match (letter, numeral(letter)) {
        ('十', _) => value.max(1) * 10,
        (_, Some(numeral)) => value + numeral as i64 + 1,
        ('０'..='９', _) => value * 10 + letter as i64 - '０' as i64,
        _ => value * 10 + letter as i64 - '0' as i64,
    })
}

/// The length of the result that a transcript holds, at the beginning of a text.
fn result_at(text: &str, read: &Transcript) -> Option<usize> {
    const MAX_LETTERS: usize = 30;
    let result = read.result?;
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(MAX_LETTERS);
    ends.filter(|end| match result {
        None => matches!(&text[..*end], "*" | "＊"),
        result => reader::outcome(&text[..*end]) == result,
    })
    .last()
}

/// The length of the position that a transcript holds, at the beginning of a text.
fn position_at(text: &str, read: &Transcript) -> Option<usize> {
    let length = "startpos".len();
    if begins_with(text, "startpos") && read.start == Fen::start() {
        return Some(length);
    }
    let blanks = text.char_indices().filter(|(_, letter)| letter.is_whitespace()).map(|(at, _)| at);
    let ends = blanks.chain([text.len()]).take(40);
    ends.filter(|end| text[..*end].parse::<Fen>().is_ok_and(|fen| fen == read.start)).last()
}

fn one_line(error: &ReadError) {
    let message = error.to_string();
    assert!(message.chars().count() < 400 && !message.contains(['\n', '\r', '\0']), "{message}");
}

/// A line of a file, from 1.
fn whole_line(data: &[u8], line: usize) -> &[u8] {
    data.split_inclusive(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default()
}
