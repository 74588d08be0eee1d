//! The training data.

use serde::Serialize;

use super::{MAX_POSITIONS, RecipeError, RecipeFault, table::Table};

/// The training data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Data {
    /// The minimum of positions in all sources with a weight, before the filter; with fewer,
    /// training is refused.
    pub least_positions: u64,
    /// One in this many games is held out, whole, for validation: 2 to 1,000,000.
    pub validation_one_in: u32,
    /// The number of blocks in a shuffling pool: 1 to 65,536. A block has some 9,000 positions of
    /// 56 bytes.
    pub pool_blocks: u32,
    /// Whether half of all draws of a position are of its mirror image. Only where both kings stand
    /// on the e file do the inputs of the two differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mirrored: bool,
    /// Whether whole shards are drawn, each opened or fetched when its turn comes. Else blocks are
    /// drawn from a set that is opened at the start. For sets that are larger than memory or disk.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub streamed: bool,
    /// The positions to leave out.
    pub filter: Filter,
    /// Positions that are drawn less often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// The training sets; at least one source, and no two with the same manifest.
    pub sources: Vec<Source>,
}

/// The share of the draws of some positions that counts. A position that several describe has the
/// product of their shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The share, in hundredths: 0 to 100.
    pub percent: u8,
    /// The least number of pieces, kings included: 0 to 32.
    pub from_pieces: u8,
    /// The greatest number of pieces: `from_pieces` to 32.
    pub to_pieces: u8,
    /// The least number of moves before the position, those of the opening included.
    pub from_ply: u16,
    /// The greatest number of moves before: from `from_ply`.
    pub to_ply: u16,
}

/// A training set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The path of its manifest.
    pub manifest: String,
    /// This source's share of the blocks, relative to the sum of all weights: 0 to 1,000,000.
    pub weight: u32,
    /// The window: the last shards of the manifest with together at most this many positions, at
    /// least one shard; all of them if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_positions: Option<u64>,
}

/// The positions to leave out, besides those without a label or a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is independent")]
pub struct Filter {
    /// Positions in which the side to move is in check.
    pub in_check: bool,
    /// Positions whose move is a capture.
    pub captures: bool,
    /// Positions before this ply of the game, the opening counted.
    pub before_ply: u32,
    /// Positions with a score further from zero, in hundredths of a pawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<i32>,
    /// Positions whose game was lost by the side that the score (in hundredths of a pawn) saw
    /// winning by at least this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicting: Option<i32>,
    /// Positions with a higher counter of the natural limit, in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_above: Option<u32>,
    /// Positions that occurred before in their game.
    pub repeated: bool,
    /// Positions that occurred before in the training sets.
    pub duplicates: bool,
    /// Filters nothing: games lost by perpetual check or chase count as drawn, as under rules
    /// without these verdicts. It measures the worth of right labels.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verdicts_as_draws: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            in_check: true,
            captures: true,
            before_ply: 0,
            beyond: None,
            contradicting: None,
            limit_above: None,
            repeated: false,
            duplicates: false,
            verdicts_as_draws: false,
        }
    }
}

impl Data {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&[
            "least_positions",
            "validation_one_in",
            "pool_blocks",
            "mirrored",
            "streamed",
            "filter",
            "shares",
            "sources",
        ])?;
        let streamed = table.flag("streamed")?.unwrap_or(false);
        let of_filter = table.section("filter")?;
        let filter = Filter::read(&of_filter)?;
        if streamed && filter.duplicates {
            let (key, other) = (of_filter.path_of(&"duplicates"), table.path_of(&"streamed"));
            let fault = RecipeFault::OnlyWith { key, other, allowed: &["false"], found: "true" };
            return Err(of_filter.error("duplicates", fault));
        }
        Ok(Self {
            least_positions: table.whole("least_positions", 0..=MAX_POSITIONS)?.unwrap_or(0),
            validation_one_in: table.whole("validation_one_in", 2..=1_000_000)?.unwrap_or(64),
            pool_blocks: table.whole("pool_blocks", 1..=65_536)?.unwrap_or(64),
            mirrored: table.flag("mirrored")?.unwrap_or(false),
            streamed,
            filter,
            shares: table.sections_if_any("shares")?.iter().map(Share::read).collect::<Result<_, _>>()?,
            sources: Source::read_all(table)?,
        })
    }
}

impl Share {
    fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["percent", "from_pieces", "to_pieces", "from_ply", "to_ply"])?;
        let from_pieces = table.whole("from_pieces", 0..=32)?.unwrap_or(0);
        let from_ply = table.whole("from_ply", 0..=u16::MAX)?.unwrap_or(0);
        Ok(Self {
            percent: table.whole("percent", 0..=100)?.ok_or_else(|| table.missing("percent"))?,
            from_pieces,
            to_pieces: table.whole("to_pieces", from_pieces..=32)?.unwrap_or(32),
            from_ply,
            to_ply: table.whole("to_ply", from_ply..=u16::MAX)?.unwrap_or(u16::MAX),
        })
    }
}

impl Source {
    fn read_all(data: &Table<'_>) -> Result<Vec<Self>, RecipeError> {
        let tables = data.sections("sources")?;
        let mut sources: Vec<Self> = Vec::with_capacity(tables.len());
        for table in &tables {
            let source = Self::read(table)?;
            if let Some(twin) = sources.iter().position(|earlier| earlier.manifest == source.manifest) {
                let (key, other) = (table.path_of(&"manifest"), tables[twin].path_of(&"manifest"));
                let fault = RecipeFault::ManifestTwice { key, manifest: source.manifest, other };
                return Err(table.error("manifest", fault));
            }
            sources.push(source);
        }
        if sources.iter().all(|source| source.weight == 0) {
            return Err(tables[0].error("weight", RecipeFault::NoWeight(data.path_of(&"sources"))));
        }
        Ok(sources)
    }

    fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["manifest", "weight", "newest_positions"])?;
        let manifest = table.text("manifest", "the name of a file", |text| !text.is_empty())?;
        Ok(Self {
            manifest: manifest.ok_or_else(|| table.missing("manifest"))?,
            weight: table.whole("weight", 0..=1_000_000)?.unwrap_or(1),
            newest_positions: table.whole("newest_positions", 1..=MAX_POSITIONS)?,
        })
    }
}

impl Filter {
    fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&[
            "in_check",
            "captures",
            "before_ply",
            "beyond",
            "contradicting",
            "limit_above",
            "repeated",
            "duplicates",
            "verdicts_as_draws",
        ])?;
        let default = Self::default();
        Ok(Self {
            in_check: table.flag("in_check")?.unwrap_or(default.in_check),
            captures: table.flag("captures")?.unwrap_or(default.captures),
            before_ply: table.whole("before_ply", 0..=100_000)?.unwrap_or(default.before_ply),
            beyond: table.whole("beyond", 1..=32_767)?,
            contradicting: table.whole("contradicting", 1..=32_767)?,
            limit_above: table.whole("limit_above", 0..=1_000)?,
            repeated: table.flag("repeated")?.unwrap_or(default.repeated),
            duplicates: table.flag("duplicates")?.unwrap_or(default.duplicates),
            verdicts_as_draws: table.flag("verdicts_as_draws")?.unwrap_or(default.verdicts_as_draws),
        })
    }
}
