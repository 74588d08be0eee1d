//! Properties that hold for any input; the properties of `xiangqi` explain their use.

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
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).expect("text")
    }
}

fn setup() -> Setup {
    let settings = Settings { hash_mebibytes: 1, ..Settings::default() };
    Setup { max_hash_mebibytes: 2, max_threads: 2, tune: true, ..Setup::new(settings, Kernel::best()) }
}

/// The node limit of every search.
const MAX_NODES: u64 = 300;

/// The maximum depth of `go perft`.
const MAX_PERFT_DEPTH: &str = "2";

/// Runs a session twice: as given, where each line may stop the search of the line before, and with
/// node limits, waiting for each search. Each search writes one `bestmove`, a legal move if there
/// is one.
pub(crate) fn uci(data: &[u8]) {
    // Longer sessions cover no further code.
    const MAX_LINES: usize = 12;
    let output = Output::default();
    uci::run(data, output.clone(), setup()).expect("neither reading nor writing fails");
    well_formed(&output.take());

    let mut session = Session::new(output.clone(), setup());
    for line in String::from_utf8_lossy(data).lines().take(MAX_LINES) {
        let mut words: Vec<_> = line.split_ascii_whitespace().collect();
        if let Some(place) = words.iter().position(|word| *word == "perft")
            && let Some(depth) = words.get_mut(place + 1)
            && depth.parse::<u8>().is_ok()
        {
            *depth = MAX_PERFT_DEPTH;
        }
        let limited = words.join(" ") + &format!(" nodes {MAX_NODES}");
        let goes = words.first() == Some(&"go");
        let flow = session.execute_line(if goes { &limited } else { line }).expect("writing does not fail");
        session.finish();
        let text = output.take();
        well_formed(&text);
        let answers: Vec<_> = text.lines().filter(|line| line.contains("bestmove")).collect();
        assert!(answers.len() <= usize::from(goes), "{line}: {text}");
        if let Some(answer) = answers.first() {
            let position = session.game().position();
            match answer.strip_prefix("bestmove ").and_then(|rest| rest.split(' ').next()) {
                None | Some("(none)") => {
                    let banned = line.starts_with("go") && *answer == "nobestmove";
                    assert!(banned || !session.has_position() || !position.has_legal_move(), "{line}: {text}");
                }
                Some(mv) => {
                    assert!(session.has_position(), "{line}: {text}");
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
