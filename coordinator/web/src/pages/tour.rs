//! The guided tour: one real game of the published data. The page shows its label by the rules and
//! without them, its proof, and the net that learned from it.

use std::sync::LazyLock;

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};
use coordinator_core::{games::story::Story, query, store::Nets};
use dataset::{Digest, Score};
use serde::Deserialize;
use xiangqi::{
    Fen, Move,
    rules::{Game, RuleSet},
};

use super::{
    page::{Page, Visitor, show},
    viewer::{View, Viewer, notation_of},
    words::state,
};
use crate::{
    answer::{ApiResult, Query},
    app::App,
};

/// The game, as the published file has it.
static GAME: LazyLock<PublishedGame> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../assets/tour.json")).expect("it is part of the program"));

/// A game of the published data.
#[derive(Deserialize)]
struct PublishedGame {
    file: String,
    shard: Digest,
    game: u64,
    player: Player,
    learner: Learner,
    seed: u64,
    attempt: u64,
    start: String,
    opening: Vec<String>,
    moves: Vec<(String, Option<Score>)>,
    digest: Digest,
}

/// The net that played it.
#[derive(Deserialize)]
struct Player {
    name: String,
    net: Digest,
}

/// The net that learned from it.
#[derive(Deserialize)]
struct Learner {
    name: String,
    net: Digest,
    manifest: Digest,
}

impl PublishedGame {
    /// Replays the game under a rule set.
    fn replay(&self, rules: RuleSet) -> Story {
        let start: Fen = self.start.parse().expect("it is a position");
        let mut game = Game::new(start, rules);
        for text in self.line() {
            let mv: Move = text.parse().expect("it is a move");
            game.push(mv).expect("it is legal");
        }
        let mut story = Story::of(game);
        story.opening = self.opening.len();
        let turn = story.game.start().position.turn();
        for (ply, (_, score)) in self.moves.iter().enumerate() {
            let index = self.opening.len() + ply;
            let is_red = (turn == xiangqi::Color::Red) == index.is_multiple_of(2);
            story.scores[index] = score.map(|score| if is_red { score } else { -score });
        }
        story
    }

    fn line(&self) -> impl Iterator<Item = &str> {
        self.opening.iter().map(String::as_str).chain(self.moves.iter().map(|(text, _)| text.as_str()))
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/tour", get(tour))
}

#[derive(Template)]
#[template(path = "tour.html")]
struct TourPage {
    page: Page,
    published: &'static PublishedGame,
    viewer: Viewer,
    names: Option<[String; 2]>,
    counted: u32,
    flip: String,
    labels: [Label; 2],
    judge: String,
    /// Whether this server has the nets.
    has_player: bool,
    has_learner: bool,
}

/// The label of the game under a rule set.
struct Label {
    rules: &'static str,
    outcome: String,
    reason: String,
    sentence: String,
}

#[derive(Deserialize)]
struct At {
    ply: Option<usize>,
    flip: Option<String>,
}

async fn tour(State(app): State<App>, visitor: Visitor, Query(at): Query<At>) -> ApiResult<Response> {
    let published = &*GAME;
    let language = visitor.language;
    let story = published.replay(RuleSet::Cxr);
    let view = View { language, ply: at.ply, notation: notation_of(None, language), flipped: at.flip.is_some() };
    let mut viewer = Viewer::new(&story, &view);
    viewer.suffix = if view.flipped { "&flip=1".to_owned() } else { String::new() };
    let label = |rules: RuleSet| {
        let story = published.replay(rules);
        let text = |english: &str, chinese: &str| if language.tag() == "en" { english } else { chinese }.to_owned();
        let end = story.end.as_ref();
        Label {
            rules: rules.name(),
            outcome: end.map_or_else(String::new, |end| state(language, end.outcome.name())),
            reason: end.map_or_else(String::new, |end| state(language, end.reason.name())),
            sentence: end.map_or_else(String::new, |end| text(&end.explanation.english, &end.explanation.chinese)),
        }
    };
    let labels = [label(RuleSet::Cxr), label(RuleSet::Simple)];
    let (player, learner) = (published.player.net.to_string(), published.learner.net.to_string());
    let (has_player, has_learner) = app
        .read(query!(|connection| {
            let has_player = Nets::on(connection.reborrow()).find_name(&player).await?.is_some();
            Ok((has_player, Nets::on(connection).find_name(&learner).await?.is_some()))
        }))
        .await?;
    let moves: Vec<_> = published.line().collect();
    let start = published.start.replace(' ', "+");
    let judge = visitor.link(&format!("/judge?rules=wxf&fen={start}&moves={}", moves.join("+")));
    let flip = format!("?ply={}{}", viewer.ply, if view.flipped { "" } else { "&flip=1" });
    let page = visitor.page("tour", language.words().tour.title, "");
    let names = None;
    show(&TourPage { page, published, viewer, names, counted: 0, flip, labels, judge, has_player, has_learner })
}

#[cfg(test)]
mod tests {
    use dataset::{manifest::Manifest, shard::Shard};
    use protocol::net::NetManifest;

