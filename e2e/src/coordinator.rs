//! A coordinator process and its administrator's command line.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Command, Output},
    time::Duration,
};

use serde_json::Value;

use crate::{
    process::{Process, program},
    stage::Stage,
    waiting::try_for,
};

/// Timeout of the start.
const START: Duration = Duration::from_mins(1);

/// Roles of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are named as in the coordinator")]
pub enum Role {
    Volunteer,
    Trainer,
    Maintainer,
    Admin,
}

/// A running coordinator with an embedded database and a folder of objects.
pub struct Coordinator<'a> {
    stage: &'a Stage,
    process: Option<Process>,
    address: String,
    more: Vec<String>,
}

impl<'a> Coordinator<'a> {
    /// Starts one at a free port; `more` are arguments of `serve`.
    #[must_use]
    pub fn start(stage: &'a Stage, more: &[&str]) -> Self {
        let more = more.iter().map(|&word| word.to_owned()).collect();
        let mut coordinator = Self { stage, process: None, address: "http://127.0.0.1:0".to_owned(), more };
        coordinator.serve();
        coordinator
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Kills it, like a crash.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }

    /// Restarts it at the same address.
    pub fn serve(&mut self) {
        let log = self.stage.log("coordinator");
        let heard = fs::read_to_string(&log).unwrap_or_default().len();
        let mut command = self.command();
        let listen = self.address.trim_start_matches("http://");
        // The test's disk may be nearly full.
        command.args(["serve", "--listen", listen, "--least-free", "0"]).args(&self.more);
        let mut process = Process::start("coordinator", &mut command, log);
        let address = try_for(START, || {
            let log = process.log();
            let (_, rest) = log.get(heard..)?.split_once("listening at ")?;
            let (line, _) = rest.split_once('\n')?;
            Some(line.trim().to_owned()).filter(|_| process.ended().is_none())
        });
        self.address = address.unwrap_or_else(|| panic!("the coordinator does not serve:\n{}", process.log()));
        self.process = Some(process);
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.stage.log("coordinator")).unwrap_or_default()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(program("chuhe-coordinator"));
        command.arg("--data").arg(self.stage.root().join("coordinator")).env_remove("CHUHE_DATABASE");
        command.env_remove("CHUHE_OBJECTS").env_remove("CHUHE_LOG");
        command.env("CHUHE_TEST_CLOCK", self.stage.path("clock"));
        command
    }

    /// Sets its clock ahead of all others, for the rest of the test.
    #[allow(clippy::assertions_on_constants, reason = "it is another constant in programs built for use")]
    pub fn set_ahead_by(&self, time: Duration) {
        assert!(cfg!(debug_assertions), "programs that are built for use have no clock for tests");
        let (new, file) = (self.stage.path("clock.new"), self.stage.path("clock"));
        fs::write(&new, time.as_millis().to_string()).expect("the stage can be written");
        fs::rename(new, file).expect("the stage can be written");
    }

    /// Watches a campaign until this number of promotions, or until it waits for a person.
    #[must_use]
    pub fn watch(&self, name: &str, promotions: u32) -> Output {
        let mut command = self.command();
        command.args(["watch", name, "--every", "1", "--until-promotions", &promotions.to_string()]);
        command.output().expect("the program can be started")
    }

    /// Runs an administrator's command; returns its output.
    #[must_use]
    pub fn admin(&self, words: &[&str]) -> String {
        let output = self.command().arg("admin").args(words).output().expect("the program can be started");
        let Output { status, stdout, stderr } = output;
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "admin {words:?}: {said}\n{}", self.log());
        String::from_utf8_lossy(&stdout).trim().to_owned()
    }

    /// Sends a request as a program of this version; returns status and body.
    #[must_use]
    pub fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let address = self.address().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("it serves");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Chuhe-Version: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            env!("CARGO_PKG_VERSION"),
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("answers have a status");
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// Creates an account and returns a token of it.
    #[must_use]
    pub fn account(&self, name: &str, role: Role) -> String {
        let role = format!("{role:?}").to_lowercase();
        let _ = self.admin(&["user", "create", name, "--role", &role]);
        let answer = self.admin(&["token", "create", name]);
        answer.lines().last().expect("a token is shown").to_owned()
    }

    /// Creates a campaign.
    pub fn begin(&self, text: &str) {
        let file = self.stage.root().join("campaign.toml");
        fs::write(&file, text).expect("the stage can be written");
        let _ = self.admin(&["campaign", "create", &file.display().to_string()]);
    }

    /// Returns the state of a campaign.
    #[must_use]
    pub fn campaign(&self, name: &str) -> Value {
        serde_json::from_str(&self.admin(&["campaign", "show", name])).expect("the answer is JSON")
    }

    /// Waits until a campaign's state satisfies the condition; returns it.
    pub fn campaign_is(&self, name: &str, timeout: Duration, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = try_for(timeout, || Some(self.campaign(name)).filter(&wanted));
        found.unwrap_or_else(|| panic!("the campaign stands at {:#}\n{}", self.campaign(name), self.log()))
    }
}
