//! Pool of game threads: one per allowed core, the only ones that compute. They write no file and
//! send nothing.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use protocol::api::work::FailureKind;
use selfplay::selfplay::{GameSnapshot, Players, Run};

use super::{
    live_view::LiveView,
    state::Work,
    task::{GameTask, TaskOutcome},
};
use crate::{
    delivery::Delivery,
    events::Events,
    sentence::sentence,
    spool::encode_game,
    supervised::{self, panic_message},
};

/// The shared part of all game threads.
#[derive(Clone)]
pub(crate) struct Pool {
    work: Arc<Work>,
    delivery: Arc<Delivery>,
    live_view: Arc<LiveView>,
    events: Events,
}

impl Pool {
    pub(crate) fn new(work: &Arc<Work>, delivery: &Arc<Delivery>, live_view: &Arc<LiveView>, events: &Events) -> Self {
        let (work, delivery, live_view) = (Arc::clone(work), Arc::clone(delivery), Arc::clone(live_view));
        Self { work, delivery, live_view, events: events.clone() }
    }

    /// Starts the threads. They end when no more games will come.
    pub(crate) fn start(&self, threads: usize) -> io::Result<()> {
        (0..threads).try_for_each(|slot| {
            let pool = self.clone();
            supervised::spawn(&format!("games-{slot}"), &self.events, move || pool.play(slot))
        })
    }

    fn play(&self, slot: usize) {
        // The run's hash tables are reused while its games follow each other.
        let mut cached_players: Option<(Arc<Run>, Players)> = None;
        while let Some(task) = self.work.next_game(slot) {
            // After a panic the players are dropped and the failure is reported.
            let played = catch_unwind(AssertUnwindSafe(|| {
                // The old tables are freed first: memory is budgeted for one set per thread.
                let cached = cached_players.take().filter(|(run, _)| Arc::ptr_eq(run, &task.run));
                let (run, mut players) = cached.unwrap_or_else(|| (Arc::clone(&task.run), task.run.players()));
                let outcome = self.play_one(&run, &mut players, &task);
                cached_players = Some((run, players));
                outcome
            }));
            let failed = |panic: Box<dyn Any + Send>| self.fail(&task, FailureKind::Panic, &panic_message(&*panic));
            self.work.complete_game(&task, played.unwrap_or_else(failed));
        }
    }

    fn play_one(&self, run: &Run, players: &mut Players, task: &GameTask) -> TaskOutcome {
        let Self { work, live_view, .. } = self;
        let clock = work.clock();
        let since = clock.now();
        let mut feed = task.watched.as_ref().and_then(|lease| live_view.open(lease, task.number));
        let mut watch = |snapshot: &GameSnapshot<'_>| {
            if let Some(feed) = &mut feed {
                feed.show(snapshot, clock.now());
            }
        };
        let game = match run.game_watched(players, task.number, &mut || work.may_continue(&task.job), &mut watch) {
            Ok(Some(game)) => game,
            Ok(None) => return TaskOutcome::Dropped,
            Err(error) => return self.fail(task, FailureKind::Other, &error.to_string()),
        };
        match encode_game(&task.terms, task.number, &game.record) {
            Ok(encoded) => TaskOutcome::Finished { game, encoded, took: clock.now().saturating_sub(since) },
            Err(error) => self.fail(task, FailureKind::Other, &error.to_string()),
        }
    }

    /// Reports a game that cannot be played.
    fn fail(&self, task: &GameTask, kind: FailureKind, reason: &str) -> TaskOutcome {
        let message = format!("Game {} could not be played: {reason}", task.number);
        self.delivery.report_failure(kind, message.clone());
        self.delivery.messages().log(sentence(message));
        TaskOutcome::Failed
    }
}
