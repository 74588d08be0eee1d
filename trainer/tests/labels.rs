//! Labels of batches: each position has its own score on its own shard's scale, and its own game's
//! result, both for its side to move.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use dataset::{
    manifest::Manifest,
    shard::{self, ShardWriter},
    training::ReaderPosition,
};
use nnue::architecture::Inputs;
use protocol::recipe::Recipe;
use trainer::{batch::Batch, data::TrainingData};
use xiangqi::{Color, PieceKind, Position};

/// The scale of each shard in tenths of a centipawn, by set: all differ.
const SCALES: [[u32; 2]; 2] = [[1_000, 2_000], [4_000, 8_000]];

/// The active inputs of both sides.
type Seen = [Vec<u16>; 2];

/// A position of the games, read without the trainer.
struct Labelled {
    /// The score for the side to move, in centipawns.
    score: f64,
    /// The game's result for the side to move.
    result: f32,
    set: usize,
    shard: usize,
    /// Chariots of the side to move less those of the other.
    ahead: i32,
    /// Whether its mirror image has other inputs.
    has_image: bool,
    /// Whether it is such an image.
    is_image: bool,
}

/// Writes four shards of sixteen games each, in two sets, and returns all their positions and their
/// mirror images.
fn write_sets(folder: &Path) -> BTreeMap<Seen, Vec<Labelled>> {
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/data/selfplay-64.chuhe");
    let games = shard::open(games).unwrap();
    let records: Vec<_> = games.records().map(|record| record.unwrap()).collect();
    let mut positions: BTreeMap<Seen, Vec<Labelled>> = BTreeMap::new();
    for (set, scales) in SCALES.into_iter().enumerate() {
        let mut paths = Vec::new();
        for shard in 0..scales.len() {
            let records = &records[(2 * set + shard) * 16..][..16];
            let mut header = games.header().clone();
            header.first_game = records[0].0;
            let mut writer = ShardWriter::new(Vec::new(), header).unwrap();
            for (_, record) in records {
                writer.add(record).unwrap();
                let mut position: Position = record.opening.game().position().clone();
                for scored in &record.moves {
                    let turn = position.turn();
                    if let Some(score) = scored.score.filter(|_| record.reason.is_label()) {
                        let result = match record.outcome.loser() {
                            None => 0.5,
                            Some(loser) => f32::from(u8::from(loser != turn)),
                        };
                        let count = |color: Color| {
                            let own = position.occupied().into_iter().filter_map(|square| position.piece_at(square));
                            own.filter(|piece| piece.color() == color && piece.kind() == PieceKind::Chariot).count()
                        };
                        let ahead = count(turn) as i32 - count(!turn) as i32;
                        let (own, image) = (seen(&position), seen(&position.mirrored()));
                        let has_image = own != image;
                        for (seen, is_image) in
                            [(own, false), (image, true)].into_iter().take(1 + usize::from(has_image))
                        {
                            let score = score.into();
                            let labelled = Labelled { score, result, set, shard, ahead, has_image, is_image };
                            positions.entry(seen).or_default().push(labelled);
                        }
                    }
                    let _ = position.make(scored.mv);
                }
            }
            let path = folder.join(format!("{set}-{shard}.chuhe"));
            fs::write(&path, writer.finish().unwrap().0).unwrap();
            paths.push(path);
        }
        let mut manifest = Manifest::of_files(&paths).unwrap();
        for (entry, scale) in manifest.shards.iter_mut().zip(scales) {
            entry.scale_tenths = Some(scale);
        }
        fs::write(folder.join(format!("{set}.json")), manifest.to_text()).unwrap();
    }
    // Positions are found before the images of others.
    for same in positions.values_mut() {
        same.sort_by_key(|it| it.is_image);
    }
    positions
}

fn seen(position: &Position) -> Seen {
    [position.turn(), !position.turn()].map(|side| {
        let mut active: Vec<_> = Inputs::Kings.active(position, side).map(|input| input as u16).collect();
        active.sort_unstable();
        active
    })
}

fn open(folder: &Path, mirrored: bool) -> TrainingData {
    let recipe = format!(
        "name = \"labels\"\n[data]\nvalidation_one_in = 4\npool_blocks = 2\nmirrored = {mirrored}\n\
         [[data.sources]]\nmanifest = \"0.json\"\n[[data.sources]]\nmanifest = \"1.json\"\n\
         [schedule]\nepochs = 1\npositions_per_epoch = 1_000\nbatch = 500\n"
    );
    let recipe = Recipe::from_text(&recipe).unwrap();
    TrainingData::open(&recipe, folder, None, &BTreeSet::new()).unwrap()
}

fn read(folder: &Path, positions: usize, mirrored: bool) -> Vec<Batch> {
    let data = open(folder, mirrored);
    let mut loader = data.load(500, ReaderPosition::default(), 2, 0).unwrap();
    let mut batches = data.held_out(500).unwrap();
    batches.extend((0..positions / 500).map(|_| loader.next().unwrap().drawn.batch().unwrap().clone()));
    batches
}

