//! Compares parameter sets of the search by their moves in positions of self-play games, which
//! needs far fewer nodes than matches do (`docs/SEARCH.md`):
//!
//! ```text
//! cargo run --release -p chuhe-selfplay --example regret -- NET POSITIONS NODES SETS SHARD…
//! ```
//!
//! SETS is a file with one parameter set a line, such as `lmr_base=200 rfp_slope=90`; `nodes=20000`
//! in a line is another limit. Where a set chooses another move than the defaults do, a search of
//! ten times the nodes values both moves. The gain is the mean difference in expected points.

#![allow(clippy::print_stdout, reason = "a program for one's own terminal")]

use std::{collections::HashMap, env, error::Error, fs, sync::Arc, thread};

use dataset::shard;
use engine::{Engine, Evaluation, Limits, Parameters, Settings};
use nnue::{Kernel, Net};
use xiangqi::{Fen, Move, rules::Game};

/// Scores beyond this leave little to choose.
const MAX_SCORE: i32 = 700;

/// Plies that are left out: openings are random.
const FIRST_PLY: usize = 8;

/// The score that is worth 73 % of the points.
const SCALE: f64 = 150.0;

/// The factor between the nodes of a choice and those of its value.
const VALUE_FACTOR: u64 = 10;

/// One line of the file.
struct Set {
    text: String,
    parameters: Parameters,
    nodes: u64,
}

/// The sum of the differences of a set.
#[derive(Clone, Copy, Default)]
struct Gain {
    different: u32,
    sum: f64,
    squares: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [net, count, nodes, sets, shards @ ..] = arguments.as_slice() else {
        return Err("usage: regret NET POSITIONS NODES SETS SHARD…".into());
    };
    let evaluation = Evaluation::Net(Arc::new(Net::from_file(net)?), Kernel::best());
    let settings = Settings { evaluation, ..Settings::DEFAULT };
    let nodes: u64 = nodes.parse()?;
    let sets = read_sets(&fs::read_to_string(sets)?, nodes)?;
    let positions = draw(shards, count.parse()?)?;
    let threads = thread::available_parallelism()?.get();
    let parts: Vec<Vec<Gain>> = thread::scope(|scope| {
        let (settings, sets, positions) = (&settings, &sets, &positions);
        let part =
            |first| scope.spawn(move || compare(settings, nodes, sets, positions.iter().skip(first).step_by(threads)));
        let workers: Vec<_> = (0..threads).map(part).collect();
        workers.into_iter().map(|worker| worker.join().expect("a search does not panic")).collect()
    });
    let all = positions.len() as f64;
    println!("{} positions", positions.len());
    for (index, set) in sets.iter().enumerate() {
        let of_set = || parts.iter().map(|part| part[index]);
        let mean = of_set().map(|gain| gain.sum).sum::<f64>() / all;
        let variance = of_set().map(|gain| gain.squares).sum::<f64>() / all - mean * mean;
        let error = (variance / all).sqrt();
        let different: u32 = of_set().map(|gain| gain.different).sum();
        let (gain, half_width) = (1000.0 * mean, 1960.0 * error);
        println!("{}: {different} different moves, gain {gain:+.2} ± {half_width:.2} thousandths of a point", set.text);
    }
    Ok(())
}

fn read_sets(text: &str, nodes: u64) -> Result<Vec<Set>, Box<dyn Error>> {
    let read = |line: &str| -> Result<Set, Box<dyn Error>> {
        let limit = line.split(' ').find_map(|word| word.strip_prefix("nodes="));
        let parameters: Vec<_> = line.split(' ').filter(|word| !word.starts_with("nodes=")).collect();
        let nodes = limit.map_or(Ok(nodes), str::parse)?;
        Ok(Set { text: line.to_owned(), parameters: parameters.join(" ").parse()?, nodes })
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(read).collect()
}

/// Draws one position of each game, at a ply that follows from the game's number.
fn draw(shards: &[String], count: usize) -> Result<Vec<Fen>, Box<dyn Error>> {
    let mut positions = Vec::new();
    for path in shards {
        for record in shard::open(path)?.records() {
            let (number, record) = record?;
            let choice = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let plies = record.moves.len().saturating_sub(FIRST_PLY);
            let Some(ply) = (choice as usize).checked_rem(plies).map(|ply| ply + FIRST_PLY) else { continue };
            if record.moves[ply].score.is_none_or(|score| score.abs() > MAX_SCORE) {
                continue;
            }
            let mut game = record.opening.game();
            for mv in &record.moves[..ply] {
                game.push_legal(mv.mv);
            }
            positions.push(game.fen());
            if positions.len() == count {
                return Ok(positions);
            }
        }
    }
    Ok(positions)
}

/// Compares the sets with the defaults in these positions.
fn compare<'a>(settings: &Settings, nodes: u64, sets: &[Set], positions: impl Iterator<Item = &'a Fen>) -> Vec<Gain> {
    let mut engine = Engine::new(settings);
    let mut gains = vec![Gain::default(); sets.len()];
    for fen in positions {
        let game = Game::new(fen.clone(), xiangqi::rules::RuleSet::Cxr);
        let mut choose = |parameters: &Parameters, limits: &Limits| {
            engine.set_parameters(parameters.clone());
            engine.search(&game, limits)
        };
        let Some(usual) = choose(&Parameters::DEFAULT, &Limits::nodes(nodes)).best_move() else { continue };
        let mut values: HashMap<Move, f64> = HashMap::new();
        for (set, gain) in sets.iter().zip(&mut gains) {
            let Some(mv) = choose(&set.parameters, &Limits::nodes(set.nodes)).best_move() else { continue };
            if mv == usual {
                continue;
            }
            let mut value = |mv| {
                *values.entry(mv).or_insert_with(|| {
                    let limits = Limits { root_moves: vec![mv], ..Limits::nodes(VALUE_FACTOR * nodes) };
                    let score = choose(&Parameters::DEFAULT, &limits).score().unwrap_or(0);
                    1.0 / (1.0 + (-f64::from(score) / SCALE).exp())
                })
            };
            let difference = value(mv) - value(usual);
            gain.different += 1;
            gain.sum += difference;
            gain.squares += difference * difference;
        }
    }
    gains
}
