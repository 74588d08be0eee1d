//! `chuhe-trainer sweep`: trains a recipe with every combination of some values, and ranks them.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::Write,
    mem,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail};
use dataset::{AtomicFile, Digest};
use protocol::recipe::{Recipe, RecipeError, variants};
use serde::Serialize;
use serde_json::Value;

use super::{child::Child, data};
use crate::run::{Folder, Metrics};

/// Train a recipe with every combination of some values, and rank the nets
///
/// Values of seeds make several nets of one combination, so that the spread between seeds is seen.
/// The nets are ranked by their mean held-out loss, or by matches with --against. Ctrl-C stops the
/// training at a checkpoint. Killed at any time, the same command resumes, and waits for a training
/// that was left running.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The recipe (TOML)
    recipe: PathBuf,
    /// Folder of all runs; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Values of a key, in TOML: schedule.batch=4096,16384
    #[arg(long = "set", value_name = "KEY=VALUE,…", required = true, value_parser = setting)]
    settings: Vec<Setting>,
    #[command(flatten)]
    data: data::Arguments,
    /// Opponent of each net in a match, as of `chuhe match`: plain, net:FILE, …
    #[arg(long, value_name = "ENTRANT")]
    against: Option<String>,
    /// Pairs of games of each match
    #[arg(long, value_name = "N", default_value_t = 500, requires = "against")]
    pairs: u32,
    /// Nodes per move in matches
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "against")]
    nodes: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Options of `chuhe-trainer train` for every run, behind `--`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
}

/// A key and its values.
#[derive(Clone, Debug)]
struct Setting {
    key: String,
    values: Vec<String>,
}

/// The opponent of each net.
struct Opponent {
    entrant: String,
    /// The digest of a net's file; of others, the entrant.
    identity: String,
}

impl Opponent {
    fn named(entrant: &str) -> Result<Self> {
        let file = entrant.strip_prefix("net:");
        let digest = file.map(|file| fs::read(file).with_context(|| format!("--against {entrant}")));
        let identity = digest.transpose()?.map_or_else(|| entrant.to_owned(), |bytes| Digest::of(&bytes).to_string());
        Ok(Self { entrant: entrant.to_owned(), identity })
    }
}

/// One value for each key.
type Combination = Vec<(String, String)>;

/// A net of a sweep.
#[derive(Debug, Serialize)]
struct Trained {
    run: PathBuf,
    /// None if the training diverged.
    validation_loss: Option<f64>,
    /// Elo and its error, of a match.
    elo: Option<(f64, f64)>,
}