    use super::*;

    fn bytes_of(path: &str) -> Vec<u8> {
        let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The page's game is the one of the published file, and the net's manifests lead to it.
    #[test]
    fn the_game_is_of_the_published_data() {
        let published = &*GAME;
        let bytes = bytes_of(&published.file);
        assert_eq!(Digest::of(&bytes), published.shard);
        let shard = Shard::new(bytes).unwrap();
        assert_eq!(shard.header().net, Some(published.player.net));
        let record = shard.game(published.game).unwrap();
        assert_eq!((record.digest(), record.opening.attempt), (published.digest, published.attempt));
        assert_eq!((shard.header().seed_of(published.game), record.reason.name()), (published.seed, "perpetual_chase"));
        let moves: Vec<_> = record.moves.iter().map(|scored| (scored.mv.to_string(), scored.score)).collect();
        assert_eq!(moves, published.moves);

        let net: NetManifest = serde_json::from_slice(&bytes_of("nets/gen2-256/net.json")).unwrap();
        assert_eq!((net.net.to_string(), &net.name), (published.learner.net.to_string(), &published.learner.name));
        assert!(net.data.iter().any(|source| source.manifest.to_string() == published.learner.manifest.to_string()));
        let manifest = bytes_of("nets/gen2-256/third.json");
        assert_eq!(Digest::of(&manifest), published.learner.manifest);
        let manifest = Manifest::from_text(std::str::from_utf8(&manifest).unwrap()).unwrap();
        assert!(manifest.shards.iter().any(|entry| entry.sha256 == published.shard.to_string()));
    }

    #[test]
    fn the_rules_decide_otherwise_than_repetition() {
        let label = |rules| end_under(rules).map(|end| (end.outcome.name(), end.reason.name()));
        assert_eq!(label(RuleSet::Cxr), Some(("red_wins", "perpetual_chase")));
        assert_eq!(label(RuleSet::Simple), Some(("draw", "repetition")));
        let story = GAME.replay(RuleSet::Cxr);
        assert_eq!(story.scores[GAME.opening.len()], GAME.moves[0].1, "Red's own score is seen from Red");
    }

    /// The text names four plies, and what moves at each.
    #[test]
    fn the_plies_that_the_page_names_chase() {
        let start: Fen = GAME.start.parse().unwrap();
        let mut game = Game::new(start, RuleSet::Cxr);
        for (ply, text) in (1..).zip(GAME.line()) {
            let mv: Move = text.parse().unwrap();
            let piece = game.position().piece_at(mv.from()).unwrap().kind().name();
            match ply {
                126 | 128 => assert_eq!(piece, "chariot", "ply {ply}"),
                130 | 132 => assert!(piece == "king" && game.position().checkers().any(), "ply {ply}"),
                _ => {}
            }
            game.push(mv).unwrap();
        }
        let sentence = end_under(RuleSet::Cxr).unwrap().explanation.english;
        let expected = "each of Black's moves from ply 126 to ply 132 chases Red's cannon";
        assert!(sentence.contains(expected), "{sentence}");
    }

    fn end_under(rules: RuleSet) -> Option<coordinator_core::games::story::End> {
        GAME.replay(rules).end
    }
}
