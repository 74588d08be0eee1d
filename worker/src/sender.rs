//! Hands results in, and shows that leases get on.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};

use client::{Backoff, Client, Dice, Error};
use protocol::api::{problem::Code, work::Failure};

use crate::{
    desk::{Desk, Ending, State},
    job::Job,
    outbox::{Outbox, Parcel},
    sentence::sentence,
    state::Folder,
};

/// Bytes that are sound here may be damaged on their way, which deserves another attempt, but not for ever.
const ATTEMPTS: u32 = 5;
/// How long people need to mend what machines cannot.
const FOR_PEOPLE: Duration = Duration::from_hours(1);
/// How long to sleep when nothing is to be done; new results wake the sender up.
const A_WHILE: Duration = Duration::from_secs(20);

/// Hands results in.
pub(crate) struct Sender {
    pub(crate) desk: Arc<Desk>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<Folder>,
    pub(crate) outbox: Outbox,
    pub(crate) sending: Task,
    pub(crate) renewing: Task,
    /// How often results were refused that may have been damaged on their way.
    pub(crate) attempts: BTreeMap<String, u32>,
    /// Results for other servers.
    pub(crate) elsewhere: BTreeSet<String>,
}

/// Why not everything is done, and how long the server asked to wait.
type Trouble = (String, Option<Duration>);

/// One of the two things that a sender does. What goes wrong with one is no reason to wait with the other.
pub(crate) struct Task {
    backoff: Backoff,
    /// Not before this moment is it tried again.
    again: Duration,
    trouble: Option<String>,
}

impl Task {
    /// A task that goes well as yet.
    pub(crate) const fn new(backoff: Backoff) -> Self {
        Self { backoff, again: Duration::ZERO, trouble: None }
    }

    /// It was tried; whether it failed.
    fn tried(&mut self, now: Duration, done: Result<(), Trouble>) -> bool {
        let trouble = done.err();
        match &trouble {
            None => self.backoff.reset(),
            Some((_, asked)) => self.again = now + self.backoff.after_failure(*asked),
        }
        self.trouble = trouble.map(|(why, _)| why);
        self.trouble.is_some()
    }

    /// How long nothing is done about it.
    fn pause(&self, now: Duration) -> Duration {
        if self.trouble.is_some() { self.again.saturating_sub(now) } else { A_WHILE }
    }
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is tried again later.
    Later,
    /// It is tried again when people have done something.
    AfterPeople,
    /// Nobody will ever take it.
    Refused,
}

/// What an error means for a result that was refused so many times before.
fn fate(error: &Error, attempts: u32) -> Fate {
    match error {
        Error::Refused { problem, .. } => judge(problem.code, problem.status, attempts),
        // Somebody in between said something, or nobody anything.
        _ => Fate::Later,
    }
}

fn judge(code: Code, status: u16, attempts: u32) -> Fate {
    let damaged = match code {
        Code::BadToken | Code::NoToken | Code::Blocked | Code::Forbidden | Code::TooOld => return Fate::AfterPeople,
        _ if matches!(status, 408 | 429 | 500..) => return Fate::Later,
        Code::BadRequest
        | Code::BadHash
        | Code::Truncated
        | Code::Corrupt
        | Code::NotAShard
        | Code::MethodNotAllowed
        | Code::WrongType
        | Code::BadRange
        | Code::Unknown => true,
        _ => false,
    };
    if damaged && attempts + 1 < ATTEMPTS { Fate::Later } else { Fate::Refused }
}

impl Sender {
    /// Works until the worker ends; nobody waits for it longer than they like.
    pub(crate) fn run(mut self) {
        let mut before = (Ending::None, 0);
        while !self.desk.look(|state| state.gone) {
            let urge = self.desk.look(|state| (state.ending, state.goodbyes));
            self.tell_of_failures();
            // After a failure only the end of the worker is worth an attempt before its time.
            if urge > before || self.desk.clock.now() >= self.sending.again {
                let done = self.send_all();
                if self.sending.tried(self.desk.clock.now(), done) {
                    self.desk.change(|state| state.failures += 1);
                }
            }
            if self.desk.clock.now() >= self.renewing.again {
                let done = self.renew();
                self.renewing.tried(self.desk.clock.now(), done);
            }
            before = urge;
            let troubles: Vec<_> =
                [&self.sending, &self.renewing].into_iter().filter_map(|it| it.trouble.clone()).collect();
            self.desk.change(|state| state.sending = (!troubles.is_empty()).then(|| troubles.join(" ")));
            let now = self.desk.clock.now();
            self.desk.wait(self.sending.pause(now).min(self.renewing.pause(now)).min(A_WHILE), |state| {
                state.gone
                    || (state.ending, state.goodbyes) > urge
                    || !state.failed.is_empty()
                    || self.sending.trouble.is_none() && state.outbox > 0
                    || self.renewing.trouble.is_none() && self.is_due(state)
            });
        }
    }

