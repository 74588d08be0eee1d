//! The data of a run: the recipe's shards, each on its own scale, and prefetched batches.

mod loader;
mod resident;
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread,
};

use dataset::{
    Digest,
    manifest::{Entry, Manifest, ManifestError},
    shard::FileSource,
    training::{
        Duplicates, Filter, Games, Plan, Reader, ReaderPosition, Sample, Share, StreamedSet, TrainingError, WeightedSet,
    },
};
use protocol::recipe;

use crate::batch::{Batch, Features};
use loader::Making;
pub use loader::{Drawn, Loader, Ready};
pub use resident::Order;
pub(crate) use store::FETCHED;
pub use store::Fetch;
use store::{Fetcher, Store, Stored};

/// The held-out positions of a streamed set for which more shards are read than are learned from.
const MIN_HELD_OUT_POSITIONS: usize = 2_000;

/// The most held-out positions that a net is validated on.
const MAX_HELD_OUT_POSITIONS: usize = 1 << 17;

/// The seed of held-out positions. It is no recipe's, so that recipes with other seeds are measured
/// by the same positions.
const HELD_OUT_SEED: u64 = 0;

/// An error of a recipe's data.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum DataError {
    #[error("{}", manifest.display())]
    Manifest { manifest: PathBuf, source: ManifestError },
    #[error("{}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{} and {} are the same training set: its games would count twice", one.display(), other.display())]
    SetTwice { one: PathBuf, other: PathBuf },
    #[error("{} and {} have the shard {digest} in common: its games would count twice", one.display(), other.display())]
    ShardTwice { one: PathBuf, other: PathBuf, digest: String },
    #[error("the recipe's data have {found} positions; it asks for at least {least} (`data.least_positions`)")]
    TooSmall { found: u64, least: u64 },
    #[error("{}: it has no shards", manifest.display())]
    NoShards { manifest: PathBuf },
    #[error("{}: the scores of no shard say anything of the results: there is no scale to read them on", manifest.display())]
    NoScale { manifest: PathBuf },
    #[error("`--resident` is not for a streamed set, which may be of any size (`data.streamed`)")]
    ResidentStreamed,
    #[error("`--resident` draws all positions alike, and the recipe does not (`data.shares`)")]
    ResidentShares,
    #[error(transparent)]
    Reading(#[from] TrainingError),
    #[error(
        "the filter leaves no position of the held-out games to measure the net by (`data.filter`, `data.validation_one_in`)"
    )]
    NothingHeldOut,
}

/// An opened source of a recipe.
struct Source {
    /// The hash of its training set.
    manifest: Digest,
    /// The positions of each shard.
    positions: Vec<u64>,
    weight: u32,
    /// The score-to-result scale of each shard, in centipawns.
    scales: Vec<f32>,
}

/// The shards of all sources.
enum Sets {
    Opened(Vec<WeightedSet<FileSource>>),
    /// Opened when they are drawn.
    Streamed(Vec<StreamedSet>, Arc<Store>),
}

/// The opened data of a recipe.
pub struct TrainingData {
    /// The folder of the recipe's files.
    folder: PathBuf,
    sources: Vec<Source>,
    sets: Sets,
    filter: Filter,
    shares: Vec<Share>,
    one_in: NonZeroU32,
    /// The samples of [`held_out`](Self::held_out): to read them again may be to fetch them again.
    held_out: OnceLock<Vec<Sample>>,
    /// The duplicates, once they are needed.
    duplicates: OnceLock<Arc<Duplicates>>,
    pool_blocks: usize,
    seed: u64,
    /// The positions that the stage learns from, with repetitions.
    learned: u64,
    mirrored: bool,
    features: Features,
    /// The data of the stages after the first one.
    later: Vec<Self>,
}

/// A source, summarised for a net's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSummary {
    /// The hash of its training set.
    pub manifest: Digest,
    /// The number of its shards that were read.
    pub shards: usize,
    /// The number of their positions.
    pub positions: u64,
    /// The source's sampling weight.
    pub weight: u32,
}

