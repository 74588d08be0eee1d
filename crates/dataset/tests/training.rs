//! The training reader: equal samples for any number of threads, from any position, and none that
//! the filter leaves out.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use dataset::{
    Record,
    manifest::{KNOWN_DIGESTS, Manifest, ManifestError},
    shard::{Shard, ShardError},
    training::{
        Duplicates, Filter, Games, PackedPosition, Plan, Reader, ReaderPosition, Sample, ShardStore, Share,
        StreamedSet, TrainingError, WeightedSet,
    },
};
use xiangqi::{Color, Move, Position};

const GAMES: u64 = 200;

fn set(seeds: &[u64], weight: u32) -> WeightedSet<Vec<u8>> {
    let shards = seeds.iter().map(|seed| {
        let header = common::header(*seed);
        Shard::new(common::shard(&header, &common::games(&header, GAMES))).unwrap()
    });
    WeightedSet { shards: shards.collect(), weight }
}

fn plan(threads: usize) -> Plan {
    let filter = Filter::default();
    Plan { seed: 3, blocks_in_pool: 3, games: Games::All, filter, shares: Vec::new(), cache_bytes: 0, threads }
}

fn read(
    sets: Vec<WeightedSet<Vec<u8>>>,
    plan: &Plan,
    from: ReaderPosition,
    count: usize,
) -> (Vec<Sample>, ReaderPosition) {
    let mut reader = Reader::new(sets, plan, from).unwrap();
    let mut samples = Vec::new();
    reader.read(&mut samples, count).unwrap();
    (samples, reader.place())
}

#[test]
fn threads_change_nothing_and_any_position_resumes() {
    let sets = || vec![set(&[0, 1], 1), set(&[2], 2)];
    let (all, _) = read(sets(), &plan(1), ReaderPosition::default(), 60_000);
    for threads in [2, 5] {
        assert!(read(sets(), &plan(threads), ReaderPosition::default(), 60_000).0 == all, "{threads} threads");
    }
    // Everything cached, a little, and next to nothing.
    for cache_bytes in [usize::MAX, 100_000, 1] {
        let plan = Plan { cache_bytes, ..plan(2) };
        assert!(read(sets(), &plan, ReaderPosition::default(), 60_000).0 == all, "{cache_bytes} bytes kept");
    }
    for stop in [1, 9_999, 30_000] {
        let (_, place) = read(sets(), &plan(2), ReaderPosition::default(), stop);
        let (rest, _) = read(sets(), &plan(3), place, 60_000 - stop);
        assert!(rest == all[stop..], "stopped after {stop}");
    }
    let other = Plan { seed: 4, ..plan(1) };
    assert!(read(sets(), &other, ReaderPosition::default(), 100).0 != all[..100]);
}

