//! Match games kept as records: deterministic by header and number, like those of self-play.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::num::NonZeroUsize;

use common::{match_run, net, play, run};
use dataset::{
    Header,
    manifest::Entry,
    shard::{Shard, ShardWriter},
    verify::verify_shard,
};
use engine::{Engine, Evaluation, Limits, Parameters, Settings};
use selfplay::{
    Book, Record,
    selfplay::{HeaderMismatch, Opponent, Run},
};
use xiangqi::{Color, rules::RuleSet};

#[test]
fn a_part_of_a_run_has_the_same_games() {
    for run in [run(20, 1), match_run(20, 1)] {
        let all = play(&run);
        for threads in [1, 2] {
            let some = Run { first: 6, games: 4, threads, ..run.clone() };
            assert_eq!(some.header().first_game, 6);
            assert_eq!(play(&some), all[6..10]);
        }
        assert_eq!(play(&Run { threads: 3, ..run.clone() }), all);
        // With used players, and from the last to the first.
        let mut players = run.players();
        for number in [19, 7, 6, 0] {
            assert_eq!(run.game(&mut players, number as u64).unwrap().record, all[number], "game {number}");
        }
    }
}

/// Checked with two new engines per game, independent of the run.
#[test]
fn each_entrant_plays_its_colour_in_each_game_of_a_pair() {
    let run = match_run(4, 2);
    let opponent = run.opponent.clone().unwrap();
    for (number, record) in play(&run).into_iter().enumerate() {
        let engine = |evaluation: &Evaluation| {
            let settings = Settings { hash_mebibytes: 1, evaluation: evaluation.clone(), ..Settings::default() };
            Engine::new(&settings)
        };
        let mut engines = [engine(&run.evaluation), engine(&opponent.evaluation)];
        let limits = [Limits::nodes(60), Limits { soft_nodes: Some(20), ..Limits::nodes(40) }];
        let red = number % 2;
        let mut game = record.opening.game();
        for scored in &record.moves {
            let entrant = if game.position().turn() == Color::Red { red } else { 1 - red };
            let report = engines[entrant].search(&game, &limits[entrant]);
            let score = report.score().filter(|score| score.abs() <= engine::score::MATE);
            assert_eq!((report.best_move(), score), (Some(scored.mv), scored.score), "game {number}");
            game.push(scored.mv).unwrap();
        }
    }
}

#[test]
fn a_pairs_opening_does_not_depend_on_the_players() {
    let records = play(&match_run(6, 1));
    let openings = |records: &[Record]| records.iter().map(|record| record.opening.clone()).collect::<Vec<_>>();
    for pair in openings(&records).chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    let opponent =
        Opponent { evaluation: Evaluation::Plain, parameters: Parameters::default(), soft_nodes: None, hard_nodes: 1 };
    let mut others = Run { evaluation: net(), opponent: Some(opponent), ..match_run(6, 1) };
    others.settings.hash_mebibytes = 2;
    assert_eq!(openings(&play(&others)), openings(&records));
    let [first, second, ..] = &records[..] else { unreachable!("six games") };
    assert_ne!(first.moves, second.moves);
}

fn shard(run: &Run) -> Vec<u8> {
    let mut writer = ShardWriter::new(Vec::new(), run.header()).unwrap();
    for record in play(run) {
        writer.add(&record).unwrap();
    }
    writer.finish().unwrap().0
}

/// Also where both entrants, and so both games of a pair, are equal.
#[test]
fn match_games_are_stored_and_verified_like_others() {
    let mut same = match_run(6, 2);
    same.opponent = Some(Opponent {
        evaluation: Evaluation::Plain,
        parameters: Parameters::default(),
        soft_nodes: None,
        hard_nodes: 60,
    });
    for run in [Run { first: 4, ..match_run(6, 2) }, same] {
        let bytes = shard(&run);
        let shard = Shard::new(&bytes).unwrap();
        assert_eq!(shard.header(), &run.header());
        let report = verify_shard(&shard, None, NonZeroUsize::MIN).unwrap();
        assert_eq!((report.games, report.faults), (6, Vec::new()));
        let entry = Entry::of(&bytes).unwrap();
        let opponent = entry.provenance.opponent.unwrap();
        assert_eq!(opponent.net, run.header().opponent.unwrap().net.map(|net| net.to_string()));
    }
    let bytes = shard(&run(2, 1));
    assert!(!serde_json::to_string(&Entry::of(&bytes).unwrap()).unwrap().contains("opponent"));
}

