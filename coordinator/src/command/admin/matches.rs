//! `chuhe-coordinator admin match`.

use anyhow::Result;
use coordinator_core::{
    clock::Clock,
    matches,
    model::JobKind,
    ops::matches::CreateMatch,
    query,
    store::{Database, Nets},
};
use protocol::campaign::Gate;
use serde_json::{Value, json};
use xiangqi::rules::RuleSet;

#[derive(clap::Args)]
pub(in crate::command) struct Arguments {
    /// Net A, by its hash [default: the plain evaluation]
    #[arg(long, value_name = "HASH")]
    a: Option<dataset::Digest>,
    /// Net B, by its hash [default: the plain evaluation]
    #[arg(long, value_name = "HASH")]
    b: Option<dataset::Digest>,
    /// Book of the openings, by its hash [default: the start position]
    #[arg(long, value_name = "HASH")]
    book: Option<dataset::Digest>,
    /// Nodes of a search
    #[arg(long, default_value_t = 5_000)]
    nodes: u64,
    /// Maximum number of game pairs
    #[arg(long, default_value_t = 1_000)]
    pairs: u32,
    /// Elo bounds of the SPRT's hypotheses
    #[arg(long, value_parser = bounds, default_value = "0,10", value_name = "E0,E1")]
    sprt: (f64, f64),
    /// Play all pairs: no early stop
    #[arg(long)]
    fixed: bool,
    /// Seed of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rulebook that decides repetitions
    #[arg(long, default_value_t)]
    rules: RuleSet,
}

fn bounds(text: &str) -> Result<(f64, f64), String> {
    let (low, high) = text.split_once(',').ok_or("two numbers are wanted, as 0,10")?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("`{text}` is no number"));
    Ok((number(low)?, number(high)?))
}

pub(super) async fn create(store: &Database, clock: &Clock, arguments: Arguments) -> Result<Value> {
    let gate = Gate {
        elo0: arguments.sprt.0,
        elo1: arguments.sprt.1,
        nodes: arguments.nodes,
        most_pairs: arguments.pairs,
        book: arguments.book,
        ..Gate::default()
    };
    matches::test_of(&gate)?;
    let header = gate.header(arguments.rules, protocol::BENCH_SIGNATURE, arguments.a, arguments.b, arguments.seed);
    let kind = if arguments.fixed { JobKind::Rating } else { JobKind::Match };
    for net in [header.net, header.opponent.as_ref().and_then(|opponent| opponent.net)].into_iter().flatten() {
        store.read(query!(|c| Nets::on(c).must_exist(net).await)).await?;
    }
    if let Some(book) = arguments.book {
        store.read(query!(|c| Nets::on(c).book_must_exist(book).await)).await?;
    }
    Ok(json!({ "job": store.run(clock.now(), CreateMatch { kind, header, gate }).await? }))
}
