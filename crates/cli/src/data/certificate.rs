//! `chuhe data certificate`: verifies rulings on disputed games.

use std::{fs, io::Write, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result};
use dataset::{Book, Digest, shard};
use engine::{Evaluation, published};
use nnue::{Kernel, Net};
use selfplay::{certificate::Certificate, selfplay::Run};

use crate::{Finding, interrupt};

/// Verify the certificate of a disputed game, by playing the game
///
/// A coordinator whose referee ruled on a game publishes the ruling as a certificate. The game is
/// played here up to its end and compared. Exit status 1 if the certificate does not hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The certificate, as JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A net of the game [default: the published net, or the plain evaluation]
    #[arg(long, value_name = "NET")]
    net: Vec<PathBuf>,
    /// Book of the game's start
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// A shard of the dispute: its claim is compared too
    #[arg(long, value_name = "FILE")]
    shard: Vec<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_with("the certificate was not verified; the same command begins again".to_owned());
        let place = || self.file.display().to_string();
        let text = fs::read(&self.file).with_context(place)?;
        let certificate: Certificate =
            serde_json::from_slice(&text).with_context(|| format!("{}: no certificate", place()))?;
        let header = &certificate.header;
        let nets = self.net.iter().map(Net::from_file).collect::<Result<Vec<_>, _>>().context("--net")?;
        let nets: Vec<Arc<Net>> = nets.into_iter().map(Arc::new).chain([published::net()]).collect();
        let kernel = Kernel::from_env()?;
        let evaluation = |wanted: Option<Digest>| {
            let Some(hash) = wanted else { return Ok(Evaluation::Plain) };
            let net = nets.iter().find(|net| Digest::from(*net.hash().as_bytes()) == hash);
            let net = net.with_context(|| format!("the game needs the net {hash}: give its file with --net"))?;
            Ok::<_, anyhow::Error>(Evaluation::Net(Arc::clone(net), kernel))
        };
        let own = evaluation(header.net)?;
        let opponent = header.opponent.map(|opponent| evaluation(opponent.net)).transpose()?;
        let book = self.book.as_ref().map(|path| Book::from_file(path, header.rules)).transpose().context("--book")?;
        let run = Run::from_header(header, own, opponent, book).with_context(place)?;
        let mut faults: Vec<String> = Vec::new();
        faults.extend(certificate.verify(&run, &mut run.players()).err().map(|fault| fault.to_string()));
        for path in &self.shard {
            let hash = Digest::of(&fs::read(path).with_context(|| path.display().to_string())?);
            let record = shard::open(path)?.game(certificate.game).with_context(|| path.display().to_string())?;
            faults.extend(certificate.verify_claim(hash, &record).err().map(|fault| fault.to_string()));
        }
        for fault in &faults {
            writeln!(out, "{}: {fault}", place())?;
        }
        if !faults.is_empty() {
            return Ok(Finding::Fails);
        }
        writeln!(
            out,
            "game {} of seed {}, step {}: {}",
            certificate.game, header.seed, certificate.step, certificate.right
        )?;
        for ((shard, claim), is_right) in certificate.shards.iter().zip(&certificate.claims).zip(certificate.verdict())
        {
            let word = if is_right { "right" } else { "wrong" };
            writeln!(out, "shard {shard} is {word}: {claim}")?;
        }
        Ok(Finding::Holds)
    }
}
