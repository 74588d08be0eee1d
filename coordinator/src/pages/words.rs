//! All words of the pages, in both languages.
//!
//! A word is a line of a list: its name, English, Chinese. One that lacks a language does not compile. Words with
//! something in them have a place for it, `{}`, which [`fill`] fills.

mod account;
mod boards;
mod loops;
mod main;
mod river;
mod states;

pub use account::Account;
pub use boards::Boards;
pub use loops::Loops;
pub use main::Main;
pub use river::River;
pub(crate) use states::is_known;
pub use states::state;

/// Makes a list of words: a struct with a field for each, and its two values.
macro_rules! words {
    ($(#[$doc:meta])* $list:ident { $($name:ident: $english:literal, $chinese:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the words say what they are")]
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

/// All words of a language.
#[derive(Debug)]
pub struct Words {
    /// What stands on most pages.
    pub main: Main,
    /// Sign-in, accounts, tokens.
    pub account: Account,
    /// Games, the judge, the live board.
    pub boards: Boards,
    /// Home, campaigns, matches, nets.
    pub loops: Loops,
    /// Data, workers, people, administration.
    pub river: River,
}

static ENGLISH: Words = Words {
    main: Main::ENGLISH,
    account: Account::ENGLISH,
    boards: Boards::ENGLISH,
    loops: Loops::ENGLISH,
    river: River::ENGLISH,
};
static CHINESE: Words = Words {
    main: Main::CHINESE,
    account: Account::CHINESE,
    boards: Boards::CHINESE,
    loops: Loops::CHINESE,
    river: River::CHINESE,
};

impl Language {
    /// Both.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// What stands in addresses.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// What stands in `lang`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// What it calls itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// Its words.
    #[must_use]
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }

    /// What an `Accept-Language` asks for; English, if for neither.
    #[must_use]
    pub fn wanted(header: &str) -> Self {
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

/// Puts something into the place that a word has for it.
#[must_use]
pub fn fill(word: &str, what: impl std::fmt::Display) -> String {
    word.replacen("{}", &what.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_says_which_language() {
        for (header, language) in [
            ("", Language::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-GB,en;q=0.9,zh;q=0.8", Language::English),
            ("de, zh-TW;q=0.3", Language::Chinese),
            ("fr", Language::English),
            ("zh;q=bad", Language::English),
        ] {
            assert_eq!(Language::wanted(header), language, "{header}");
        }
    }

    #[test]
    fn a_place_is_filled_once() {
        assert_eq!(fill("about {} games", 7), "about 7 games");
        assert_eq!(fill("{}", "{}"), "{}", "what is put in is not looked at again");
    }
}
