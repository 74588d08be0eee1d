//! A tuning run: its perturbations, its games, and the values that follow from them.

use std::{ops::ControlFlow, time::Duration};

use anyhow::{Context as _, Result};
use dataset::{
    AtomicFile,
    random::{Stream, Use, game_seed},
};
use engine::{
    Engine, Evaluation, Parameters, Settings,
    tune::{PARAMETERS, Parameter},
};
use selfplay::{
    Conditions, EnginePlayer, Entrant, Filter, MatchPlan, NoTimer, OpeningOrder, Openings, TimeControl, play_match,
};
use stats::{Gains, Spsa, Tuned};

use super::{Answer, Arguments, Found, chart, state::Round};

/// Nodes of the plain evaluation's search that filters openings.
const OPENING_NODES: u64 = 10_000;

/// A run with the values after each of its iterations.
pub(super) struct Run<'a> {
    arguments: &'a Arguments,
    start: Parameters,
    evaluation: Evaluation,
    spsa: Spsa,
    tuned: Vec<Tuned>,
    pub(super) history: Vec<Vec<f64>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(arguments: &'a Arguments, start: Parameters, evaluation: Evaluation) -> Self {
        let tuned = arguments.names.iter().map(|(parameter, end)| Tuned {
            value: value_of(&start, parameter).into(),
            perturbation: *end,
            min: parameter.min.into(),
            max: parameter.max.into(),
        });
        let tuned = tuned.collect();
        let spsa = Spsa::new(arguments.iterations, arguments.rate);
        Self { arguments, start, evaluation, spsa, tuned, history: Vec::new() }
    }

    /// The signs of an iteration's perturbation, and the fractions for rounding.
    fn draws(&self, index: u64) -> Vec<(bool, f64)> {
        let mut stream = Stream::new(Use::Tuning, self.arguments.seed, index);
        let draw = |_: &Tuned| {
            let bits = stream.bits();
            (bits & 1 == 1, (bits >> 11) as f64 / (1_u64 << 53) as f64)
        };
        self.tuned.iter().map(draw).collect()
    }

    /// The two opposite sets of an iteration.
    fn sets(&self, index: u64) -> [Parameters; 2] {
        let (gains, draws) = (self.spsa.gains(index), self.draws(index));
        [true, false].map(|plus| {
            let values = self.tuned.iter().zip(&draws);
            self.with(values.map(|(tuned, (up, fraction))| tuned.perturbed(gains, *up == plus, *fraction)))
        })
    }

    /// The start with these values of the tuned parameters.
    fn with(&self, values: impl Iterator<Item = i32>) -> Parameters {
        let mut parameters = self.start.clone();
        for ((parameter, _), value) in self.arguments.names.iter().zip(values) {
            parameters.set(parameter.name, &value.to_string()).expect("the value is within the range");
        }
        parameters
    }

    /// Plays an iteration, which depends only on the values before it and its number.
    pub(super) fn play(&self, index: u64) -> Result<Round> {
        let Arguments { pairs, nodes, rules, random_plies, opening_bound, hash, thresholds, .. } = self.arguments;
        let filter = (*random_plies > 0).then_some(Filter { nodes: OPENING_NODES, bound: *opening_bound });
        let openings = Openings { rules: *rules, book: None, plies: *random_plies, filter };
        let plan = MatchPlan {
            first_pair: 0,
            pairs: *pairs,
            threads: self.arguments.threads.get(),
            openings: OpeningOrder::new(openings, game_seed(self.arguments.seed, index)),
            conditions: Conditions {
                time_controls: [TimeControl::Nodes(*nodes); 2],
                decider: false,
                grace: Duration::ZERO,
                adjudication: thresholds.adjudication(),
                ply_cap: thresholds.ply_cap,
            },
            test: None,
            timer: &NoTimer,
            watcher: None,
        };
        let settings = self.sets(index).map(|parameters| Settings {
            hash_mebibytes: *hash as usize,
            threads: 1,
            evaluation: self.evaluation.clone(),
            parameters,
        });
        let player = |entrant: Entrant| {
            let player = EnginePlayer::new(Engine::new(&settings[usize::from(entrant == Entrant::B)]), &NoTimer);
            Ok(Box::new(player) as Box<dyn selfplay::Player>)
        };
        let standing = play_match(&plan, &player, |_, _| Ok(ControlFlow::Continue(())))?;
        let [lost, drawn, won] = *standing.games.cells();
        Ok(Round { iteration: index, won, drawn, lost })
    }

    /// Moves the values by an iteration's result.
    pub(super) fn update(&mut self, round: &Round) {
        let gains: Gains = self.spsa.gains(round.iteration);
        let draws = self.draws(round.iteration);
        for (tuned, (up, _)) in self.tuned.iter_mut().zip(draws) {
            tuned.update(gains, up, round.score());
        }
        self.history.push(self.tuned.iter().map(|tuned| tuned.value).collect());
    }

    /// The current parameters, rounded.
    pub(super) fn parameters(&self) -> Parameters {
        self.with(self.tuned.iter().map(Tuned::rounded))
    }

    pub(super) fn draw(&self) -> Result<()> {
        let Some(path) = &self.arguments.chart else { return Ok(()) };
        let lines = self.arguments.names.iter().enumerate().map(|(index, (parameter, end))| {
            let start = f64::from(value_of(&self.start, parameter));
            let values = self.history.iter().map(|values| (values[index] - start) / end).collect();
            (format!("{} {} → {:.1}", parameter.name, start, self.tuned[index].value), values)
        });
        let lines: Vec<_> = lines.collect();
        AtomicFile::replace(path, chart::draw(&lines, self.arguments.iterations).as_bytes()).context("--chart")
    }

    pub(super) fn answer(&self) -> Answer {
        let values = self.arguments.names.iter().zip(&self.tuned).map(|((parameter, _), tuned)| {
            let start = value_of(&self.start, parameter);
            (parameter.name, Found { start, value: tuned.value, rounded: tuned.rounded() })
        });
        let iterations = self.history.len() as u64;
        Answer {
            iterations,
            games: 2 * self.arguments.pairs * iterations,
            parameters: self.parameters().to_string(),
            values: values.collect(),
        }
    }
}

fn value_of(parameters: &Parameters, parameter: &Parameter) -> i32 {
    let mut values = PARAMETERS.iter().zip(parameters.values());
    values.find(|(other, _)| other.name == parameter.name).map_or(parameter.default, |(_, value)| value)
}
