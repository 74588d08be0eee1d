//! The options, under their names in each protocol.

use std::{fmt, fs, io, path::Path, sync::Arc, time::Duration};

use nnue::{FileError, Net};
use xiangqi::{
    MAX_MOVES,
    notation::Notation,
    rules::RuleSet,
    text::{plain_words, shortened},
};

use super::{
    Protocol, Setup,
    aliases::{self, Alias},
};
use crate::{
    evaluation::Evaluation,
    strength::Strength,
    tune::{PARAMETERS, Parameter, ParameterError, Parameters},
};

/// The current option values.
pub(super) struct Options {
    setup: Setup,
    /// The value of `EvalFile`.
    pub(super) net_file: String,
    pub(super) parameters: Parameters,
    pub(super) lines: usize,
    pub(super) rules: RuleSet,
    pub(super) overhead: Duration,
    pub(super) show_wdl: bool,
    /// Whether `elo` limits the strength.
    limit_strength: bool,
    elo: u32,
    level: u32,
    pub(super) notation: Notation,
    /// Whether UCCI's times are in milliseconds; in seconds if not.
    pub(super) milliseconds: bool,
}

/// The effect of an option on the session.
#[derive(Debug)]
pub(super) enum Change {
    Nothing,
    Hash(usize),
    Threads(usize),
    Parameters,
    Strength,
    Evaluation(Evaluation),
    Rules,
    NewGame,
}

