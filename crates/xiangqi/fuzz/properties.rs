//! Properties that hold for any input. The fuzz targets search for counterexamples; the tests
//! replay the corpora.

use xiangqi::{
    Fen, Position,
    notation::{self, Notation},
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