    /// Tells the server what went wrong here. It is told once, if that is possible.
    fn tell_of_failures(&self) {
        let (worker, failed) = self.desk.change(|state| (state.worker, std::mem::take(&mut state.failed)));
        for (kind, detail) in failed {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let detail = detail.chars().take(4000).collect();
            let _ = self.client.report(&Failure { worker, kind, version, detail });
        }
    }

    /// Tries every result once; the reason why some are left, and how long the server asked to wait.
    fn send_all(&mut self) -> Result<(), Trouble> {
        let mut trouble = Ok(());
        // Leases of which games are still here: what is given back before those are there would be played by others.
        let mut here = BTreeSet::new();
        for name in self.outbox.names().map_err(|error| storage(&error))? {
            let parcel = match self.outbox.read(&name) {
                Ok(parcel) => parcel,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.refuse(&name, 0, &error.to_string()).map_err(|error| storage(&error))?;
                    continue;
                }
                Err(error) => return Err(storage(&error)),
            };
            if parcel.label.server != self.client.server_address().to_string() {
                if self.elsewhere.insert(name) {
                    self.desk.say(format!("A result waits for another server, {}.", parcel.label.server));
                }
                continue;
            }
            if parcel.label.games == 0 && here.contains(&parcel.label.lease) {
                continue;
            }
            if let Err(why) = self.send_one(&name, &parcel) {
                here.insert(parcel.label.lease);
                let goes_on = why.1.is_none() && why.2;
                trouble = Err((why.0, why.1));
                // What is wrong with the way is wrong for all.
                if !goes_on {
                    break;
                }
            }
        }
        // Nobody puts anything there between looking and saying.
        let counted = self.desk.change(|state| {
            let waiting = self.outbox.names()?.len();
            state.outbox = waiting.saturating_sub(self.elsewhere.len());
            Ok(())
        });
        counted.map_err(|error: io::Error| storage(&error))?;
        trouble
    }

    /// Tries one result; why it is left, how long the server asked to wait, and whether others may have more luck.
    fn send_one(&mut self, name: &str, parcel: &Parcel) -> Result<(), (String, Option<Duration>, bool)> {
        let games = parcel.label.games;
        let storage = |error: io::Error| (storage(&error).0, None, false);
        let Err(error) = self.send(parcel) else {
            self.outbox.thanked(name).map_err(storage)?;
            self.attempts.remove(name);
            return Ok(());
        };
        let attempts = self.attempts.entry(name.to_owned()).or_default();
        let fate = fate(&error, *attempts);
        *attempts += 1;
        match fate {
            // Nobody wants back what was to be given back: the lease is over.
            Fate::Refused if games == 0 => self.outbox.thanked(name).map_err(storage),
            Fate::Refused => self.refuse(name, games, &error.to_string()).map_err(storage),
            Fate::AfterPeople => {
                // What is forbidden may be this result alone: those of other jobs are still taken.
                let is_alone = error.code() == Some(Code::Forbidden);
                let wait = error.again_after().unwrap_or_default().max(FOR_PEOPLE);
                Err((sentence(format!("Results wait: {error}")), (!is_alone).then_some(wait), is_alone))
            }
            Fate::Later => {
                Err((sentence(format!("Results wait: {error}")), error.again_after(), error.code().is_some()))
            }
        }
    }

    fn send(&self, parcel: &Parcel) -> Result<(), Error> {
        let label = &parcel.label;
        if label.games > 0 {
            let receipt = self.client.upload(&label.lease, label.first, parcel.shard.clone())?;
            self.desk.change(|state| {
                state.accepted(receipt.shard, label.games);
                state.hear(receipt.notices);
            });
        }
        match label.give_back {
            // After some time the lease is over by itself.
            Some(from) if self.desk.clock.since_1970().as_secs() < label.until => {
                self.client.give_back(&label.lease, from)
            }
            _ => Ok(()),
        }
    }

    fn refuse(&mut self, name: &str, games: u64, reason: &str) -> io::Result<()> {
        self.outbox.refuse(name, reason)?;
        self.attempts.remove(name);
        let what = match games {
            0 => "A result cannot be sent, and lies".to_owned(),
            _ => format!("{games} games were refused, and lie"),
        };
        self.desk.change(|state| {
            state.done.refused += games;
            state.say(sentence(format!("{what} in `refused/{name}.chuhe`: {reason}")));
        });
        Ok(())
    }

    /// Whether some lease wants to be renewed.
    fn is_due(&self, state: &State) -> bool {
        let now = self.desk.clock.now();
        state.rest.is_none() && state.jobs.iter().any(|job| wants_renewal(job, now))
    }

    fn renew(&self) -> Result<(), Trouble> {
        let now = self.desk.clock.now();
        let due: Vec<_> = self.desk.look(|state| {
            let due = state.jobs.iter().filter(|job| state.rest.is_none() && wants_renewal(job, now));
            due.map(|job| (job.name.clone(), job.saved.lease.token.clone(), job.finished.len())).collect()
        });
        for (name, token, finished) in due {
            let renewed = match self.client.renew(&token, finished as u64) {
                // Perhaps it arrived; to ask again is no harm.
                Err(error) if error.may_pass() => {
                    return Err((sentence(format!("A lease cannot be renewed: {error}")), error.again_after()));
                }
                renewed => renewed,
            };
            self.desk.change(|state| {
                let Some(job) = state.jobs.iter_mut().find(|job| job.name == name) else { return };
                match renewed {
                    Ok(renewed) => self.prolong(job, now, renewed.seconds),
                    // An earlier question arrived, and its answer did not: with the next game it is asked again.
                    Err(error) if error.code() == Some(Code::NoProgress) => job.shown = finished,
                    Err(error) => {
                        job.close();
                        // It is asked no more, though games of it are still at hand.
                        job.saved.renewed = true;
                        let said = format!("A lease ended before its games; what is finished is handed in: {error}");
                        state.say(sentence(said));
                        state.clear_table();
                    }
                }
            });
        }
        Ok(())
    }

    /// A lease lasts longer, also if it is taken up by the next start.
    fn prolong(&self, job: &mut Job, now: Duration, seconds: u32) {
        job.due = now + Duration::from_secs(u64::from(seconds));
        job.saved.until = self.desk.clock.since_1970().as_secs() + u64::from(seconds);
        job.saved.renewed = true;
        // On a disk that takes nothing the next start takes it for shorter than it is, and hands in what is finished.
        let _ = job.saved.keep(&self.folder, &job.name);
    }
}

