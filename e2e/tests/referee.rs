//! The referee as a process: a worker and a client that lies disagree, no worker is trusted, and a
//! certificate says who is right.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    env, fs,
    process::{Command, Output},
    sync::Arc,
    thread,
    time::Duration,
};

use client::{Client, SystemClock};
use dataset::{Book, Digest, Header, shard::ShardWriter};
use e2e::{Coordinator, Process, Role, Stage, program, try_for, wait_for};
use engine::Evaluation;
use nnue::{Kernel, Net, Parameters, architecture::Sizes};
use protocol::api::work::{Ask, Lease, Machine, Work};
use selfplay::selfplay::{Finished, Run};
use serde_json::Value;
use worker::selftest::SIGNATURE;
use xiangqi::rules::RuleSet;

const LONG: Duration = Duration::from_mins(8);

/// Uploads of the forger. A fifth of those of a new account are audited: one in 10,000 such tests
/// has none.
const UPLOADS: u64 = 41;

/// The campaign of plain self-play.
const GAMES: &str = "name = \"plain\"\n\
    [selfplay.settings]\nhash_mebibytes = 1\nhard_nodes = 100\nply_cap = 60\n\
    [selfplay.openings]\nplies = 8\n\
    [generation]\npositions = 100_000_000\n\
    [gate]\nnodes = 100\n\
    [recipe.architecture]\nwidth = 128\n\
    [recipe.schedule]\nepochs = 1\npositions_per_epoch = 1_000\n";

/// A client that plays as it likes, with the nets and the book of its games.
struct Forger {
    client: Client,
    worker: i64,
    nets: Vec<Arc<Net>>,
    book: Option<Book>,
}

impl Forger {
    fn new(coordinator: &Coordinator<'_>, nets: Vec<Arc<Net>>, book: Option<Book>) -> Self {
        let token = coordinator.account("forger", Role::Volunteer).parse().unwrap();
        let clock = Arc::new(SystemClock::default());
        let settings = client::Settings::new(coordinator.address().parse().unwrap(), Some(token), clock);
        let client = Client::new(settings).unwrap();
        let machine = Machine {
            name: "forger".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            bench_signature: SIGNATURE,
            threads: 1,
            memory_mebibytes: 256,
            system: "linux-x86_64".to_owned(),
            instruction_set: "scalar".to_owned(),
        };
        let worker = client.register(&machine).unwrap().worker;
        Self { client, worker, nets, book }
    }

    fn lease(&self) -> Lease {
        for nonce in 0_u32.. {
            let (worker, nonce) = (self.worker, nonce.to_string());
            let ask =
                Ask { worker, nonce, threads: 1, nodes_per_second: None, most_seconds: None, acknowledged: Vec::new() };
            match self.client.ask(&ask).unwrap().work {
                Work::Games(lease) => return lease,
                Work::Wait { .. } => thread::sleep(Duration::from_secs(1)),
            }
        }
        unreachable!("it asks for ever")
    }

    fn evaluation(&self, net: Option<Digest>) -> Evaluation {
        let Some(hash) = net else { return Evaluation::Plain };
        let net = self.nets.iter().find(|net| Digest::from(*net.hash().as_bytes()) == hash).unwrap();
        Evaluation::Net(Arc::clone(net), Kernel::from_env().unwrap())
    }

    fn run(&self, header: &Header) -> Run {
        let opponent = header.opponent.map(|opponent| self.evaluation(opponent.net));
        Run::from_header(header, self.evaluation(header.net), opponent, self.book.clone()).unwrap()
    }

    /// Uploads games with one false score each: legal, and a replay shows nothing. There are many
    /// uploads, so that some are audited.
    fn upload(&self, lease: &Lease) {
        let games = if lease.terms.opponent.is_some() { 2 } else { 1 };
        assert!(lease.games >= UPLOADS * games, "{} games are lent", lease.games);
        for upload in 0..UPLOADS {
            let terms = Header { first_game: lease.terms.first_game + upload * games, ..lease.terms.clone() };
            let mut bytes = Vec::new();
            let mut writer = ShardWriter::new(&mut bytes, terms.clone()).unwrap();
            let run = Run { games, ..self.run(&terms) };
            let forge = |_, mut finished: Finished| {
                let first = &mut finished.record.moves[0];
                first.score = first.score.map(|score| score + 1);
                writer.add(&finished.record)
            };
            run.play(forge).unwrap();
            writer.finish().unwrap();
            self.client.upload(&lease.token, terms.first_game, bytes).unwrap();
        }
    }
}

fn events(coordinator: &Coordinator<'_>, kind: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(&coordinator.admin(&["audit"])).unwrap();
    all.into_iter().filter(|event| event["kind"] == kind).collect()
}

fn account(coordinator: &Coordinator<'_>, name: &str) -> Value {
    let all: Vec<Value> = serde_json::from_str(&coordinator.admin(&["user", "list"])).unwrap();
    all.into_iter().find(|account| account["name"] == name).unwrap()
}

