//! Shared by the tests with a serving coordinator: campaigns, starting the program, workers.

use std::{
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStderr, Command, Stdio},
};

use protocol::api::work::Machine;

/// A campaign with quick games.
pub(crate) const CAMPAIGN: &str = include_str!("quick.toml");

/// The same with replacements, each of which must apply.
pub(crate) fn campaign(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(CAMPAIGN.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in it");
        text.replacen(from, to, 1)
    })
}

/// Starts a coordinator on any free port and waits until it listens. Passes its further output to
/// `hear` line by line, so that a full pipe never blocks it.
pub(crate) fn serve(command: &mut Command, hear: impl FnMut(String) + Send + 'static) -> (Child, u16) {
    let (child, port, lines) = begin(command);
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(hear));
    (child, port)
}

/// Starts a coordinator on any free port, waits until it listens, and returns its further output.
pub(crate) fn begin(command: &mut Command) -> (Child, u16, Lines<BufReader<ChildStderr>>) {
    command.args(["--listen", "127.0.0.1:0", "--least-free", "0"]).env("NO_COLOR", "1");
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("it is ours")).lines();
    let port = loop {
        let line = lines.next().expect("it says where it listens").expect("it writes text");
        if let Some((_, port)) = line.rsplit_once("http://127.0.0.1:") {
            break port.trim().parse().expect("ports are numbers");
        }
    };
    (child, port, lines)
}

/// The registration of a worker.
pub(crate) fn machine(name: &str) -> Machine {
    Machine {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        bench_signature: protocol::BENCH_SIGNATURE,
        threads: 1,
        memory_mebibytes: 1_024,
        system: "linux-x86_64".to_owned(),
        instruction_set: "avx2".to_owned(),
    }
}