/// A failed `setoption`.
#[derive(Debug, thiserror::Error)]
pub(super) enum OptionError {
    #[error("setoption: there is no option `{0}`")]
    Unknown(String),
    #[error("setoption {name}: `{text}` is not {expected}")]
    Value { name: &'static str, text: String, expected: Kind },
    #[error("setoption {0}")]
    Parameter(ParameterError),
    #[error("setoption {name}: there is not that much memory")]
    Memory { name: &'static str },
    #[error("setoption {name}: {}: not a file", shortened(path))]
    NotAFile { name: &'static str, path: String },
    #[error("setoption {name}: {}", plain_words(&source.to_string()))]
    Net { name: &'static str, source: Box<FileError> },
}

/// The option value of the evaluation without a net.
const PLAIN: &str = "<plain>";
/// The option value of the evaluation that the program started with.
const BUILT_IN: &str = "<built-in>";

pub(super) const RANKS_FROM_0: &str = "0-9";
pub(super) const RANKS_FROM_1: &str = "1-10";
const MAX_OVERHEAD_MILLISECONDS: usize = 10_000;

/// The type of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Check { default: bool },
    Spin { default: usize, min: usize, max: usize },
    Combo { default: &'static str, all: &'static [&'static str] },
    Text { default: &'static str },
    Button,
}

#[derive(Clone, Copy)]
enum Id {
    Hash,
    Threads,
    Lines,
    EvalFile,
    Rules,
    Overhead,
    Ponder,
    ShowWdl,
    LimitStrength,
    Elo,
    Level,
    Variant,
    Ranks,
    Milliseconds,
    Clear,
    NewGame,
}

/// The options with their names in UCI and in UCCI, which allows only one word.
const OPTIONS: [(Id, Option<&str>, Option<&str>); 16] = [
    (Id::Hash, Some("Hash"), Some("hashsize")),
    (Id::Threads, Some("Threads"), Some("threads")),
    (Id::Lines, Some("MultiPV"), None),
    (Id::EvalFile, Some("EvalFile"), Some("evalfile")),
    (Id::Rules, Some("Rules"), Some("rules")),
    (Id::Overhead, Some("Move Overhead"), Some("moveoverhead")),
    (Id::Ponder, Some("Ponder"), Some("ponder")),
    (Id::ShowWdl, Some("UCI_ShowWDL"), None),
    (Id::LimitStrength, Some("UCI_LimitStrength"), None),
    (Id::Elo, Some("UCI_Elo"), None),
    (Id::Level, Some("Skill Level"), None),
    (Id::Variant, Some("UCI_Variant"), None),
    (Id::Ranks, Some("Ranks"), None),
    (Id::Milliseconds, None, Some("usemillisec")),
    (Id::Clear, Some("Clear Hash"), Some("clearhash")),
    (Id::NewGame, None, Some("newgame")),
];

impl Options {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            parameters: setup.settings.parameters.clone(),
            setup,
            net_file: BUILT_IN.to_owned(),
            lines: 1,
            rules: RuleSet::default(),
            overhead: Duration::from_millis(30),
            show_wdl: false,
            limit_strength: false,
            elo: Strength::MAX_ELO,
            level: Strength::MAX_LEVEL,
            notation: Notation::Uci,
            milliseconds: true,
        }
    }

    /// Formats the list of options.
    pub(super) fn announce(&self, protocol: Protocol) -> String {
        let named = OPTIONS.iter().filter_map(|&(id, uci, ucci)| match protocol {
            Protocol::Uci => uci.map(|name| format!("option name {name} {}\n", self.kind(id).in_uci())),
            Protocol::Ucci => ucci.map(|name| format!("option {name} {}\n", self.kind(id).in_ucci())),
        });
        let mut text = named.collect::<String>();
        if self.setup.tune && protocol == Protocol::Uci {
            text.extend(PARAMETERS.iter().zip(self.setup.settings.parameters.values()).map(in_uci));
        }
        text.trim_end().to_owned()
    }

    fn kind(&self, id: Id) -> Kind {
        let settings = &self.setup.settings;
        match id {
            Id::Hash => Kind::Spin { default: settings.hash_mebibytes, min: 1, max: self.setup.max_hash_mebibytes },
            Id::Threads => Kind::Spin { default: settings.threads, min: 1, max: self.setup.max_threads },
            Id::Lines => Kind::Spin { default: 1, min: 1, max: MAX_MOVES },
            Id::EvalFile => Kind::Text {
                default: match settings.evaluation {
                    Evaluation::Plain => PLAIN,
                    Evaluation::Net(..) => BUILT_IN,
                    #[cfg(feature = "experiments")]
                    Evaluation::Experiment(_) => BUILT_IN,
                },
            },
            Id::Rules => {
                const ALL: [&str; RuleSet::ALL.len()] = {
                    let mut names = [""; RuleSet::ALL.len()];
                    let mut index = 0;
                    while index < names.len() {
                        names[index] = RuleSet::ALL[index].name();
                        index += 1;
                    }
                    names
                };
                Kind::Combo { default: RuleSet::Cxr.name(), all: &ALL }
            }
            Id::Overhead => Kind::Spin { default: 30, min: 0, max: MAX_OVERHEAD_MILLISECONDS },
            Id::Ponder | Id::ShowWdl | Id::LimitStrength => Kind::Check { default: false },
            Id::Elo => {
                let [min, max] = [Strength::MIN_ELO, Strength::MAX_ELO].map(|elo| elo as usize);
                Kind::Spin { default: max, min, max }
            }
            Id::Level => {
                let max = Strength::MAX_LEVEL as usize;
                Kind::Spin { default: max, min: 0, max }
            }
            Id::Milliseconds => Kind::Check { default: true },
            // Required by match runners for several games.
            Id::Variant => Kind::Combo { default: "xiangqi", all: &["xiangqi"] },
            Id::Ranks => Kind::Combo { default: RANKS_FROM_0, all: &[RANKS_FROM_0, RANKS_FROM_1] },
            Id::Clear | Id::NewGame => Kind::Button,
        }
    }

    /// Sets an option; on an error nothing changes.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>, protocol: Protocol) -> Result<Change, OptionError> {
        let found = OPTIONS.iter().find_map(|&(id, uci, ucci)| {
            let own = if protocol == Protocol::Uci { uci } else { ucci }?;
            own.eq_ignore_ascii_case(name).then_some((id, own))
        });
        let value = value.unwrap_or_default();
        let Some((id, name)) = found else {
            if self.setup.tune && Parameter::find(name).is_some() {
                self.parameters.set(name, value).map_err(OptionError::Parameter)?;
                return Ok(Change::Parameters);
            }
            if protocol == Protocol::Uci
                && let Some(alias) = aliases::find(name, self.rules)
            {
                return self.set_alias(alias, value);
            }
            return Err(OptionError::Unknown(shortened(name)));
        };
        let kind = self.kind(id);
        let invalid = || OptionError::Value { name, text: shortened(value), expected: kind };
        match id {
            Id::Hash => {
                let mebibytes = kind.number(value).ok_or_else(invalid)?;
                // Without this check a failed allocation would abort the process.
                let bytes = mebibytes.checked_mul(1 << 20).ok_or(OptionError::Memory { name })?;
                Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| OptionError::Memory { name })?;
                return Ok(Change::Hash(mebibytes));
            }
            Id::Threads => return Ok(Change::Threads(kind.number(value).ok_or_else(invalid)?)),
            Id::Lines => self.lines = kind.number(value).ok_or_else(invalid)?,
            Id::EvalFile => {
                let evaluation = self.load(name, value)?;
                value.clone_into(&mut self.net_file);
                return Ok(Change::Evaluation(evaluation));
            }
            Id::Rules => {
                let rules = kind.choice(value).and_then(|name| name.parse().ok()).ok_or_else(invalid)?;
                self.rules = rules;
                return Ok(Change::Rules);
            }
            Id::Overhead => self.overhead = Duration::from_millis(kind.number(value).ok_or_else(invalid)? as u64),
            // Accepted and ignored: time management does not depend on it.
            Id::Ponder => _ = parse_bool(value).ok_or_else(invalid)?,
            Id::ShowWdl => self.show_wdl = parse_bool(value).ok_or_else(invalid)?,
            Id::LimitStrength => {
                self.limit_strength = parse_bool(value).ok_or_else(invalid)?;
                return Ok(Change::Strength);
            }
            Id::Elo => {
                self.elo = kind.number(value).ok_or_else(invalid)? as u32;
                return Ok(Change::Strength);
            }
            Id::Level => {
                self.level = kind.number(value).ok_or_else(invalid)? as u32;
                return Ok(Change::Strength);
            }
            Id::Variant => _ = kind.choice(value).ok_or_else(invalid)?,
            Id::Ranks => {
                let from_1 = kind.choice(value).ok_or_else(invalid)? == RANKS_FROM_1;
                self.notation = if from_1 { Notation::Uci1 } else { Notation::Uci };
            }
            Id::Milliseconds => self.milliseconds = parse_bool(value).ok_or_else(invalid)?,
            Id::Clear | Id::NewGame => return Ok(Change::NewGame),
        }
        Ok(Change::Nothing)
    }

    /// The strength that the options ask for; none if it is not limited.
    pub(super) fn strength(&self) -> Option<Strength> {
        if self.limit_strength { Some(Strength::of_elo(self.elo)) } else { Strength::of_level(self.level) }
    }

    pub(super) fn set_net(&mut self, name: &str, net: Net) -> Change {
        name.clone_into(&mut self.net_file);
        Change::Evaluation(Evaluation::Net(Arc::new(net), self.setup.kernel))
    }

    fn set_alias(&mut self, alias: Alias, value: &str) -> Result<Change, OptionError> {
        let Alias { name, kind } = alias;
        let invalid = || OptionError::Value { name, text: shortened(value), expected: kind };
        let choice = kind.choice(value).ok_or_else(invalid)?;
        let Some(rules) = alias.rules(choice) else { return Ok(Change::Nothing) };
        self.rules = rules;
        Ok(Change::Rules)
    }

    fn load(&self, name: &'static str, value: &str) -> Result<Evaluation, OptionError> {
        match value {
            "" | "<empty>" | PLAIN => return Ok(Evaluation::Plain),
            BUILT_IN => return Ok(self.setup.settings.evaluation.clone()),
            _ => {}
        }
        // Reading a pipe or device might never end.
        let path = Path::new(value);
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                return Err(OptionError::NotAFile { name, path: value.to_owned() });
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(OptionError::NotAFile { name, path: value.to_owned() });
            }
            _ => {}
        }
        let net = Net::from_file(path).map_err(|source| OptionError::Net { name, source: Box::new(source) })?;
        Ok(Evaluation::Net(Arc::new(net), self.setup.kernel))
    }
}

