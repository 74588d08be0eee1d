//! A small campaign with every step of a real one.

use std::fs;

use nnue::{Parameters, architecture::Sizes};

use crate::{coordinator::Coordinator, stage::Stage};

/// Strength that the gate demands of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Any net passes, but the gate is played.
    Low,
    /// No net passes.
    OutOfReach,
}

/// Creates the campaign `loop`; its first champion is a net of piece values.
#[must_use]
pub fn begin(stage: &Stage, coordinator: &Coordinator<'_>, bar: Bar, most_candidates: u32) -> String {
    let file = stage.path("material.nnue");
    let sizes = Sizes::new(128, 8, 8, 1).expect("there are nets of these sizes");
    fs::write(&file, Parameters::only_piece_values(sizes).to_bytes()).expect("the stage can be written");
    let champion = coordinator.admin(&["net", "add", &file.display().to_string()]);
    let champion = champion.trim_matches('"').to_owned();
    let (elo0, elo1) = match bar {
        Bar::Low => (-900, -600),
        Bar::OutOfReach => (1_200, 1_500),
    };
    coordinator.begin(&format!(
        "name = \"loop\"\nchampion = \"{champion}\"\n\
         [selfplay.settings]\nhash_mebibytes = 1\nhard_nodes = 100\nply_cap = 160\n\
         [selfplay.settings.adjudication]\nwin = {{ score = 1_500, plies = 4 }}\n\
         [selfplay.openings]\nplies = 8\n\
         [generation]\npositions = 3_000\nwindow = 2\nmost_candidates = {most_candidates}\nahead_percent = 0\n\
         [gate]\nelo0 = {elo0}\nelo1 = {elo1}\nmodel = \"logistic\"\nnodes = 100\nhash_mebibytes = 1\nmost_pairs = 200\n\
         ply_cap = 160\naudit_percent = 20\n\
         [recipe.architecture]\nwidth = 128\nfirst = 8\nsecond = 8\nstacks = 1\n\
         [recipe.data]\nvalidation_one_in = 8\n\
         [recipe.schedule]\nbatch = 250\nepochs = 2\npositions_per_epoch = 3_000\n\
         [recipe.stop]\nexplosion = 100_000\n"
    ));
    champion
}