/// In a round of one set every position comes once, with its move, score and result.
#[test]
fn a_round_is_all_positions_once() {
    let header = common::header(0);
    let games = common::games(&header, GAMES);
    let mut expected: Vec<(Position, Move, Option<i32>, i8)> = Vec::new();
    for game in games.iter().filter(|game| game.reason.is_label()) {
        let mut position = game.opening.game().position().clone();
        for scored in &game.moves {
            let winner = game.outcome.loser().map(|loser| !loser);
            let result = winner.map_or(0, |winner| if winner == position.turn() { 1 } else { -1 });
            expected.push((position.clone(), scored.mv, scored.score, result));
            let _ = position.make(scored.mv);
        }
    }
    let unscored = expected.iter().filter(|(_, _, score, _)| score.is_none()).count();
    assert!(unscored > 10, "{unscored}");
    expected.retain(|(_, _, score, _)| score.is_some());
    let blocks = set(&[0], 1).shards[0].index().len();
    let plan = Plan { blocks_in_pool: blocks, ..plan(2) };
    let (samples, place) = read(vec![set(&[0], 1)], &plan, ReaderPosition::default(), expected.len());
    assert_eq!(place, ReaderPosition { pool: 1, sample: 0 });
    let key = |position: &PackedPosition, mv: Move, score: i32, result: i8| {
        let pieces: Vec<_> = position.pieces().map(|(square, piece)| (square.index(), piece.index())).collect();
        (pieces, position.turn() == Color::Red, mv, score, result)
    };
    let mut found: Vec<_> = samples.iter().map(|it| key(&it.position, it.mv, it.score.into(), it.result)).collect();
    let mut expected: Vec<_> = expected
        .iter()
        .map(|(position, mv, score, result)| key(&position.into(), *mv, score.unwrap(), *result))
        .collect();
    assert_ne!(found, expected, "not mixed");
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn sets_are_drawn_by_their_weights() {
    let (samples, _) =
        read(vec![set(&[0], 1), set(&[1], 0), set(&[2], 3)], &plan(2), ReaderPosition::default(), 400_000);
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    for sample in &samples {
        *counts.entry(sample.set).or_default() += 1;
    }
    let share = f64::from(counts[&2]) / 400_000.0;
    assert!(!counts.contains_key(&1) && (0.6..0.9).contains(&share), "{counts:?}");
}

/// Also where a set with a great weight ends long before the others.
#[test]
fn no_block_of_a_distinct_pool_comes_twice() {
    let sets = [set(&[0, 1], 1), set(&[2], 100), set(&[3], 0)];
    let blocks = |of: usize| sets[of].shards.iter().map(|shard| shard.index().len()).sum::<usize>();
    let read = |blocks_in_pool| {
        let plan = Plan { blocks_in_pool, ..plan(0) };
        Reader::distinct(&Duplicates::default(), &sets, &plan).unwrap()
    };
    let count = |samples: &[Sample], set| samples.iter().filter(|it| it.set == set).count();
    let whole = |of: usize| whole(&[sets[of].clone()], Filter::default(), Games::All).len();
    let few = read(blocks(1));
    assert!(count(&few, 1) * 10 >= whole(1) * 9, "the weights hold until a set ends");
    let all = read(1_000_000);
    assert_eq!([0, 1, 2].map(|set| count(&all, set)), [whole(0), whole(1), 0]);
}

#[test]
fn filters_leave_out_the_named_positions() {
    let all = read(vec![set(&[0], 1)], &plan(1), ReaderPosition::default(), 30_000).0;
    let position = |sample: &Sample| {
        let mut board = ['1'; 90];
        for (square, piece) in sample.position.pieces() {
            board[square.index()] = piece.letter();
        }
        let ranks: Vec<String> = board.chunks(9).rev().map(|rank| rank.iter().collect()).collect();
        let side = if sample.position.turn() == Color::Red { "w" } else { "b" };
        Position::from_fen(&format!("{} {side}", ranks.join("/"))).unwrap()
    };
    let check = |filter: Filter, left_out: &dyn Fn(&Sample) -> bool| {
        let some = all.iter().filter(|sample| left_out(sample)).count();
        assert!(some > 20, "{filter:?} has nothing to leave out");
        let kept = read(vec![set(&[0], 1)], &Plan { filter, ..plan(1) }, ReaderPosition::default(), 10_000).0;
        assert!(!kept.iter().any(left_out), "{filter:?}");
    };
    let none = Filter::default();
    check(Filter { in_check: true, ..none }, &|it| position(it).in_check());
    check(Filter { captures: true, ..none }, &|it| position(it).piece_at(it.mv.to()).is_some());
    check(Filter { before_ply: 20, ..none }, &|it| it.ply < 20);
    check(Filter { beyond: Some(500), ..none }, &|it| it.score.abs() > 500);
    check(Filter { contradicting: Some(100), ..none }, &|it| {
        i32::from(it.score) * i32::from(it.result) < 0 && it.score.abs() >= 100
    });
    check(Filter { limit_above: Some(10), ..none }, &|it| it.limit_counter > 10);
    let everything = Filter { before_ply: 10_000, ..none };
    let mut reader =
        Reader::new(vec![set(&[0], 1)], &Plan { filter: everything, ..plan(2) }, ReaderPosition::default()).unwrap();
    assert!(matches!(reader.read(&mut Vec::new(), 1), Err(TrainingError::NothingLeft { .. })));
}

/// Nothing else changes, so that the worth of right labels can be measured.
/// Half of the positions with few pieces are drawn, a quarter of late ones, and an eighth of those
/// that are both. Each pool draws others.
#[test]
fn some_positions_are_drawn_less_often() {
    let few = Share { percent: 50, pieces: 0..=21, plies: 0..=u16::MAX };
    let late = Share { percent: 25, pieces: 0..=32, plies: 40..=u16::MAX };
    let kind = |sample: &Sample| (few.pieces.contains(&sample.position.count()), late.plies.contains(&sample.ply));
    let count = |samples: &[Sample]| {
        let mut counts = BTreeMap::new();
        for sample in samples {
            *counts.entry(kind(sample)).or_insert(0) += 1;
        }
        counts
    };
    let sets = [set(&[0, 1], 1)];
    let blocks_in_pool = sets[0].shards.iter().map(|shard| shard.index().len()).sum();
    let all = whole(&sets, Filter::default(), Games::All);
    let plan = |threads| Plan { shares: vec![few.clone(), late.clone()], blocks_in_pool, ..plan(threads) };
    let pools = |threads| {
        let mut reader = Reader::new(sets.to_vec(), &plan(threads), ReaderPosition::default()).unwrap();
        let pools = [(); 2].map(|()| {
            let mut samples = Vec::new();
            reader.read_pool(&mut samples).unwrap();
            samples
        });
        (pools, reader.rejected().shares)
    };
    let ([first, second], rejected) = pools(1);
    assert!(pools(3) == ([first.clone(), second.clone()], rejected));
    assert_eq!(rejected, (2 * all.len() - first.len() - second.len()) as u64);
    let all = count(&all);
    for pool in [&first, &second] {
        for (kind, drawn) in count(pool) {
            let expected = match kind {
                (false, false) => 1.0,
                (true, false) => 0.5,
                (false, true) => 0.25,
                (true, true) => 0.125,
            };
            let found = f64::from(drawn) / f64::from(all[&kind]);
            assert!(all[&kind] > 200 && (found - expected).abs() < 0.08, "{kind:?}: {found} of {all:?}");
            assert!(expected < 1.0 || drawn == all[&kind]);
        }
    }
    let key = |sample: &Sample| (sample.shard, sample.ply, sample.position.to_fen());
    let [first, second] = [first, second].map(|pool| pool.iter().map(key).collect::<BTreeSet<_>>());
    assert!(second.difference(&first).count() > 300);
}

#[test]
fn verdicts_may_count_as_draws() {
    use dataset::Reason;
    use xiangqi::rules;
    let is_verdict =
        |reason| matches!(reason, Reason::Rules(rules::Reason::PerpetualCheck | rules::Reason::PerpetualChase));
    let header = common::header(0);
    let mut games = common::games(&header, GAMES);
    let decided = games.iter_mut().filter(|game| game.reason.is_label() && game.outcome.loser().is_some());
    for (game, verdict) in decided.zip([rules::Reason::PerpetualCheck, rules::Reason::PerpetualChase]) {
        game.reason = Reason::Rules(verdict);
    }
    let bytes = common::shard(&header, &games);
    let set = || vec![WeightedSet { shards: vec![Shard::new(bytes.clone()).unwrap()], weight: 1 }];
    let scored = |game: &&Record| game.moves.iter().filter(|scored| scored.score.is_some()).count();
    let labelled = || games.iter().filter(|game| game.reason.is_label());
    let all: usize = labelled().map(|game| scored(&game)).sum();
    let verdicts: usize = labelled().filter(|game| is_verdict(game.reason)).map(|game| scored(&game)).sum();
    assert!(verdicts > 0 && verdicts < all / 2, "{verdicts} of {all}");
    let blocks_in_pool = set()[0].shards[0].index().len();
    let filter = |verdicts_as_draws| Filter { verdicts_as_draws, ..Filter::default() };
    let plan = |verdicts_as_draws| Plan { filter: filter(verdicts_as_draws), blocks_in_pool, ..plan(2) };
    let (right, _) = read(set(), &plan(false), ReaderPosition::default(), all);
    let (simple, _) = read(set(), &plan(true), ReaderPosition::default(), all);
    let differ = right.iter().zip(&simple).filter(|(right, simple)| right.result != simple.result);
    assert_eq!(differ.filter(|(_, simple)| simple.result == 0).count(), verdicts);
    let blind = |samples: &[Sample]| samples.iter().map(|it| Sample { result: 0, ..*it }).collect::<Vec<_>>();
    assert!(blind(&right) == blind(&simple));
}

#[test]
fn repeated_positions_are_left_out() {
    let distinct = |filter: Filter| {
        let plan = Plan { filter, blocks_in_pool: 4, ..plan(1) };
        let mut reader = Reader::new(vec![set(&[0], 1)], &plan, ReaderPosition::default()).unwrap();
        let mut samples = Vec::new();
        reader.read(&mut samples, 5_000).unwrap();
        *reader.rejected()
    };
    let repeated = distinct(Filter { repeated: true, ..Filter::default() });
    assert!(repeated.repeated > 50, "{repeated:?}");
    // A position repeated within a game occurs twice in its set as well.
    let duplicates = distinct(Filter { duplicates: true, ..Filter::default() });
    assert!(duplicates.duplicates >= repeated.repeated / 2, "{duplicates:?}");
}

/// All samples of the sets, each block once.
fn whole(sets: &[WeightedSet<Vec<u8>>], filter: Filter, games: Games) -> Vec<Sample> {
    let blocks_in_pool = sets.iter().flat_map(|set| &set.shards).map(|shard| shard.index().len()).sum();
    let plan = Plan { filter, games, blocks_in_pool, ..plan(3) };
    let mut samples = Vec::new();
    Reader::new(sets.to_vec(), &plan, ReaderPosition::default()).unwrap().read_pool(&mut samples).unwrap();
    samples
}

/// The third shard has the games of the first.
#[test]
fn duplicates_are_found_in_the_whole_set() {
    let sets = [set(&[0, 1, 0], 1)];
    let filter = Filter { captures: true, ..Filter::default() };
    let without = Filter { duplicates: true, ..filter };
    let all = whole(&sets, filter, Games::All);
    let distinct = whole(&sets, without, Games::All);
    let fens = |samples: &[Sample]| samples.iter().map(|it| it.position.to_fen()).collect::<BTreeSet<_>>();
    assert!(fens(&all) == fens(&distinct) && fens(&distinct).len() == distinct.len());
    assert!(distinct.iter().all(|sample| sample.shard < 2));
    assert!(all.len() > distinct.len() + all.iter().filter(|sample| sample.shard == 2).count());
    let found = Duplicates::find(&sets, &without, 1).unwrap();
    assert_eq!(found.count(), (all.len() - distinct.len()) as u64);

    // A position is on one side only, although its games are on both.
    let one_in = NonZeroU32::new(5).unwrap();
    let held_out = whole(&sets, without, Games::HeldOut(one_in));
    let learned = whole(&sets, without, Games::NotHeldOut(one_in));
    assert_eq!(held_out.len() + learned.len(), distinct.len());
    assert!(!held_out.is_empty() && fens(&held_out).is_disjoint(&fens(&learned)));
}

/// Shards that are opened when they are drawn, and the order in which they were.
struct Drawn {
    sets: Vec<WeightedSet<Vec<u8>>>,
    opened: Mutex<Vec<(u32, u32)>>,
}

impl ShardStore for Drawn {
    type Source = Vec<u8>;

    fn open(&self, set: u32, shard: u32) -> Result<Shard<Vec<u8>>, ShardError> {
        self.opened.lock().unwrap().push((set, shard));
        Ok(self.sets[set as usize].shards[shard as usize].clone())
    }
}

impl Drawn {
    fn new(sets: Vec<WeightedSet<Vec<u8>>>) -> Arc<Self> {
        Arc::new(Self { sets, opened: Mutex::default() })
    }

    fn streamed(&self) -> Vec<StreamedSet> {
        let sets = self.sets.iter().map(|set| StreamedSet {
            positions: set.shards.iter().map(Shard::positions).collect(),
            weight: set.weight,
        });
        sets.collect()
    }

    fn reader(self: &Arc<Self>, plan: &Plan, from: ReaderPosition) -> Reader {
        Reader::streamed(self, self.streamed(), plan, from).unwrap()
    }

    fn read(self: &Arc<Self>, plan: &Plan, from: ReaderPosition, count: usize) -> (Vec<Sample>, ReaderPosition) {
        let mut reader = self.reader(plan, from);
        let mut samples = Vec::new();
        reader.read(&mut samples, count).unwrap();
        (samples, reader.place())
    }
}

/// As many positions as a small shard has, so that each pool is one or two of them.
fn streamed_plan(threads: usize) -> Plan {
    Plan { blocks_in_pool: 1, ..plan(threads) }
}

#[test]
fn a_streamed_set_resumes_anywhere_and_threads_change_nothing() {
    let store = Drawn::new(vec![set(&[0, 1, 2], 1), set(&[3, 4], 2)]);
    let (all, _) = store.read(&streamed_plan(1), ReaderPosition::default(), 60_000);
    for threads in [2, 5] {
        let plan = Plan { cache_bytes: 100_000 * (threads - 2), ..streamed_plan(threads) };
        assert!(store.read(&plan, ReaderPosition::default(), 60_000).0 == all, "{threads} threads");
    }
    for stop in [1, 9_999, 30_000] {
        let (_, place) = store.read(&streamed_plan(2), ReaderPosition::default(), stop);
        let (rest, _) = store.read(&streamed_plan(3), place, 60_000 - stop);
        assert!(rest == all[stop..], "stopped after {stop}");
    }
    let other = Plan { seed: 4, ..streamed_plan(1) };
    assert!(store.read(&other, ReaderPosition::default(), 100).0 != all[..100]);
}

#[test]
fn streamed_sets_are_drawn_by_their_weights() {
    let store = Drawn::new(vec![set(&[0, 1, 2], 1), set(&[3], 0), set(&[4, 5], 2)]);
    let (samples, _) =
        store.read(&Plan { cache_bytes: usize::MAX, ..streamed_plan(2) }, ReaderPosition::default(), 400_000);
    let mut counts = BTreeMap::new();
    for sample in &samples {
        *counts.entry(sample.set).or_insert(0) += 1;
    }
    let share = f64::from(counts[&2]) / 400_000.0;
    assert!(!counts.contains_key(&1) && (0.6..0.73).contains(&share), "{counts:?}");
}

/// The first positions need the first shards, not the set.
#[test]
fn shards_of_a_streamed_set_are_opened_when_they_are_drawn() {
    let store = Drawn::new(vec![set(&(0..12).collect::<Vec<_>>(), 1)]);
    let plan = streamed_plan(1);
    let mut reader = store.reader(&plan, ReaderPosition::default());
    let mut samples = Vec::new();
    reader.read(&mut samples, 1).unwrap();
    // One pool more than there are threads is read ahead, and another when one is handed out.
    let opened = store.opened.lock().unwrap().len();
    assert!(opened <= 6, "{opened}");
    drop(reader);
    // A pool of more than the set is each shard once.
    let whole = Plan { blocks_in_pool: 1 << 20, ..plan.clone() };
    store.opened.lock().unwrap().clear();
    let mut pool = Vec::new();
    store.reader(&whole, ReaderPosition::default()).read_pool(&mut pool).unwrap();
    let mut found: Vec<_> = pool.iter().map(|sample| (sample.shard, sample.position.to_fen())).collect();
    let mut expected: Vec<_> =
        self::whole(&store.sets, plan.filter, plan.games).iter().map(|it| (it.shard, it.position.to_fen())).collect();
    found.sort();
    expected.sort();
    assert!(found == expected, "{} {}", found.len(), expected.len());
}

#[test]
fn the_first_shards_of_streamed_sets_are_read_as_far_as_wanted() {
    let store = Drawn::new(vec![set(&[0, 1, 2, 3, 4, 5], 1), set(&[6, 7], 1)]);
    let plan = streamed_plan(1);
    let first = |wanted, positions| {
        store.opened.lock().unwrap().clear();
        let samples = Reader::first(&store, &store.streamed(), &plan, wanted, positions).unwrap();
        (samples, store.opened.lock().unwrap().clone())
    };
    // The smaller set ends both, before a shard comes twice.
    let (samples, all) = first(0..=usize::MAX, u64::MAX);
    assert!(all.len() < 8 && all.iter().filter(|(set, _)| *set == 1).count() == 2, "{all:?}");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(samples.len() > 2, "{}", samples.len());
    // One sample is in the first shard, and so are all once it has enough positions.
    assert_eq!(first(0..=1, u64::MAX).1, all[..1]);
    assert_eq!(first(0..=usize::MAX, 1).1, all[..1]);
    // Positions are not enough without the samples that are needed.
    let of_one = first(0..=1, 0).0.len();
    assert_eq!((of_one, first(1..=usize::MAX, 0).1.as_slice()), (0, &all[..1]));
    let of_one = first(1..=usize::MAX, 0).0.len();
    assert_eq!(first(of_one + 1..=usize::MAX, 1).1, all[..2]);
}

#[test]
fn a_streamed_set_without_positions_is_empty() {
    let store = Drawn::new(Vec::new());
    for sets in [Vec::new(), vec![StreamedSet { positions: vec![0], weight: 1 }]] {
        let empty = Reader::streamed(&store, sets, &plan(1), ReaderPosition::default());
        assert!(matches!(empty, Err(TrainingError::Empty)));
    }
}

#[test]
fn a_set_may_have_more_shards_than_sixteen_bits_count() {
    let header = common::header(0);
    // The reader's threads outlive what they could borrow.
    let bytes: &'static [u8] = common::shard(&header, &common::games(&header, 8)).leak();
    let shards = vec![Shard::new(bytes).unwrap(); 3 << 15];
    let plan = Plan { blocks_in_pool: 16, ..plan(1) };
    let mut samples = Vec::new();
    let sets = vec![WeightedSet { shards, weight: 1 }];
    Reader::new(sets, &plan, ReaderPosition::default()).unwrap().read_pool(&mut samples).unwrap();
    let shards: BTreeSet<_> = samples.iter().map(|sample| sample.shard).collect();
    assert!(shards.len() > 10 && *shards.last().unwrap() > u16::MAX.into(), "{shards:?}");
}

#[test]
fn empty_sets_and_damage_are_reported() {
    let empty = Reader::new(vec![set(&[0], 0)], &plan(1), ReaderPosition::default());
    assert!(matches!(empty, Err(TrainingError::Empty)));
    let header = common::header(0);
    let mut bytes = common::shard(&header, &common::games(&header, 20));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = WeightedSet { shards: vec![Shard::new(bytes).unwrap()], weight: 1 };
    let mut reader = Reader::new(vec![damaged], &plan(2), ReaderPosition::default()).unwrap();
    assert!(matches!(reader.read(&mut Vec::new(), 1), Err(TrainingError::Shard { set: 0, shard: 0, .. })));
}

#[test]
fn manifests_are_named_by_their_content() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let paths = [0, 1].map(|seed| {
        let header = common::header(seed);
        let games: Vec<Record> = common::games(&header, 50);
        let path = folder.join(format!("manifest-{seed}.chuhe"));
        fs::write(&path, common::shard(&header, &games)).unwrap();
        path
    });
    let manifest = Manifest::of_files(&paths).unwrap();
    assert_eq!((manifest.games, manifest.shards.len()), (100, 2));
    let text = manifest.to_text();
    assert_eq!(Manifest::from_text(&text).unwrap(), manifest);
    assert_eq!(manifest.hash(), dataset::Digest::of(text.as_bytes()));
    let wrong = text.replacen("\"games\":100", "\"games\":99", 1);
    let error = Manifest::from_text(&wrong).unwrap_err();
    assert!(matches!(error, ManifestError::Sum { what: "games", stated: 99, sum: 100 }), "{error}");
    let error = Manifest::of_files(&[&paths[0], &paths[0]]).unwrap_err();
    assert!(matches!(error, ManifestError::Twice(_)), "{error}");
    let error = Manifest::from_text(&text.replacen("manifest 1", "manifest 2", 1)).unwrap_err();
    assert_eq!(error.to_string(), "its format is `chuhe manifest 2`; this program reads `chuhe manifest 1`");
}

