//! Matches: pairs of games from one opening with colours swapped, counted in the order of their numbers.

use std::{ops::ControlFlow, sync::atomic::AtomicBool};

use dataset::{Entrant, Opening};
use engine::{Engine, Settings};
use stats::{Decision, GameResult, NoSolution, PairResult, Pentanomial, Sprt, Trinomial};
use xiangqi::rules::Outcome;

use crate::{
    arbiter::{self, Conditions, Ending, Interruption, PlayedGame},
    control::{Control, Leave},
    openings::{NoOpening, OpeningOrder},
    ordered::in_order,
    player::{FaultKind, Player},
    timing::Timer,
};

/// What a match is.
pub struct MatchPlan<'a> {
    /// How many pairs are played, unless the test decides before.
    pub pairs: u64,
    /// How many games are played at the same time.
    pub threads: usize,
    /// From where they begin.
    pub openings: OpeningOrder,
    /// What holds in every game.
    pub conditions: Conditions,
    /// A test that ends the match once it is decided.
    pub test: Option<Sprt>,
    /// Who measures the time.
    pub timer: &'a dyn Timer,
}

/// A pair that was played.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// Its number, from 0.
    pub number: u64,
    /// Where both games began.
    pub opening: Opening,
    /// The games: in the first A is red, in the second B.
    pub games: [PlayedGame; 2],
}

/// A fault, and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The number of the pair.
    pub pair: u64,
    /// Whether it was the pair's second game.
    pub second: bool,
    /// Whose fault it was.
    pub entrant: Entrant,
    /// Of which kind it was.
    pub kind: FaultKind,
    /// One line for people.
    pub detail: String,
    /// After how many plies of the game.
    pub ply: usize,
}

/// What the pairs counted so far say.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The pairs.
    pub pairs: Pentanomial,
    /// Their games.
    pub games: Trinomial,
    /// What went wrong in these games; in a match that broke off, also in the game that is in no pair.
    pub faults: Vec<FaultReport>,
    /// The test's log-likelihood ratio; none without a test, or before the first pair.
    pub llr: Option<f64>,
    /// What the test says.
    pub decision: Option<Decision>,
}

/// The first game of a pair whose second could not be played. It is in no count, and often shows why the match broke
/// off.
#[derive(Clone, Debug)]
pub struct LoneGame {
    /// The number of the pair.
    pub pair: u64,
    /// The game.
    pub game: PlayedGame,
}

/// A match that broke off: why, and what is worth keeping of it.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct BrokenOff {
    /// Why it cannot go on.
    pub why: Abort,
    /// What was counted before.
    pub standing: Standing,
    /// The game that was played before the one that could not be.
    pub lone_game: Option<LoneGame>,
}

/// Why a match cannot go on.
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
            let result = result_of_a(pair.games[index].ending.outcome(), index == 1);
            self.games.add(result);
            result
        });
        self.pairs.add(PairResult::of(first, second));
        for (played, second) in pair.games.iter().zip([false, true]) {
            self.note_fault(pair.number, second, played);
        }
        if let Some(test) = test {
            let llr = test.llr(self.pairs)?;
            self.llr = Some(llr);
            self.decision = Some(test.decide(llr));
        }
        Ok(())
    }

    fn note_fault(&mut self, pair: u64, second: bool, played: &PlayedGame) {
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

fn result_of_a(outcome: Outcome, second: bool) -> GameResult {
    match outcome.loser() {
        None => GameResult::Draw,
        Some(loser) if Entrant::playing(loser, second) == Entrant::A => GameResult::Loss,
        Some(_) => GameResult::Win,
    }
}

/// The engine that judges openings is always the same: they are functions of the seed.
pub(crate) const JUDGE: Settings = Settings { hash_mebibytes: 16, threads: 1, evaluation: engine::Evaluation::Plain };

/// The players and the judge of openings that a thread has.
struct Table<'a> {
    players: Option<[Box<dyn Player + 'a>; 2]>,
    judge: Engine,
}

/// Plays a match. `enter` makes players, two for each thread; `report` gets the pairs in order with what they say so
/// far, and may break the match off.
///
/// Pairs that were finished beyond the one that decided the test are not counted: who plays faster changes nothing.
///
/// # Errors
///
/// If a player cannot be made or made again, no opening is kept, the test has no solution, or `report` fails.
pub fn play_match<'a>(
    plan: &MatchPlan<'_>,
    enter: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String> + Sync),
    mut report: impl FnMut(&PairReport, &Standing) -> Result<ControlFlow<()>, Abort>,
) -> Result<Standing, Box<BrokenOff>> {
    let mut standing = Standing::default();
    let table = || Table { players: None, judge: Engine::new(&JUDGE) };
    let control = Control::default();
    let work =
        |table: &mut Table<'a>, number, leave: &Leave<'_>| play_pair(plan, enter, table, number, leave.unwanted());
    let played = in_order(plan.pairs, plan.threads, &control, table, work, |_, pair: PairReport| {
        let counted = standing.count(&pair, plan.test.as_ref());
        let flow = report(&pair, &standing)?;
        counted.map_err(Abort::from)?;
        Ok(if standing.is_decided() { ControlFlow::Break(()) } else { flow })
    });
    match played {
        Ok(()) => Ok(standing),
        Err(Failure { why, lone_game }) => {
            let lone_game = lone_game.map(|game| *game);
            if let Some(LoneGame { pair, game }) = &lone_game {
                standing.note_fault(*pair, false, game);
            }
            Err(Box::new(BrokenOff { why, standing, lone_game }))
        }
    }
}

/// Why there is no pair, and what was played of it.
struct Failure {
    why: Abort,
    lone_game: Option<Box<LoneGame>>,
}

impl From<Abort> for Failure {
    fn from(why: Abort) -> Self {
        Self { why, lone_game: None }
    }
}

#[allow(clippy::elidable_lifetime_names, reason = "it is the players' in both places")]
fn play_pair<'p>(
    plan: &MatchPlan<'_>,
    enter: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'p>, String> + Sync),
    table: &mut Table<'p>,
    number: u64,
    stop: &AtomicBool,
) -> Result<Option<PairReport>, Failure> {
    let opening = plan.openings.of_pair(number, &mut table.judge).map_err(Abort::from)?;
    let players = match &mut table.players {
        Some(players) => players,
        none => none.insert([made(enter, Entrant::A)?, made(enter, Entrant::B)?]),
    };
    let mut games = Vec::with_capacity(2);
    for second in [false, true] {
        let [a, b] = players.each_mut().map(|player| -> &mut dyn Player { player.as_mut() });
        let mut seats = if second { [b, a] } else { [a, b] };
        match arbiter::play(opening.game(), &mut seats, &plan.conditions, plan.timer, stop) {
            Ok(played) => games.push(played),
            Err(Interruption::Stopped) => return Ok(None),
            Err(Interruption::Gone(side, detail)) => {
                let why = Abort::Gone { entrant: Entrant::playing(side, second), detail };
                let lone_game = games.pop().map(|game| Box::new(LoneGame { pair: number, game }));
                return Err(Failure { why, lone_game });
            }
        }
    }
    let Ok(games) = games.try_into() else { unreachable!("two games were played") };
    Ok(Some(PairReport { number, opening, games }))
}

fn made<'a>(
    enter: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String> + Sync),
    entrant: Entrant,
) -> Result<Box<dyn Player + 'a>, Abort> {
    enter(entrant).map_err(|detail| Abort::Gone { entrant, detail })
}
