//! `chuhe` as a process, as a match runner starts it.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chuhe"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { stdin: child.stdin.take().unwrap(), child, lines }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Reads up to a line with this prefix.
    fn wait_for(&mut self, start: &str) -> String {
        self.lines.by_ref().map(Result::unwrap).find(|line| line.starts_with(start)).unwrap_or_else(|| {
            panic!("the engine fell silent before `{start}`");
        })
    }
}

#[test]
fn a_game_is_begun() {
    for arguments in [&[][..], &["uci"][..]] {
        let mut engine = Process::start(arguments);
        engine.send("uci");
        engine.wait_for("uciok");
        engine.send("isready");
        engine.wait_for("readyok");
        engine.send("position startpos");
        engine.send("go depth 4");
        engine.wait_for("info depth 4 ");
        let best = engine.wait_for("bestmove ");
        let best = best.split(' ').nth(1).unwrap();
        engine.send(&format!("position startpos moves {best}"));
        // This runs on the real clock.
        engine.send("go wtime 100 btime 100");
        engine.wait_for("bestmove ");
        engine.send("go infinite");
        engine.wait_for("info depth 2 ");
        engine.send("stop");
        engine.wait_for("bestmove ");
        engine.send("go infinite");
        engine.send("quit");
        assert!(engine.child.wait().unwrap().success());
    }
}

#[test]
fn ucci_and_the_end_of_the_input() {
    let mut engine = Process::start(&[]);
    engine.send("ucci");
    engine.wait_for("ucciok");
    engine.send("position startpos");
    engine.send("go depth 3");
    engine.wait_for("bestmove ");
    engine.send("go infinite");
    drop(engine.stdin);
    assert!(engine.lines.map(Result::unwrap).last().unwrap().starts_with("bestmove "));
    assert!(engine.child.wait().unwrap().success());
}

#[test]
fn the_bench_counts_the_same_every_time() {
    let bench = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_chuhe")).arg("bench").args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let text = bench(&["--depth", "3"]);
    let [nodes, nps] = text.lines().rev().take(2).collect::<Vec<_>>()[..] else { panic!("{text}") };
    let (nps, nodes) = (nodes, nps);
    assert!(nps.strip_prefix("nps ").unwrap().parse::<u64>().is_ok());
    let nodes: u64 = nodes.strip_prefix("nodes ").unwrap().parse().unwrap();
    let json: serde_json::Value = serde_json::from_str(&bench(&["--depth", "3", "--json"])).unwrap();
    assert_eq!(json["nodes"], nodes);
    assert_eq!(json["net"], serde_json::Value::Null);
}
