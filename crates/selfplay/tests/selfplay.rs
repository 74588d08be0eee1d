//! Self-play games are deterministic.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{convert::Infallible, sync::Arc};

use engine::{Evaluation, Parameters};
use nnue::{Kernel, Net, architecture::Sizes};
use selfplay::{
    Adjudication, Digest, DrawRule, Filter, Openings, Reason, Record, RunDigest, WinRule,
    selfplay::{GameSettings, Run},
};
use xiangqi::rules::{Game, Outcome, RuleSet, Status};

fn run(threads: usize) -> Run {
    Run {
        evaluation: Evaluation::Plain,
        opponent: None,
        parameters: Parameters::default(),
        timed: None,
        settings: GameSettings {
            hash_mebibytes: 1,
            soft_nodes: None,
            hard_nodes: 200,
            adjudication: Adjudication::default(),
            ply_cap: 300,
        },
        openings: Openings {
            rules: RuleSet::Cxr,
            book: None,
            plies: 8,
            filter: Some(Filter { nodes: 100, bound: 200 }),
        },
        seed: 7,
        first: 0,
        games: 4,
        threads,
    }
}

fn play(run: &Run) -> (Vec<Record>, u64, Digest) {
    let (mut records, mut nodes, mut digest) = (Vec::new(), 0, RunDigest::default());
    run.play(|number, finished| {
        assert_eq!(number, records.len() as u64);
        digest.add(&finished.record);
        nodes += finished.nodes;
        records.push(finished.record);
        Ok::<_, Infallible>(())
    })
    .unwrap();
    (records, nodes, digest.digest())
}

#[test]
fn games_do_not_depend_on_the_number_of_threads() {
    let one = play(&run(1));
    assert_eq!(one, play(&run(2)));
    assert_eq!(one, play(&run(3)));
    assert_eq!(one.0.len(), 4);
    let other_seed = Run { seed: 8, ..run(1) };
    assert_ne!(one.2, play(&other_seed).2);
}

#[test]
fn games_do_not_depend_on_the_kernel() {
    let net = Arc::new(Net::from_piece_values(Sizes::new(128, 16, 32, 8).unwrap(), 3));
    let with = |kernel| {
        let evaluation = Evaluation::Net(Arc::clone(&net), kernel);
        play(&Run { evaluation, games: 2, ..run(1) })
    };
    let scalar = with(Kernel::available().next().unwrap());
    assert!(Kernel::available().all(|kernel| with(kernel) == scalar));
}

/// With a used engine, and in reverse order.
#[test]
fn a_game_is_replayed_from_its_number() {
    let run = run(1);
    let (records, ..) = play(&run);
    let mut players = run.players();
    for (number, record) in records.iter().enumerate().rev() {
        let again = run.game(&mut players, number as u64).unwrap();
        assert_eq!(again.record, *record);
        assert_eq!(again.record.digest(), record.digest());
    }
}

/// The opening filter clears the engine. Without a filter the game itself must clear it.
#[test]
fn a_game_without_an_opening_filter_clears_the_engine() {
    let mut run = run(1);
    run.openings.filter = None;
    run.games = 2;
    let (records, ..) = play(&run);
    let mut players = run.players();
    for number in [0, 0, 1, 0] {
        let again = run.game(&mut players, number).unwrap();
        assert_eq!(again.record, records[number as usize]);
    }
}

/// Checks that a record follows from its moves and scores.
fn check(record: &Record, settings: &GameSettings, plies: u32) {
    let opening = &record.opening;
    let walker = dataset::opening::Walker { start: opening.start.clone(), rules: opening.rules, plies };
    assert_eq!(walker.moves(opening.seed, opening.attempt).unwrap(), opening.moves);
    let mut game: Game = opening.game();
    for (index, scored) in record.moves.iter().enumerate() {
        let scores = record.moves[..index].iter().map(|scored| scored.score);
        let verdict = settings.adjudication.verdict(scores, opening.moves.len(), !game.position().turn());
        assert_eq!((game.status(), verdict), (&Status::Ongoing, None));
        assert!(game.len() < settings.ply_cap as usize);
        assert!(scored.score.is_none_or(|score| score.abs() <= engine::score::MATE));
        game.push(scored.mv).unwrap();
    }
    let scores = record.moves.iter().map(|scored| scored.score);
    let verdict = settings.adjudication.verdict(scores, opening.moves.len(), !game.position().turn());
    let expected = match game.status() {
        Status::Over(ending) => (ending.outcome, Reason::Rules(ending.reason)),
        Status::Ongoing => verdict.unwrap_or((Outcome::Draw, Reason::PlyCap)),
    };
    assert_eq!((record.outcome, record.reason), expected);
    if record.reason == Reason::PlyCap {
        assert_eq!(game.len(), settings.ply_cap as usize);
    }
}

#[test]
fn records_follow_from_moves_and_scores() {
    let mut run = run(2);
    run.games = 12;
    run.settings.hard_nodes = 60;
    run.settings.ply_cap = 80;
    run.settings.adjudication = Adjudication {
        win: Some(WinRule { score: 400, plies: 6 }),
        draw: Some(DrawRule { score: 40, plies: 8, from_ply: 30 }),
    };
    let (records, ..) = play(&run);
    for record in &records {
        check(record, &run.settings, 8);
    }
    let ended_by = |reason| records.iter().any(|record| record.reason == reason);
    assert!(ended_by(Reason::AdjudicatedWin), "no game was adjudicated: the thresholds are not tested");
}

#[test]
fn digests_cover_all_fields() {
    let mut run = run(1);
    run.games = 1;
    let (records, ..) = play(&run);
    let record = &records[0];
    let mut others = vec![record.clone(); 8];
    others[1].opening.attempt += 1;
    others[2].opening.seed += 1;
    others[3].opening.rules = RuleSet::Wxf;
    others[4].opening.start.limit_counter += 1;
    others[5].moves[3].score = None;
    others[6].moves.pop();
    others[7].reason = Reason::AdjudicatedDraw;
    let mut digests: Vec<_> = others.iter().map(|record| record.digest().to_string()).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), others.len());
}
