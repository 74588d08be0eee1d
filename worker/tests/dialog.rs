//! The questions of the first run, and the precedence of settings.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use anyhow::Result;
use client::{ServerAddress, Token};
use common::{coordinator::Coordinator, header, process::PROGRAM};
use protocol::api::work::{Contribution, Me, Role};
use worker::{dialog, settings::File};

/// A server that accepts the token `good`, and what it was asked. Only games.example.org answers.
#[derive(Default)]
struct Asked(Vec<String>);

impl dialog::Server for Asked {
    fn check(&mut self, server: &ServerAddress) -> Result<()> {
        anyhow::ensure!(server.to_string().ends_with("//games.example.org"), "there is no host");
        Ok(())
    }

    fn account(&mut self, server: &ServerAddress, token: &Token) -> Result<Me> {
        self.0.push(format!("{server} {}", token.reveal()));
        anyhow::ensure!(token.reveal() == "good", "the token is not known here");
        let total = Contribution { games: 42, positions: 0 };
        let page = "/people/ann".to_owned();
        Ok(Me { account: "ann".to_owned(), role: Role::Volunteer, today: total, total, rank: None, page })
    }
}

/// Runs the dialog; returns the file, the output, and the requests to the server.
fn talk(known: &File, answers: &str) -> (Result<File>, String, Vec<String>) {
    let (mut asked, mut shown) = (Asked::default(), Vec::new());
    let file = dialog::ask(known, &mut answers.as_bytes(), &mut shown, &mut asked);
    (file, String::from_utf8(shown).unwrap(), asked.0)
}

#[test]
fn a_token_is_tried_at_once_and_asked_for_again() {
    let answers = "https://games.example.org\nbad\ngood\n1\n700\n22-7\nyes\n";
    let (file, shown, asked) = talk(&File::default(), answers);
    let file = file.unwrap();
    assert_eq!(asked, ["https://games.example.org bad", "https://games.example.org good"]);
    assert!(shown.contains("That does not work: the token is not known here."), "{shown}");
    assert!(shown.contains("Welcome, ann: 42 games so far."), "{shown}");
    assert!(!shown.contains("Mind: "), "{shown}");
    assert_eq!(file.token.unwrap().reveal(), "good");
    assert_eq!((file.cores, file.memory_mebibytes, file.on_battery), (Some(1), Some(700), Some(true)));
    assert_eq!(file.hours.unwrap().to_string(), "22:00-07:00");
}

