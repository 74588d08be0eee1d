//! All texts of the pages, in both languages.
//!
//! A text is a line of a list: name, English, Chinese. One without its translation does not
//! compile. [`fill`] replaces the placeholder `{}` of a text.

mod account;
mod boards;
mod campaigns;
mod data_and_admin;
mod main;
mod states;

pub use account::Account;
pub use boards::Boards;
pub use campaigns::Campaigns;
pub use data_and_admin::DataAndAdmin;
pub use main::Main;
pub(crate) use states::is_known;
pub use states::state;

/// Defines a list of texts: a struct with a field for each, and its two values.
macro_rules! words {
    ($(#[$doc:meta])* $list:ident { $($name:ident: $english:literal, $chinese:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the texts explain themselves")]
        pub struct $list { $(pub $name: &'static str,)* }

        impl $list {
            pub(super) const ENGLISH: Self = Self { $($name: $english,)* };
            pub(super) const CHINESE: Self = Self { $($name: $chinese,)* };
        }
    };
}
use words;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

/// All texts of a language.
#[derive(Debug)]
pub struct Words {
    /// Texts of most pages.
    pub main: Main,
    /// Sign-in, accounts, tokens.
    pub account: Account,
    /// Games, the judge, the live board.
    pub boards: Boards,
    /// Home, campaigns, matches, nets.
    pub campaigns: Campaigns,
    /// Data, workers, people, administration.
    pub data_and_admin: DataAndAdmin,
}

static ENGLISH: Words = Words {
    main: Main::ENGLISH,
    account: Account::ENGLISH,
    boards: Boards::ENGLISH,
    campaigns: Campaigns::ENGLISH,
    data_and_admin: DataAndAdmin::ENGLISH,
};
static CHINESE: Words = Words {
    main: Main::CHINESE,
    account: Account::CHINESE,
    boards: Boards::CHINESE,
    campaigns: Campaigns::CHINESE,
    data_and_admin: DataAndAdmin::CHINESE,
};

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

    /// The texts.
    #[must_use]
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
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

/// Fills a text's placeholder.
#[must_use]
pub fn fill(text: &str, value: impl std::fmt::Display) -> String {
    text.replacen("{}", &value.to_string(), 1)
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

    #[test]
    fn a_placeholder_is_filled_once() {
        assert_eq!(fill("about {} games", 7), "about 7 games");
        assert_eq!(fill("{}", "{}"), "{}", "the value itself is not filled");
    }
}
