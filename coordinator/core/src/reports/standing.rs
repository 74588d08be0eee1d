//! The standing of an account, explained in sentences.

use xiangqi::text::counted;

use crate::{
    clock::Time,
    model::{AccountKey, AccountState, AuditState, Reason, ShardState},
    rules::standing::SECONDS_OF_STRANGER,
    store::{
        Connection, StoreError,
        reports::standing::{Entry, Facts, facts},
    },
};

/// Explains the standing of an account: its present state, then its history, one sentence a line.
///
/// # Errors
///
/// If there is no such account.
pub async fn explain(
    connection: &mut Connection<'_>,
    now: Time,
    account: &AccountKey,
) -> Result<Vec<String>, StoreError> {
    Ok(sentences(&facts(connection, account).await?, now))
}

fn sentences(facts: &Facts, now: Time) -> Vec<String> {
    let mut all = vec![state(facts), uploads(facts), audits(facts), audits_made(facts), lent(facts)];
    if facts.standing.faults > 0 {
        let faults = counted(facts.standing.faults as usize, "fault");
        all.push(format!("It has {faults} that it had no proven work to pay for."));
    }
    if facts.standing.wait_seconds(now).is_some() {
        all.push(format!("So it gets no games before {} UTC.", facts.standing.waits_until.to_text()));
    }
    all.extend(facts.history.iter().map(|entry| format!("{} UTC: {}.", entry.at.to_text(), event(entry))));
    all
}

fn state(facts: &Facts) -> String {
    let Facts { name, created, state, message, .. } = facts;
    let state = match state {
        AccountState::Active => "is active".to_owned(),
        AccountState::Quarantined => "is in quarantine".to_owned(),
        other => format!("is {other}"),
    };
    let why = match message {
        Some(Reason::Quarantined(why)) => format!(": {why}"),
        Some(why) => format!(": {why}"),
        None => String::new(),
    };
    format!("Account {name} of {} UTC {state}{why}.", created.to_text())
}

fn uploads(facts: &Facts) -> String {
    if facts.uploads.is_empty() {
        return "It has sent no games.".to_owned();
    }
    let of = |state| {
        let mut found = facts.uploads.iter().filter(move |uploads| state == uploads.state);
        found.next().map_or((0, 0), |uploads| (uploads.uploads, uploads.games))
    };
    let words = [
        (ShardState::Validated, "count"),
        (ShardState::Received, "wait for validation"),
        (ShardState::Rejected, "were rejected"),
        (ShardState::Disputed, "are disputed"),
        (ShardState::Quarantined, "are in quarantine"),
    ];
    let parts = words.iter().filter_map(|(state, words)| {
        let (uploads, games) = of(*state);
        (uploads > 0).then(|| format!("{} in {} {words}", games_of(games), counted(uploads as usize, "upload")))
    });
    format!("Of what it sent, {}.", parts.collect::<Vec<_>>().join("; "))
}

fn games_of(games: i64) -> String {
    counted(games as usize, "game")
}

fn audits(facts: &Facts) -> String {
    let of = |wanted: &[AuditState]| {
        facts.audits.iter().filter(|row| wanted.contains(&row.audit)).map(|row| row.uploads).sum::<i64>()
    };
    let (clean, open) = (of(&[AuditState::Clean]), of(&[AuditState::Wanted, AuditState::Leased]));
    let drawn = counted((clean + open) as usize, "upload");
    let were = if clean + open == 1 { "was" } else { "were" };
    let played = games_of(facts.clean_games);
    format!(
        "{drawn} of it {were} drawn for audits: {clean} clean, {open} open; others played {played} again, to the same moves."
    )
}

fn audits_made(facts: &Facts) -> String {
    let lent = counted(facts.audits_made as usize, "audit");
    format!("It was lent {lent} of others, and missed {}.", facts.audits_missed)
}

fn lent(facts: &Facts) -> String {
    let seconds = facts.standing.lent_seconds();
    format!(
        "It may hold {seconds} s of a core at a time: {SECONDS_OF_STRANGER} s as any account, the rest for proven work."
    )
}