/// The nets that differ by their seeds alone.
#[derive(Debug, Serialize)]
struct Arm {
    settings: String,
    validation_loss: Option<f64>,
    elo: Option<f64>,
    nets: Vec<Trained>,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let named = || self.recipe.display().to_string();
        let keys: Vec<_> = self.settings.iter().map(|setting| &setting.key).collect();
        if let Some(key) = (1..keys.len()).find_map(|at| keys[..at].contains(&keys[at]).then(|| keys[at])) {
            bail!("--set names {key} twice: put its values into one list");
        }
        let text = fs::read_to_string(&self.recipe).with_context(named)?;
        let mut runs = Vec::new();
        for combination in combinations(&self.settings) {
            let lines: Vec<_> = combination.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let varied = variants::with(&text, &lines.join("\n")).with_context(named)?;
            // All recipes are checked before the first training. Places in the varied text say
            // nothing to people.
            let recipe =
                Recipe::from_text(&varied).map_err(|RecipeError { fault, .. }| match Recipe::from_text(&text) {
                    Err(error) if error.fault == fault => anyhow!("{}: {error}", named()),
                    _ => anyhow!("{} with {}: {fault}", named(), lines.join(", ")),
                })?;
            runs.push((combination, recipe));
        }
        let opponent = self.against.as_deref().map(Opponent::named).transpose()?;
        fs::create_dir_all(&self.out).with_context(|| format!("--out {}", self.out.display()))?;
        let child = Child::watched()?;
        let mut arms: BTreeMap<String, Vec<Trained>> = BTreeMap::new();
        let count = runs.len();
        for (number, (combination, recipe)) in runs.into_iter().enumerate() {
            let folder = self.out.join(name(&combination, |_| true));
            let _ = writeln!(std::io::stderr(), "training {} of {count}: {}", number + 1, folder.display());
            let Some(trained) = self.train(&recipe, folder, opponent.as_ref(), &child)? else {
                let _ = writeln!(std::io::stderr(), "chuhe-trainer: stopped; the same command resumes");
                return Ok(ExitCode::SUCCESS);
            };
            arms.entry(name(&combination, |key| !key.starts_with("seeds."))).or_default().push(trained);
        }
        let arms = ranked(arms);
        let json = serde_json::to_string(&arms)?;
        let path = self.out.join("sweep.json");
        AtomicFile::replace(&path, json.as_bytes()).with_context(|| path.display().to_string())?;
        if self.json {
            writeln!(out, "{json}")?;
        } else {
            print(&arms, out)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Trains a net and plays its match; `None` if a stop was requested.
    fn train(
        &self,
        recipe: &Recipe,
        run: PathBuf,
        opponent: Option<&Opponent>,
        child: &Child,
    ) -> Result<Option<Trained>> {
        let path = run.with_added_extension("toml");
        AtomicFile::replace(&path, recipe.to_text().as_bytes()).with_context(|| path.display().to_string())?;
        let beside = self.recipe.parent().filter(|folder| !folder.as_os_str().is_empty());
        let manifests = self.data.manifests.as_deref().or(beside).unwrap_or(Path::new("."));
        let mut train = Command::new(env::current_exe()?);
        train.arg("train").arg(path).arg("--out").arg(&run).arg("--json").arg("--manifests").arg(manifests);
        self.data.pass_on(&mut train);
        train.args(&self.options);
        let output = loop {
            wait(&run, child)?;
            let Some(output) = child.run(&mut train)? else { return Ok(None) };
            // Another one may have been opening its data.
            if output.status.code() != Some(2) || !Metrics::is_in_use(&Folder::new(&run).metrics())? {
                break output;
            }
        };
        match output.status.code() {
            Some(0) if output.stdout.is_empty() => return Ok(None),
            Some(0) => {}
            // It diverged, and has said so.
            Some(1) => return Ok(Some(Trained { run, validation_loss: None, elo: None })),
            _ => bail!("{}: its training failed", run.display()),
        }
        let path = run.join("net.json");
        let manifest = fs::read(&path).with_context(|| path.display().to_string())?;
        let manifest: Value = serde_json::from_slice(&manifest).with_context(|| path.display().to_string())?;
        let elo = match opponent.map(|opponent| self.play(&run, opponent, child)).transpose()? {
            Some(None) => return Ok(None),
            elo => elo.flatten(),
        };
        Ok(Some(Trained { run, validation_loss: manifest["validation"]["loss"].as_f64(), elo }))
    }

    /// Plays a net's match, unless its result is there; `None` if a stop was requested.
    fn play(&self, run: &Path, opponent: &Opponent, child: &Child) -> Result<Option<(f64, f64)>> {
        let net = run.join("net.nnue");
        let (pairs, nodes) = (self.pairs.to_string(), self.nodes.to_string());
        let beside = env::current_exe()?.with_file_name("chuhe");
        let program = if beside.exists() { beside } else { PathBuf::from("chuhe") };
        let mut play = Command::new(program);
        play.args(["match", "--a", &format!("net:{}", net.display()), "--b", &opponent.entrant]);
        play.args(["--pairs", &pairs, "--nodes", &nodes, "--seed", "5", "--json"]);
        // A result is of these two nets alone.
        let both = format!("{} {}", Digest::of(&fs::read(&net)?), opponent.identity);
        let done = run.join(format!("match-{pairs}-{nodes}-{:.8}.json", Digest::of(both.as_bytes()).to_string()));
        let text = if let Ok(text) = fs::read(&done) {
            text
        } else {
            let Some(output) = child.run(&mut play).context("chuhe cannot be run")? else { return Ok(None) };
            if !output.status.success() {
                bail!("{}: its match failed", run.display());
            }
            AtomicFile::replace(&done, &output.stdout).with_context(|| done.display().to_string())?;
            output.stdout
        };
        let result: Value = serde_json::from_slice(&text).with_context(|| done.display().to_string())?;
        let figure = |key: &str| result[key].as_f64().with_context(|| format!("{}: no {key}", done.display()));
        Ok(Some((figure("elo")?, figure("elo_error")?)))
    }
}

/// Waits until no process is at work on a run, or a stop is requested: a killed sweep leaves its
/// training running.
fn wait(run: &Path, child: &Child) -> Result<()> {
    let mut waits = false;
    while !child.is_stopped() && Metrics::is_in_use(&Folder::new(run).metrics())? {
        if !mem::replace(&mut waits, true) {
            let _ = writeln!(std::io::stderr(), "waiting for the process that is at work on {}", run.display());
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn setting(text: &str) -> Result<Setting, String> {
    let (key, values) = text.split_once('=').ok_or("expected KEY=VALUE,…")?;
    let values = variants::values(values).map_err(|error| error.message().to_owned())?;
    if values.is_empty() {
        return Err("it has no value".to_owned());
    }
    if key.trim().is_empty() {
        return Err("it has no key".to_owned());
    }
    if let Some(value) = (1..values.len()).find_map(|at| values[..at].contains(&values[at]).then(|| &values[at])) {
        return Err(format!("it has the value {value} twice"));
    }
    Ok(Setting { key: key.trim().to_owned(), values })
}

fn combinations(settings: &[Setting]) -> Vec<Combination> {
    settings.iter().fold(vec![Vec::new()], |before, Setting { key, values }| {
        let with = |value: &String, before: &Combination| {
            let mut combination = before.clone();
            combination.push((key.clone(), value.clone()));
            combination
        };
        before.iter().flat_map(|before| values.iter().map(move |value| with(value, before))).collect()
    })
}

/// The settings of a combination as a file's name.
fn name(combination: &Combination, is_named: impl Fn(&str) -> bool) -> String {
    let named = combination.iter().filter(|(key, _)| is_named(key));
    let words: Vec<_> = named.map(|(key, value)| format!("{key}={}", value.trim_matches('"'))).collect();
    if words.is_empty() { "recipe".to_owned() } else { words.join(",").replace(['/', '\\'], "_") }
}

/// The arms, the best first: by matches if there are some, else by held-out loss.
fn ranked(arms: BTreeMap<String, Vec<Trained>>) -> Vec<Arm> {
    let mean = |nets: &[Trained], figure: fn(&Trained) -> Option<f64>| {
        // An arm with a diverged net has no mean.
        let figures: Option<Vec<_>> = nets.iter().map(figure).collect();
        figures.map(|figures| figures.iter().sum::<f64>() / figures.len() as f64)
    };
    let mut arms: Vec<_> = arms
        .into_iter()
        .map(|(settings, nets)| Arm {
            settings,
            validation_loss: mean(&nets, |net| net.validation_loss),
            elo: mean(&nets, |net| net.elo.map(|(elo, _)| elo)),
            nets,
        })
        .collect();
    let last = f64::INFINITY;
    let key = |arm: &Arm| (arm.elo.map_or(last, |elo| -elo), arm.validation_loss.unwrap_or(last));
    arms.sort_by(|one, other| key(one).partial_cmp(&key(other)).expect("no figure is none"));
    arms
}

fn print(arms: &[Arm], out: &mut impl Write) -> Result<()> {
    writeln!(out, "| settings | nets | held-out loss | from | to | Elo | from | to |")?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
    let text =
        |figure: Option<f64>, places: usize| figure.map_or("–".to_owned(), |figure| format!("{figure:.places$}"));
    for Arm { settings, validation_loss, elo, nets } in arms {
        let bound = |pick: fn(f64, f64) -> f64, figure: fn(&Trained) -> Option<f64>| {
            nets.iter().filter_map(figure).reduce(pick)
        };
        let (loss, played) = (|net: &Trained| net.validation_loss, |net: &Trained| net.elo.map(|(elo, _)| elo));
        writeln!(
            out,
            "| {settings} | {} | {} | {} | {} | {} | {} | {} |",
            nets.len(),
            text(*validation_loss, 6),
            text(bound(f64::min, loss), 6),
            text(bound(f64::max, loss), 6),
            text(*elo, 1),
            text(bound(f64::min, played), 1),
            text(bound(f64::max, played), 1),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_trained_once() {
        let settings = ["a.b=1,2", "seeds.order=7,8,9"].map(|text| setting(text).unwrap());
        let all = combinations(&settings);
        let names: Vec<_> = all.iter().map(|it| name(it, |_| true)).collect();
        assert_eq!(names.len(), 6);
        assert_eq!((names[0].as_str(), names[5].as_str()), ("a.b=1,seeds.order=7", "a.b=2,seeds.order=9"));
        assert_eq!(name(&all[5], |key| !key.starts_with("seeds.")), "a.b=2");
        assert!(setting("a.b").is_err() && setting("a.b=").is_err() && setting("a.b=[").is_err());
        assert_eq!(setting(" =1").unwrap_err(), "it has no key");
        assert_eq!(setting("a.b=1,2,1").unwrap_err(), "it has the value 1 twice");
    }

    #[test]
    fn matches_rank_before_losses_and_divergence_is_last() {
        let net = |validation_loss, elo: Option<f64>| Trained {
            run: PathBuf::new(),
            validation_loss,
            elo: elo.map(|elo| (elo, 9.0)),
        };
        let arms = |arms: Vec<(&str, Vec<Trained>)>| {
            let ranked = ranked(arms.into_iter().map(|(name, nets)| (name.to_owned(), nets)).collect());
            ranked.iter().map(|arm| arm.settings.clone()).collect::<Vec<_>>()
        };
        let diverged = || vec![net(Some(0.1), None), net(None, None)];
        let by_loss = vec![
            ("a", vec![net(Some(0.3), None), net(Some(0.5), None)]),
            ("b", diverged()),
            ("c", vec![net(Some(0.3), None), net(Some(0.4), None)]),
        ];
        assert_eq!(arms(by_loss), ["c", "a", "b"]);
        let by_elo =
            vec![("a", vec![net(Some(0.3), Some(5.0))]), ("b", vec![net(Some(0.4), Some(8.0))]), ("c", diverged())];
        assert_eq!(arms(by_elo), ["b", "a", "c"]);
    }
}
