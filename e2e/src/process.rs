//! A running program.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::waiting::try_for;

/// Returns the path of one of our programs, next to the test's own.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = env::current_exe().expect("a running program has a file");
    // The test is in `deps`, the programs are above.
    let folder = own.parent().and_then(Path::parent).expect("cargo puts tests two folders deep");
    let path = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is not there: `cargo build --workspace --bins` makes it", path.display());
    path
}

/// A running program, killed on drop.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program; its standard error is appended to the file.
    #[must_use]
    pub fn start(name: &str, command: &mut Command, log: PathBuf) -> Self {
        let file = fs::OpenOptions::new().create(true).append(true).open(&log).expect("the stage can be written");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn();
        Self { name: name.to_owned(), child: child.expect("the program can be started"), log }
    }

    /// Its log, including those of earlier processes of this name.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Kills it, like a crash.
    pub fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Sends it a signal: `INT` is Ctrl-C.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{} has ended before:\n{}", self.name, self.log());
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().expect("it is ours").map(|status| status.code().unwrap_or(-1))
    }

    /// Waits for its end; returns its exit status.
    #[must_use]
    pub fn end(mut self, timeout: Duration) -> i32 {
        let ended = try_for(timeout, || self.ended());
        ended.unwrap_or_else(|| panic!("{} does not end:\n{}", self.name, self.log()))
    }

    /// Waits for a text in its log.
    pub fn says(&mut self, words: &str, timeout: Duration) {
        let mut last = false;
        let said = try_for(timeout, || {
            let said = self.log().contains(words).then_some(true);
            // Text before its end counts.
            let has_ended = std::mem::replace(&mut last, self.ended().is_some());
            said.or(has_ended.then_some(false))
        });
        assert!(said == Some(true), "{} never said {words:?}:\n{}", self.name, self.log());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
