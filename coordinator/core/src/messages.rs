//! Message catalogue: translates the coordinator's own messages into Chinese (events, rejections,
//! problems).
//!
//! A message is written once, in English, where it arises, and stored in English in the database,
//! responses and logs. Chinese pages match it against the patterns here; so old messages are
//! translated too. Text of people stays as it is. Every [event](crate::events) must be known here:
//! tests fail on an unknown one. Rejections may be unknown; their
//! [code](protocol::api::problem::Code) then gives the Chinese title.

mod codes;
mod labels;
mod patterns;

pub use codes::title;
pub use labels::label;

/// Events with free text: a trainer's reason.
const FREE: &[&str] = &["training_abandoned"];

/// Whether an event exists in both languages.
pub(crate) fn is_known(kind: &str, text: &str) -> bool {
    label(kind).is_some() && (FREE.contains(&kind) || in_chinese(text).is_some())
}

/// Translates a message; none if it is unknown.
#[must_use]
pub fn in_chinese(text: &str) -> Option<String> {
    patterns::ALL.iter().find_map(|(english, chinese)| {
        let mut parts = Vec::new();
        matches(text, english, &mut parts).then(|| filled(chinese, &parts))
    })
}

/// A placeholder of a pattern.
#[derive(Clone, Copy)]
enum Placeholder {
    /// `{}`: a name or free text, unchanged.
    Text,
    /// `{n}`: a number.
    Number,
    /// `{w}`: a label of the database.
    Word,
    /// `{s}`: a message, translated in turn.
    Message,
}

impl Placeholder {
    fn takes(self, text: &str) -> bool {
        match self {
            Self::Text | Self::Message => !text.is_empty(),
            Self::Number => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Word => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
        }
    }

    fn in_chinese(self, text: &str) -> String {
        match self {
            Self::Text | Self::Number => text.to_owned(),
            Self::Word => label(text).map_or_else(|| text.replace('_', " "), |(_, chinese)| chinese.to_owned()),
            Self::Message => in_chinese(text).unwrap_or_else(|| text.to_owned()),
        }
    }
}

/// Splits a pattern at its first placeholder.
fn first_placeholder(pattern: &str) -> Option<(&str, Placeholder, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (kind, behind) = rest.split_once('}')?;
    let placeholder = match kind {
        "n" => Placeholder::Number,
        "w" => Placeholder::Word,
        "s" => Placeholder::Message,
        _ => Placeholder::Text,
    };
    Some((before, placeholder, behind))
}

/// Matches a text against a pattern, and collects the translated parts. Matching is lazy, with
/// backtracking.
fn matches(text: &str, pattern: &str, parts: &mut Vec<String>) -> bool {
    let Some((before, placeholder, behind)) = first_placeholder(pattern) else { return text == pattern };
    let Some(rest) = text.strip_prefix(before) else { return false };
    // A placeholder ends before the next literal text; the last one takes the rest.
    let next = behind.split('{').next().unwrap_or_default();
    let ends: Vec<usize> =
        if behind.is_empty() { vec![rest.len()] } else { rest.match_indices(next).map(|(at, _)| at).collect() };
    let known = parts.len();
    ends.into_iter().any(|end| {
        parts.truncate(known);
        let part = &rest[..end];
        placeholder.takes(part) && {
            parts.push(placeholder.in_chinese(part));
            matches(&rest[end..], behind, parts)
        }
    })
}

/// Fills the numbered placeholders of a translation.
fn filled(pattern: &str, parts: &[String]) -> String {
    let mut text = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some((before, number, behind)) = numbered_placeholder(rest) {
        text.push_str(before);
        text.push_str(parts.get(number).map_or("", String::as_str));
        rest = behind;
    }
    text + rest
}

