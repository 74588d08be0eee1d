//! What the coordinator says by itself, in the other language: events, why shards were rejected, what was refused.
//!
//! Such a sentence is written once, in English, where it happens, and kept so: in the database, in answers, in logs. A
//! page in Chinese reads it back by its pattern, here, and says it again; so what was kept long ago is translated too.
//! What people wrote themselves stays as they wrote it. Every [event](crate::events) must be known here: tests stop at
//! one that is not. Refusals may be unknown; their [code](protocol::api::problem::Code) then says in Chinese what they
//! are about.

mod codes;
mod table;

use crate::pages::words::{Language, is_known as is_word, state};

pub(crate) use codes::title;

/// Events whose sentence is somebody else's: what a trainer gave as its reason.
const FREE: &[&str] = &["training_abandoned"];

/// Whether pages can tell an event in both languages.
pub(crate) fn is_known(kind: &str, text: &str) -> bool {
    is_word(kind) && (FREE.contains(&kind) || in_chinese(text).is_some())
}

/// A sentence in a language; as it is, if it is not known.
pub(crate) fn said(language: Language, text: &str) -> String {
    match language {
        Language::English => text.to_owned(),
        Language::Chinese => in_chinese(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// A refusal in a language: what it says, or if that is not known, what its code says and then the words.
pub(crate) fn refused(language: Language, code: &str, detail: &str) -> String {
    match language {
        Language::English => detail.to_owned(),
        Language::Chinese => in_chinese(detail).unwrap_or_else(|| match title(code) {
            Some(title) if detail.is_empty() => title.to_owned(),
            Some(title) => format!("{title}（{detail}）"),
            None => detail.to_owned(),
        }),
    }
}

fn in_chinese(text: &str) -> Option<String> {
    table::ALL.iter().find_map(|(english, chinese)| {
        let mut parts = Vec::new();
        fits(text, english, &mut parts).then(|| filled(chinese, &parts))
    })
}

/// What may stand in a place of a pattern.
#[derive(Clone, Copy)]
enum Place {
    /// `{}`: a name, or what somebody wrote; it stays.
    Anything,
    /// `{n}`: a number.
    Number,
    /// `{w}`: a word of the database.
    Word,
    /// `{s}`: a sentence that is looked up itself.
    Sentence,
}

impl Place {
    fn takes(self, text: &str) -> bool {
        match self {
            Self::Anything | Self::Sentence => !text.is_empty(),
            Self::Number => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Word => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
        }
    }

    fn in_chinese(self, text: &str) -> String {
        match self {
            Self::Anything | Self::Number => text.to_owned(),
            Self::Word => state(Language::Chinese, text),
            Self::Sentence => in_chinese(text).unwrap_or_else(|| text.to_owned()),
        }
    }
}

/// The first place of a pattern: what stands before it, what it is, what stands behind it.
fn first_place(pattern: &str) -> Option<(&str, Place, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (kind, behind) = rest.split_once('}')?;
    let place = match kind {
        "n" => Place::Number,
        "w" => Place::Word,
        "s" => Place::Sentence,
        _ => Place::Anything,
    };
    Some((before, place, behind))
}

/// Whether a text is of a pattern, and what is in its places, in Chinese. A place takes as little as it can.
fn fits(text: &str, pattern: &str, parts: &mut Vec<String>) -> bool {
    let Some((before, place, behind)) = first_place(pattern) else { return text == pattern };
    let Some(rest) = text.strip_prefix(before) else { return false };
    // The text that follows the place is where it can end; nothing follows the last one.
    let next = behind.split('{').next().unwrap_or_default();
    let ends: Vec<usize> =
        if behind.is_empty() { vec![rest.len()] } else { rest.match_indices(next).map(|(at, _)| at).collect() };
    let known = parts.len();
    ends.into_iter().any(|end| {
        parts.truncate(known);
        let part = &rest[..end];
        place.takes(part) && {
            parts.push(place.in_chinese(part));
            fits(&rest[end..], behind, parts)
        }
    })
}

/// The other language's pattern with its places filled, which are numbered.
fn filled(pattern: &str, parts: &[String]) -> String {
    let mut text = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some((before, number, behind)) = numbered_place(rest) {
        text.push_str(before);
        text.push_str(parts.get(number).map_or("", String::as_str));
        rest = behind;
    }
    text + rest
}

fn numbered_place(pattern: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (number, behind) = rest.split_once('}')?;
    Some((before, number.parse().ok()?, behind))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn chinese(text: &str) -> String {
        said(Language::Chinese, text)
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
            assert_eq!(said(Language::English, english), english);
        }
    }

    #[test]
    fn what_is_not_known_stays() {
        for text in ["", "campaign  began?", "match x is shown live", "nobody wrote this"] {
            assert_eq!(chinese(text), text);
        }
        assert!(!is_known("campaign_created", "nobody wrote this") && is_known("training_abandoned", "out of memory"));
    }

    #[test]
    fn a_refusal_says_at_least_what_it_is_about() {
        assert_eq!(refused(Language::Chinese, "invalid", "say why, in a few words"), "请简要说明原因");
        assert_eq!(refused(Language::Chinese, "corrupt", "strange"), "对局已损坏（strange）");
        assert_eq!(refused(Language::Chinese, "new_code", "strange"), "strange");
        assert_eq!(refused(Language::English, "corrupt", "strange"), "strange");
    }

    /// What the validator says of bytes is known, whatever it is, as long as it is not about the bytes' own words.
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
            FaultKind::GoesOn { outcome, reason },
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
            let said = chinese(&format!("games 1 to 9 of job 3: {refusal}"));
            let english = said.split(|letter: char| !letter.is_ascii_alphabetic());
            let words: Vec<_> =
                english.filter(|word| word.len() > 3 && !refusal.to_string().contains(&format!("{word},"))).collect();
            assert!(words.is_empty() || words == ["hash"] || said.contains("2d711642"), "{said}");
        }
    }

    #[test]
    fn every_line_has_its_places_in_both_languages() {
        for (english, chinese) in table::ALL {
            let mut places = 0;
            let mut rest = *english;
            while let Some((_, _, behind)) = first_place(rest) {
                places += 1;
                rest = behind;
            }
            let mut numbers = BTreeSet::new();
            let mut rest = *chinese;
            while let Some((_, number, behind)) = numbered_place(rest) {
                numbers.insert(number);
                rest = behind;
            }
            assert_eq!(numbers, (0..places).collect(), "{english}");
            assert!(!chinese.is_ascii(), "{english}");
        }
    }

    #[test]
    fn no_line_hides_another() {
        for (number, (english, _)) in table::ALL.iter().enumerate() {
            let sample =
                english.replace("{n}", "7").replace("{w}", "volunteer").replace("{s}", "why").replace("{}", "x");
            let first = table::ALL.iter().position(|(pattern, _)| fits(&sample, pattern, &mut Vec::new()));
            assert_eq!(first, Some(number), "{sample}");
        }
    }
}
