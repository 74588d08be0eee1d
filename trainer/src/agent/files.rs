//! Checks of what the coordinator sends, before it is used.

use dataset::Digest;
use protocol::{
    api::training::Training,
    campaign::net_file,
    is_name,
    recipe::{Recipe, Start},
};

use super::stop_reason::StopReason;

/// Manifest names that the run itself writes.
const RESERVED_NAMES: [&str; 4] = ["net.json", "best.json", "recipe.json", "metrics.json"];

/// Parses a training's recipe. It may name the training's own manifests and a net of the
/// coordinator to start from, and no other file of this machine.
pub(super) fn recipe(training: &Training) -> Result<Recipe, StopReason> {
    let impossible = |text: String| StopReason::Impossible(text);
    let recipe = Recipe::from_text(&training.recipe).map_err(|error| impossible(format!("the recipe: {error}")))?;
    if recipe.start.is_some() && start(&recipe).is_none() {
        return Err(impossible("the recipe: `start` names a file that is no net of the coordinator".to_owned()));
    }
    for named in &training.manifests {
        let name = &*named.name;
        let is_json = name.strip_suffix(".json").is_some_and(|stem| !stem.is_empty());
        if !is_name(name) || !is_json || RESERVED_NAMES.contains(&name) {
            return Err(impossible(format!("{name:?} is no name of a training set")));
        }
    }
    let later = recipe.stages.iter().flat_map(|stage| &stage.data.sources);
    for source in recipe.data.sources.iter().chain(later) {
        if !training.manifests.iter().any(|named| named.name == source.manifest) {
            return Err(impossible(format!("the recipe: there is no training set {:?}", source.manifest)));
        }
    }
    Ok(recipe)
}

/// The net of the coordinator that a recipe starts from.
pub(super) fn start(recipe: &Recipe) -> Option<Digest> {
    let Some(Start::Net(file)) = &recipe.start else { return None };
    let net = file.split('.').next()?.parse().ok()?;
    (*file == net_file(net)).then_some(net)
}

#[cfg(test)]
mod tests {
    use protocol::api::training::NamedManifest;

    use super::*;

    fn training(name: &str, source: &str, rest: &str) -> Training {
        let recipe = format!(
            "name = \"a\"\n[[data.sources]]\nmanifest = {source:?}\n\
             [schedule]\nepochs = 1\npositions_per_epoch = 1\n{rest}"
        );
        Training {
            token: "secret".to_owned(),
            campaign: "a".to_owned(),
            generation: 1,
            recipe,
            manifests: vec![NamedManifest { name: name.to_owned(), sha256: Digest::of(b"") }],
            seconds: 900,
        }
    }

    #[test]
    fn a_recipe_names_its_own_training_sets_and_nothing_else() {
        assert!(recipe(&training("games.json", "games.json", "")).is_ok());
        let net = Digest::of(b"net");
        let from_net = recipe(&training("games.json", "games.json", &format!("[start]\nnet = \"{net}.nnue\"\n")));
        assert_eq!(start(&from_net.unwrap()), Some(net));
        for (name, source, rest) in [
            ("games.json", "other.json", ""),
            ("../games.json", "../games.json", ""),
            ("/games.json", "/games.json", ""),
            (".json", ".json", ""),
            ("net.json", "net.json", ""),
            ("recipe.toml", "recipe.toml", ""),
            ("games.json", "games.json", "[start]\ncheckpoint = \"/some/file\"\n"),
            ("games.json", "games.json", "[start]\nnet = \"/some/file\"\n"),
            ("games.json", "games.json", "[start]\nnet = \"net.nnue\"\n"),
            ("games.json", "games.json", &format!("[start]\nnet = \"{net}.nnue/../../file\"\n")),
            ("games.json", "games.json", "[[stages]]\ndata.sources = [{ manifest = \"other.json\" }]\n"),
            ("games.json", "games.json", "[nonsense]\n"),
        ] {
            assert!(matches!(recipe(&training(name, source, rest)), Err(StopReason::Impossible(_))), "{name} {rest}");
        }
    }
}
