//! Matches: pairs of games from one opening with colours swapped, counted in the order of their numbers.

use std::{ops::ControlFlow, sync::atomic::AtomicBool};

use dataset::Opening;
use engine::{Engine, Settings};
use stats::{Decision, GameResult, PairResult, Pentanomial, Sprt, Trinomial};
use xiangqi::{Color, rules::Outcome};

use crate::{
    arbiter::{self, Conditions, Ending, Interruption, PlayedGame},
    openings::{NoOpening, OpeningOrder},
    ordered::in_order,
    player::{FaultKind, Player},
    timing::Timer,
};

/// One of the two whose strength is compared. Results are seen from A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entrant {
    /// The one that is asked about.
    A,
    /// The one that it is compared with.
    B,
}

impl Entrant {
    /// Who is red in the first or second game of a pair: A in the first.
    #[must_use]
    pub const fn red_in(second: bool) -> Self {
        if second { Self::B } else { Self::A }
    }

    /// Who plays a colour in the first or second game of a pair.
    #[must_use]
    pub fn playing(color: Color, second: bool) -> Self {
        if (color == Color::Red) == second { Self::B } else { Self::A }
    }
}

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
    /// What went wrong.
    pub faults: Vec<FaultReport>,
    /// The test's log-likelihood ratio; none without a test, or where it has no solution.
    pub llr: Option<f64>,
    /// What the test says.
    pub decision: Option<Decision>,
}

/// Why a match cannot go on. What was counted before stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Abort {
    #[error("engine {entrant:?}: {detail}")]
    Gone { entrant: Entrant, detail: String },
    #[error(transparent)]
    NoOpening(#[from] NoOpening),
    #[error("{0}")]
    Output(String),
}

impl Standing {
    fn count(&mut self, pair: &PairReport, test: Option<&Sprt>) {
        let [first, second] = [0, 1].map(|index| {
            let result = result_of_a(pair.games[index].ending.outcome(), index == 1);
            self.games.add(result);
            result
        });
        self.pairs.add(PairResult::of(first, second));
        for (index, played) in pair.games.iter().enumerate() {
            if let Ending::Fault(side, fault) = &played.ending {
                self.faults.push(FaultReport {
                    pair: pair.number,
                    second: index == 1,
                    entrant: Entrant::playing(*side, index == 1),
                    kind: fault.kind,
                    detail: fault.detail.clone(),
                    ply: played.game.len(),
                });
            }
        }
        if let Some(test) = test {
            self.llr = test.llr(self.pairs).ok();
            self.decision = self.llr.map(|llr| test.decide(llr));
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
const JUDGE: Settings = Settings { hash_mebibytes: 16, threads: 1, evaluation: engine::Evaluation::Plain };

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
/// If a player cannot be made or made again, no opening is kept, or `report` fails.
pub fn play_match<'a>(
    plan: &MatchPlan<'_>,
    enter: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'a>, String> + Sync),
    mut report: impl FnMut(&PairReport, &Standing) -> Result<ControlFlow<()>, Abort>,
) -> Result<Standing, Abort> {
    let mut standing = Standing::default();
    let table = || Table { players: None, judge: Engine::new(&JUDGE) };
    let work = |table: &mut Table<'a>, number, stop: &AtomicBool| play_pair(plan, enter, table, number, stop);
    in_order(plan.pairs, plan.threads, table, work, |_, pair: PairReport| {
        standing.count(&pair, plan.test.as_ref());
        let flow = report(&pair, &standing)?;
        Ok(if standing.is_decided() { ControlFlow::Break(()) } else { flow })
    })?;
    Ok(standing)
}

#[allow(clippy::elidable_lifetime_names, reason = "it is the players' in both places")]
fn play_pair<'p>(
    plan: &MatchPlan<'_>,
    enter: &(dyn Fn(Entrant) -> Result<Box<dyn Player + 'p>, String> + Sync),
    table: &mut Table<'p>,
    number: u64,
    stop: &AtomicBool,
) -> Result<Option<PairReport>, Abort> {
    let opening = plan.openings.of_pair(number, &mut table.judge)?;
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
                return Err(Abort::Gone { entrant: Entrant::playing(side, second), detail });
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