/// A file is hashed again when its time or its length differs, or when it is as new as the digests.
#[test]
fn digests_of_unchanged_files_are_remembered() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("known-digests");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let header = common::header(0);
    let path = folder.join("games.chuhe");
    let bytes = common::shard(&header, &common::games(&header, 20));
    let mut altered = bytes.clone();
    *altered.last_mut().unwrap() ^= 1;
    let write = |bytes: &[u8], seconds: u64| {
        fs::write(&path, bytes).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    write(&bytes, 1_000_000);
    let manifest = Manifest::of_files(&[&path]).unwrap();
    let is_missing = || !Manifest::missing(&manifest.shards, &folder).unwrap().is_empty();
    assert!(!is_missing());
    write(&altered, 1_000_000);
    assert!(!is_missing(), "it was hashed again");
    write(&altered, 1_000_001);
    assert!(is_missing());
    // A digest is not believed of a file that may have been altered within the same moment.
    let future = 1 << 33;
    write(&bytes, future);
    assert!(!is_missing());
    write(&altered, future);
    assert!(is_missing());
    // Damaged digests only cost time.
    fs::write(folder.join(KNOWN_DIGESTS), "\0 nothing").unwrap();
    write(&bytes, 1_000_000);
    assert!(!is_missing());
}

/// Held-out games are held out whole, and no position is on both sides.
#[test]
fn games_are_held_out_whole() {
    let one_in = NonZeroU32::new(5).unwrap();
    let read_all = |games: Games| {
        let blocks = set(&[0], 1).shards[0].index().len();
        let plan = Plan { blocks_in_pool: blocks, games, ..plan(2) };
        let mut reader = Reader::new(vec![set(&[0], 1)], &plan, ReaderPosition::default()).unwrap();
        let mut samples = Vec::new();
        reader.read(&mut samples, 1).unwrap();
        let mut all = samples.clone();
        while reader.place().pool == 0 {
            reader.read(&mut samples, 1).unwrap();
            all.extend_from_slice(&samples);
        }
        (all.len() as u64, *reader.rejected())
    };
    let (all, _) = read_all(Games::All);
    let (held_out, rejected) = read_all(Games::HeldOut(one_in));
    let (others, others_rejected) = read_all(Games::NotHeldOut(one_in));
    assert_eq!(held_out + others, all);
    assert_eq!(rejected.other_games, others);
    assert_eq!(others_rejected.other_games, held_out);
    let header = common::header(0);
    let games = common::games(&header, GAMES);
    let labelled = games.iter().filter(|game| game.reason.is_label() && game.opening.seed % 5 == 0);
    let scored = |game: &Record| game.moves.iter().filter(|scored| scored.score.is_some()).count() as u64;
    assert_eq!(labelled.map(scored).sum::<u64>(), held_out);
    assert!(held_out > 100);
}
