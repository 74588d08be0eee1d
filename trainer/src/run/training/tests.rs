//! Divergence: a value that is not finite stops the run, and the last good checkpoint stays.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{collections::BTreeSet, fs};

use dataset::manifest::Manifest;

use super::*;
use crate::{
    backend::Totals,
    model::Array,
    run::{BackendKind, Silent},
};

/// A backend that trains nothing and returns a fixed loss.
struct Failing {
    state: State,
    loss: f64,
}

impl Backend for Failing {
    fn step(&mut self, _: &Batch, _: Loss, _: f64) -> Totals {
        Totals { loss: self.loss }
    }

    fn evaluate(&mut self, batch: &Batch, _: Loss, values: &mut Vec<f32>) -> Totals {
        values.extend(std::iter::repeat_n(0.0, batch.len()));
        Totals { loss: self.loss }
    }

    fn state(&self) -> State {
        self.state.clone()
    }
}

#[test]
fn a_value_that_is_not_finite_stops_the_run_before_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/data/selfplay-64.chuhe");
    fs::copy(games, folder.path().join("games.chuhe")).unwrap();
    let manifest = Manifest::of_files(&[folder.path().join("games.chuhe")]).unwrap();
    fs::write(folder.path().join("set.json"), manifest.to_text()).unwrap();
    let recipe = Recipe::from_text(
        "name = \"test\"\n[architecture]\nwidth = 128\nfirst = 8\nsecond = 16\nstacks = 2\n\
         [data]\nvalidation_one_in = 4\npool_blocks = 2\n[[data.sources]]\nmanifest = \"set.json\"\n\
         [schedule]\nbatch = 100\nepochs = 2\npositions_per_epoch = 4_000\n[loss]\nlambda_start = 1.0\nlambda_end = 0.8\n",
    )
    .unwrap();
    let data = TrainingData::open(&recipe, folder.path(), None, &BTreeSet::new()).unwrap();
    let conditions = Conditions {
        backend: BackendKind::Cpu,
        threads: 1,
        readers: 1,
        cache_bytes: 0,
        checkpoint_steps: Some(1),
        resident: false,
    };
    let plan = Plan::new(&recipe, &data).unwrap();
    let run = Folder::new(folder.path().join("run"));
    fs::create_dir(folder.path().join("run")).unwrap();
    let mut training = Training::begin(&recipe, &data, plan, &run, &conditions).unwrap();
    assert!(!run.is_run());
    training.keep_start().unwrap();
    let good = training.backend.state();
    let ready = data.load(100, ReaderPosition::default(), 1, 0).unwrap().next().unwrap();
    let bytes = || fs::read(run.checkpoint(Kept::Last)).unwrap();
    let written = bytes();

    // A loss that is not finite, of a batch and of the held-out positions.
    for loss in [f64::NAN, f64::INFINITY] {
        training.backend = Box::new(Failing { state: good.clone(), loss });
        let error = training.learn(&ready).unwrap_err().to_string();
        assert!(error.contains(": the loss is no number; ") && error.contains("good checkpoint, at step 0"), "{error}");
        let held_out = data.held_out(100).unwrap();
        let error = training.validate(&held_out).unwrap_err().to_string();
        assert!(error.contains("the loss of the held-out positions is no number"), "{error}");
    }
    // A weight that is not finite, under a finite loss.
    training.progress.loss_sum = crate::checkpoint::LossSum::default();
    for (of_squares, loss) in [(false, 0.5), (true, 0.4)] {
        let mut state = good.clone();
        let arrays = if of_squares { &mut state.second } else { &mut state.values };
        arrays[Array::First][3] = f32::NAN;
        training.backend = Box::new(Failing { state, loss: 1.0 });
        training.learn(&ready).unwrap();
        let error = training.save().unwrap_err().to_string();
        assert!(error.contains("a weight is no number"), "{error}");
        assert!(training.keep_if_best(loss).is_err() && !run.checkpoint(Kept::Best).exists());
    }
    assert!(bytes() == written, "the last good one stays");

    // A finite state is written. The loss of a few positions is noise, that of many is an
    // explosion.
    training.backend = Box::new(Failing { state: good, loss: 1.0 });
    training.progress.loss_sum = crate::checkpoint::LossSum::default();
    training.learn(&ready).unwrap();
    training.save().unwrap();
    assert!(bytes() != written);
    training.progress.min_loss = Some(0.001);
    training.report(None, &mut Silent).unwrap();
    training.progress.loss_sum = crate::checkpoint::LossSum { loss: 5_000.0, positions: 5_000 };
    let error = training.report(None, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("times the best so far"), "{error}");

    // In the second epoch `lambda` is another: the loss is compared once, and then with its own.
    training.progress.min_loss = Some(1.0);
    for (steps, loss, positions, least) in [
        (40, 2.0, 2_000, Some(1.0)),
        (50, 3.0, 2_000, Some(3.0)),
        (80, 3.5, 2_000, Some(3.0)),
        (80, 2.5, 2_000, Some(2.5)),
        (50, 9.0, 1_000, None),
    ] {
        training.steps = steps;
        training.progress.loss_sum = crate::checkpoint::LossSum { loss: positions as f64 * loss, positions };
        training.report(None, &mut Silent).unwrap();
        assert_eq!(training.progress.min_loss, least, "{steps}");
    }
}
