//! Properties that hold for any input. The fuzz targets search for counterexamples; the tests
//! replay the corpora.

use xiangqi::{
    Fen, Position,
    notation::{
        self, Notation,
        reader::{Games, ReadError, TokenKind, Tokens, Transcript},
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
    for mv in moves {
        assert!(position.is_legal(mv));
        let gives_check = position.gives_check(mv);
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
/// and each is read, named as skipped, or the place of the error.
pub(crate) fn reader(data: &[u8]) {
    let games: Vec<_> = Games::new(data).map(|game| game.expect("memory is read without an error")).collect();
    let whole = games.iter().flat_map(|game| &game.bytes).copied().collect::<Vec<_>>();
    let before = data.len() - whole.len();
    assert!(data.ends_with(&whole), "the games are not the end of the file");
    let blank = data[..before].strip_prefix("\u{feff}".as_bytes()).unwrap_or(&data[..before]);
    assert!(blank.trim_ascii().is_empty(), "more than blanks before the first game");
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
    accounts_for_all(Tokens::new(text), Transcript::read("", text));
    accounts_for_all(Tokens::of_position(text), Transcript::read(text, ""));
}

/// Whether a transcript holds each token of its text.
fn accounts_for_all(tokens: Tokens<'_>, read: Result<Transcript, ReadError>) {
    use TokenKind::{Comment, Fen, Glyph, Keyword, Move, Number, Result, Separator, StartPosition, Tag, Variation};
    let read = match read {
        Ok(read) => read,
        Err(error) => return one_line(&error),
    };
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let (mut moves, mut skipped, mut tags) = (read.moves.iter(), read.skipped.iter(), read.tags.iter());
    let (mut positions, mut results) = (0, 0);
    for token in tokens {
        match token.kind {
            Move => assert_eq!(moves.next().map(|mv| &mv.text), Some(&bare(token.text))),
            Comment | Glyph | Variation => {
                let part = skipped.next().expect("a part that is neither read nor named");
                assert_eq!((part.kind, part.text.as_str()), (token.kind, token.text));
                assert_eq!(part.after, read.moves.len() - moves.len());
            }
            Tag => {
                let (name, _) = tags.next().expect("a tag that is not kept");
                assert!(token.text.contains(name.as_str()));
                positions += usize::from(name == "FEN");
            }
            Result => results += 1,
            Fen | StartPosition => positions += 1,
            Separator | Number | Keyword => {
                let is_mark = |letter: char| {
                    letter.is_whitespace() || ",|.:;-=_\u{feff}，、；。：…⋯．".contains(letter) || letter.is_numeric()
                };
                let is_word = token.kind == Keyword;
                assert!(is_word || token.text.chars().all(is_mark), "{:?} says more than a mark", token.text);
            }
            kind => panic!("{kind:?} was read"),
        }
    }
    assert_eq!((moves.len(), skipped.len(), tags.len()), (0, 0, 0), "more was read than there is");
    assert_eq!((results, positions <= 1), (usize::from(read.result.is_some()), true));
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

fn one_line(error: &ReadError) {
    let message = error.to_string();
    assert!(message.chars().count() < 400 && !message.contains(['\n', '\r', '\0']), "{message}");
}

/// A line of a file, from 1.
fn whole_line(data: &[u8], line: usize) -> &[u8] {
    data.split_inclusive(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default()
}
