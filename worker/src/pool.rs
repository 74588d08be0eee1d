//! Pool of game threads: one per allowed core, the only ones that compute.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use protocol::api::work::FailureKind;
use selfplay::selfplay::{GameSnapshot, Players, Run};

use crate::{
    shared::{GameTask, Shared, TaskOutcome},
    supervised::panic_message,
};

/// Starts the threads. They end when no more games will come.
pub(crate) fn start(shared: &Arc<Shared>, threads: usize) -> io::Result<()> {
    (0..threads).try_for_each(|slot| {
        let shared = Arc::clone(shared);
        thread::Builder::new().name(format!("games-{slot}")).spawn(move || play(&shared, slot)).map(drop)
    })
}

fn play(shared: &Shared, slot: usize) {
    // The run's hash tables are reused while its games follow each other.
    let mut cached_players: Option<(Arc<Run>, Players)> = None;
    while let Some(task) = shared.next_game(slot) {
        let (run, mut players) = match cached_players.take() {
            Some((run, players)) if Arc::ptr_eq(&run, &task.run) => (run, players),
            // The old tables are freed first: memory is budgeted for one set per thread.
            other => {
                drop(other);
                (Arc::clone(&task.run), task.run.players())
            }
        };
        // After a panic the players are dropped and the failure is reported.
        match catch_unwind(AssertUnwindSafe(|| play_one(shared, &run, &mut players, &task))) {
            Ok(outcome) => {
                shared.complete_game(&task, outcome);
                cached_players = Some((run, players));
            }
            Err(panic) => shared.complete_game(&task, TaskOutcome::Failed(FailureKind::Panic, panic_message(&*panic))),
        }
    }
}

fn play_one(shared: &Shared, run: &Run, players: &mut Players, task: &GameTask) -> TaskOutcome {
    let since = shared.clock.now();
    let mut feed = task.watched.as_ref().and_then(|lease| shared.live_view.open(lease, task.number));
    let mut watch = |snapshot: &GameSnapshot<'_>| {
        if let Some(feed) = &mut feed {
            feed.show(snapshot, shared.clock.now());
        }
    };
    match run.game_watched(players, task.number, &mut || shared.may_continue(&task.job), &mut watch) {
        Ok(Some(game)) => TaskOutcome::Finished { game, took: shared.clock.now().saturating_sub(since) },
        Ok(None) => TaskOutcome::Dropped,
        Err(error) => TaskOutcome::Failed(FailureKind::Other, error.to_string()),
    }
}
