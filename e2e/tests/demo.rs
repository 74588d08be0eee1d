//! `scripts/demo` in its short form, with programs that are already built.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![cfg(unix)]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use e2e::{Coordinator, Process, Stage, program, wait_for};

/// The campaign of the other tests, beginning with the demonstration's first net.
const CAMPAIGN: &str = include_str!("demo.toml");

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/demo")
}

/// The script, which ends its own processes when it is terminated.
struct Demo(Option<Process>);

impl Drop for Demo {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take()
            && process.ended().is_none()
        {
            process.signal("TERM");
            process.signal("CONT");
            let _ = process.end(Duration::from_mins(1));
        }
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Sends a request; returns the whole response.
fn exchange(address: &str, head: &str, cookies: &str, body: &str) -> String {
    let host = address.trim_start_matches("http://").split('/').next().unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "{head} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n\
         Cookie: {cookies}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: &str) -> String {
    let path = address.trim_start_matches("http://").split_once('/').map_or("", |(_, path)| path);
    exchange(address, &format!("GET /{path}"), "", "")
}

#[test]
fn the_demonstration_runs_to_its_end() {
    let stage = Stage::default();
    let campaign = stage.path("short.toml");
    fs::write(&campaign, CAMPAIGN).unwrap();
    let programs = program("chuhe-worker").parent().map(PathBuf::from).unwrap();
    // It takes as long as many games, and other tests have it.
    stage.record_selftest(&stage.path("worker"));
    let server = format!("http://localhost:{}", free_port());
    // Both of its outputs go to the log.
    let mut command = Command::new("bash");
    command.args(["-c", "exec \"$0\" \"$@\" 1>&2"]).arg(script()).args(["--exit", "--cores", "1", "--listen"]);
    command.arg(&server["http://".len()..]).arg("--data").arg(stage.path(".")).arg("--programs").arg(programs);
    command.arg("--campaign").arg(&campaign);
    let mut demo = Demo(Some(Process::start("demo", &mut command, stage.log("demo"))));
    let process = demo.0.as_mut().unwrap();
    let timeout = Duration::from_mins(10);

    // Before anything is played there are games to look at, and the printed sign-in works.
    let line = wait_for("the sign-in is printed", timeout, || {
        assert_eq!(process.ended(), None, "{}", process.log());
        process
            .log()
            .lines()
            .find(|line| line.contains("sign in at ") && line.contains(", password "))
            .map(str::to_owned)
    });
    let (_, rest) = line.split_once("sign in at ").unwrap();
    let (address, rest) = rest.split_once(" as ").unwrap();
    let (name, password) = rest.split_once(", password ").unwrap();
    assert_eq!((address, name), (format!("{server}/en/sign-in").as_str(), "demo-admin"));
    let games = get(&format!("{server}/en/games"));
    assert!(games.starts_with("HTTP/1.1 200 ") && games.contains("/en/games/"), "{games}");
    let page = get(address);
    let cookies: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next()).collect();
    let (_, form) = page.split_once("name=\"form\" value=\"").expect("the page has a form");
    let form = form.split('"').next().unwrap();
    let cookies = cookies.join("; ");
    let body = format!("form={form}&name={name}&password={password}");
    let entered = exchange(address, "POST /en/sign-in", &cookies, &body);
    assert!(entered.starts_with("HTTP/1.1 303 "), "{entered}");

