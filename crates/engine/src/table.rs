//! The transposition table.
//!
//! Shared by all threads without locks (Hyatt's XOR trick): an entry is two words, and the second
//! holds the key XORed with the first. A torn pair does not match its key and counts as absent.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use xiangqi::Move;

use crate::{
    pages,
    score::{self, Score},
    tune::Parameters,
};

/// The bound type of a stored score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// No bound: the score is path-dependent. Only move and evaluation are of use.
    None,
    /// At most the score (fail low).
    Upper,
    /// At least the score (fail high).
    Lower,
    /// The score itself.
    Exact,
}

impl Bound {
    /// The bound of a score found in a window; only PV nodes yield exact scores.
    pub(crate) const fn of<const PV: bool>(best: Score, alpha: Score, beta: Score) -> Self {
        if best >= beta {
            Self::Lower
        } else if PV && best > alpha {
            Self::Exact
        } else {
            Self::Upper
        }
    }
}

/// A table entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) mv: Option<Move>,
    pub(crate) score: Score,
    pub(crate) evaluation: Option<Score>,
    pub(crate) depth: i32,
    pub(crate) bound: Bound,
    pub(crate) tt_pv: bool,
}

impl Entry {
    /// Whether the score decides a search with this window.
    pub(crate) fn cuts_off(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            Bound::None => false,
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        }
    }

    /// Whether the score is a better estimate than this evaluation.
    pub(crate) fn refines(&self, evaluation: Score) -> bool {
        match self.bound {
            Bound::None => false,
            Bound::Exact => true,
            Bound::Lower => self.score > evaluation,
            Bound::Upper => self.score < evaluation,
        }
    }
}

/// Entries of a cluster, which fills a cache line.
const SLOTS: usize = 4;

#[derive(Default)]
#[repr(align(64))]
struct Cluster([[AtomicU64; 2]; SLOTS]);

/// Added to depths, so that negative ones fit a byte.
const DEPTH_OFFSET: i32 = 8;

/// Search generations, counted modulo this.
const GENERATIONS: u64 = 32;

/// The stored value of a missing evaluation.
const NO_EVALUATION: i16 = i16::MIN;

/// The transposition table.
pub struct Table {
    clusters: Box<[Cluster]>,
    age: AtomicU64,
    age_weight: i64,
    keep_margin: i32,
}

impl Table {
    /// Creates a table of this size in MiB, at least 1, with the default parameters.
    #[must_use]
    pub fn new(mebibytes: usize) -> Self {
        Self::with_parameters(mebibytes, &Parameters::DEFAULT)
    }

    pub(crate) fn with_parameters(mebibytes: usize, tune: &Parameters) -> Self {
        let clusters = (mebibytes.max(1) << 20) / size_of::<Cluster>();
        Self {
            clusters: pages::table(clusters, Cluster::default),
            age: AtomicU64::new(0),
            age_weight: tune.tt_age_weight.into(),
            keep_margin: tune.tt_keep_margin,
        }
    }

    pub(crate) fn set_parameters(&mut self, tune: &Parameters) {
        self.age_weight = tune.tt_age_weight.into();
        self.keep_margin = tune.tt_keep_margin;
    }

    /// Clears the table.
    pub fn clear(&mut self) {
        for cluster in &mut self.clusters {
            *cluster = Cluster::default();
        }
        *self.age.get_mut() = 0;
    }

    /// Begins a new generation; entries of older ones are replaced first.
    pub(crate) fn new_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % GENERATIONS, Relaxed);
    }

    /// The part of the table filled by the current search, in thousandths, by a sample.
    pub(crate) fn fullness(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = &self.clusters[..self.clusters.len().min(250)];
        let filled = sample.iter().flat_map(|cluster| &cluster.0).filter(|slot| {
            let word = slot[0].load(Relaxed);
            word != 0 && Packed(word).age() == age
        });
        (filled.count() * 1000 / (sample.len() * SLOTS)) as u32
    }

    /// Prefetches a cluster. Without it a fifth of the search time is cache misses
    /// (docs/BENCHMARKS.md).
    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "there is no safe word for it; the benchmark shows what it buys")]
        // SAFETY: a prefetch of an address within the table, and every x86-64 has the instruction.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(self.cluster(key)).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    fn cluster(&self, key: u64) -> &[[AtomicU64; 2]; SLOTS] {
        let index = (u128::from(key) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize].0
    }

    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        self.cluster(key).iter().find_map(|slot| {
            let word = slot[0].load(Relaxed);
            let check = slot[1].load(Relaxed);
            (word ^ check == key && word != 0).then(|| Packed(word).unpack(ply))
        })
    }

    pub(crate) fn store(&self, key: u64, ply: usize, entry: Entry) {
        let age = self.age.load(Relaxed);
        let cluster = self.cluster(key);
        // Replacement: the same key, else the least valuable entry.
        let mut chosen = &cluster[0];
        let mut min_worth = i64::MAX;
        for slot in cluster {
            let word = Packed(slot[0].load(Relaxed));
            if word.0 ^ slot[1].load(Relaxed) == key {
                chosen = slot;
                break;
            }
            let worth = if word.0 == 0 { i64::MIN } else { word.worth(age, self.age_weight) };
            if worth < min_worth {
                min_worth = worth;
                chosen = slot;
            }
        }
        let old = Packed(chosen[0].load(Relaxed));
        let same = old.0 != 0 && old.0 ^ chosen[1].load(Relaxed) == key;
        // A much shallower bound does not replace a deeper one of the same position and generation.
        if same && entry.bound != Bound::Exact && entry.depth + self.keep_margin < old.depth() && old.age() == age {
            return;
        }
        let mv = entry.mv.or(if same { old.mv() } else { None });
        let word = Packed::pack(Entry { mv, ..entry }, ply, age).0;
        chosen[0].store(word, Relaxed);
        chosen[1].store(word ^ key, Relaxed);
    }
}

