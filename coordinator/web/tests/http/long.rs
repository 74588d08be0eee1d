//! Long games: pages stay small, and every move can be reached.

use dataset::{Header, Opening, Reason, Record, ScoredMove};
use reqwest::{Method, StatusCode};
use xiangqi::{
    Fen, Move,
    rules::{Game, Outcome},
};

use crate::{bench::Bench, games::send_form, rulebook};

/// The longest game that the judge accepts, in plies.
const MAX_PLIES: usize = 1_500;

/// A game without an end for so many plies: pieces wander, and captures reset the natural limit.
fn wander(plies: usize) -> Game {
    let mut game = Game::new(Fen::start(), xiangqi::rules::RuleSet::Cxr);
    let mut state = 1_u64;
    while game.len() < plies {
        let moves: Vec<Move> = game.position().legal_moves().iter().copied().collect();
        let takes = |mv: &Move| game.position().piece_at(mv.to()).is_some();
        let wants = game.limit_counter().counted() > 100;
        let (mut first, rest): (Vec<Move>, Vec<Move>) = moves.into_iter().partition(|mv| takes(mv) == wants);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let turn = (state >> 33) as usize % first.len().max(1);
        first.rotate_left(turn);
        let continues = first.into_iter().chain(rest).any(|mv| {
            let ends = game.push_legal(mv).ending().is_some();
            if ends {
                game.pop();
            }
            !ends
        });
        assert!(continues, "after {} plies every move ends it", game.len());
    }
    game
}

fn record(header: &Header, number: u64, game: &Game) -> Record {
    let score = |ply: usize| Some(((ply * 7_919) % 2_001) as i32 - 1_000);
    let moves = game.moves().enumerate().map(|(ply, mv)| ScoredMove { mv, score: score(ply) });
    let opening = Opening {
        rules: header.rules,
        start: game.start().clone(),
        seed: header.seed_of(number),
        attempt: 0,
        moves: Vec::new(),
    };
    Record { opening, moves: moves.collect(), outcome: Outcome::Draw, reason: Reason::PlyCap }
}

async fn get(bench: &Bench, path: &str) -> (StatusCode, String) {
    let answer = bench.request(Method::GET, path, "").send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

#[tokio::test]
async fn pages_of_long_games_are_small_and_lead_to_every_move() {
    let bench = Bench::start().await;
    let mut header = rulebook::header();
    header.settings.ply_cap = MAX_PLIES as u32;
    let games = [400, MAX_PLIES].map(wander);
    let records: Vec<_> = games.iter().enumerate().map(|(place, game)| record(&header, place as u64, game)).collect();
    let shard = rulebook::put(&bench, &header, &records, "closed").await;
    for (number, game) in games.iter().enumerate() {
        let moves: Vec<_> = game.moves().map(|mv| mv.to_string()).collect();
        let judge = format!("judge?moves={}&ply", moves.join("+"));
        let kept = format!("games/{shard}/{number}?notation=chinese&ply");
        for (language, page) in [("en", &kept), ("zh", &kept), ("en", &judge), ("zh", &judge)] {
            let mut seen = vec![false; game.len() + 1];
            let mut ply = 0;
            while ply <= game.len() {
                let path = format!("/{language}/{page}={ply}");
                let (status, text) = get(&bench, &path).await;
                assert_eq!(status, StatusCode::OK, "{text}");
                assert!(text.len() < 100_000, "{} bytes of ply {ply} of {}", text.len(), game.len());
                assert!(text.contains(&format!("<span data-now>{ply}</span> / {}", game.len())), "{ply}");
                let shown = text.split("data-ply=\"").skip(2).filter_map(|rest| rest.split('"').next()?.parse().ok());
                let shown: Vec<usize> = shown.collect();
                for ply in &shown {
                    seen[*ply] = true;
                }
                ply = shown.into_iter().max().unwrap().max(ply) + 1;
            }
            assert!(seen[1..].iter().all(|seen| *seen), "every move is on a page");
        }
    }
}

#[tokio::test]
async fn a_long_text_is_sent_and_has_an_address_afterwards() {
    let bench = Bench::start().await;
    let game = wander(MAX_PLIES);
    let mut position = game.start().position.clone();
    let texts = game.moves().map(|mv| {
        let text = position.format_move(mv, xiangqi::notation::Notation::ChineseSimplified);
        let _ = position.make(mv);
        text
    });
    let moves = texts.collect::<Vec<_>>().join(" ");
    assert!(moves.len() > 16_384, "too long for an address: {}", moves.len());
    let send = async |fields: &[(&str, &str)]| send_form(&bench, "/en/judge", fields).await;
    let sent = send(&[("fen", ""), ("moves", &moves), ("rules", "cxr"), ("flip", "1")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let place = sent.headers()["location"].to_str().unwrap().to_owned();
    assert!(place.len() < 8_000 && place.contains("flip=1"), "{} bytes", place.len());
    let (status, page) = get(&bench, &place).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains(&format!("<span data-now>{MAX_PLIES}</span> / {MAX_PLIES}")));

    // Moves after the end are counted, and unreadable ones reported at once.
    let (fen, line) = rulebook::CHECK;
    let over = format!("{line} a0a1 a1a2");
    let sent = send(&[("fen", fen), ("moves", &over)]).await;
    let (_, page) = get(&bench, sent.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("perpetual check") && page.contains("2 further moves were ignored"), "{page}");
    let wrong = send(&[("moves", "h2e2 b0b3")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text().await.unwrap().contains("h2e2 b0b3</textarea>"), "the input stays");
}
