//! Positions with labels from games in PGN.

use xiangqi::{
    Color, Fen, Move,
    notation::reader::{Agreement, ReadError, TokenKind, Transcript},
    rules::{Game, Outcome, RuleSet},
};

use super::{
    read::comments,
    score::{Evaluation, evaluation},
};
use crate::record::Score;

/// A position with its move and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledPosition {
    /// The position.
    pub fen: Fen,
    /// The number of moves before it.
    pub ply: usize,
    /// The move played.
    pub mv: Move,
    /// The score for the side to move.
    pub score: Option<Score>,
    /// 1 if the side to move won, 0 for a draw, −1 if it lost.
    pub result: Option<i8>,
}

/// The positions of a game, and the counts of what it holds besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledGame {
    /// The rules that judged the game.
    pub rules: RuleSet,
    /// The positions with a score or a result.
    pub positions: Vec<LabelledPosition>,
    /// The reason of the rules, or `claimed`, if there is a result.
    pub reason: Option<&'static str>,
    /// Whether the claimed result is that of the rules.
    pub agreement: Agreement,
    /// The moves of an opening, which were not searched.
    pub opening: usize,
    /// The positions without score and result.
    pub unlabelled: usize,
    /// The moves after the end by the rules.
    pub after_end: usize,
    /// The comments without a score, among them those of openings.
    pub comments: usize,
    /// The variations.
    pub variations: usize,
    /// The glyphs.
    pub glyphs: usize,
    /// The tags, numbers, keywords and dashes without use.
    pub others: usize,
}

impl LabelledGame {
    /// Labels a game's positions. The result is the verdict of the rules, or the claim where
    /// they do not end the game. A claim is no label if the tag `Termination` names time, a fault
    /// or a cap of plies.
    ///
    /// # Errors
    ///
    /// If a move before the end is not legal.
    pub fn new(transcript: &Transcript, rules: Option<RuleSet>) -> Result<Self, ReadError> {
        let judged = transcript.judge(rules)?;
        let played = &judged.replay.game;
        let verdict = played.status().ending().map(|ending| (ending.outcome, ending.reason.name()));
        let claimed = || judged.claimed.flatten().filter(|_| is_decided_by_position(transcript));
        let label = verdict.or_else(|| Some((claimed()?, "claimed")));

        let texts = comments(transcript);
        let evaluations: Vec<_> = texts.iter().map(|text| evaluation(text)).collect();
        let mut labelled = Self {
            rules: judged.rules,
            positions: Vec::new(),
            reason: label.map(|(_, reason)| reason),
            agreement: judged.agreement,
            opening: 0,
            unlabelled: 0,
            after_end: judged.replay.moves_after_end,
            comments: 0,
            variations: 0,
            glyphs: 0,
            others: 0,
        };
        let mut game = Game::new(transcript.start.clone(), judged.rules);
        for (ply, mv) in played.moves().enumerate() {
            let turn = game.position().turn();
            let before = ply.checked_sub(1).and_then(|before| evaluations[before]);
            let score = match (evaluations[ply], before) {
                (Some(Evaluation::ForMover(score)), _) => Some(score),
                (_, Some(Evaluation::ForRed(score))) => Some(if turn == Color::Red { score } else { -score }),
                _ => None,
            };
            let result = label.map(|(outcome, _)| result_for(turn, outcome));
            if matches!(texts[ply].as_str(), "opening" | "book") {
                labelled.opening += 1;
            } else if score.is_none() && result.is_none() {
                labelled.unlabelled += 1;
            } else {
                labelled.positions.push(LabelledPosition { fen: game.fen(), ply, mv, score, result });
            }
            game.make_unjudged(mv);
        }
        for skipped in &transcript.skipped {
            match skipped.kind {
                TokenKind::Variation => labelled.variations += 1,
                TokenKind::Glyph => labelled.glyphs += 1,
                TokenKind::Comment => {
                    labelled.comments += usize::from(skipped.comment().is_none_or(|it| evaluation(&it).is_none()));
                }
                _ => labelled.others += 1,
            }
        }
        Ok(labelled)
    }
}