impl TrainingData {
    /// Opens all sources. The recipe's names are relative to `folder`; shards lie beside their
    /// manifest or in `shards`.
    ///
    /// # Errors
    ///
    /// If something is missing, altered, quarantined, or too small.
    pub fn open(
        recipe: &recipe::Recipe,
        folder: &Path,
        shards: Option<&Path>,
        quarantined: &BTreeSet<Digest>,
    ) -> Result<Self, DataError> {
        Self::open_or_fetch(recipe, folder, shards, quarantined, None)
    }

    /// As [`open`](Self::open). If `fetch` says from where, shards of a streamed recipe that are
    /// missing are fetched when they are drawn.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_or_fetch(
        recipe: &recipe::Recipe,
        folder: &Path,
        shards: Option<&Path>,
        quarantined: &BTreeSet<Digest>,
        fetch: Option<&Fetch>,
    ) -> Result<Self, DataError> {
        let fetcher = fetch.map(|fetch| Arc::new(Fetcher::new(fetch.clone())));
        let open = |stage| Self::open_stage(&recipe.stage(stage), folder, shards, quarantined, fetcher.as_ref());
        let mut first = open(0)?;
        first.later = (1..=recipe.stages.len()).map(open).collect::<Result<_, _>>()?;
        Ok(first)
    }

    fn open_stage(
        recipe: &recipe::Recipe,
        folder: &Path,
        shards: Option<&Path>,
        quarantined: &BTreeSet<Digest>,
        fetcher: Option<&Arc<Fetcher>>,
    ) -> Result<Self, DataError> {
        let mut sources: Vec<Source> = Vec::new();
        let (mut opened, mut streamed, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        // The manifest that named each shard first.
        let mut named: BTreeMap<String, PathBuf> = BTreeMap::new();
        for source in &recipe.data.sources {
            let path = folder.join(&source.manifest);
            // Some errors already name the file.
            let failed = |source| match source {
                ManifestError::In { cause, .. } => DataError::Manifest { manifest: path.clone(), source: *cause },
                ManifestError::Unreadable { path, source } => DataError::Unreadable { path, source },
                source => DataError::Manifest { manifest: path.clone(), source },
            };
            let manifest = Manifest::from_file(&path).map_err(failed)?;
            if let Some(place) = sources.iter().position(|earlier| earlier.manifest == manifest.hash()) {
                return Err(DataError::SetTwice {
                    one: folder.join(&recipe.data.sources[place].manifest),
                    other: path,
                });
            }
            if manifest.shards.is_empty() {
                return Err(DataError::NoShards { manifest: path });
            }
            let entries = manifest.newest(source.newest_positions.unwrap_or(u64::MAX));
            for entry in entries {
                if let Some(one) = named.insert(entry.sha256.clone(), path.clone()) {
                    return Err(DataError::ShardTwice { one, other: path, digest: entry.sha256.clone() });
                }
            }
            let beside = shards.or(path.parent()).filter(|folder| !folder.as_os_str().is_empty());
            let beside = beside.unwrap_or(Path::new("."));
            let weight = source.weight;
            let positions: Vec<u64> = entries.iter().map(|entry| entry.positions).collect();
            if recipe.data.streamed {
                streamed.push(StreamedSet { positions: positions.clone(), weight });
                stored.push(Stored::all(entries, beside, quarantined, fetcher.is_some()).map_err(failed)?);
            } else {
                let shards = Manifest::open(entries, beside, quarantined).map_err(failed)?;
                opened.push(WeightedSet { shards, weight });
            }
            let scales = scales(entries).ok_or_else(|| DataError::NoScale { manifest: path.clone() })?;
            sources.push(Source { manifest: manifest.hash(), positions, weight, scales });
        }
        // Sources of weight 0 are not trained on.
        let found = sources.iter().filter(|source| source.weight > 0).flat_map(|source| &source.positions);
        let found = found.fold(0, |sum: u64, positions| sum.saturating_add(*positions));
        let least = recipe.data.least_positions;
        if found < least {
            return Err(DataError::TooSmall { found, least });
        }
        let sets = if recipe.data.streamed {
            Sets::Streamed(streamed, Arc::new(Store { sets: stored, fetcher: fetcher.cloned() }))
        } else {
            Sets::Opened(opened)
        };
        Ok(Self {
            folder: folder.to_owned(),
            sources,
            sets,
            filter: filter(&recipe.data.filter),
            shares: recipe.data.shares.iter().map(share).collect(),
            one_in: NonZeroU32::new(recipe.data.validation_one_in).unwrap_or(NonZeroU32::MIN),
            held_out: OnceLock::new(),
            duplicates: OnceLock::new(),
            pool_blocks: recipe.data.pool_blocks as usize,
            seed: recipe.seeds.order,
            learned: recipe.schedule.steps() * u64::from(recipe.schedule.batch),
            mirrored: recipe.data.mirrored,
            features: Features::of_recipe(&recipe.architecture),
            later: Vec::new(),
        })
    }

    /// The data of a stage, counted from 0.
    ///
    /// # Panics
    ///
    /// If there is no such stage.
    #[must_use]
    pub fn stage(&self, number: usize) -> &Self {
        number.checked_sub(1).map_or(self, |later| &self.later[later])
    }

    /// The data of the last stage, by which nets are validated.
    #[must_use]
    pub fn last(&self) -> &Self {
        self.later.last().unwrap_or(self)
    }

    /// The path of a file that the recipe names.
    #[must_use]
    pub fn named(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    /// Summaries of the sources of all stages.
    #[must_use]
    pub fn summary(&self) -> Vec<SourceSummary> {
        let summary = |source: &Source| SourceSummary {
            manifest: source.manifest,
            shards: source.positions.len(),
            positions: source.positions.iter().sum(),
            weight: source.weight,
        };
        let mut summaries: Vec<_> = self.sources.iter().map(summary).collect();
        for other in self.later.iter().flat_map(Self::summary) {
            if !summaries.contains(&other) {
                summaries.push(other);
            }
        }
        summaries
    }

    /// The mean scale of drawn positions, in centipawns: sources by weight, shards by positions.
    #[must_use]
    pub fn mean_scale(&self) -> f32 {
        let mut sum = 0.0;
        let mut weight = 0.0;
        for source in &self.sources {
            let all: u64 = source.positions.iter().sum();
            for (positions, scale) in source.positions.iter().zip(&source.scales) {
                let share = f64::from(source.weight) * *positions as f64 / all.max(1) as f64;
                sum += share * f64::from(*scale);
                weight += share;
            }
        }
        (sum / weight) as f32
    }

    /// Batches of at most 2¹⁷ positions of held-out games; always the same ones.
    ///
    /// # Errors
    ///
    /// If there are none, or they cannot be read.
    pub fn held_out(&self, batch: usize) -> Result<Vec<Batch>, DataError> {
        let samples = if let Some(samples) = self.held_out.get() {
            samples
        } else {
            let found = self.held_out_samples(MAX_HELD_OUT_POSITIONS)?;
            self.held_out.get_or_init(|| found)
        };
        let scales = self.scales();
        Ok(samples
            .chunks(batch)
            .map(|samples| {
                let mut batch = Batch::default();
                for sample in samples {
                    batch.push(sample, self.features, scales.of(sample));
                }
                batch.order_by_stack();
                batch
            })
            .collect())
    }

    /// At most `most` distinct samples of held-out games; always the same ones.
    ///
    /// # Errors
    ///
    /// If there are none, or they cannot be read.
    pub fn held_out_samples(&self, most: usize) -> Result<Vec<Sample>, DataError> {
        self.samples(most, self.filter)
    }

    /// As [`held_out_samples`](Self::held_out_samples), but only quiet positions: neither in check
    /// nor with a capture as their move, whatever the recipe's filter.
    ///
    /// # Errors
    ///
    /// If there are none, or they cannot be read.
    pub fn quiet_samples(&self, most: usize) -> Result<Vec<Sample>, DataError> {
        self.samples(most, Filter { in_check: true, captures: true, ..self.filter })
    }

    fn samples(&self, most: usize, filter: Filter) -> Result<Vec<Sample>, DataError> {
        // A block has about 9,000 positions, of which a filter keeps perhaps half.
        let wanted = most.saturating_mul(self.one_in.get() as usize) / 4_000 + 16;
        let plan = Plan {
            seed: HELD_OUT_SEED,
            blocks_in_pool: wanted,
            games: Games::HeldOut(self.one_in),
            filter,
            shares: Vec::new(),
            cache_bytes: 0,
            // No pool after these is wanted.
            threads: 0,
        };
        let mut samples = match &self.sets {
            Sets::Opened(sets) => Reader::distinct(&*self.duplicates()?, sets, &plan)?,
            Sets::Streamed(sets, store) => {
                // A run reads at least as many positions as it learns from. More shards are fetched
                // only if these have few samples.
                let plan = Plan { seed: self.seed, ..plan };
                Reader::first(store, sets, &plan, most.min(MIN_HELD_OUT_POSITIONS)..=most, self.learned)?
            }
        };
        samples.truncate(most);
        if samples.is_empty() { Err(DataError::NothingHeldOut) } else { Ok(samples) }
    }

    /// Loads batches from a place on, in block-shuffled order: positions are shuffled within pools
    /// of randomly drawn blocks.
    ///
    /// # Errors
    ///
    /// If there is nothing to read.
    pub fn load(
        &self,
        batch: usize,
        from: ReaderPosition,
        threads: usize,
        cache_bytes: usize,
    ) -> Result<Loader, DataError> {
        // A small part of a set is seldom drawn again.
        let all: u64 = self.sources.iter().flat_map(|source| &source.positions).sum();
        let is_too_large = all.saturating_mul(size_of::<Sample>() as u64) > cache_bytes as u64;
        let cache_bytes = if is_too_large && matches!(self.sets, Sets::Streamed(..)) { 0 } else { cache_bytes };
        let plan = Plan {
            seed: self.seed,
            blocks_in_pool: self.pool_blocks,
            games: Games::NotHeldOut(self.one_in),
            filter: self.filter,
            shares: self.shares.clone(),
            cache_bytes,
            threads,
        };
        let reader = self.reader(&plan, from)?;
        let seed = self.mirrored.then_some(self.seed);
        let making = Making { scales: self.scales(), length: batch, features: self.features, seed };
        Ok(Loader::new(reader, making, threads))
    }

    /// Reads all positions that are trained on, in batches, for a device that keeps them. Returns
    /// the order in which they are drawn.
    ///
    /// # Errors
    ///
    /// If they cannot be read, a filter leaves nothing, or the sets are streamed.
    pub fn read_all(&self, threads: usize, mut add: impl FnMut(&Batch)) -> Result<Order, DataError> {
        let Sets::Opened(sets) = &self.sets else { return Err(DataError::ResidentStreamed) };
        let plan = Plan {
            seed: self.seed,
            blocks_in_pool: 1,
            games: Games::NotHeldOut(self.one_in),
            filter: self.filter,
            shares: Vec::new(),
            cache_bytes: 0,
            threads,
        };
        let images: &[bool] = if self.mirrored { &[false, true] } else { &[false] };
        let (scales, mut samples, mut batch) = (self.scales(), Vec::new(), Batch::default());
        let mut counts = Vec::new();
        for (number, set) in sets.iter().enumerate().filter(|(_, set)| set.weight > 0) {
            // A round of this set alone: each of its blocks once.
            let alone = sets.iter().enumerate().map(|(other, set)| {
                let weight = u32::from(other == number);
                WeightedSet { weight, ..set.clone() }
            });
            let mut reader = self.reader_of(alone.collect(), &plan, ReaderPosition::default())?;
            let mut count = 0;
            let blocks = set.shards.iter().map(|shard| shard.index().len() as u64).sum();
            for _ in 0..blocks {
                reader.read_pool(&mut samples)?;
                batch.clear();
                for (sample, mirrored) in samples.iter().flat_map(|sample| images.iter().map(move |it| (sample, *it))) {
                    batch.push_image(sample, self.features, scales.of(sample), mirrored);
                }
                count += batch.len() as u64;
                add(&batch);
            }
            if count == 0 {
                let rejected = reader.rejected().total();
                return Err(TrainingError::NothingLeft { pools: blocks, rejected }.into());
            }
            counts.push((count, set.weight));
        }
        Ok(Order::new(self.seed, &counts))
    }

    /// Draws positions that a device keeps, in an order that [`read_all`](Self::read_all) returned.
    #[must_use]
    pub fn load_resident(order: Order, batch: usize, from: ReaderPosition) -> Loader {
        Loader::of_resident(order, batch, from)
    }

    /// Checks that a device may keep the data of all stages.
    ///
    /// # Errors
    ///
    /// If one of them is streamed, or has positions that are drawn less often.
    pub fn check_resident(&self) -> Result<(), DataError> {
        std::iter::once(self).chain(&self.later).try_for_each(|stage| match stage.sets {
            Sets::Streamed(..) => Err(DataError::ResidentStreamed),
            Sets::Opened(_) if !stage.shares.is_empty() => Err(DataError::ResidentShares),
            Sets::Opened(_) => Ok(()),
        })
    }

    fn reader(&self, plan: &Plan, from: ReaderPosition) -> Result<Reader, TrainingError> {
        match &self.sets {
            Sets::Opened(sets) => self.reader_of(sets.clone(), plan, from),
            Sets::Streamed(sets, store) => Reader::streamed(store, sets.clone(), plan, from),
        }
    }

    fn reader_of(
        &self,
        sets: Vec<WeightedSet<FileSource>>,
        plan: &Plan,
        from: ReaderPosition,
    ) -> Result<Reader, TrainingError> {
        Reader::without(&self.duplicates()?, sets, plan, from)
    }

    /// Those of the recipe's own filter: held-out positions are not learned in another game.
    fn duplicates(&self) -> Result<Arc<Duplicates>, TrainingError> {
        if self.filter.duplicates && self.duplicates.get().is_none() {
            let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
            let Sets::Opened(all) = &self.sets else { return Err(TrainingError::Empty) };
            let found = Duplicates::find(all, &self.filter, threads)?;
            let _ = self.duplicates.set(Arc::new(found));
        }
        Ok(self.duplicates.get().cloned().unwrap_or_default())
    }

    fn scales(&self) -> Scales {
        Scales(self.sources.iter().map(|source| source.scales.clone()).collect())
    }
}

/// The scale of each shard of each source.
#[derive(Clone, Debug)]
pub(crate) struct Scales(Vec<Vec<f32>>);

impl Scales {
    pub(crate) fn of(&self, sample: &Sample) -> f32 {
        self.0[usize::from(sample.set)][sample.shard as usize]
    }
}

/// The scales of shards. A shard without a scale gets the mean of the others.
fn scales(entries: &[Entry]) -> Option<Vec<f32>> {
    let known = || entries.iter().filter_map(|entry| entry.scale_tenths.map(|scale| (scale, entry.positions)));
    let weight: u64 = known().map(|(_, positions)| positions).sum();
    let sum: u64 = known().map(|(scale, positions)| u64::from(scale) * positions).sum();
    let mean = (weight > 0).then(|| (sum as f64 / weight as f64 / 10.0) as f32)?;
    Some(entries.iter().map(|entry| entry.scale_tenths.map_or(mean, |tenths| tenths as f32 / 10.0)).collect())
}

fn share(share: &recipe::Share) -> Share {
    let recipe::Share { percent, from_pieces, to_pieces, from_ply, to_ply } = *share;
    Share { percent, pieces: from_pieces.into()..=to_pieces.into(), plies: from_ply..=to_ply }
}

fn filter(filter: &recipe::Filter) -> Filter {
    let recipe::Filter {
        in_check,
        captures,
        before_ply,
        beyond,
        contradicting,
        limit_above,
        repeated,
        duplicates,
        verdicts_as_draws,
    } = *filter;
    Filter {
        in_check,
        captures,
        before_ply,
        beyond,
        contradicting,
        limit_above,
        repeated,
        duplicates,
        verdicts_as_draws,
    }
}
