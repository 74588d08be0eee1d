//! Matches: pairs of games from one opening with colours swapped, counted in order.

use std::{ops::ControlFlow, sync::atomic::AtomicBool};

use dataset::{Entrant, Opening};
use engine::{Engine, Settings};
use stats::{Decision, GameResult, NoSolution, PairResult, Pentanomial, Sprt, Trinomial};
use xiangqi::rules::Outcome;

use crate::{
    arbiter::{self, Conditions, Ending, Interruption, PlayedGame, Watcher},
    control::{CancelToken, Control},
    openings::{NoOpening, OpeningOrder},
    ordered::in_order,
    player::{FaultKind, Player},
    timing::Timer,
};

/// The plan of a match.
pub struct MatchPlan<'a> {
    /// The number of pairs that were played before, as when a match is resumed. They are not played
    /// again, and not counted.
    pub first_pair: u64,
    /// The number of pairs, those played before included, unless the test decides earlier.
    pub pairs: u64,
    /// The number of concurrent games.
    pub threads: usize,
    /// The openings of the pairs, in order.
    pub openings: OpeningOrder,
    /// The conditions of every game.
    pub conditions: Conditions,
    /// An SPRT that ends the match once it decides.
    pub test: Option<Sprt>,
    /// The source of time, for time limits and clocks.
    pub timer: &'a dyn Timer,
    /// The observer of the games, if any.
    pub watcher: Option<&'a dyn Watcher>,
}

/// A finished pair.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// The number, from 0.
    pub number: u64,
    /// The opening of both games.
    pub opening: Opening,
    /// The games; A is Red in the first, B in the second.
    pub games: [PlayedGame; 2],
}

/// A fault and its place in the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The number of the pair.
    pub pair: u64,
    /// Whether it was the pair's second game.
    pub second: bool,
    /// The entrant at fault.
    pub entrant: Entrant,
    /// The kind of fault, such as a crash.
    pub kind: FaultKind,
    /// A line for people.
    pub detail: String,
    /// The number of plies before it.
    pub ply: usize,
}

/// The standing after the pairs counted so far.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The pentanomial results of the pairs.
    pub pairs: Pentanomial,
    /// The results of their games.
    pub games: Trinomial,
    /// The faults in these games; in an aborted match also of the unpaired game.
    pub faults: Vec<FaultReport>,
    /// The test's log-likelihood ratio; none without a test, or before the first pair.
    pub llr: Option<f64>,
    /// The test's decision; none without a test, or before the first pair.
    pub decision: Option<Decision>,
}

/// The unpaired game: the first of a pair whose second could not be played. It is not counted, but
/// often shows why the match was aborted.
#[derive(Clone, Debug)]
pub struct LoneGame {
    /// The number of the pair.
    pub pair: u64,
    /// The first game of the pair.
    pub game: PlayedGame,
}

/// An aborted match, with its results so far.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct MatchAborted {
    /// The reason of the end.
    pub why: Abort,
    /// The standing of the pairs that were complete.
    pub standing: Standing,
    /// The unpaired game, if any.
    pub lone_game: Option<LoneGame>,
}

