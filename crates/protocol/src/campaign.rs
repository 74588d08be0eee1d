//! Campaigns: series of generations of nets, as a text (TOML) that a maintainer writes.
//!
//! A campaign plays games until a generation is full, then trains a net on the newest generations.
//! The net plays against the champion and is promoted if a sequential test (SPRT) finds it
//! stronger. The text determines all of it.
//!
//! A parsed campaign can be run: every key is known and every value is in its range. The recipe is
//! valid once the coordinator has added its data.

use std::{collections::BTreeSet, ops::RangeInclusive};

use dataset::{Digest, EvaluationFilter, GameSettings, Header, OpeningPolicy, Opponent};
use serde::{Deserialize, Serialize};
use stats::{EloModel, Hypotheses, Sprt};
use xiangqi::rules::RuleSet;

use crate::{
    name::is_name,
    recipe::{ForeignEngine, Recipe, RecipeError},
};

/// Maximum number of other campaigns that one learns from.
const MAX_SOURCES: usize = 64;

/// A series of generations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// The name: 1 to 64 letters, digits, `.`, `_` or `-`.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub about: String,
    /// The rulebook that decides repetitions.
    #[serde(default, with = "dataset::as_text")]
    pub rules: RuleSet,
    /// The initial champion; the plain evaluation if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub champion: Option<Digest>,
    /// The priority over other campaigns, from 0 to 100; higher comes first.
    #[serde(default = "default_priority")]
    pub priority: u32,
    /// The seed of all randomness in it.
    #[serde(default)]
    pub seed: u64,
    /// The other campaigns whose games its nets learn from too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learns_from: Vec<String>,
    /// The self-play games for training.
    pub selfplay: Selfplay,
    /// The size of a generation.
    pub generation: Generation,
    /// The promotion test.
    #[serde(default)]
    pub gate: Gate,
    /// The training: a recipe without `name` and `data.sources`.
    pub recipe: toml::Table,
}

/// The self-play games for training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selfplay {
    /// The settings of the games.
    pub settings: GameSettings,
    /// The openings of the games.
    pub openings: OpeningPolicy,
}

/// The size of a generation, and the pace of generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The positions of a generation.
    pub positions: u64,
    /// The number of generations that a net learns from, the newest included.
    #[serde(default = "default_window")]
    pub window: u32,
    /// The number of rejected candidates of a generation after which the campaign stops for a
    /// person.
    #[serde(default = "default_max_candidates")]
    pub most_candidates: u32,
    /// The additional positions after a rejection, in hundredths of the generation's.
    #[serde(default = "default_more_percent")]
    pub more_percent: u32,
    /// The additional positions played while a net is trained and tested, in hundredths of the
    /// generation's. They belong to the same generation, and the next training uses them.
    #[serde(default = "default_ahead_percent")]
    pub ahead_percent: u32,
    /// The number of generations after which the campaign is complete; unlimited if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// The promotion test of a candidate against the champion: an SPRT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// The Elo of H0: the candidate is not stronger.
    pub elo0: f64,
    /// The Elo of H1: the candidate is stronger.
    pub elo1: f64,
    /// The Elo model of these.
    pub model: EloModel,
    /// The type I error rate: the chance to promote a candidate under H0.
    pub alpha: f64,
    /// The type II error rate: the chance to reject a candidate under H1.
    pub beta: f64,
    /// The number of game pairs between evaluations of the test.
    pub batch_pairs: u32,
    /// The number of pairs after which the gate ends undecided, and its candidate is not promoted.
    pub most_pairs: u32,
    /// The node limit of a search.
    pub nodes: u64,
    /// The size of the transposition table, in mebibytes.
    pub hash_mebibytes: usize,
    /// The number of random moves of an opening.
    pub random_plies: u32,
    /// The filter of openings.
    pub filter: Option<EvaluationFilter>,
    /// The book; none for the initial position.
    pub book: Option<Digest>,
    /// The ply after which a game is a draw.
    pub ply_cap: u32,
    /// The candidate's nodes per hundred of the champion's: the ratio of their speeds, where they
    /// differ.
    pub candidate_nodes_percent: u32,
    /// The share of a match's games that others replay before a promotion, in hundredths.
    pub audit_percent: u32,
}

const fn default_priority() -> u32 {
    50
}

const fn default_window() -> u32 {
    3
}

const fn default_max_candidates() -> u32 {
    3
}

const fn default_more_percent() -> u32 {
    50
}

const fn default_ahead_percent() -> u32 {
    25
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            elo0: 0.0,
            elo1: 10.0,
            model: EloModel::Normalized,
            alpha: 0.05,
            beta: 0.05,
            batch_pairs: 8,
            most_pairs: 20_000,
            nodes: 5_000,
            hash_mebibytes: 8,
            random_plies: 8,
            filter: Some(EvaluationFilter { nodes: 1_000, bound: 150 }),
            book: None,
            ply_cap: 400,
            candidate_nodes_percent: 100,
            audit_percent: 10,
        }
    }
}

