//! The system calls of a process, from the log of `strace -f -y`.

use std::{collections::BTreeMap, process::Command};

/// Whether `strace` is usable. With `CHUHE_SKIP_STRACE` the test is skipped, with a line about
/// `unseen`, the property not checked.
///
/// # Panics
///
/// If it is missing, or may not trace.
#[must_use]
#[allow(clippy::print_stdout, reason = "a skipped check is worth a line")]
pub fn can_watch(unseen: &str) -> bool {
    if std::env::var_os("CHUHE_SKIP_STRACE").is_some() {
        println!("SKIPPED: CHUHE_SKIP_STRACE is set, so this was not checked: {unseen}");
        return false;
    }
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success());
    assert!(
        works,
        "strace is missing or may not watch (on Debian: apt-get install strace); CHUHE_SKIP_STRACE=1 passes by"
    );
    true
}

/// A system call with the lines of the log where it began and ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The line of its beginning.
    pub began: usize,
    /// The line of its end.
    pub ended: usize,
    /// Name, arguments and result.
    pub text: String,
}

impl Call {
    /// Whether it is one of these system calls.
    #[must_use]
    pub fn is(&self, names: &[&str]) -> bool {
        let name = self.text.split_once('(').map_or("", |(name, _)| name);
        names.contains(&name)
    }

    /// Whether it succeeded.
    #[must_use]
    pub fn went_well(&self) -> bool {
        self.text.rsplit_once(" = ").is_some_and(|(_, result)| result.starts_with(|digit: char| digit.is_ascii_digit()))
    }

    /// The quoted strings among its arguments, byte for byte.
    #[must_use]
    pub fn texts(&self) -> Vec<Vec<u8>> {
        let mut texts = Vec::new();
        let mut bytes = self.text.bytes().peekable();
        while bytes.by_ref().any(|byte| byte == b'"') {
            let mut text = Vec::new();
            while let Some(byte) = bytes.next().filter(|&byte| byte != b'"') {
                text.push(if byte == b'\\' { escaped(&mut bytes) } else { byte });
            }
            texts.push(text);
        }
        texts
    }
}

/// The byte of a C escape sequence, after its backslash.
fn escaped(bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>) -> u8 {
    let is_digit = |byte: &u8| (b'0'..b'8').contains(byte);
    match bytes.next() {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'v') => 11,
        Some(b'f') => 12,
        Some(digit) if is_digit(&digit) => {
            let mut value = u32::from(digit - b'0');
            for _ in 0..2 {
                value = bytes.next_if(is_digit).map_or(value, |digit| value * 8 + u32::from(digit - b'0'));
            }
            value as u8
        }
        other => other.unwrap_or_default(),
    }
}

/// Parses a log, and joins calls that another thread's lines interrupted.
#[must_use]
pub fn calls(trace: &str) -> Vec<Call> {
    let mut open = BTreeMap::<&str, (usize, String)>::new();
    let mut calls = Vec::new();
    for (line, text) in trace.lines().enumerate() {
        let Some((thread, text)) = text.split_once(' ') else { continue };
        let text = text.trim_start();
        if let Some(begun) = text.strip_suffix("<unfinished ...>") {
            open.insert(thread, (line, begun.to_owned()));
        } else if let Some((_, rest)) = text.split_once(" resumed>") {
            if let Some((began, begun)) = open.remove(thread) {
                calls.push(Call { began, ended: line, text: begun + rest });
            }
        } else {
            calls.push(Call { began: line, ended: line, text: text.to_owned() });
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_joined_and_parsed() {
        let trace = r#"7  write(3</a>, "x\0\1772\n\"", 5 <unfinished ...>
8  fsync(4</b>)   = -1 EIO (Input/output error)
7  <... write resumed>) = 5
"#;
        let calls = calls(trace);
        assert_eq!(calls.iter().map(|call| (call.began, call.ended)).collect::<Vec<_>>(), [(1, 1), (0, 2)]);
        assert!(calls[0].is(&["fsync"]) && !calls[0].went_well());
        assert!(calls[1].is(&["read", "write"]) && calls[1].went_well());
        assert_eq!(calls[1].texts(), [b"x\0\x7f2\n\""]);
    }
}