/// The command of a referee with another instruction set than the worker's. `CHUHE_REFEREE` is
/// that of one for another processor, as in `scripts/check --long`.
fn referee_command() -> Command {
    let Ok(given) = env::var("CHUHE_REFEREE") else {
        let mut command = Command::new(program("chuhe-referee"));
        command.env("CHUHE_SIMD", "scalar");
        return command;
    };
    let mut words = given.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

fn referee(stage: &Stage) -> Process {
    let mut command = referee_command();
    command.arg("--data").arg(stage.path("coordinator")).env_remove("CHUHE_DATABASE").env_remove("CHUHE_OBJECTS");
    Process::start("referee", command.env_remove("CHUHE_LOG"), stage.log("referee"))
}

/// `chuhe data certificate` on a ruling.
fn verify(stage: &Stage, ruling: &Value, more: &[&str]) -> Output {
    let file = stage.path("ruling.json");
    fs::write(&file, ruling.to_string()).unwrap();
    let mut command = Command::new(program("chuhe"));
    command.args(["data", "certificate"]).arg(file).args(more).output().unwrap()
}

/// Lets a worker and a forger disagree, and holds the ruling against the games.
fn dispute_ends(stage: &Stage, coordinator: &Coordinator<'_>, forger: &Forger, more: &[&str]) {
    let honest = coordinator.account("honest", Role::Volunteer);
    let worker = stage.worker(coordinator, &honest, "worker");
    wait_for("an auditor", LONG, || worker.log().contains(" accepted").then_some(()));
    let lease = forger.lease();
    forger.upload(&lease);
    let disputed = try_for(LONG, || (!events(coordinator, "dispute").is_empty()).then_some(()));
    assert!(disputed.is_some(), "no dispute:\n{}\n{}", coordinator.log(), worker.log());
    assert_eq!(account(coordinator, "forger")["state"], "active", "no worker is trusted");

    let referee = referee(stage);
    let settled = try_for(LONG, || (account(coordinator, "forger")["state"] == "quarantined").then_some(()));
    assert!(settled.is_some(), "no ruling:\n{}", referee.log());
    assert_eq!(account(coordinator, "honest")["state"], "active");
    let (status, text) = coordinator.ask("GET", "/api/v1/rulings/1", &honest, "");
    assert_eq!(status, 200, "{text}");
    // The body may be chunked.
    let text = text[text.find('{').unwrap()..=text.rfind('}').unwrap()].replace("\r\n", "");
    let ruling: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(ruling["shards"].as_array().unwrap().len(), 2, "the ruling is on the dispute: {ruling}");
    let held = verify(stage, &ruling, more);
    let said = String::from_utf8_lossy(&held.stdout).into_owned();
    assert_eq!(held.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&held.stderr));
    assert_eq!((said.matches(" is right: ").count(), said.matches(" is wrong: ").count()), (1, 1), "{said}");

    // The wrong claim is declared right.
    let right = &ruling["right"];
    let lie = ruling["claims"].as_array().unwrap().iter().find(|claim| *claim != right).unwrap().clone();
    let mut forged = ruling.clone();
    forged["right"] = lie;
    let refused = verify(stage, &forged, more);
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}{}", String::from_utf8_lossy(&refused.stderr));

    for process in [worker, referee] {
        process.signal("INT");
        assert_eq!(process.end(LONG), 0);
    }
}

#[test]
fn a_dispute_over_selfplay_is_settled_without_trust() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    coordinator.begin(GAMES);
    let forger = Forger::new(&coordinator, Vec::new(), None);
    dispute_ends(&stage, &coordinator, &forger, &[]);
}

#[test]
fn a_dispute_over_a_match_of_nets_from_a_book_is_settled_too() {
    let stage = Stage::default();
    let coordinator = Coordinator::start(&stage, &[]);
    let files: Vec<String> = [8, 16]
        .into_iter()
        .map(|first| {
            let file = stage.path(&format!("{first}.nnue"));
            let sizes = Sizes::new(128, first, 8, 1).unwrap();
            fs::write(&file, Parameters::only_piece_values(sizes).to_bytes()).unwrap();
            file.display().to_string()
        })
        .collect();
    let book = stage.path("starts").display().to_string();
    let start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR";
    let cannon = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR";
    fs::write(&book, format!("{start} w - - 0 1\n{cannon} b - - 0 1\n")).unwrap();
    let add = |what: &str, file: &str| coordinator.admin(&[what, "add", file]).trim_matches('"').to_owned();
    let [a, b] = [add("net", &files[0]), add("net", &files[1])];
    let hash = add("book", &book);
    let words = [
        "match", "--fixed", "--a", &a, "--b", &b, "--book", &hash, "--nodes", "100", "--pairs", "50000", "--seed", "3",
    ];
    let _ = coordinator.admin(&words);
    let nets = files.iter().map(|file| Arc::new(Net::from_file(file).unwrap())).collect();
    let forger = Forger::new(&coordinator, nets, Some(Book::from_file(&book, RuleSet::default()).unwrap()));
    dispute_ends(&stage, &coordinator, &forger, &["--net", &files[0], "--net", &files[1], "--book", &book]);
}