    let status = wait_for("the demonstration ends", timeout, || process.ended());
    let said = process.log();
    assert_eq!(status, 0, "{said}");
    for part in ["games are being played", "the trainer is there", "a net was trained, tested and promoted: short-1-1"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The addresses that it ends with are pages.
    let coordinator = Coordinator::start(&stage, &[]);
    for name in ["the match", "its best game", "the net"] {
        let line = said.lines().find(|line| line.starts_with(&format!("    {name} "))).expect(name);
        let page = line.split_whitespace().last().unwrap().replace(&server, coordinator.address());
        let shown = get(&page);
        assert!(shown.starts_with("HTTP/1.1 200 "), "{line}: {shown}");
    }
    // The gate has stopped within one batch per worker of its decision. Those of the published
    // backup count for an hour.
    let (_, job) = said.split_once("/en/matches/").unwrap();
    let read = |words: &[&str]| serde_json::from_str::<serde_json::Value>(&coordinator.admin(words)).unwrap();
    let (standing, workers) = (read(&["standing", job.lines().next().unwrap()]), read(&["worker", "list"]));
    let seen: Vec<_> = workers.as_array().unwrap().iter().map(|it| it["last_seen"].as_i64().unwrap()).collect();
    let active = seen.iter().filter(|&&time| time + 3_600_000 > *seen.iter().max().unwrap()).count() as u64;
    let [played, decided, batch] =
        [&standing["pairs"], &standing["verdict"]["pairs"], &standing["batch_pairs"]].map(|n| n.as_u64().unwrap());
    assert!(decided > 0 && played <= decided + active * batch, "{active} workers: {standing}");
}

/// A cargo that takes long. It has built as many units as the file `count` says. When the file `go`
/// is there, it copies built programs.
const SLOW_CARGO: &str = r#"#!/usr/bin/env bash
[ "$1" = build ] || { echo "cargo 1.95.0"; exit; }
until [ -e "$STUB/go" ]; do
    printf ' Building [=> ] %s/267: slow\r' "$(cat "$STUB/count")" >&2
    sleep 0.1
done
for name in coordinator worker; do
    case " $* " in *" chuhe-$name "*) cp "$BUILT/chuhe-$name" "$CARGO_TARGET_DIR/quick/" ;; esac
done
"#;

/// While cargo builds, a published game is replayed at the address where the pages come up.
#[test]
fn a_board_moves_until_the_pages_come() {
    use std::os::unix::fs::PermissionsExt as _;

    let stage = Stage::default();
    let stub = stage.path("stub");
    let target = stage.path("target");
    fs::create_dir_all(&stub).unwrap();
    fs::create_dir_all(target.join("quick")).unwrap();
    // The space that a trainer's build needs is not asked for.
    fs::write(target.join("quick/chuhe-trainer"), "").unwrap();
    let asked = "#!/bin/sh\ntouch \"$STUB/asked\"\n";
    for (name, text) in [("cargo", SLOW_CARGO), ("sudo", asked), ("apt-get", asked)] {
        fs::write(stub.join(name), text).unwrap();
        fs::set_permissions(stub.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let built = |count: &str| {
        fs::write(stub.join("part"), count).unwrap();
        fs::rename(stub.join("part"), stub.join("count")).unwrap();
    };
    built("131");
    let server = format!("http://127.0.0.1:{}", free_port());
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", "exec \"$0\" \"$@\" 1>&2"]).arg(script()).arg("--listen").arg(&server["http://".len()..]);
    command.arg("--data").arg(stage.path("data")).env("PATH", format!("{}:{path}", stub.display()));
    command.env("STUB", &stub).env("CARGO_TARGET_DIR", &target);
    command.env("BUILT", program("chuhe-coordinator").parent().unwrap());
    let mut demo = Demo(Some(Process::start("demo", &mut command, stage.log("demo"))));
    let process = demo.0.as_mut().unwrap();
    let timeout = Duration::from_mins(5);

    process.says(&format!("a published game to watch meanwhile: {server}"), timeout);
    let page = wait_for("the page is there", timeout, || {
        let stream = TcpStream::connect(&server["http://".len()..]);
        stream.is_ok().then(|| get(&format!("{server}/en/")))
    });
    assert!(page.starts_with("HTTP/1.0 200 ") && page.contains("<svg class=\"board\""), "{page}");
    for file in ["board.css", "page.js", "game.json"] {
        let file = get(&format!("{server}/waiting/{file}"));
        assert!(file.starts_with("HTTP/1.0 200 ") && file.contains("no-store"), "{file}");
    }
    assert!(get(&format!("{server}/healthz")).starts_with("HTTP/1.0 503 "), "the page waits for the coordinator");
    // A count that grows, on the terminal and on the page.
    process.says("building the coordinator: 131 of 267", timeout);
    let progress = get(&format!("{server}/waiting/progress"));
    assert!(progress.ends_with("\r\n\r\nbuilding the coordinator: 131 of 267\n"), "{progress}");

    // Lines come, and their count grows, while the script itself does nothing.
    process.signal("STOP");
    for count in ["132", "133", "134"] {
        built(count);
        process.says(&format!("building the coordinator: {count} of 267"), timeout);
    }
    process.signal("CONT");

    fs::write(stub.join("go"), "").unwrap();
    process.says(&format!("pages at {server}, with the games of a published net: {server}/en/games"), timeout);
    assert!(get(&format!("{server}/healthz")).starts_with("HTTP/1.1 200 "), "the page finds the coordinator");
    assert!(get(&format!("{server}/en")).starts_with("HTTP/1.1 200 "));
    // Nothing is missing where this test was built, but perhaps pip: root is not needed.
    let has_pip = Command::new("python3").args(["-m", "pip", "--version"]).output().unwrap().status.success();
    assert!(!has_pip || !stub.join("asked").exists(), "{}", process.log());
}

