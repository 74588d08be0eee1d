//! All texts of the pages, in both languages.
//!
//! A text is a line of a list: name, English, Chinese. One without its translation does not
//! compile. [`fill`] replaces the placeholder `{}` of a text, and chooses between singular and
//! plural of `{thread|threads}`.

mod account;
mod boards;
mod campaigns;
mod data_and_admin;
mod labels;
mod language;
mod list;
mod main;
mod messages;
mod play;
mod states;
mod titles;
mod tour;
mod trust;

pub use account::Account;
pub use boards::Boards;
pub use campaigns::Campaigns;
pub use data_and_admin::DataAndAdmin;
pub use language::Language;
pub use main::Main;
pub use messages::{event, reason, refusal, rejection};
pub use play::Play;
pub use states::state;
pub use tour::Tour;
pub use trust::Trust;

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
    /// The engine in the browser.
    pub play: Play,
    /// The guided tour.
    pub tour: Tour,
    /// The price of trust, and its guarantees.
    pub trust: Trust,
}

static ENGLISH: Words = Words {
    main: Main::ENGLISH,
    account: Account::ENGLISH,
    boards: Boards::ENGLISH,
    campaigns: Campaigns::ENGLISH,
    data_and_admin: DataAndAdmin::ENGLISH,
    play: Play::ENGLISH,
    tour: Tour::ENGLISH,
    trust: Trust::ENGLISH,
};
static CHINESE: Words = Words {
    main: Main::CHINESE,
    account: Account::CHINESE,
    boards: Boards::CHINESE,
    campaigns: Campaigns::CHINESE,
    data_and_admin: DataAndAdmin::CHINESE,
    play: Play::CHINESE,
    tour: Tour::CHINESE,
    trust: Trust::CHINESE,
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

/// Fills a text's placeholder. Words such as `{thread|threads}` are singular for 1.
#[must_use]
pub fn fill(text: &str, value: impl std::fmt::Display) -> String {
    let value = value.to_string();
    let (mut filled, mut rest, mut value_left) = (String::new(), text, Some(value.as_str()));
    while let Some((before, braced)) = rest.split_once('{') {
        let (inner, after) = braced.split_once('}').unwrap_or((braced, ""));
        filled += before;
        filled += match (inner.split_once('|'), value_left) {
            (Some((one, _)), _) if value == "1" => one,
            (Some((_, many)), _) => many,
            (None, left) => {
                value_left = None;
                left.unwrap_or("{}")
            }
        };
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_filled_once() {
        assert_eq!(fill("about {} games", 7), "about 7 games");
        assert_eq!(fill("{}", "{}"), "{}", "the value itself is not filled");
        assert_eq!(fill(&fill("{} of {}", 1), 2), "1 of 2", "a second placeholder stays");
        assert_eq!(fill("{}", "{a|b}"), "{a|b}");
    }

    #[test]
    fn one_is_singular() {
        let words = Language::English.words();
        for (text, one, many) in [
            (words.campaigns.threads, "1 thread", "7 threads"),
            (words.campaigns.positions_total, "1 position", "7 positions"),
            (words.campaigns.at_most, "1 pair at most", "7 pairs at most"),
            (words.campaigns.openings_plies, "1 random ply", "7 random plies"),
            (words.campaigns.promoted_earlier, "1 earlier one is in the JSON", "7 earlier ones are in the JSON"),
            (words.boards.judge_surplus, "1 further move was ignored.", "7 further moves were ignored."),
            (words.boards.ongoing_counter, "1 ply is counted toward", "7 plies are counted toward"),
            (words.account.too_often, "Try again in 1 minute.", "Try again in 7 minutes."),
        ] {
            assert!(fill(text, 1).contains(one), "{}", fill(text, 1));
            assert!(fill(text, 7).contains(many), "{}", fill(text, 7));
        }
        assert_eq!(fill(Language::Chinese.words().campaigns.threads, 1), "1 线程");
    }

    /// A plural beside a number would be wrong for 1.
    #[test]
    fn no_number_has_a_fixed_plural() {
        let sources = [
            include_str!("words/account.rs"),
            include_str!("words/boards.rs"),
            include_str!("words/campaigns.rs"),
            include_str!("words/data_and_admin.rs"),
            include_str!("words/main.rs"),
            include_str!("words/tour.rs"),
        ];
        let nouns = ["games", "positions", "pairs", "threads", "moves", "plies", "days", "minutes", "nodes", "ones"];
        for line in sources.iter().flat_map(|source| source.lines()) {
            let beside = line.split("{} ").skip(1).flat_map(|rest| rest.split([' ', '.', '"']).take(2));
            let fixed = beside.filter(|word| nouns.contains(word)).collect::<Vec<_>>();
            assert!(fixed.is_empty(), "{line}");
        }
    }
}
