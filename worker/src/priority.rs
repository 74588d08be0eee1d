//! Whoever sits at this machine comes first: also who sits in another session.

#[cfg(target_os = "linux")]
use std::{
    fs,
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

/// The priority that gives way to all others.
#[cfg(unix)]
pub(crate) const LOWEST: i32 = 19;

/// Where Linux says which share of the processor the session of this process has among the sessions, as priorities are
/// shared out within one. Without it who plays in a terminal of its own would have as much as all that goes on in another.
#[cfg(target_os = "linux")]
const SESSION: &str = "/proc/self/autogroup";

/// The session of this process gives way to all others, until this is dropped: one that is the worker's own, or of a
/// terminal that somebody plays in. Where sessions have no share, or this one has given way already, nothing is done.
pub struct GivingWay {
    #[cfg(target_os = "linux")]
    before: Option<i32>,
}

impl GivingWay {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            before: share(&fs::read_to_string(SESSION).unwrap_or_default())
                .filter(|before| *before != LOWEST && is_ours() && set_share(LOWEST)),
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for GivingWay {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set_share(before);
        }
    }
}

/// Whether nobody's session is lowered who did not ask for it: that of a service, say, that runs a worker among other things.
#[cfg(target_os = "linux")]
fn is_ours() -> bool {
    rustix::process::getsid(None).is_ok_and(|session| session == rustix::process::getpid()) || io::stdin().is_terminal()
}

/// Whether the share could be set.
#[cfg(target_os = "linux")]
fn set_share(share: i32) -> bool {
    (0..3).any(|_| match fs::write(SESSION, share.to_string()) {
        Ok(()) => true,
        Err(error) => {
            // Linux takes one change in a tenth of a second from all sessions together.
            if error.kind() == io::ErrorKind::WouldBlock {
                thread::sleep(Duration::from_millis(150));
            }
            false
        }
    })
}

/// The share in a line such as `/autogroup-93 nice 0`.
#[cfg(target_os = "linux")]
fn share(line: &str) -> Option<i32> {
    line.rsplit_once(" nice ")?.1.trim().parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        assert_eq!(share("/autogroup-93 nice 0\n"), Some(0));
        assert_eq!(share("/autogroup-1 nice -5\n"), Some(-5));
        assert_eq!(share(""), None);
    }
}