impl Gate {
    /// The header of match games under this gate.
    #[must_use]
    pub fn header(
        &self,
        rules: RuleSet,
        bench_signature: u64,
        candidate: Option<Digest>,
        champion: Option<Digest>,
        seed: u64,
    ) -> Header {
        let own = (u128::from(self.nodes) * u128::from(self.candidate_nodes_percent) / 100) as u64;
        Header {
            bench_signature,
            net: candidate,
            rules,
            settings: GameSettings {
                hash_mebibytes: self.hash_mebibytes,
                soft_nodes: None,
                hard_nodes: own.max(1),
                adjudication: dataset::Adjudication::default(),
                ply_cap: self.ply_cap,
            },
            openings: OpeningPolicy { book: self.book, plies: self.random_plies, filter: self.filter },
            seed,
            first_game: 0,
            opponent: Some(Opponent { net: champion, soft_nodes: None, hard_nodes: self.nodes }),
            clock: None,
            parameters: dataset::Overrides::default(),
            opponent_parameters: dataset::Overrides::default(),
        }
    }
}

/// The reason why a text is not a campaign.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CampaignError {
    #[error("line {line}, column {column}: {message}")]
    Text { line: usize, column: usize, message: String },
    #[error("`{key}` is {found}; it must be {allowed}")]
    Value { key: &'static str, found: String, allowed: String },
    #[error("`{0}` is not for a campaign's recipe: the coordinator says it")]
    NotHere(&'static str),
    #[error("`recipe.start` of a campaign can only be `net = \"champion\"`")]
    Start,
    #[error("in `recipe`, {}", .0.fault)]
    Recipe(RecipeError),
    #[error("`recipe.architecture.activation` is `{}`: a fleet's engine loads no net for {}", .0.activation, .0.name)]
    ForeignNet(ForeignEngine),
    #[error("`gate`: {0}")]
    Gate(String),
}

impl Campaign {
    /// Parses a campaign's text.
    ///
    /// # Errors
    ///
    /// If it is not TOML, a key is unknown or missing, or a value is out of its range.
    pub fn from_text(text: &str) -> Result<Self, CampaignError> {
        let campaign: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or(text);
            CampaignError::Text {
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
                message: error.message().replace('\n', " "),
            }
        })?;
        campaign.check()?;
        Ok(campaign)
    }

    /// Writes the text with every value.
    ///
    /// # Panics
    ///
    /// If an integer is too large for TOML; [`Campaign::from_text`] accepts none such.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("its keys are words and its numbers below 2⁶³")
    }

    /// The recipe for a candidate: the campaign's, with a name and with the training sets. If the
    /// campaign's nets start from the champion and there is one, it names the champion's file.
    ///
    /// # Errors
    ///
    /// If the result is not a recipe.
    ///
    /// # Panics
    ///
    /// Never: a table that was parsed can be written.
    pub fn recipe_for(
        &self,
        name: &str,
        manifests: &[(String, u32)],
        champion: Option<Digest>,
    ) -> Result<Recipe, RecipeError> {
        let mut table = self.recipe.clone();
        table.insert("name".to_owned(), name.into());
        if table.remove("start").is_some()
            && let Some(champion) = champion
        {
            table.insert("start".to_owned(), start_from(net_file(champion)));
        }
        let sources = manifests.iter().map(|(manifest, weight)| {
            let weight = i64::from(*weight);
            toml::Table::from_iter([("manifest".into(), manifest.as_str().into()), ("weight".into(), weight.into())])
        });
        let sources = sources.map(toml::Value::Table).collect::<Vec<_>>();
        let data = table.entry("data").or_insert_with(|| toml::Table::new().into());
        if let Some(data) = data.as_table_mut() {
            data.insert("sources".to_owned(), sources.into());
        }
        Recipe::from_text(&toml::to_string(&table).expect("it was read from a text"))
    }

    /// The SPRT that a candidate must pass.
    ///
    /// # Errors
    ///
    /// If its bounds or rates are invalid.
    pub fn sprt(&self) -> Result<Sprt, stats::SprtError> {
        let gate = &self.gate;
        Sprt::new(gate.model, Hypotheses::new(gate.elo0, gate.elo1)?).with_error_rates(gate.alpha, gate.beta)
    }

    /// The header of self-play games, from the first on.
    #[must_use]
    pub fn selfplay_header(&self, bench_signature: u64, champion: Option<Digest>, seed: u64) -> Header {
        Header {
            bench_signature,
            net: champion,
            rules: self.rules,
            settings: self.selfplay.settings,
            openings: self.selfplay.openings,
            seed,
            first_game: 0,
            opponent: None,
            clock: None,
            parameters: dataset::Overrides::default(),
            opponent_parameters: dataset::Overrides::default(),
        }
    }

    /// The header of the games of a candidate against the champion.
    #[must_use]
    pub fn match_header(
        &self,
        bench_signature: u64,
        candidate: Option<Digest>,
        champion: Option<Digest>,
        seed: u64,
    ) -> Header {
        self.gate.header(self.rules, bench_signature, candidate, champion, seed)
    }

    fn check(&self) -> Result<(), CampaignError> {
        if !is_name(&self.name) {
            let allowed = "1 to 64 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit".into();
            return Err(CampaignError::Value { key: "name", found: format!("{:?}", self.name), allowed });
        }
        if self.about.chars().count() > 200 || self.about.contains(char::is_control) {
            let allowed = "one line of at most 200 characters".into();
            return Err(CampaignError::Value { key: "about", found: "longer".into(), allowed });
        }
        let named: BTreeSet<_> = self.learns_from.iter().collect();
        let is_set = named.len() == self.learns_from.len() && !named.contains(&self.name);
        if named.len() > MAX_SOURCES || !is_set || !named.iter().all(|name| is_name(name)) {
            let allowed = format!("names of at most {MAX_SOURCES} other campaigns, each once");
            return Err(CampaignError::Value { key: "learns_from", found: format!("{:?}", self.learns_from), allowed });
        }
        let (settings, openings) = (&self.selfplay.settings, &self.selfplay.openings);
        let (generation, gate) = (&self.generation, &self.gate);
        let most = i64::MAX as u64;
        within("seed", self.seed, 0..=most)?;
        within("priority", self.priority.into(), 0..=100)?;
        within("selfplay.settings.hash_mebibytes", settings.hash_mebibytes as u64, 1..=1024)?;
        within("selfplay.settings.hard_nodes", settings.hard_nodes, 1..=1_000_000_000)?;
        within("selfplay.settings.soft_nodes", settings.soft_nodes.unwrap_or(1), 1..=1_000_000_000)?;
        within("selfplay.settings.ply_cap", settings.ply_cap.into(), 1..=2_000)?;
        within("selfplay.openings.plies", openings.plies.into(), 0..=200)?;
        within("generation.positions", generation.positions, 1..=1_000_000_000_000)?;
        within("generation.window", generation.window.into(), 1..=1_000)?;
        within("generation.most_candidates", generation.most_candidates.into(), 1..=1_000)?;
        within("generation.more_percent", generation.more_percent.into(), 1..=1_000)?;
        within("generation.ahead_percent", generation.ahead_percent.into(), 0..=1_000)?;
        within("generation.most", generation.most.unwrap_or(1).into(), 1..=1_000_000)?;
        within("gate.batch_pairs", gate.batch_pairs.into(), 1..=10_000)?;
        within("gate.most_pairs", gate.most_pairs.into(), 1..=10_000_000)?;
        within("gate.nodes", gate.nodes, 1..=1_000_000_000)?;
        within("gate.hash_mebibytes", gate.hash_mebibytes as u64, 1..=1024)?;
        within("gate.random_plies", gate.random_plies.into(), 0..=200)?;
        within("gate.ply_cap", gate.ply_cap.into(), 1..=2_000)?;
        within("gate.candidate_nodes_percent", gate.candidate_nodes_percent.into(), 1..=10_000)?;
        within("gate.audit_percent", gate.audit_percent.into(), 0..=100)?;
        self.sprt().map_err(|error| CampaignError::Gate(error.to_string()))?;
        if self.recipe.contains_key("name") {
            return Err(CampaignError::NotHere("recipe.name"));
        }
        if self.recipe.get("data").and_then(|data| data.get("sources")).is_some() {
            return Err(CampaignError::NotHere("recipe.data.sources"));
        }
        // Trainers have only the files that the coordinator gives them.
        if self.recipe.get("start").is_some_and(|start| *start != start_from("champion".to_owned())) {
            return Err(CampaignError::Start);
        }
        let manifests = [("games.json".to_owned(), 1)];
        let recipe = self.recipe_for(&self.name, &manifests, None).map_err(CampaignError::Recipe)?;
        if let Some(engine) = recipe.architecture.activation.foreign_engine() {
            return Err(CampaignError::ForeignNet(engine));
        }
        Ok(())
    }
}

/// The name of a net's file in a candidate's recipe.
#[must_use]
pub fn net_file(net: Digest) -> String {
    format!("{net}.nnue")
}

/// The section `start` that names a net.
fn start_from(net: String) -> toml::Value {
    toml::Table::from_iter([("net".to_owned(), net.into())]).into()
}

fn within(key: &'static str, found: u64, allowed: RangeInclusive<u64>) -> Result<(), CampaignError> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let allowed = format!("a whole number from {} to {}", allowed.start(), allowed.end());
    Err(CampaignError::Value { key, found: found.to_string(), allowed })
}
