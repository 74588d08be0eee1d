//! The engines of a match, ours and external ones, as the command line names them.

use std::{path::PathBuf, str::FromStr, sync::Arc};

use anyhow::{Result, bail};
use dataset::Digest;
use engine::{Evaluation, Parameters, Settings, published};
use nnue::{Kernel, Net};
use selfplay::{EnginePlayer, Player};

use crate::{
    external::{EngineProfile, ExternalPlayer, Protocol, Specification, Timeouts},
    stopwatch::Stopwatch,
};

/// An engine, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Net(PathBuf),
    Published,
    Plain,
    External(Specification),
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("net", "")) => Err("`net:` is followed by a file".to_owned()),
            Some(("net", file)) => Ok(Self::Net(file.into())),
            Some(("uci", rest)) => Specification::parse(Protocol::Uci, rest).map(Self::External),
            Some(("ucci", rest)) => Specification::parse(Protocol::Ucci, rest).map(Self::External),
            None if text == "plain" => Ok(Self::Plain),
            None if text == "published" => Ok(Self::Published),
            _ => Err(
                "an engine is `net:FILE`, `uci:COMMAND[;option=value…]`, `ucci:COMMAND[;option=value…]`, `published` \
                      or `plain`"
                    .to_owned(),
            ),
        }
    }
}

/// Settings of all engines.
pub(crate) struct EngineSettings<'a> {
    pub(crate) hash_mebibytes: usize,
    pub(crate) timeouts: Timeouts,
    pub(crate) timer: &'a Stopwatch,
}

/// An engine that can be started repeatedly.
pub(crate) enum Loaded {
    Own(Evaluation, Box<Parameters>, String),
    External(Specification),
}

impl Engine {
    /// Loads the engine's files.
    pub(crate) fn load(&self) -> Result<Loaded> {
        Ok(match self {
            Self::Plain => Loaded::Own(Evaluation::Plain, Box::default(), "plain".to_owned()),
            Self::Published => {
                let evaluation = published::evaluation(Kernel::from_env()?);
                Loaded::Own(evaluation, Box::default(), format!("published {}", published::NAME))
            }
            Self::Net(path) => {
                let net = Net::from_file(path)?;
                let hash = net.hash().to_string();
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let name = format!("{stem} {}", &hash[..12]);
                Loaded::Own(Evaluation::Net(Arc::new(net), Kernel::from_env()?), Box::default(), name)
            }
            Self::External(specification) => Loaded::External(specification.clone()),
        })
    }
}

impl Loaded {
    /// The hash of our engine's net.
    pub(crate) fn net_hash(&self) -> Option<String> {
        match self {
            Self::Own(Evaluation::Net(net, _), ..) => Some(net.hash().to_string()),
            _ => None,
        }
    }

    /// The digest of an outside engine's program and settings.
    pub(crate) fn program_digest(&self) -> Option<Digest> {
        match self {
            Self::Own(..) => None,
            Self::External(specification) => Some(specification.digest()),
        }
    }

    /// Overrides parameters of our search; the name shows them.
    pub(super) fn with_parameters(self, parameters: &Parameters) -> Result<Self> {
        let overrides = parameters.to_string();
        match self {
            _ if overrides.is_empty() => Ok(self),
            Self::Own(evaluation, _, name) => {
                Ok(Self::Own(evaluation, Box::new(parameters.clone()), format!("{name} {overrides}")))
            }
            Self::External(_) => bail!("an outside engine gets its parameters as options: `uci:COMMAND;name=value`"),
        }
    }

    /// Starts the engine once to learn its properties.
    pub(crate) fn probe(&self, engine_settings: &EngineSettings<'_>) -> Result<EngineProfile, String> {
        match self {
            // Our engine receives the game itself.
            Self::Own(_, _, name) => {
                Ok(EngineProfile { name: name.clone(), remarks: Vec::new(), shows_position: true })
            }
            Self::External(specification) => ExternalPlayer::probe(specification, engine_settings.hash_mebibytes),
        }
    }

    /// Creates a player for one of the match's threads.
    pub(crate) fn enter<'a>(&self, engine_settings: &EngineSettings<'a>) -> Result<Box<dyn Player + 'a>, String> {
        match self {
            Self::Own(evaluation, parameters, _) => {
                let settings = Settings {
                    hash_mebibytes: engine_settings.hash_mebibytes,
                    threads: 1,
                    evaluation: evaluation.clone(),
                    parameters: (**parameters).clone(),
                };
                Ok(Box::new(EnginePlayer::new(engine::Engine::new(&settings), engine_settings.timer)))
            }
            Self::External(specification) => {
                let player =
                    ExternalPlayer::start(specification, engine_settings.hash_mebibytes, engine_settings.timeouts)?;
                Ok(Box::new(player))
            }
        }
    }
}
