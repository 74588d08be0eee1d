//! Options of other xiangqi engines. Apps made for those send them without looking at the list of
//! options. A value is accepted where it means what this engine does, or can do; others are
//! rejected. They are not announced.

use xiangqi::rules::RuleSet;

use super::options::Kind;

/// An alias with its accepted values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// The name of the alias that chooses the rule set.
const RULES: &str = "Repetition Rule";

/// Its values: the Asian rules, and the rules of competitions between programs.
const RULE_SETS: [(&str, RuleSet); 2] = [("AsianRule", RuleSet::Axf), ("ComputerRule", RuleSet::Cxr)];

/// Finds an alias; the natural limit is that of `rules`.
pub(super) fn find(name: &str, rules: RuleSet) -> Option<Alias> {
    let limit: &'static [&'static str] = match rules.limit() {
        100 => &["100"],
        _ => &["120"],
    };
    let aliases: [(&str, &[&str]); 5] = [
        (RULES, &[RULE_SETS[0].0, RULE_SETS[1].0]),
        ("Draw Rule", &["None"]),
        ("Sixty Move Rule", &["true"]),
        ("Rule60MaxPly", limit),
        ("MaxCheckCount", &["0"]),
    ];
    let (name, all) = aliases.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(Alias { name, kind: Kind::Combo { default: all[0], all } })
}

impl Alias {
    /// The rule set that an accepted value chooses, if this alias chooses one.
    pub(super) fn rules(self, value: &str) -> Option<RuleSet> {
        let (_, rules) = RULE_SETS.into_iter().find(|(own, _)| self.name == RULES && *own == value)?;
        Some(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_every_rule_set_is_accepted() {
        for rules in RuleSet::ALL {
            let kind = find("rule60maxply", rules).unwrap().kind;
            assert_eq!(kind.choice(&rules.limit().to_string()).map(str::parse), Some(Ok(rules.limit())), "{rules}");
        }
    }
}
