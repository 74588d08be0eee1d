//! All texts of the pages, in both languages.
//!
//! A text is a line of a list: name, English, Chinese. One without its translation does not
//! compile. [`fill`] replaces the placeholder `{}` of a text.

mod account;
mod boards;
mod campaigns;
mod data_and_admin;
mod labels;
mod language;
mod list;
mod main;
mod messages;
mod states;
mod titles;
mod tour;

pub use account::Account;
pub use boards::Boards;
pub use campaigns::Campaigns;
pub use data_and_admin::DataAndAdmin;
pub use language::Language;
pub use main::Main;
pub use messages::{event, reason, refusal, rejection};
pub use states::state;
pub use tour::Tour;

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
    /// The guided tour.
    pub tour: Tour,
}

static ENGLISH: Words = Words {
    main: Main::ENGLISH,
    account: Account::ENGLISH,
    boards: Boards::ENGLISH,
    campaigns: Campaigns::ENGLISH,
    data_and_admin: DataAndAdmin::ENGLISH,
    tour: Tour::ENGLISH,
};
static CHINESE: Words = Words {
    main: Main::CHINESE,
    account: Account::CHINESE,
    boards: Boards::CHINESE,
    campaigns: Campaigns::CHINESE,
    data_and_admin: DataAndAdmin::CHINESE,
    tour: Tour::CHINESE,
};

impl Language {
    /// The texts.
    #[must_use]
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
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
    fn a_placeholder_is_filled_once() {
        assert_eq!(fill("about {} games", 7), "about 7 games");
        assert_eq!(fill("{}", "{}"), "{}", "the value itself is not filled");
    }
}