impl Kind {
    fn number(self, text: &str) -> Option<usize> {
        let Self::Spin { min, max, .. } = self else { return None };
        text.parse().ok().filter(|number| (min..=max).contains(number))
    }

    pub(super) fn choice(self, text: &str) -> Option<&'static str> {
        let Self::Combo { all, .. } = self else { return None };
        all.iter().copied().find(|choice| choice.eq_ignore_ascii_case(text))
    }

    fn in_uci(self) -> String {
        match self {
            Self::Check { default } => format!("type check default {default}"),
            Self::Spin { default, min, max } => format!("type spin default {default} min {min} max {max}"),
            Self::Combo { default, all } => format!("type combo default {default} var {}", all.join(" var ")),
            Self::Text { default } => format!("type string default {default}"),
            Self::Button => "type button".to_owned(),
        }
    }

    fn in_ucci(self) -> String {
        match self {
            Self::Check { default } => format!("type check default {default}"),
            Self::Spin { default, min, max } => format!("type spin min {min} max {max} default {default}"),
            Self::Combo { default, all } => format!("type combo var {} default {default}", all.join(" var ")),
            Self::Text { default } => format!("type string default {default}"),
            Self::Button => "type button".to_owned(),
        }
    }
}

/// Formats a parameter as an option.
fn in_uci((parameter, default): (&Parameter, i32)) -> String {
    let &Parameter { name, min, max, .. } = parameter;
    format!("option name {name} type spin default {default} min {min} max {max}\n")
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" => Some(true),
        "false" | "off" => Some(false),
        _ => None,
    }
}

/// Formats the expected value, for errors.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check { .. } => f.write_str("true or false"),
            Self::Spin { min, max, .. } => write!(f, "a whole number from {min} to {max}"),
            Self::Combo { all, .. } => write!(f, "one of {}", all.join(", ")),
            Self::Text { .. } => f.write_str("a text"),
            Self::Button => f.write_str("needed"),
        }
    }
}
