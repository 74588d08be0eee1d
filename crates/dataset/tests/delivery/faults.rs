//! Games that are not as recorded.

use dataset::{
    EvaluationFilter, MAX_SCORE,
    codec::{BlockDecoder, CodecError},
    opening::MAX_ATTEMPTS,
};
use xiangqi::{Fen, Move, Square};

use super::*;

#[test]
fn false_labels_are_refused() {
    let (header, games) = honest();
    let numbers = numbers(&header, &games);
    let refused = |games: &[Record]| replay_refusal(&common::shard(&header, games), &header, numbers.clone());
    let mut other = games.clone();
    other[5].outcome = if games[5].outcome == Outcome::Draw { Outcome::RedWins } else { Outcome::Draw };
    let (code, sentence) = refused(&other);
    assert!(code == "false_label" && sentence.starts_with("game 15 ply "), "{sentence}");
    let mut other = games.clone();
    other[3].moves.pop();
    assert_eq!(refused(&other).0, "false_label");
    // With a lower threshold it would have ended before.
    let decided = games.iter().position(|game| game.reason == Reason::AdjudicatedWin).unwrap();
    let mut other = games;
    let last = other[decided].clone();
    let mut position = Fen::start().position;
    for mv in last.opening.moves.iter().copied().chain(last.moves.iter().map(|scored| scored.mv)) {
        let _ = position.make(mv);
    }
    let mv = position.legal_moves()[0];
    other[decided].moves.push(dataset::ScoredMove { mv, score: None });
    assert_eq!(refused(&other).0, "false_label");
}

/// The encoder stops at a move that leaves the king in check; a forger does not.
#[test]
fn illegal_moves_are_refused() {
    let (header, games) = honest();
    let leaves_check = |index: usize, place: usize| {
        let game = &games[index];
        let mut position = Fen::start().position;
        let moves = game.opening.moves.iter().copied().chain(game.moves[..place].iter().map(|scored| scored.mv));
        for mv in moves {
            let _ = position.make(mv);
        }
        if !position.in_check() {
            return None;
        }
        let squares =
            || Square::all().filter(|from| position.piece_at(*from).is_some_and(|it| it.color() == position.turn()));
        let all = squares().flat_map(|from| Square::all().map(move |to| Move::new(from, to)));
        all.filter(|mv| !position.is_legal(*mv)).find_map(|mv| {
            let mut other = games.clone();
            other[index].moves[place].mv = mv;
            let block = payload(&header, &other[..=index]);
            let mut decoder = BlockDecoder::new(&header, &block.payload, header.first_game, 12);
            let end = std::iter::from_fn(|| decoder.next(|_| {}).transpose()).find_map(Result::err)?;
            (end == CodecError::IllegalMove { ply: 7 + place }).then_some(other)
        })
    };
    let bad =
        (0..games.len()).find_map(|index| (0..games[index].moves.len()).find_map(|place| leaves_check(index, place)));
    let bytes = forged(&header, &bad.unwrap());
    let (code, sentence) = replay_refusal(&bytes, &header, numbers(&header, &games));
    assert!(code == "illegal_move" && sentence.ends_with(": the move is not legal"), "{sentence}");
}

#[test]
fn scores_beyond_all_are_refused() {
    let (header, mut games) = honest();
    let place = games[2].moves.len() - 1;
    games[2].moves[place].score = Some(MAX_SCORE + 1);
    let (code, sentence) = replay_refusal(&forged(&header, &games[..3]), &header, 10..13);
    assert!(code == "bad_score" && sentence.starts_with("game 12: ply "), "{sentence}");
}

