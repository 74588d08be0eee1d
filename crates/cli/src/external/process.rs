//! A program that is talked to in lines.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use super::Deadline;

/// Longer lines are cut: nobody says so much at once.
const LONGEST_LINE: u64 = 1 << 16;
/// So many lines wait to be read; then the engine has to wait.
const LINES_AHEAD: usize = 4096;
/// How long an engine that was told to quit may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// A running program. It ends with this value.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// None came in time.
    TimedOut,
    /// None will come.
    Closed,
}

impl Process {
    /// Starts a program with its arguments.
    pub(super) fn start(words: &[String]) -> io::Result<Self> {
        let (program, arguments) =
            words.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for")
        };
        let (sender, lines) = sync_channel(LINES_AHEAD);
        thread::spawn(move || read_lines(output, &sender));
        Ok(Self { child, input, lines })
    }

    /// Writes a line. That the program is gone is noticed by whoever waits for its answer.
    pub(super) fn send(&mut self, line: &str) {
        let _ = self.input.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.input.flush());
    }

    /// The next line, without blanks around it.
    pub(super) fn receive(&self, deadline: Deadline) -> Result<String, Silence> {
        self.lines.recv_timeout(deadline.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::TimedOut,
            RecvTimeoutError::Disconnected => Silence::Closed,
        })
    }

    /// How a program ended that has closed its output.
    pub(super) fn epitaph(&mut self) -> String {
        let deadline = Deadline::after(FAREWELL);
        while !deadline.left().is_zero() {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Ok(Some(status)) => return format!("the engine ended ({status})"),
                Err(_) => break,
            }
        }
        "the engine closed its output".to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.send("quit");
        let deadline = Deadline::after(FAREWELL);
        while !deadline.left().is_zero() && self.receive(deadline) != Err(Silence::Closed) {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(output: ChildStdout, sender: &SyncSender<String>) {
    let mut reader = BufReader::new(output);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
            Ok(1..) => {
                if sender.send(String::from_utf8_lossy(&bytes).trim().to_owned()).is_err() {
                    break;
                }
            }
            Ok(0) | Err(_) => break,
        }
    }
}
