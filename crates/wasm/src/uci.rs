//! The session of UCI.

use std::{
    cell::RefCell,
    io::{self, Write},
};

use engine::{
    Evaluation, Settings, bench, published,
    uci::{Host, Session, Setup},
};
use nnue::{Kernel, Net};

use crate::imports;

/// A browser gives a module at most 4 GiB; this much of it for the table is safe.
const MAX_HASH_MEBIBYTES: usize = 1024;

thread_local! {
    static SESSION: RefCell<Option<Session<Lines>>> = const { RefCell::new(None) };
}

/// Output in lines, which go to the host.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        text.lines().for_each(imports::write_line);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn setup() -> Setup {
    let kernel = Kernel::best();
    let settings = Settings { evaluation: published::evaluation(kernel), ..Settings::default() };
    Setup {
        max_hash_mebibytes: MAX_HASH_MEBIBYTES,
        max_threads: 1,
        host: Host::Caller { now: imports::time, stop: imports::is_stopped },
        ..Setup::new(settings, kernel)
    }
}

/// Executes a line; whether more may follow.
pub(crate) fn execute(line: &str) -> bool {
    with_session(|session| session.execute_line(line)).is_continue()
}

/// Plays with a net; returns its hash.
pub(crate) fn set_net(bytes: &[u8]) -> Result<String, String> {
    let net = Net::from_bytes(bytes).map_err(|error| error.to_string())?;
    let hash = net.hash().to_string();
    with_session(|session| session.set_net(&hash[..8], net));
    Ok(hash)
}

fn with_session<T>(work: impl FnOnce(&mut Session<Lines>) -> io::Result<T>) -> T {
    SESSION.with_borrow_mut(|session| {
        work(session.get_or_insert_with(|| Session::new(Lines, setup()))).expect("the host takes every line")
    })
}

/// The nodes of the bench.
pub(crate) fn bench(depth: u32, plain: bool) -> u64 {
    let evaluation = if plain { Evaluation::Plain } else { published::evaluation(Kernel::best()) };
    bench::run(&evaluation, 1, depth, &mut |_, _| {})
}
