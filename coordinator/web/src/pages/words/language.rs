//! The languages of the pages.

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Both.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The code in addresses.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The tag in `lang`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// The language's own name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The other language.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// Content negotiation: picks a language by `Accept-Language`; English by default.
    #[must_use]
    pub fn negotiate(header: &str) -> Self {
        let weight = |code: &str| {
            let matches = header.split(',').filter_map(|part| {
                let (tag, weight) = part.split_once(';').unwrap_or((part, "q=1"));
                let tag = tag.trim().to_ascii_lowercase();
                let is_it = tag.split('-').next() == Some(code);
                is_it.then(|| weight.trim().strip_prefix("q=").and_then(|q| q.parse::<f64>().ok()).unwrap_or(0.0))
            });
            matches.fold(0.0, f64::max)
        };
        if weight("zh") > weight("en") { Self::Chinese } else { Self::English }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_chooses_the_language() {
        for (header, language) in [
            ("", Language::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-GB,en;q=0.9,zh;q=0.8", Language::English),
            ("de, zh-TW;q=0.3", Language::Chinese),
            ("fr", Language::English),
            ("zh;q=bad", Language::English),
        ] {
            assert_eq!(Language::negotiate(header), language, "{header}");
        }
    }
}