/// The time between two lines, by the clock of the process that prints them. Meanwhile the script
/// sends nothing, or commands that print nothing.
#[test]
fn no_silence_lasts_longer_than_eight_seconds() {
    let stage = Stage::default();
    let log = stage.path("build.log");
    fs::write(&log, " Building [=> ] 7/9: slow\r").unwrap();
    let ticker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/tools/demo-ticker");
    let printed = |commands: &str| {
        let mut command = Command::new(&ticker);
        command.arg(stage.path("last")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let build = format!("doing build\tbuilding the worker\t{}\n", log.display());
    // A real second that passes meanwhile only makes more lines.
    let lines_between = |said: &str| {
        let (_, rest) = said.split_once("] first\n").unwrap();
        let (between, _) = rest.split_once("] last\n").unwrap();
        between.lines().filter(|line| line.contains("] building the worker")).count()
    };
    for (silence, at_least) in [
        ("later 8\n".to_owned(), 1),
        ("later 8\nlater 8\nlater 8\n".to_owned(), 3),
        (format!("later 5\n{build}later 5\n"), 1),
        (format!("later 3\n{build}").repeat(9), 3),
    ] {
        let said = printed(&format!("{build}say first\n{silence}say last\n"));
        assert!(lines_between(&said) >= at_least, "{silence}: {said}");
    }
    // With nothing to do there is nothing to say.
    let said = printed(&format!("{build}doing\nsay first\nlater 99\nsay last\nshow     an address\n"));
    assert_eq!(lines_between(&said), 0, "{said}");
    assert!(said.ends_with("\n    an address\n"), "{said}");
    assert_eq!(fs::read_to_string(stage.path("last")).unwrap(), "last\n");
}

#[test]
fn bad_input_is_refused_before_anything_is_built() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("127.0.0.1:{}", taken.local_addr().unwrap().port());
    let cores = std::thread::available_parallelism().unwrap();
    for (arguments, expected) in [
        (["--listen", "no-such-host.invalid:7272"], "--listen: there is no host 'no-such-host.invalid'".to_owned()),
        (
            ["--listen", "7272"],
            "--listen takes HOST:PORT with a port from 1 to 65535, as localhost:7272; not '7272'".to_owned(),
        ),
        (
            ["--listen", "192.0.2.1:7272"],
            "--listen: '192.0.2.1' (192.0.2.1) is not an address of this machine".to_owned(),
        ),
        (["--listen", &taken], format!("something answers at {taken} already; --listen takes another address")),
        (
            ["--cores", "100000"],
            format!("--cores takes a number from 1 to {cores}, the cores of this machine; not '100000'"),
        ),
        (["--programs", "/no/such/folder"], "--programs takes a folder".to_owned()),
        (["--speed", "fast"], "'--speed' is not an option; see --help".to_owned()),
    ] {
        let stage = Stage::default();
        let mut command = Command::new(script());
        let output =
            command.arg("--data").arg(stage.path("data")).args(arguments).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said), (Some(2), format!("scripts/demo: {expected}\n")));
    }
}