#[test]
fn a_run_is_determined_by_its_header() {
    let line = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b\n";
    let book = Book::from_bytes(line.as_bytes(), RuleSet::Cxr).unwrap();
    let mut run = Run { first: 3, ..match_run(1, 1) };
    run.openings.book = Some(book.clone());
    let header = run.header();
    let given = |evaluation, opponent, book| Run::from_header(&header, evaluation, opponent, book);
    let again = given(Evaluation::Plain, Some(net()), Some(book.clone())).unwrap();
    assert_eq!((again.header(), again.games, again.threads), (header.clone(), 1, 1));
    assert_eq!(play(&again), play(&run));

    let error = |given: Result<Run, HeaderMismatch>| given.unwrap_err().to_string();
    let hash = header.opponent.unwrap().net.unwrap();
    assert_eq!(
        error(given(Evaluation::Plain, Some(Evaluation::Plain), Some(book.clone()))),
        format!("the net {hash} should play as B, and the plain evaluation is given")
    );
    assert_eq!(
        error(given(net(), Some(net()), Some(book.clone()))),
        format!("the plain evaluation should play as A, and the net {hash} is given")
    );
    assert_eq!(
        error(given(Evaluation::Plain, Some(net()), None)),
        format!("the book should be {}, and is none", book.hash())
    );
    assert_eq!(error(given(Evaluation::Plain, None, Some(book))), "the games are of a match, and no opponent is given");
    let own = common::run(1, 1).header();
    assert_eq!(
        error(Run::from_header(&own, Evaluation::Plain, Some(net()), None)),
        "the games are of self-play, and an opponent is given"
    );
    let mut older = own;
    older.bench_signature = 1;
    let signature = engine::bench::SIGNATURE;
    assert_eq!(
        error(Run::from_header(&older, Evaluation::Plain, None, None)),
        format!("the games are of engines with the bench signature 1; that of this one is {signature}")
    );
}

/// Games are a function of the parameters of both searches, and headers carry those.
#[test]
fn a_run_with_parameters_is_determined_by_its_header() {
    let plain = match_run(2, 1);
    let parameters: Parameters = "lmr_base=900 futility_base=20 qs_delta_margin=60".parse().unwrap();
    let mut run = Run { parameters: parameters.clone(), ..plain.clone() };
    let header = run.header();
    assert_eq!(header.parameters.as_str(), "futility_base=20 lmr_base=900 qs_delta_margin=60");
    assert!(header.opponent_parameters.is_empty());
    let games = play(&run);
    assert_ne!(games, play(&plain));
    let again = Run::from_header(&header, Evaluation::Plain, Some(net()), None).unwrap();
    assert_eq!((again.header(), play(&Run { games: 2, ..again })), (header, games.clone()));

    run.opponent.as_mut().unwrap().parameters = parameters;
    let header = run.header();
    assert_eq!(header.opponent_parameters, header.parameters);
    assert_ne!(play(&run), games);
    let foreign = Header { opponent_parameters: "no_such=1".parse().unwrap(), ..header };
    assert_eq!(
        Run::from_header(&foreign, Evaluation::Plain, Some(net()), None).unwrap_err().to_string(),
        "B plays with parameters that this engine does not have: there is no parameter `no_such` \
         (docs/PARAMETERS.md lists them)"
    );
}

/// An observer sees the progress of a game and does not affect it.
#[test]
fn a_watched_game_is_the_same_game() {
    for run in [run(2, 1), match_run(2, 1)] {
        let mut players = run.players();
        for number in 0..2 {
            let alone = run.game(&mut players, number).unwrap();
            let mut lengths = Vec::new();
            let mut ended = None;
            let mut last_nodes = 0;
            let watched = run.game_watched(&mut players, number, &mut || true, &mut |snapshot| {
                let nodes: u64 = snapshot.nodes.iter().sum();
                assert!(nodes >= last_nodes && ended.is_none());
                assert_eq!(snapshot.search.is_none(), snapshot.end.is_some());
                last_nodes = nodes;
                ended = snapshot.end;
                lengths.push(snapshot.game.len());
            });
            assert_eq!(watched.unwrap().as_ref(), Some(&alone));
            let record = &alone.record;
            assert_eq!((ended, last_nodes), (Some((record.outcome, record.reason)), alone.nodes));
            lengths.dedup();
            // A search that ends within its first iteration yields no snapshot.
            let opening = record.opening.moves.len();
            assert!(lengths.is_sorted() && lengths.len() > record.moves.len() / 2, "{lengths:?}");
            assert!(lengths[0] >= opening && *lengths.last().unwrap() == opening + record.moves.len());
        }
    }
}