/// The position of the games that has the inputs, score and result of one in a batch.
fn labelled<'a>(positions: &'a BTreeMap<Seen, Vec<Labelled>>, batch: &Batch, place: usize) -> &'a Labelled {
    let count = usize::from(batch.counts[place]);
    let seen = batch.active[place].map(|active| {
        let mut active = active[..count].to_vec();
        active.sort_unstable();
        active
    });
    let (score_target, result) = (batch.score_targets[place], batch.results[place]);
    let of_game = positions[&seen].iter().find(|it| {
        let scale = f64::from(SCALES[it.set][it.shard]) / 10.0;
        let target = 1.0 / (1.0 + (-it.score / scale).exp());
        (target - f64::from(score_target)).abs() < 1e-6 && it.result.total_cmp(&result).is_eq()
    });
    of_game.expect("a label of another position, scale or side")
}

#[test]
fn labels_are_those_of_the_games() {
    let folder = tempfile::tempdir().unwrap();
    let positions = write_sets(folder.path());
    let mut shards_met = [[0; 2]; 2];
    let mut results_met = [0; 3];
    // Sums over positions in which one side has more chariots.
    let (mut by_score, mut by_result) = (0.0, 0.0);
    for batch in read(folder.path(), 30_000, false) {
        for place in 0..batch.len() {
            let Labelled { set, shard, ahead, is_image, .. } = labelled(&positions, &batch, place);
            assert!(!is_image);
            let (score_target, result) = (batch.score_targets[place], batch.results[place]);
            shards_met[*set][*shard] += 1;
            results_met[(2.0 * result) as usize] += 1;
            by_score += f64::from(ahead.signum()) * (f64::from(score_target) - 0.5);
            by_result += f64::from(ahead.signum()) * (f64::from(result) - 0.5);
        }
    }
    assert!(shards_met.as_flattened().iter().all(|met| *met > 500), "{shards_met:?}");
    assert!(results_met.iter().all(|met| *met > 500), "{results_met:?}");
    // The side with more chariots is ahead by score and by result.
    assert!(by_score > 100.0 && by_result > 100.0, "{by_score} {by_result}");
}

/// Positions with both kings on the e file have a mirror image with other inputs. Half of their
/// draws are of it; held-out positions are not mirrored.
#[test]
fn half_of_the_draws_are_mirrored() {
    let folder = tempfile::tempdir().unwrap();
    let positions = write_sets(folder.path());
    let batches = read(folder.path(), 30_000, true);
    let (held_out, drawn) = batches.split_at(batches.len() - 60);
    let count = |batches: &[Batch], is_counted: fn(&Labelled) -> bool| -> usize {
        let labels = batches.iter().flat_map(|batch| (0..batch.len()).map(|it| labelled(&positions, batch, it)));
        labels.filter(|it| is_counted(it)).count()
    };
    let (found, of) = (count(drawn, |it| it.is_image), count(drawn, |it| it.has_image));
    assert_eq!(count(held_out, |it| it.is_image), 0);
    assert!(of > 5_000 && found.abs_diff(of / 2) < of / 10, "{found} of {of}");
}

/// A device keeps each position once, and its image if the recipe mirrors.
#[test]
fn kept_positions_are_those_of_the_games() {
    let folder = tempfile::tempdir().unwrap();
    let positions = write_sets(folder.path());
    let kept = |mirrored| {
        let mut labels = Vec::new();
        let keep = |batch: &Batch| labels.extend((0..batch.len()).map(|place| labelled(&positions, batch, place)));
        let order = open(folder.path(), mirrored).read_all(2, keep).unwrap();
        // Both sets have the same weight, so the smaller one is drawn more than once.
        let drawn: BTreeSet<_> = (0..20 * labels.len() as u64).map(|draw| order.number(draw)).collect();
        assert!(drawn.into_iter().eq(0..labels.len() as u64));
        labels
    };
    let (plain, mirrored) = (kept(false), kept(true));
    let count =
        |labels: &[&Labelled], is_counted: fn(&Labelled) -> bool| labels.iter().filter(|it| is_counted(it)).count();
    assert_eq!((count(&plain, |it| it.is_image), 2 * plain.len()), (0, mirrored.len()));
    assert_eq!(count(&mirrored, |it| it.is_image), count(&plain, |it| it.has_image));
    // None is kept more often than the games have it.
    let total: usize = positions.values().map(|same| same.iter().filter(|it| !it.is_image).count()).sum();
    assert!(
        (total * 3 / 5..total).contains(&plain.len()),
        "{} of {total}, of which a quarter is held out",
        plain.len()
    );
    let mut times: BTreeMap<*const Labelled, usize> = BTreeMap::new();
    for label in &plain {
        *times.entry(*label).or_default() += 1;
    }
    for same in positions.values() {
        let found: usize = same.iter().filter_map(|it| times.get(&std::ptr::from_ref(it))).sum();
        assert!(found <= same.iter().filter(|it| !it.is_image).count());
    }
    for (set, shard) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert!(plain.iter().filter(|it| (it.set, it.shard) == (set, shard)).count() > 500);
    }
}
