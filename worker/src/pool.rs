//! The threads that play: as many as are allowed, and nothing beside them that computes.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use protocol::api::work::FailureKind;
use selfplay::selfplay::{Players, Run, Sight};

use crate::{
    crew::words_of,
    desk::{Desk, Outcome, Piece},
};

/// Starts the threads. They end when the desk has no more games for them.
pub(crate) fn start(desk: &Arc<Desk>, threads: usize) -> io::Result<()> {
    (0..threads).try_for_each(|seat| {
        let desk = Arc::clone(desk);
        thread::Builder::new().name(format!("games-{seat}")).spawn(move || play(&desk, seat)).map(drop)
    })
}

fn play(desk: &Desk, seat: usize) {
    // The tables of a run stay with the thread as long as its games come.
    let mut sitting: Option<(Arc<Run>, Players)> = None;
    while let Some(piece) = desk.take(seat) {
        let (run, mut players) = match sitting.take() {
            Some((run, players)) if Arc::ptr_eq(&run, &piece.run) => (run, players),
            // The old tables go before the new come: memory is counted for one set a thread.
            other => {
                drop(other);
                (Arc::clone(&piece.run), piece.run.players())
            }
        };
        // What is broken is told, and not used again.
        match catch_unwind(AssertUnwindSafe(|| play_one(desk, &run, &mut players, &piece))) {
            Ok(outcome) => {
                desk.put_down(&piece, outcome);
                sitting = Some((run, players));
            }
            Err(panic) => desk.put_down(&piece, Outcome::Broken(FailureKind::Panic, words_of(&*panic))),
        }
    }
}

fn play_one(desk: &Desk, run: &Run, players: &mut Players, piece: &Piece) -> Outcome {
    let since = desk.clock.now();
    let mut pane = piece.watched.as_ref().and_then(|lease| desk.window.open(lease, piece.number));
    let mut watch = |sight: &Sight<'_>| {
        if let Some(pane) = &mut pane {
            pane.show(sight, desk.clock.now());
        }
    };
    match run.game_watched(players, piece.number, &mut || desk.goes_on(&piece.job), &mut watch) {
        Ok(Some(game)) => Outcome::Finished { game, took: desk.clock.now().saturating_sub(since) },
        Ok(None) => Outcome::Abandoned,
        Err(error) => Outcome::Broken(FailureKind::Other, error.to_string()),
    }
}