/// The result for a side: 1, 0 or −1.
fn result_for(side: Color, outcome: Outcome) -> i8 {
    match outcome.loser() {
        None => 0,
        Some(loser) if loser == side => -1,
        Some(_) => 1,
    }
}

/// Whether the tag `Termination` leaves the result to the position. The words are those of this
/// system and of common runners.
fn is_decided_by_position(transcript: &Transcript) -> bool {
    const OTHERWISE: [&str; 13] = [
        "time",
        "ply_cap",
        "crash",
        "stall by",
        "stalled",
        "illegal",
        "wrong_position",
        "abandon",
        "forfeit",
        "infraction",
        "disconnect",
        "unterminated",
        "draw is black's win",
    ];
    let reason = transcript.tag("Termination").unwrap_or_default().to_lowercase();
    !OTHERWISE.iter().any(|word| reason.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> LabelledGame {
        LabelledGame::new(&Transcript::read("", text).unwrap(), None).unwrap()
    }

    /// Ply, move, score and result of each position.
    fn rows(game: &LabelledGame) -> Vec<String> {
        let number = |number: Option<i64>| number.map_or("-".to_owned(), |number| number.to_string());
        let row = |at: &LabelledPosition| {
            format!("{} {} {} {}", at.ply, at.mv, number(at.score.map(i64::from)), number(at.result.map(i64::from)))
        };
        game.positions.iter().map(row).collect()
    }

    #[test]
    fn claims_label_where_the_rules_do_not_decide() {
        let moves = "1. h2e2 {opening} h9g7 {+0.31/12 0.1s 5n} 2. h0g2 {-0.05/9} (2. b0c2) i9h9! {good}";
        let game = label(&format!("{moves} 1-0"));
        assert_eq!(rows(&game), ["1 h9g7 31 -1", "2 h0g2 -5 1", "3 i9h9 - -1"]);
        assert_eq!((game.reason, game.agreement), (Some("claimed"), Agreement::Undecided));
        assert_eq!((game.opening, game.unlabelled, game.comments, game.variations, game.glyphs), (1, 0, 2, 1, 1));
        let game = label(&format!("{moves} *"));
        assert_eq!(rows(&game), ["1 h9g7 31 -", "2 h0g2 -5 -"]);
        assert_eq!((game.reason, game.opening, game.unlabelled), (None, 1, 1));
        for reason in ["time forfeit", "crash by red: the engine exited", "ply_cap", "White loses on time"] {
            assert_eq!(label(&format!("[Termination \"{reason}\"]\n{moves} 1-0")).reason, None, "{reason}");
        }
        for reason in ["adjudication", "normal", "resignation", "stalemate"] {
            assert_eq!(label(&format!("[Termination \"{reason}\"]\n{moves} 1-0")).reason, Some("claimed"), "{reason}");
        }
    }

    #[test]
    fn evaluations_for_red_belong_to_the_position_after_the_move() {
        let game = label("1. h2e2 {[%eval 0.3]} h9g7 {[%eval -0.5]} 2. h0g2 *");
        assert_eq!(rows(&game), ["1 h9g7 -30 -", "2 h0g2 -50 -"]);
    }

    #[test]
    fn the_verdict_of_the_rules_goes_before_the_claim() {
        let fen = "[FEN \"5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w\"]";
        let moves = "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9 e0f0";
        let game = label(&format!("{fen}\n{moves} 1-0"));
        assert_eq!((game.reason, game.agreement, game.after_end), (Some("perpetual_check"), Agreement::Differs, 1));
        assert_eq!(game.positions.len(), 8);
        assert!(game.positions.iter().all(|at| at.result == Some(if at.ply % 2 == 0 { -1 } else { 1 })));
        // In a decider the draw is the label, and the claim is no error.
        let game = label(&format!(
            "[Rules \"simple\"]\n[Termination \"repetition, a draw is Black's win\"]\n{fen}\n{moves} 0-1"
        ));
        assert_eq!((game.reason, game.agreement), (Some("repetition"), Agreement::Agrees));
        assert!(game.positions.iter().all(|at| at.result == Some(0)));
    }
}
