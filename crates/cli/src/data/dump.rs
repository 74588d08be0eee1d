//! `chuhe data dump`: prints shards for people.

use std::{io::Write, path::PathBuf};

use anyhow::{Context as _, Result};
use dataset::{Digest, Header, Record, shard};

use crate::{Finding, interrupt};

/// Print shards for people to read
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print only the game with this number
    #[arg(long, value_name = "N")]
    game: Option<u64>,
    /// Print only the header, which holds for all games
    #[arg(long, conflicts_with = "game")]
    header: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_with("the printed games are only the first; the same command begins again".to_owned());
        for path in &self.files {
            let shard = shard::open(path)?;
            let named = || path.display().to_string();
            writeln!(out, "{}: {} games, {} positions", path.display(), shard.games(), shard.positions())?;
            print_header(shard.header(), out)?;
            if let Some(number) = self.game {
                print_game(shard.header(), number, &shard.game(number).with_context(named)?, out)?;
            } else if !self.header {
                for game in shard.records() {
                    let (number, record) = game.with_context(named)?;
                    print_game(shard.header(), number, &record, out)?;
                }
            }
        }
        Ok(Finding::Holds)
    }
}

fn print_header(header: &Header, out: &mut impl Write) -> Result<()> {
    let name = |net: Option<Digest>| net.map_or("the plain evaluation".to_owned(), |net| net.to_string());
    let soft = |nodes: Option<u64>| nodes.map_or(String::new(), |nodes| format!(", soft {nodes}"));
    let (settings, openings) = (&header.settings, &header.openings);
    writeln!(out, "  net {}, bench {}, rules {}", name(header.net), header.bench_signature, header.rules)?;
    if let Some(opponent) = header.opponent {
        let (net, nodes) = (name(opponent.net), opponent.hard_nodes);
        writeln!(out, "  in pairs against {net}, nodes {nodes}{}", soft(opponent.soft_nodes))?;
    }
    let soft = soft(settings.soft_nodes);
    let (nodes, hash, cap) = (settings.hard_nodes, settings.hash_mebibytes, settings.ply_cap);
    writeln!(out, "  nodes {nodes}{soft}, hash {hash} MiB, ply cap {cap}")?;
    if let Some(rule) = settings.adjudication.win {
        writeln!(out, "  won at {} for {} plies", rule.score, rule.plies)?;
    }
    if let Some(rule) = settings.adjudication.draw {
        writeln!(out, "  drawn at {} for {} plies from ply {}", rule.score, rule.plies, rule.from_ply)?;
    }
    let book = openings.book.map_or("no book".to_owned(), |book| format!("book {book}"));
    writeln!(out, "  openings: {book}, {} random plies", openings.plies)?;
    if let Some(filter) = openings.filter {
        writeln!(out, "  kept if a search of {} nodes says at most {}", filter.nodes, filter.bound)?;
    }
    writeln!(out, "  run {}, games from {}", header.seed, header.first_game)?;
    Ok(())
}

fn print_game(header: &Header, number: u64, record: &Record, out: &mut impl Write) -> Result<()> {
    let opening = &record.opening;
    writeln!(out, "game {number}: {} by {}", record.outcome, record.reason)?;
    writeln!(out, "  seed {}, attempt {}, digest {}", header.seed_of(number), opening.attempt, record.digest())?;
    writeln!(out, "  from {}", opening.start)?;
    let opening: Vec<_> = opening.moves.iter().map(ToString::to_string).collect();
    writeln!(out, "  opening {}", opening.join(" "))?;
    for moves in record.moves.chunks(10) {
        let moves = moves.iter().map(|scored| match scored.score {
            Some(score) => format!("{} {score:+}", scored.mv),
            None => format!("{} -", scored.mv),
        });
        writeln!(out, "  {}", moves.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}