fn event(entry: &Entry) -> String {
    let Entry { job, first, games, ruling, .. } = entry;
    let last = first + games - 1;
    let numbers = if first == &last { format!("game {first}") } else { format!("games {first} to {last}") };
    match entry.what.as_deref() {
        None => entry.text.clone().unwrap_or_default(),
        Some("comparison") => format!("{numbers} of job {job} came out otherwise elsewhere"),
        Some("ruling") => format!("the referee ruled on {numbers} of job {job}: certificate {ruling}"),
        Some("returned") => format!("it gave a lease back: {numbers} of job {job}"),
        Some("dropped") => format!("it was lent an audit that it dropped: {numbers} of job {job}"),
        Some("audit") => format!("an audit lapsed: {numbers} of job {job}"),
        Some(_) => format!("a lease lapsed: {numbers} of job {job}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::SECOND,
        model::Standing,
        store::reports::standing::{Audits, Uploads},
    };

    fn account() -> Facts {
        Facts {
            name: "eve".to_owned(),
            created: Time(0),
            state: AccountState::Active,
            message: None,
            standing: Standing::default(),
            clean_games: 0,
            uploads: Vec::new(),
            audits: Vec::new(),
            audits_made: 0,
            audits_missed: 0,
            history: Vec::new(),
        }
    }

    #[test]
    fn a_new_account_is_explained_in_a_few_sentences() {
        let expected = [
            "Account eve of 1970-01-01 00:00 UTC is active.",
            "It has sent no games.",
            "0 uploads of it were drawn for audits: 0 clean, 0 open; others played 0 games again, to the same moves.",
            "It was lent 0 audits of others, and missed 0.",
            "It may hold 10 s of a core at a time: 10 s as any account, the rest for proven work.",
        ];
        assert_eq!(sentences(&account(), Time(0)), expected);
    }

    #[test]
    fn a_history_has_its_faults_and_their_price() {
        let entry = |what: Option<&str>, text: Option<&str>, first, games, ruling| Entry {
            at: Time(60 * SECOND),
            what: what.map(ToOwned::to_owned),
            text: text.map(ToOwned::to_owned),
            job: 2,
            first,
            games,
            ruling,
        };
        let facts = Facts {
            state: AccountState::Quarantined,
            message: Some(Reason::Quarantined(Box::new("by hand".into()))),
            standing: Standing { proven_nodes: 400_000, faults: 3, waits_until: Time(120 * SECOND) },
            clean_games: 40,
            uploads: vec![
                Uploads { state: ShardState::Quarantined, uploads: 1, games: 30 },
                Uploads { state: ShardState::Validated, uploads: 2, games: 80 },
            ],
            audits: vec![
                Audits { audit: AuditState::Clean, uploads: 1 },
                Audits { audit: AuditState::Leased, uploads: 2 },
            ],
            audits_made: 5,
            audits_missed: 1,
            history: vec![
                entry(Some("fresh"), None, 10, 20, 0),
                entry(Some("audit"), None, 3, 1, 0),
                entry(Some("dropped"), None, 4, 2, 0),
                entry(Some("returned"), None, 30, 5, 0),
                entry(Some("comparison"), None, 7, 1, 0),
                entry(Some("ruling"), None, 7, 1, 4),
                entry(None, Some("by hand; 1 upload of the account left the pool"), 0, 0, 0),
            ],
            ..account()
        };
        let expected = [
            "Account eve of 1970-01-01 00:00 UTC is in quarantine: by hand.",
            "Of what it sent, 80 games in 2 uploads count; 30 games in 1 upload are in quarantine.",
            "3 uploads of it were drawn for audits: 1 clean, 2 open; others played 40 games again, to the same moves.",
            "It was lent 5 audits of others, and missed 1.",
            "It may hold 11 s of a core at a time: 10 s as any account, the rest for proven work.",
            "It has 3 faults that it had no proven work to pay for.",
            "So it gets no games before 1970-01-01 00:02 UTC.",
            "1970-01-01 00:01 UTC: a lease lapsed: games 10 to 29 of job 2.",
            "1970-01-01 00:01 UTC: an audit lapsed: game 3 of job 2.",
            "1970-01-01 00:01 UTC: it was lent an audit that it dropped: games 4 to 5 of job 2.",
            "1970-01-01 00:01 UTC: it gave a lease back: games 30 to 34 of job 2.",
            "1970-01-01 00:01 UTC: game 7 of job 2 came out otherwise elsewhere.",
            "1970-01-01 00:01 UTC: the referee ruled on game 7 of job 2: certificate 4.",
            "1970-01-01 00:01 UTC: by hand; 1 upload of the account left the pool.",
        ];
        assert_eq!(sentences(&facts, Time(60 * SECOND)), expected);
    }
}
