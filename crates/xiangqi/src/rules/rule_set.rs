//! Rule sets.

use std::{fmt, str::FromStr};

/// A rulebook as implemented here. The project's `docs/RULES.md` describes how each was made exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RuleSet {
    /// The rulebook of computer competitions (象棋程序竞赛规则, 2023).
    #[default]
    Cxr,
    /// The World Xiangqi Federation's rules (2018): the classes of `Cxr`, a natural limit of 100
    /// plies.
    Wxf,
    /// The Asian Xiangqi Federation's rules, the source of the World rules: the same for a program.
    Axf,
    /// The older custom of the Wikibook: perpetual threats of mate lose too, and offending pieces
    /// are counted.
    Wikibook,
    /// Every threefold repetition is a draw; a baseline for measurements.
    Simple,
}

impl RuleSet {
    /// Every rule set.
    pub const ALL: [Self; 5] = [Self::Cxr, Self::Wxf, Self::Axf, Self::Wikibook, Self::Simple];

    /// The name used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cxr => "cxr",
            Self::Wxf => "wxf",
            Self::Axf => "axf",
            Self::Wikibook => "wikibook",
            Self::Simple => "simple",
        }
    }

    /// The natural limit: the number of counted plies without a capture after which the game is
    /// drawn.
    #[must_use]
    pub const fn limit(self) -> u32 {
        const LIMITS: [u32; RuleSet::ALL.len()] = [120, 100, 100, 120, 120];
        LIMITS[self as usize]
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An error: the text names no rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rule sets are cxr, wxf, axf, wikibook and simple")]
pub struct ParseRuleSetError;

impl FromStr for RuleSet {
    type Err = ParseRuleSetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|rules| rules.name() == text).ok_or(ParseRuleSetError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_limits_are_the_documented_ones() {
        let table = RuleSet::ALL.map(|rules| (rules.to_string(), rules.limit()));
        let expected = [("cxr", 120), ("wxf", 100), ("axf", 100), ("wikibook", 120), ("simple", 120)];
        assert_eq!(table, expected.map(|(name, limit)| (name.to_owned(), limit)));
        for rules in RuleSet::ALL {
            assert_eq!(rules.name().parse(), Ok(rules));
        }
        assert_eq!("CXR".parse::<RuleSet>(), Err(ParseRuleSetError));
    }
}
