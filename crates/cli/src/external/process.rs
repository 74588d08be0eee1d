//! A child process with line-based input and output.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use super::Deadline;

/// Maximum line length; longer lines are split.
const MAX_LINE_BYTES: u64 = 1 << 16;
/// Buffered lines; with more the engine blocks on its output.
const MAX_BUFFERED_LINES: usize = 4096;
/// Timeout of an engine's exit after `quit`.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running process, which is killed on drop.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// Why no line was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveError {
    /// The deadline passed.
    TimedOut,
    /// The process closed its output.
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
        let (sender, lines) = sync_channel(MAX_BUFFERED_LINES);
        thread::spawn(move || read_lines(output, &sender));
        Ok(Self { child, input, lines })
    }

    /// Writes a line. A dead process is noticed when its output is read.
    pub(super) fn send(&mut self, line: &str) {
        let _ = self.input.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.input.flush());
    }

    /// Receives the next line, trimmed.
    pub(super) fn receive(&self, deadline: Deadline) -> Result<String, ReceiveError> {
        self.lines.recv_timeout(deadline.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => ReceiveError::TimedOut,
            RecvTimeoutError::Disconnected => ReceiveError::Closed,
        })
    }

    /// Describes the end of a process that has closed its output.
    pub(super) fn exit_reason(&mut self) -> String {
        let deadline = Deadline::after(EXIT_TIMEOUT);
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
        let deadline = Deadline::after(EXIT_TIMEOUT);
        while !deadline.left().is_zero() && self.receive(deadline) != Err(ReceiveError::Closed) {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(output: ChildStdout, sender: &SyncSender<String>) {
    let mut reader = BufReader::new(output);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes) {
            Ok(1..) => {
                if sender.send(String::from_utf8_lossy(&bytes).trim().to_owned()).is_err() {
                    break;
                }
            }
            Ok(0) | Err(_) => break,
        }
    }
}
