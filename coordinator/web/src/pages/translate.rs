//! Translates the coordinator's own messages for the pages.

use coordinator_core::messages::{in_chinese, title};

use super::words::Language;

/// Translates a message; an unknown one stays as it is.
pub(crate) fn translate(language: Language, text: &str) -> String {
    match language {
        Language::English => text.to_owned(),
        Language::Chinese => in_chinese(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// Translates a rejection. An unknown one gets its code's title and the original text.
pub(crate) fn rejection(language: Language, code: &str, detail: &str) -> String {
    match language {
        Language::English => detail.to_owned(),
        Language::Chinese => in_chinese(detail).unwrap_or_else(|| match title(code) {
            Some(title) if detail.is_empty() => title.to_owned(),
            Some(title) => format!("{title}（{detail}）"),
            None => detail.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_messages_stay() {
        assert_eq!(translate(Language::English, "campaign yangtze began"), "campaign yangtze began");
        assert_eq!(translate(Language::Chinese, "campaign yangtze began"), "任务 yangtze 已开始");
    }

    #[test]
    fn a_rejection_has_at_least_its_title() {
        assert_eq!(rejection(Language::Chinese, "invalid", "say why, in a few words"), "请简要说明原因");
        assert_eq!(rejection(Language::Chinese, "corrupt", "strange"), "对局已损坏（strange）");
        assert_eq!(rejection(Language::Chinese, "new_code", "strange"), "strange");
        assert_eq!(rejection(Language::English, "corrupt", "strange"), "strange");
    }
}