#[test]
fn freely_chosen_openings_are_refused() {
    let (header, games) = honest();
    // A walk that is not an opening: it repeats a position.
    let walker = dataset::opening::Walker::from_start(header.rules, header.openings.plies);
    let none = (0..1_000_000).find(|attempt| walker.walk_unjudged(header.seed_of(10), *attempt).is_err()).unwrap();
    let mut other = games.clone();
    other[0].opening.attempt = none;
    assert_eq!(replay_refusal(&forged(&header, &other), &header, 10..22).0, "wrong_opening");
    // An attempt beyond the bound, whatever the engine says.
    let attempt = (MAX_ATTEMPTS..2 * MAX_ATTEMPTS)
        .find(|attempt| walker.walk_unjudged(header.seed_of(10), *attempt).is_ok())
        .unwrap();
    let with = |header: &Header, attempt| {
        let mut game = common::game(header, 10);
        game.opening.attempt = attempt;
        game.opening.moves = walker.moves(game.opening.seed, attempt).unwrap();
        game.moves.clear();
        game
    };
    let bytes = common::shard(&header, &[with(&header, attempt)]);
    let refusal = replay_refusal(&bytes, &header, 10..11);
    assert_eq!(refusal, ("wrong_opening", format!("game 10: no player keeps attempt {attempt} of its opening")));
    // A later attempt than the first opening, without a filter.
    let mut unjudged = header.clone();
    unjudged.openings.filter = None;
    let bytes = common::shard(&unjudged, &[with(&unjudged, 3)]);
    assert_eq!(replay_refusal(&bytes, &unjudged, 10..11).0, "wrong_opening");
    // A start that is not the book's for this seed.
    let booked = common::with_book(header);
    let games = common::games(&booked, 12);
    let bytes = common::shard(&booked, &games);
    let start_of = |seed: u64| if seed == booked.seed_of(15) { Fen::start() } else { start(&games, seed) };
    let refusal = by_replay(&bytes, &booked, 10..22, Some(&start_of)).unwrap_err();
    assert_eq!(code(&refusal), "wrong_opening");
    assert!(refusal.to_string().starts_with("game 15: it starts from a position"), "{refusal}");
    assert!(by_replay(&bytes, &booked, 10..22, Some(&|seed| start(&games, seed))).is_ok());
}

fn start(games: &[Record], seed: u64) -> Fen {
    games.iter().find(|game| game.opening.seed == seed).unwrap().opening.start.clone()
}

/// From a start with few moves, by a player that accepts any attempt.
#[test]
fn duplicate_games_are_refused_where_they_cannot_be_chance() {
    let mut header = common::with_book(common::header(10));
    header.openings.plies = 8;
    header.openings.filter = Some(EvaluationFilter { nodes: 100, bound: 30_000 });
    header.settings.ply_cap = 8;
    let start: Fen = "4k4/9/9/9/p8/9/9/9/9/3K5 w".parse().unwrap();
    let walker = dataset::opening::Walker { start: start.clone(), rules: header.rules, plies: 8 };
    let game = |number: u64, attempt: u64| {
        let seed = header.seed_of(number);
        let moves = walker.moves(seed, attempt).ok()?;
        let opening = dataset::Opening { rules: header.rules, start: start.clone(), seed, attempt, moves };
        Some(Record { opening, moves: Vec::new(), outcome: Outcome::Draw, reason: Reason::PlyCap })
    };
    let mut first: BTreeMap<Vec<u16>, u64> = BTreeMap::new();
    let key = |game: &Record| game.opening.moves.iter().map(|mv| mv.to_bits()).collect::<Vec<_>>();
    for attempt in 0..MAX_ATTEMPTS {
        if let Some(game) = game(10, attempt) {
            first.entry(key(&game)).or_insert(attempt);
        }
    }
    let same = (0..MAX_ATTEMPTS).find_map(|attempt| {
        let second = game(11, attempt)?;
        Some(vec![game(10, *first.get(&key(&second))?)?, second])
    });
    let same = same.unwrap();
    let refusal = replay_refusal(&common::shard(&header, &same), &header, 10..12);
    assert_eq!(refusal, ("duplicate_game", "game 11: the same moves as game 10".to_owned()));
    // The two games of a pair may be equal; they even share their seed.
    let requested = Header { opponent: match_header().opponent, ..header.clone() };
    let pair = {
        let mut second = same[0].clone();
        second.opening.seed = requested.seed_of(11);
        let attempt = (0..MAX_ATTEMPTS).find(|attempt| walker.moves(second.opening.seed, *attempt).is_ok()).unwrap();
        second.opening.attempt = attempt;
        second.opening.moves = walker.moves(second.opening.seed, attempt).unwrap();
        [second.clone(), second]
    };
    let proof = by_replay(&common::shard(&requested, &pair), &requested, 10..12, None).unwrap();
    assert_eq!((proof.pairs, proof.repeated.len()), (vec![2], 0));
    // With fewer random moves it may be chance, and is reported instead.
    header = common::with_book(common::header(10));
    (header.openings.plies, header.settings.ply_cap) = (0, 1);
    let games = common::games(&header, 60);
    let proof = by_replay(&common::shard(&header, &games), &header, 10..70, None).unwrap();
    assert!(proof.repeated.len() > 10 && proof.repeated.is_sorted(), "{:?}", proof.repeated);
    assert_eq!(proof.games, 60);
}
