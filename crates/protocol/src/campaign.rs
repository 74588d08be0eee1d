//! Campaigns: a series of generations of nets, as a text (TOML) that a maintainer writes.
//!
//! A campaign plays games until a generation is full, has a net trained from the newest generations, lets it play
//! against the champion, and promotes it if a sequential test finds it stronger. What is in the text decides all of it.
//!
//! A campaign that has been read can be run: every key is known, every value in its range, and the recipe is one once
//! the coordinator has put its data in.

use std::ops::RangeInclusive;

use dataset::{Digest, EvaluationFilter, GameSettings, Header, OpeningPolicy, Opponent};
use serde::{Deserialize, Serialize};
use stats::{EloModel, Hypotheses, Sprt};
use xiangqi::rules::RuleSet;

use crate::{
    name::is_name,
    recipe::{Recipe, RecipeError},
};

/// A series of generations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// What it is called: 1 to 64 letters, digits, `.`, `_` or `-`.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub about: String,
    /// The rulebook.
    #[serde(default, with = "dataset::as_text")]
    pub rules: RuleSet,
    /// The net that plays first; the plain evaluation if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub champion: Option<Digest>,
    /// Before campaigns with a smaller one, from 0 to 100.
    #[serde(default = "middle")]
    pub priority: u32,
    /// What everything random in it is drawn from.
    #[serde(default)]
    pub seed: u64,
    /// The games that nets learn from.
    pub selfplay: Selfplay,
    /// How much is played before a net is trained.
    pub generation: Generation,
    /// What a candidate must show.
    #[serde(default)]
    pub gate: Gate,
    /// How nets are trained: a recipe without `name` and `data.sources`.
    pub recipe: toml::Table,
}

/// The games that nets learn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selfplay {
    /// How they are played.
    pub settings: GameSettings,
    /// From where.
    pub openings: OpeningPolicy,
}

/// How much is played before a net is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The positions of a generation.
    pub positions: u64,
    /// A net learns from the games of so many generations, the newest among them.
    #[serde(default = "window")]
    pub window: u32,
    /// After so many rejected candidates of a generation the campaign stops and asks for a person.
    #[serde(default = "candidates")]
    pub most_candidates: u32,
    /// After a rejection, so many more positions are played, in hundredths of the generation's.
    #[serde(default = "more")]
    pub more_percent: u32,
    /// While a net is trained and tested, games go on until there are so many more positions, in hundredths of what was
    /// wanted: they are of the same generation, and the next training has them.
    #[serde(default = "ahead")]
    pub ahead_percent: u32,
    /// After so many generations the campaign is complete; it goes on for ever if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// What a candidate must show against the champion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// The Elo of the hypothesis that it is not stronger.
    pub elo0: f64,
    /// The Elo of the hypothesis that it is.
    pub elo1: f64,
    /// Their scale.
    pub model: EloModel,
    /// The chance to promote what is not stronger.
    pub alpha: f64,
    /// The chance to reject what is.
    pub beta: f64,
    /// The test is asked after every so many pairs of games.
    pub batch_pairs: u32,
    /// A candidate that has proved nothing after so many pairs is rejected.
    pub most_pairs: u32,
    /// The nodes of a search.
    pub nodes: u64,
    /// The size of the transposition table, in mebibytes.
    pub hash_mebibytes: usize,
    /// How many random moves a game begins with.
    pub random_plies: u32,
    /// Which of these openings are kept.
    pub filter: Option<EvaluationFilter>,
    /// The book from whose positions they start.
    pub book: Option<Digest>,
    /// After how many plies a game is a draw.
    pub ply_cap: u32,
    /// How many nodes a candidate has for a hundred of the champion's: the ratio of their speeds, where they differ.
    pub candidate_nodes_percent: u32,
    /// How many of a match's games are played again by others before a candidate is promoted, in hundredths.
    pub audit_percent: u32,
}

const fn middle() -> u32 {
    50
}

const fn window() -> u32 {
    3
}

const fn candidates() -> u32 {
    3
}

const fn more() -> u32 {
    50
}

const fn ahead() -> u32 {
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
    /// What the games of one net against another are a function of, judged by this gate.
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
        }
    }
}

/// Why a text is no campaign.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CampaignError {
    #[error("line {line}, column {column}: {message}")]
    Text { line: usize, column: usize, message: String },
    #[error("`{key}` is {found}; it must be {allowed}")]
    Value { key: &'static str, found: String, allowed: String },
    #[error("`{0}` is not for a campaign's recipe: the coordinator says it")]
    NotHere(&'static str),
    #[error("in `recipe`, {}", .0.fault)]
    Recipe(RecipeError),
    #[error("`gate`: {0}")]
    Gate(String),
}

impl Campaign {
    /// Reads a campaign's text.
    ///
    /// # Errors
    ///
    /// If it is no TOML, has a key that campaigns have not or lacks one that they must have, or if a value is out of
    /// its range.
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

    /// The campaign's text with every value.
    ///
    /// # Panics
    ///
    /// If a whole number, which [`Campaign::from_text`] would not have let in, is greater than TOML can say.
    #[must_use]
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("its keys are words and its numbers below 2⁶³")
    }

    /// The recipe for a candidate: the campaign's, with a name and with the training sets it learns from.
    ///
    /// # Errors
    ///
    /// If the text is no recipe.
    ///
    /// # Panics
    ///
    /// Never: a table of a text that was read can be written.
    pub fn recipe_for(&self, name: &str, manifests: &[(String, u32)]) -> Result<Recipe, RecipeError> {
        let mut table = self.recipe.clone();
        table.insert("name".to_owned(), name.into());
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

    /// The test that a candidate must pass.
    ///
    /// # Errors
    ///
    /// If its bounds or rates are no test's.
    pub fn sprt(&self) -> Result<Sprt, stats::SprtError> {
        let gate = &self.gate;
        Sprt::new(gate.model, Hypotheses::new(gate.elo0, gate.elo1)?).with_error_rates(gate.alpha, gate.beta)
    }

    /// What games for training are a function of, from the first on.
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
        }
    }

    /// What the games of a candidate against the champion are a function of.
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
        // Trainers have no files but those that the coordinator gives them.
        if self.recipe.contains_key("start") {
            return Err(CampaignError::NotHere("recipe.start"));
        }
        self.recipe_for(&self.name, &[("games.json".to_owned(), 1)]).map_err(CampaignError::Recipe)?;
        Ok(())
    }
}

fn within(key: &'static str, found: u64, allowed: RangeInclusive<u64>) -> Result<(), CampaignError> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let allowed = format!("a whole number from {} to {}", allowed.start(), allowed.end());
    Err(CampaignError::Value { key, found: found.to_string(), allowed })
}