/// An entry in 64 bits, from the lowest: move 16, score 16, evaluation 16, depth 8, bound 2, PV 1,
/// age 5.
#[derive(Clone, Copy)]
struct Packed(u64);

impl Packed {
    fn pack(entry: Entry, ply: usize, age: u64) -> Self {
        let mv = entry.mv.map_or(0, Move::to_bits);
        let score = score::from_node(entry.score, ply) as i16;
        let evaluation = entry.evaluation.map_or(NO_EVALUATION, |evaluation| evaluation as i16);
        let depth = (entry.depth + DEPTH_OFFSET).clamp(0, 255) as u64;
        let bound = match entry.bound {
            Bound::None => 0,
            Bound::Upper => 1,
            Bound::Lower => 2,
            Bound::Exact => 3,
        };
        Self(
            u64::from(mv)
                | u64::from(score as u16) << 16
                | u64::from(evaluation as u16) << 32
                | depth << 48
                | bound << 56
                | u64::from(entry.tt_pv) << 58
                | age << 59,
        )
    }

    fn mv(self) -> Option<Move> {
        Move::from_bits(self.0 as u16)
    }

    const fn depth(self) -> i32 {
        (self.0 >> 48 & 0xff) as i32 - DEPTH_OFFSET
    }

    const fn age(self) -> u64 {
        self.0 >> 59
    }

    /// The replacement value: depth, less `weight` for each generation of age.
    const fn worth(self, age: u64, weight: i64) -> i64 {
        let generations = (GENERATIONS + age - self.age()) % GENERATIONS;
        self.depth() as i64 - weight * generations as i64
    }

    fn unpack(self, ply: usize) -> Entry {
        let bound = match self.0 >> 56 & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            3 => Bound::Exact,
            _ => Bound::None,
        };
        let evaluation = (self.0 >> 32) as i16;
        Entry {
            mv: self.mv(),
            score: score::from_root(Score::from((self.0 >> 16) as i16), ply),
            evaluation: (evaluation != NO_EVALUATION).then(|| Score::from(evaluation)),
            depth: self.depth(),
            bound,
            tt_pv: self.0 >> 58 & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(score: Score, depth: i32) -> Entry {
        Entry { mv: Move::from_bits(1), score, evaluation: Some(-17), depth, bound: Bound::Lower, tt_pv: true }
    }

    #[test]
    fn stored_entries_are_found() {
        let table = Table::new(1);
        for (number, score) in [0, -20_000, score::mate_in(9), score::mated_in(9)].into_iter().enumerate() {
            let key = 0x1234_5678_9abc_def0 + number as u64;
            table.store(key, 4, entry(score, 7));
            let found = table.probe(key, 4).expect("it was stored");
            assert_eq!((found.score, found.evaluation, found.depth), (score, Some(-17), 7));
            assert_eq!((found.bound, found.tt_pv, found.mv), (Bound::Lower, true, Move::from_bits(1)));
        }
        assert!(table.probe(1, 0).is_none());
    }

    #[test]
    fn mates_are_counted_from_the_node() {
        let table = Table::new(1);
        table.store(5, 10, entry(score::mate_in(13), 3));
        assert_eq!(table.probe(5, 2).map(|found| found.score), Some(score::mate_in(5)));
    }

    #[test]
    fn a_torn_entry_is_absent() {
        let table = Table::new(1);
        table.store(77, 0, entry(1, 1));
        let cluster = table.cluster(77);
        let torn = cluster.iter().find(|slot| slot[0].load(Relaxed) != 0).expect("one slot is filled");
        torn[0].store(torn[0].load(Relaxed) ^ 1 << 20, Relaxed);
        assert!(table.probe(77, 0).is_none());
    }

    #[test]
    fn entries_of_older_searches_are_replaced_first() {
        let table = Table::new(1);
        // Keys of one cluster: the highest bits choose it.
        for key in 1..=SLOTS as u64 {
            if key == 2 {
                table.new_search();
            }
            table.store(key, 0, entry(1, if key == 1 { 10 } else { 5 }));
        }
        table.store(99, 0, entry(1, 5));
        assert!(table.probe(1, 0).is_none() && (2..=SLOTS as u64).all(|key| table.probe(key, 0).is_some()));
    }

    #[test]
    fn a_cleared_table_is_empty() {
        let mut table = Table::new(1);
        table.store(77, 0, entry(1, 1));
        table.clear();
        assert!(table.probe(77, 0).is_none());
        assert_eq!(table.fullness(), 0);
    }
}
