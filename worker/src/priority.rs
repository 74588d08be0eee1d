//! Lowest scheduling priority, within and across login sessions.

#[cfg(target_os = "linux")]
use std::{
    fs,
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

/// The highest nice value, the lowest priority.
#[cfg(unix)]
pub(crate) const LOWEST_PRIORITY: i32 = 19;

/// Nice value of this session's autogroup on Linux. Priorities only hold within an autogroup.
/// Without this, a worker in its own terminal would get as much as another whole session.
#[cfg(target_os = "linux")]
const AUTOGROUP_FILE: &str = "/proc/self/autogroup";

/// Lowers the priority of the worker's own session or terminal until dropped. Does nothing without
/// autogroups, or if the session has the lowest priority already.
pub struct YieldingSession {
    #[cfg(target_os = "linux")]
    before: Option<i32>,
}

impl YieldingSession {
    /// Lowers the priority.
    #[must_use]
    pub fn begin() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            before: autogroup_nice(&fs::read_to_string(AUTOGROUP_FILE).unwrap_or_default())
                .filter(|before| *before != LOWEST_PRIORITY && owns_session() && set_autogroup_nice(LOWEST_PRIORITY)),
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for YieldingSession {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set_autogroup_nice(before);
        }
    }
}

/// Returns whether the session belongs to the worker: it leads the session or reads its terminal.
/// The session of, say, a CI service is left alone.
#[cfg(target_os = "linux")]
fn owns_session() -> bool {
    rustix::process::getsid(None).is_ok_and(|session| session == rustix::process::getpid()) || io::stdin().is_terminal()
}

/// Returns whether the value could be set.
#[cfg(target_os = "linux")]
fn set_autogroup_nice(nice: i32) -> bool {
    (0..3).any(|_| match fs::write(AUTOGROUP_FILE, nice.to_string()) {
        Ok(()) => true,
        Err(error) => {
            // Linux accepts one change per tenth of a second, from all sessions together.
            if error.kind() == io::ErrorKind::WouldBlock {
                thread::sleep(Duration::from_millis(150));
            }
            false
        }
    })
}

/// Parses a line such as `/autogroup-93 nice 0`.
#[cfg(target_os = "linux")]
fn autogroup_nice(line: &str) -> Option<i32> {
    line.rsplit_once(" nice ")?.1.trim().parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn autogroup_lines_are_parsed() {
        assert_eq!(autogroup_nice("/autogroup-93 nice 0\n"), Some(0));
        assert_eq!(autogroup_nice("/autogroup-1 nice -5\n"), Some(-5));
        assert_eq!(autogroup_nice(""), None);
    }
}