/// The reason for aborting a match.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Abort {
    #[error("engine {entrant:?}: {detail}")]
    Gone { entrant: Entrant, detail: String },
    #[error(transparent)]
    NoOpening(#[from] NoOpening),
    #[error(transparent)]
    NoSolution(#[from] NoSolution),
    #[error("{0}")]
    Output(String),
}

impl Standing {
    fn count(&mut self, pair: &PairReport, test: Option<&Sprt>) -> Result<(), NoSolution> {
        let [first, second] = [0, 1].map(|index| {
            let result = result_for_a(pair.games[index].ending.outcome(), index == 1);
            self.games.add(result);
            result
        });
        self.pairs.add(PairResult::of(first, second));
        for (played, second) in pair.games.iter().zip([false, true]) {
            self.record_fault(pair.number, second, played);
        }
        if let Some(test) = test {
            let llr = test.llr(self.pairs)?;
            self.llr = Some(llr);
            self.decision = Some(test.decide(llr));
        }
        Ok(())
    }

    fn record_fault(&mut self, pair: u64, second: bool, played: &PlayedGame) {
        if let Ending::Fault(side, fault) = &played.ending {
            self.faults.push(FaultReport {
                pair,
                second,
                entrant: Entrant::playing(*side, second),
                kind: fault.kind,
                detail: fault.detail.clone(),
                ply: played.game.len(),
            });
        }
    }

    fn is_decided(&self) -> bool {
        self.decision.is_some_and(|decision| decision != Decision::Continue)
    }
}

fn result_for_a(outcome: Outcome, second: bool) -> GameResult {
    match outcome.loser() {
        None => GameResult::Draw,
        Some(loser) if Entrant::playing(loser, second) == Entrant::A => GameResult::Loss,
        Some(_) => GameResult::Win,
    }
}

/// The settings of the engine that filters openings: fixed, so that openings depend only on the
/// seed.
pub(crate) const JUDGE_SETTINGS: Settings = Settings::DEFAULT;

/// A thread's players, and its engine that filters openings.
struct ThreadState<'a> {
    players: Option<[Box<dyn Player + 'a>; 2]>,
    judge: Engine,
}

/// Plays a match. `make_player` makes players, two per thread; `report` gets the pairs in order
/// with the standing, and may end the match.
///
/// Pairs finished after the deciding one are not counted, so the result does not depend on speed.
///
/// # Errors
///
/// If a player cannot be made or recovered, no opening passes, the test has no solution, or
/// `report` fails.
pub fn play_match<'a>(
    plan: &MatchPlan<'_>,
    make_player: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String> + Sync),
    mut report: impl FnMut(&PairReport, &Standing) -> Result<ControlFlow<()>, Abort>,
) -> Result<Standing, Box<MatchAborted>> {
    let mut standing = Standing::default();
    let state = || ThreadState { players: None, judge: Engine::new(&JUDGE_SETTINGS) };
    let control = Control::default();
    let work = |state: &mut ThreadState<'a>, number, token: &CancelToken<'_>| {
        play_pair(plan, make_player, state, plan.first_pair + number, token.cancelled())
    };
    let played = in_order(
        plan.pairs.saturating_sub(plan.first_pair),
        plan.threads,
        &control,
        state,
        work,
        |_, pair: PairReport| {
            let counted = standing.count(&pair, plan.test.as_ref());
            let flow = report(&pair, &standing)?;
            counted.map_err(Abort::from)?;
            Ok(if standing.is_decided() { ControlFlow::Break(()) } else { flow })
        },
    );
    match played {
        Ok(()) => Ok(standing),
        Err(PairFailure { why, lone_game }) => {
            let lone_game = lone_game.map(|game| *game);
            if let Some(LoneGame { pair, game }) = &lone_game {
                standing.record_fault(*pair, false, game);
            }
            Err(Box::new(MatchAborted { why, standing, lone_game }))
        }
    }
}

/// Plays the first game of pair `plan.first_pair` alone: A is Red.
///
/// # Errors
///
/// As [`play_match`].
pub fn play_game<'a>(
    plan: &MatchPlan<'_>,
    make_player: &dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String>,
) -> Result<PlayedGame, Abort> {
    let opening = plan.openings.of_pair(plan.first_pair, &mut Engine::new(&JUDGE_SETTINGS))?;
    let mut a = try_make(make_player, Entrant::A)?;
    let mut b = try_make(make_player, Entrant::B)?;
    let mut seats: [&mut dyn Player; 2] = [a.as_mut(), b.as_mut()];
    let played = arbiter::play(opening.game(), &mut seats, plan, plan.first_pair, false, &AtomicBool::new(false));
    played.map_err(|interruption| match interruption {
        Interruption::Gone(side, detail) => Abort::Gone { entrant: Entrant::playing(side, false), detail },
        Interruption::Stopped => unreachable!("it is not cancelled"),
    })
}

/// A pair that could not be finished, with its first game.
struct PairFailure {
    why: Abort,
    lone_game: Option<Box<LoneGame>>,
}

impl From<Abort> for PairFailure {
    fn from(why: Abort) -> Self {
        Self { why, lone_game: None }
    }
}

#[allow(clippy::elidable_lifetime_names, reason = "the lifetime of the players in both places")]
fn play_pair<'p>(
    plan: &MatchPlan<'_>,
    make_player: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'p>, String> + Sync),
    state: &mut ThreadState<'p>,
    number: u64,
    stop: &AtomicBool,
) -> Result<Option<PairReport>, PairFailure> {
    let opening = plan.openings.of_pair(number, &mut state.judge).map_err(Abort::from)?;
    let players = match &mut state.players {
        Some(players) => players,
        none => none.insert([try_make(make_player, Entrant::A)?, try_make(make_player, Entrant::B)?]),
    };
    let mut games = Vec::with_capacity(2);
    for second in [false, true] {
        let [a, b] = players.each_mut().map(|player| -> &mut dyn Player { player.as_mut() });
        let mut seats = if second { [b, a] } else { [a, b] };
        match arbiter::play(opening.game(), &mut seats, plan, number, second, stop) {
            Ok(played) => games.push(played),
            Err(Interruption::Stopped) => return Ok(None),
            Err(Interruption::Gone(side, detail)) => {
                let why = Abort::Gone { entrant: Entrant::playing(side, second), detail };
                let lone_game = games.pop().map(|game| Box::new(LoneGame { pair: number, game }));
                return Err(PairFailure { why, lone_game });
            }
        }
    }
    let Ok(games) = games.try_into() else { unreachable!("two games were played") };
    Ok(Some(PairReport { number, opening, games }))
}

fn try_make<'a>(
    make_player: &dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String>,
    entrant: Entrant,
) -> Result<Box<dyn Player + 'a>, Abort> {
    make_player(entrant).map_err(|detail| Abort::Gone { entrant, detail })
}
