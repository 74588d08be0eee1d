//! Hands results in, and shows that leases get on.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};

use client::{Backoff, Client, Dice, Error};
use protocol::api::problem::Code;

use crate::{
    desk::{Desk, State},
    job::Job,
    outbox::{Outbox, Parcel},
    sentence::sentence,
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
    pub(crate) outbox: Outbox,
    pub(crate) backoff: Backoff,
    /// How often results were refused that may have been damaged on their way.
    pub(crate) attempts: BTreeMap<String, u32>,
    /// Results for other servers.
    pub(crate) elsewhere: BTreeSet<String>,
}

/// Why not everything is done, and how long the server asked to wait.
type Trouble = (String, Option<Duration>);

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
        while !self.desk.look(|state| state.gone) {
            let ending = self.desk.look(|state| state.ending);
            let done = self.send_all().and_then(|()| self.renew());
            let wait = match done {
                Ok(()) => {
                    self.backoff.reset();
                    self.desk.change(|state| state.sending = None);
                    A_WHILE
                }
                Err((why, asked)) => {
                    let wait = self.backoff.after_failure(asked);
                    self.desk.change(|state| {
                        state.failures += 1;
                        state.sending = Some(why);
                    });
                    wait
                }
            };
            // After a failure only the end of the worker is worth an attempt before its time.
            self.desk.wait(wait, |state| {
                state.gone
                    || state.ending > ending
                    || state.sending.is_none() && (state.outbox > 0 || self.is_due(state))
            });
        }
    }

    /// Tries every result once; the reason why some are left, and how long the server asked to wait.
    fn send_all(&mut self) -> Result<(), Trouble> {
        let mut trouble = Ok(());
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
            if let Err(why) = self.send_one(&name, &parcel) {
                let goes_on = why.1.is_none() && why.2;
                trouble = Err((why.0, why.1));
                // What is wrong with the way is wrong for all.
                if !goes_on {
                    break;
                }
            }
        }
        let waiting = self.outbox.names().map_err(|error| storage(&error))?.len();
        self.desk.change(|state| state.outbox = waiting.saturating_sub(self.elsewhere.len()));
        trouble
    }

    /// Tries one result; why it is left, how long the server asked to wait, and whether others may have more luck.
    fn send_one(&mut self, name: &str, parcel: &Parcel) -> Result<(), (String, Option<Duration>, bool)> {
        let games = parcel.label.games;
        let storage = |error: io::Error| (storage(&error).0, None, false);
        let Err(error) = self.send(parcel) else {
            self.outbox.thanked(name).map_err(storage)?;
            self.attempts.remove(name);
            self.desk.change(|state| {
                state.done.accepted += games;
                state.done.leases += 1;
            });
            return Ok(());
        };
        let attempts = self.attempts.entry(name.to_owned()).or_default();
        let fate = fate(&error, *attempts);
        *attempts += 1;
        match fate {
            Fate::Refused => self.refuse(name, games, &error.to_string()).map_err(storage),
            Fate::AfterPeople => {
                let wait = error.again_after().unwrap_or_default().max(FOR_PEOPLE);
                Err((sentence(format!("Results wait: {error}")), Some(wait), false))
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
            self.desk.change(|state| state.hear(receipt.notices));
        }
        let Some(from) = label.give_back else { return Ok(()) };
        let given = self.client.give_back(&label.lease, from);
        // After some time the lease is over by itself, and the games are what counts.
        let late = self.desk.clock.since_1970().as_secs() >= label.until;
        match given {
            Err(error) if label.games == 0 && !late && error.may_pass() => Err(error),
            _ => Ok(()),
        }
    }

    fn refuse(&mut self, name: &str, games: u64, reason: &str) -> io::Result<()> {
        self.outbox.refuse(name, reason)?;
        self.attempts.remove(name);
        self.desk.change(|state| {
            state.done.refused += games;
            if games > 0 {
                let said = format!("{games} games were refused, and lie in `refused/{name}.chuhe`: {reason}");
                state.say(sentence(said));
            }
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
            let due = state.jobs.iter().filter(|job| wants_renewal(job, now));
            let question = |job: &Job| (job.name.clone(), job.saved.lease.token.clone(), job.finished.len() as u64);
            due.map(question).collect()
        });
        for (name, token, finished) in due {
            let renewed = match self.client.renew(&token, finished) {
                // Perhaps it arrived; to ask again is no harm.
                Err(error) if error.may_pass() => {
                    return Err((sentence(format!("A lease cannot be renewed: {error}")), error.again_after()));
                }
                renewed => renewed,
            };
            self.desk.change(|state| {
                let Some(job) = state.jobs.iter_mut().find(|job| job.name == name) else { return };
                job.renewed = true;
                match renewed {
                    Ok(renewed) => job.due = now + Duration::from_secs(u64::from(renewed.seconds)),
                    Err(error) => {
                        job.close();
                        let said = format!("A lease ended before its games; what is finished is handed in: {error}");
                        state.say(sentence(said));
                        state.clear_table();
                    }
                }
            });
        }
        Ok(())
    }
}

/// Two thirds of its time are over, something is finished, and something not.
fn wants_renewal(job: &Job, now: Duration) -> bool {
    let wants = !job.renewed && !job.finished.is_empty() && !job.is_over();
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