fn numbered_placeholder(pattern: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (number, behind) = rest.split_once('}')?;
    Some((before, number.parse().ok()?, behind))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn chinese(text: &str) -> String {
        in_chinese(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn sentences_are_read_back() {
        for (english, expected) in [
            ("campaign yangtze began", "任务 yangtze 已开始"),
            ("yangtze-3 was rejected: it is not stronger", "yangtze-3 未通过：未证明更强"),
            (
                "games 40 to 79 of job 7: game 41 ply 9: the move is not legal",
                "作业 7 第 40 至 79 局：第 41 局第 9 步：着法不合法",
            ),
            ("account ann (volunteer, pending)", "账号 ann（志愿者，待批准）"),
            // Texts of older databases.
            ("it is told nothing any more", "不再通知"),
            (
                "its games were played under a clock: nobody can play them again, and they are no training data",
                "对局按时限进行：无法复现，不作训练数据",
            ),
            (
                "it waits for a maintainer: 3 candidates of generation 2 were rejected",
                "等待维护者处理：第 2 代已有 3 个候选未通过",
            ),
            (
                "what; 1 uploads of it; 3 uploads of the account left the pool",
                "what; 1 uploads of it；该账号的 3 次提交移出数据池",
            ),
            ("token chuhe_abc… (a (b), c, volunteer)", "令牌 chuhe_abc…（a (b), c，志愿者）"),
        ] {
            assert_eq!(chinese(english), expected);
        }
    }

    #[test]
    fn an_unknown_message_stays() {
        for text in ["", "campaign  began?", "match x is shown live", "an unknown message"] {
            assert_eq!(chinese(text), text);
        }
        assert!(!is_known("campaign_created", "an unknown message") && is_known("training_abandoned", "out of memory"));
    }

    /// Every error of the validator is known, except foreign text within it.
    #[test]
    fn why_shards_are_rejected_is_known() {
        use dataset::{
            Reason,
            delivery::Refusal,
            verify::{Fault, FaultKind},
        };
        use xiangqi::rules::{self, Outcome, RuleSet};
        let (outcome, reason) = (Outcome::Draw, Reason::Rules(rules::Reason::Checkmate));
        let (recorded_outcome, recorded_reason) = (Outcome::RedWins, Reason::PlyCap);
        let kinds = [
            FaultKind::Label { recorded_outcome, recorded_reason, outcome, reason },
            FaultKind::ContinuesAfterEnd { outcome, reason },
            FaultKind::Stops { recorded_outcome, recorded_reason },
            FaultKind::IllegalMove,
            FaultKind::Score { score: -40_000 },
            FaultKind::Opening,
            FaultKind::Attempt { attempt: 3 },
            FaultKind::Start,
            FaultKind::Pair { of: 4 },
            FaultKind::Duplicate { of: 5 },
            FaultKind::Unreadable(dataset::codec::CodecError::Misaligned),
        ];
        let faults = kinds
            .into_iter()
            .enumerate()
            .map(|(number, kind)| Refusal::FalseLabel(Fault { game: 7, ply: (number % 2 == 0).then_some(9), kind }));
        let refusals = [
            Refusal::Truncated,
            Refusal::WrongEngine { expected: 1, found: 2 },
            Refusal::WrongNet { entrant: dataset::Entrant::A, expected: None, found: Some(dataset::Digest::of(b"x")) },
            Refusal::WrongRules { expected: RuleSet::Cxr, found: RuleSet::Axf },
            Refusal::WrongSettings { fields: vec!["ply_cap", "hash"] },
            Refusal::WrongOpenings,
            Refusal::WrongSeed { expected: 1, found: 2 },
            Refusal::WrongGames { expected: 1..3, first: 2, found: 9 },
        ];
        for refusal in refusals.into_iter().chain(faults) {
            let translated = chinese(&format!("games 1 to 9 of job 3: {refusal}"));
            let english = translated.split(|letter: char| !letter.is_ascii_alphabetic());
            let words: Vec<_> =
                english.filter(|word| word.len() > 3 && !refusal.to_string().contains(&format!("{word},"))).collect();
            assert!(words.is_empty() || words == ["hash"] || translated.contains("2d711642"), "{translated}");
        }
    }

    #[test]
    fn every_line_has_its_placeholders_in_both_languages() {
        for (english, chinese) in patterns::ALL {
            let mut places = 0;
            let mut rest = *english;
            while let Some((_, _, behind)) = first_placeholder(rest) {
                places += 1;
                rest = behind;
            }
            let mut numbers = BTreeSet::new();
            let mut rest = *chinese;
            while let Some((_, number, behind)) = numbered_placeholder(rest) {
                numbers.insert(number);
                rest = behind;
            }
            assert_eq!(numbers, (0..places).collect(), "{english}");
            assert!(!chinese.is_ascii(), "{english}");
        }
    }

    #[test]
    fn no_line_hides_another() {
        for (number, (english, _)) in patterns::ALL.iter().enumerate() {
            let sample =
                english.replace("{n}", "7").replace("{w}", "volunteer").replace("{s}", "why").replace("{}", "x");
            let first = patterns::ALL.iter().position(|(pattern, _)| matches(&sample, pattern, &mut Vec::new()));
            assert_eq!(first, Some(number), "{sample}");
        }
    }
}