#[test]
fn an_invalid_input_is_explained_and_asked_for_again() {
    let answers = "nowhere at all\nchuhe_token\nhttps://no.example\nhttp://games.example.org\nno token\ngood\nmany\n0\n1000000\n1\n2\n64\n25-1\nalways\n\
         perhaps\nno\n";
    let (file, shown, asked) = talk(&File::default(), answers);
    let file = file.unwrap();
    assert_eq!(asked.len(), 1);
    // A token is no host to look up.
    assert!(shown.contains("This is a token; ") && !shown.contains("chuhe_token"), "{shown}");
    let tried = shown.find("That does not work: there is no host.").unwrap();
    assert!(tried < shown.find("Your token").unwrap(), "the address is tried before the token is asked for: {shown}");
    let cores = std::thread::available_parallelism().unwrap();
    assert_eq!(shown.matches(&format!("A whole number from 1 to {cores} is wanted")).count(), 3, "{shown}");
    assert_eq!(shown.matches("A whole number from 57 to ").count(), 1, "{shown}");
    for said in [
        "Mind: anyone between you and this server can read your token",
        "A token is one word of letters, digits and signs",
        "`25-1` names no hours: they look like",
        "The answer is yes or no.",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert_eq!((file.cores, file.memory_mebibytes, file.on_battery), (Some(1), Some(64), Some(false)));
}

#[test]
fn empty_lines_keep_the_known_values() {
    let text = "server = \"https://games.example.org\"\ntoken = \"good\"\nname = \"attic\"\ncores = 1\n\
                memory_mebibytes = 900\nhours = \"1-2\"\non_battery = true\n";
    let known = File::from_text(text).unwrap();
    let (file, shown, _) = talk(&known, &"\n".repeat(6));
    let file = file.unwrap();
    assert!(!shown.contains("good"), "a secret is not shown: {shown}");
    assert_eq!(file.token.as_ref().map(Token::reveal), Some("good"));
    assert_eq!(file.name.as_deref(), Some("attic"));
    assert_eq!((file.cores, file.memory_mebibytes, file.on_battery), (Some(1), Some(900), Some(true)));
    assert_eq!(file.hours.unwrap().to_string(), "01:00-02:00");
    // A rejected token is asked for again.
    let known = File { token: Some("old".parse().unwrap()), ..known };
    let (file, _, asked) = talk(&known, &format!("\n\ngood\n{}", "\n".repeat(4)));
    assert_eq!(asked, ["https://games.example.org old", "https://games.example.org good"]);
    // Without another token the address is asked for again.
    let (again, ..) = talk(&known, &format!("\n\n\nhttp://games.example.org\ngood\n{}", "\n".repeat(4)));
    assert_eq!(again.unwrap().server.unwrap().to_string(), "http://games.example.org");
    assert_eq!(file.unwrap().token.unwrap().reveal(), "good");
}

#[test]
fn answers_that_end_too_early_are_none() {
    let (file, ..) = talk(&File::default(), "https://games.example.org\ngood\n1\n");
    assert_eq!(file.unwrap_err().to_string(), "the answers ended before the questions; nothing was written");
}

/// Runs the program with answers on standard input and no other settings.
fn run(words: &[&str], config: &Path, variables: &[(&str, &str)], answers: &str) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(words).env("CHUHE_CONFIG", config).env("CHUHE_STATE", config.with_file_name("state"));
    for name in ["SERVER", "TOKEN", "NAME", "CORES", "MEMORY", "HOURS", "ON_BATTERY"] {
        command.env_remove(format!("CHUHE_{name}"));
    }
    command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn the_configured_settings_are_used() {
    let coordinator = Coordinator::new(header(200), 0, 1);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("worker.toml");
    let answers = format!("{}\nwrong\nsecret\n2\n300\nalways\nno\n", coordinator.url());
    let output = run(&["configure"], &config, &[], &answers);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    assert!(
        shown.contains("the token is not known here.") && shown.contains("Welcome, ann: 0 games so far."),
        "{shown}"
    );
    assert!(shown.contains(&format!("Written to {}. `chuhe-worker run` plays.", config.display())), "{shown}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&config).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "the token is its owner's alone");
    }
    let output = run(&["run", "--print-config"], &config, &[], "");
    let shown = String::from_utf8(output.stdout).unwrap();
    let expected = "cores = 2\nmemory_mebibytes = 300\nhours = \"always\"\non_battery = false\n";
    assert!(shown.contains(expected) && shown.contains(&coordinator.url()) && !shown.contains("secret"), "{shown}");
}

/// An unreachable server is reported as such, not as a bad token.
#[test]
fn a_server_that_is_not_there_is_asked_for_again() {
    let coordinator = Coordinator::new(header(200), 0, 1);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("worker.toml");
    let answers = format!("http://127.0.0.1:1\n{}\nsecret\n\n\n\n\n", coordinator.url());
    let output = run(&["configure"], &config, &[], &answers);
    let shown = String::from_utf8(output.stdout).unwrap();
    let said = "That does not work: no server answers at http://127.0.0.1:1 (connection refused); \
                is the address right, and does the server run?";
    assert!(output.status.success() && shown.contains(said), "{shown}");
    assert!(File::read(&config).unwrap().server.unwrap().to_string() == coordinator.url());
}

#[test]
fn a_flag_counts_before_the_environment_and_that_before_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("worker.toml");
    let file = "server = \"https://file.example.org\"\ntoken = \"t\"\nname = \"file\"\ncores = 2\n\
                memory_mebibytes = 101\nhours = \"1-2\"\non_battery = true\n";
    fs::write(&config, file).unwrap();
    let environment = [
        ("CHUHE_SERVER", "https://environment.example.org"),
        ("CHUHE_NAME", "environment"),
        ("CHUHE_CORES", "1"),
        ("CHUHE_MEMORY", "102"),
        ("CHUHE_HOURS", "2-3"),
        ("CHUHE_ON_BATTERY", "false"),
    ];
    let flags = [
        "--server=https://flag.example.org",
        "--name=flag",
        "--cores=2",
        "--memory=103",
        "--hours=3-4",
        "--on-battery=true",
    ];
    let shown = |words: &[&str], variables: &[(&str, &str)]| {
        let output = run(&[&["run", "--print-config"], words].concat(), &config, variables, "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|line| !line.starts_with(['#', 't'])).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = |who: &str, number: u32, on_battery: bool| {
        [
            format!("server = \"https://{who}.example.org\""),
            format!("name = \"{who}\""),
            format!("cores = {}", 1 + number % 2),
            format!("memory_mebibytes = 10{number}"),
            format!("hours = \"0{number}:00-0{}:00\"", number + 1),
            format!("on_battery = {on_battery}"),
        ]
    };
    assert_eq!(shown(&[], &[]), lines("file", 1, true));
    assert_eq!(shown(&[], &environment), lines("environment", 2, false));
    assert_eq!(shown(&flags, &environment), lines("flag", 3, true));
    assert_eq!(shown(&flags, &[]), lines("flag", 3, true));
    // Each setting is resolved separately.
    let mixed = shown(&["--cores=2"], &[("CHUHE_HOURS", "2-3")]);
    assert_eq!(
        (mixed[2].as_str(), mixed[3].as_str(), mixed[4].as_str()),
        ("cores = 2", "memory_mebibytes = 101", "hours = \"02:00-03:00\"")
    );
}
