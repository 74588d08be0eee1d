//! Campaigns are parsed strictly, and a parsed campaign can be run.

use dataset::Digest;
use protocol::{
    campaign::{Campaign, CampaignError},
    recipe::Start,
};

const SMALL: &str = include_str!("../../../nets/campaigns/small.toml");

#[test]
fn the_example_is_a_campaign_and_says_the_same_when_written_again() {
    let campaign = Campaign::from_text(SMALL).unwrap();
    assert_eq!(campaign.name, "small");
    assert_eq!(campaign.gate.batch_pairs, 8);
    assert_eq!(campaign.selfplay.settings.soft_nodes, Some(500));
    assert_eq!(Campaign::from_text(&campaign.to_text()).unwrap(), campaign);
}

#[test]
fn a_candidate_s_recipe_has_its_name_and_its_games() {
    let campaign = Campaign::from_text(SMALL).unwrap();
    let sets = [("old.json".to_owned(), 1), ("new.json".to_owned(), 2)];
    let champion = Some(Digest::of(b"net"));
    let recipe = campaign.recipe_for("small-2", &sets, champion).unwrap();
    assert_eq!((recipe.name.as_str(), recipe.architecture.width, &recipe.start), ("small-2", 128, &None));
    let sources: Vec<_> = recipe.data.sources.iter().map(|source| (source.manifest.as_str(), source.weight)).collect();
    assert_eq!(sources, [("old.json", 1), ("new.json", 2)]);

    let text = SMALL.replace("[recipe.architecture]", "[recipe.start]\nnet = \"champion\"\n[recipe.architecture]");
    let further = Campaign::from_text(&text).unwrap();
    assert_eq!(Campaign::from_text(&further.to_text()).unwrap(), further);
    let start = |champion| further.recipe_for("small-2", &sets, champion).unwrap().start;
    assert_eq!(start(champion), Some(Start::Net(format!("{}.nnue", Digest::of(b"net")))));
    assert_eq!(start(None), None, "the plain evaluation is no net");
}

#[test]
fn faults_are_named_with_their_place() {
    let cases = [
        ("seed = 1", "sead = 1", "line 6, column 1: unknown field `sead`"),
        ("rules = \"cxr\"", "rules = \"chess\"", "line 5, column 9: "),
        (
            "soft_nodes = 500",
            "soft_nodes = 0",
            "`selfplay.settings.soft_nodes` is 0; it must be a whole number from 1 to",
        ),
        ("name = \"small\"", "name = \"../x\"", "`name` is \"../x\"; it must be 1 to 64 letters"),
        ("seed = 1", "learns_from = [\"small\"]", "`learns_from` is [\"small\"]; it must be names of at most 64 other"),
        ("seed = 1", "learns_from = [\"a\", \"a\"]", "`learns_from` is [\"a\", \"a\"]; it must be names"),
        ("seed = 1", "learns_from = [\"../a\"]", "`learns_from` is [\"../a\"]; it must be names"),
        ("elo1 = 30.0", "elo1 = 0.0", "`gate`: "),
        ("width = 128", "activation = \"clipped\"\nwidth = 512", "`recipe.architecture.activation` is `clipped`: "),
        (
            "width = 128",
            "activation = \"pairs-skip\"\ninputs = \"kings-attackers\"\nwidth = 1024\nstacks = 16",
            "`recipe.architecture.activation` is `pairs-skip`: a fleet's engine loads no net for Pikafish",
        ),
        ("width = 128", "width = 127", "in `recipe`, `architecture.width` is 127; it must be "),
        (
            "[recipe.architecture]",
            "[recipe]\nname = \"x\"\n[recipe.architecture]",
            "`recipe.name` is not for a campaign",
        ),
        (
            "[recipe.data.filter]",
            "[recipe.data]\nsources = []\n[recipe.data.filter]",
            "`recipe.data.sources` is not for",
        ),
        (
            "[recipe.architecture]",
            "[recipe.start]\ncheckpoint = \"champion\"\n[recipe.architecture]",
            "`recipe.start` of a campaign can only be `net = \"champion\"`",
        ),
        (
            "[recipe.architecture]",
            "[recipe.start]\nnet = \"../x\"\n[recipe.architecture]",
            "`recipe.start` of a campaign can only be `net = \"champion\"`",
        ),
        ("[gate]", "[gate]\nbatch_pairs = 0", "`gate.batch_pairs` is 0"),
    ];
    for (good, bad, message) in cases {
        assert_eq!(SMALL.matches(good).count(), 1, "{good}");
        let error: CampaignError = Campaign::from_text(&SMALL.replace(good, bad)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(message) && !text.contains('\n'), "{text}");
    }
}
