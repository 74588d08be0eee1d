//! What must hold for any input; see the properties of `xiangqi` for how these are used.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use engine::{
    Settings,
    uci::{self, Session, Setup},
};
use nnue::Kernel;
use xiangqi::notation::Notation;

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).expect("text")
    }
}

fn setup() -> Setup {
    let settings = Settings { hash_mebibytes: 1, ..Settings::default() };
    Setup { settings, kernel: Kernel::best(), most_hash_mebibytes: 2, most_threads: 2 }
}

/// Enough that a search is one.
const MOST_NODES: u64 = 300;

/// The longest count of `go perft`.
const MOST_PERFT: &str = "2";

/// A conversation, once as it comes, where every search is soon stopped by what comes next, and once with the patience
/// to let searches end, but not to let them go on for ever. Each search gives one answer, a legal move if there is one.
pub(crate) fn uci(data: &[u8]) {
    // More conversation says nothing new.
    const LINES: usize = 12;
    let page = Page::default();
    uci::run(data, page.clone(), setup()).expect("neither reading nor writing fails");
    well_formed(&page.take());

    let mut session = Session::new(page.clone(), setup());
    for line in String::from_utf8_lossy(data).lines().take(LINES) {
        let mut words: Vec<_> = line.split_ascii_whitespace().collect();
        if let Some(place) = words.iter().position(|word| *word == "perft")
            && let Some(depth) = words.get_mut(place + 1)
            && depth.parse::<u8>().is_ok()
        {
            *depth = MOST_PERFT;
        }
        let limited = words.join(" ") + &format!(" nodes {MOST_NODES}");
        let goes = words.first() == Some(&"go");
        let flow = session.obey(if goes { &limited } else { line }).expect("writing does not fail");
        session.finish();
        let text = page.take();
        well_formed(&text);
        let answers: Vec<_> = text.lines().filter(|line| line.contains("bestmove")).collect();
        assert!(answers.len() <= usize::from(goes), "{line}: {text}");
        if let Some(answer) = answers.first() {
            let position = session.game().position();
            match answer.strip_prefix("bestmove ").and_then(|rest| rest.split(' ').next()) {
                None | Some("(none)") => {
                    let banned = line.starts_with("go") && *answer == "nobestmove";
                    assert!(banned || !position.has_legal_move(), "{line}: {text}");
                }
                Some(mv) => {
                    let read = |notation| position.parse_move_in(mv, notation).is_ok();
                    assert!(read(Notation::Uci) || read(Notation::Uci1), "{line}: {text}");
                }
            }
        }
        if flow.is_break() {
            break;
        }
    }
    session.close();
}

fn well_formed(text: &str) {
    assert!(text.is_empty() || text.ends_with('\n'));
    for line in text.lines() {
        assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
        assert!(line.chars().count() < 4000, "{line}");
    }
}