/// Two thirds of its time are over, something is finished that the server does not know of, and something is not.
fn wants_renewal(job: &Job, now: Duration) -> bool {
    let wants = !job.saved.renewed && job.finished.len() > job.shown && !job.is_over();
    wants && now >= job.since + job.due.saturating_sub(job.since) * 2 / 3
}

fn storage(error: &io::Error) -> Trouble {
    (sentence(format!("The outbox cannot be read or written: {error}")), None)
}

/// Waits for the sender: seconds at first, half an hour later.
pub(crate) fn backoff(dice: Dice) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(30), dice)
}

#[cfg(test)]
mod tests {
    use protocol::api::problem::Problem;

    use super::*;

    /// Every refusal has its fate, and none is tried for ever.
    #[test]
    fn refusals_come_to_an_end_or_to_people() {
        let people = ["no_token", "bad_token", "forbidden", "blocked", "too_old"];
        let later = ["timeout", "too_many", "quota", "internal", "busy", "stopping", "disk_full"];
        let on_the_way = [
            "bad_request",
            "bad_hash",
            "truncated",
            "corrupt",
            "not_a_shard",
            "method_not_allowed",
            "wrong_type",
            "bad_range",
        ];
        for &code in Code::ALL {
            let expected = match code.name() {
                name if people.contains(&name) => [Fate::AfterPeople; 2],
                name if later.contains(&name) => [Fate::Later; 2],
                name if on_the_way.contains(&name) => [Fate::Later, Fate::Refused],
                _ => [Fate::Refused; 2],
            };
            let problem = Problem::new(code, "");
            assert_eq!([0, ATTEMPTS - 1].map(|attempts| judge(code, problem.status, attempts)), expected, "{code}");
        }
    }
}
