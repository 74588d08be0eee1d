//! Accounts, tokens, invitations and workers.
//!
//! A token is shown once and stored as its SHA-256: it is random, so no slower hash is needed.
//! Passwords are for the pages only and stored by argon2id.

pub mod passwords;
pub mod sessions;

use dataset::Digest;
use protocol::{
    api::{
        problem::Code,
        work::{Contribution, Failure as Report, Machine, Role},
    },
    is_name,
};

use crate::{
    clock::{DAY, SECOND, Time},
    events::{Event, record_event},
    model::{AccountChange, AccountId, Reason, Refusal, TokenId, WorkerId},
    store::{Connection, Events, StoreError},
};

/// Prefix of tokens, by which people and secret scanners recognise them.
pub const TOKEN_PREFIX: &str = "chuhe_";

/// Resolution of a token's last use, in milliseconds.
pub const USE_RESOLUTION_MS: i64 = 60 * SECOND;

/// An authenticated account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The account's id.
    pub account: i64,
    /// The account's name.
    pub name: String,
    /// The role of its token.
    pub role: Role,
    /// Id of the token of the request.
    pub token: i64,
    /// Whether the last use is due to be recorded.
    pub record_use: bool,
}

/// Returns a random secret of 32 characters with 5 bits each, easy to type.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn secret(prefix: &str) -> Result<String, StoreError> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Corrupt(format!("no random numbers: {error}")))?;
    Ok(bytes
        .iter()
        .fold(prefix.to_owned(), |text, byte| text + &char::from(LETTERS[usize::from(byte % 32)]).to_string()))
}

/// Returns the SHA-256 of a secret, by which it is looked up.
#[must_use]
pub fn hash_of(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}

/// Creates an account and returns its id.
///
/// # Errors
///
/// If the name is invalid or taken.
pub async fn create_account(
    connection: &mut Connection<'_>,
    now: Time,
    name: &str,
    role: Role,
    state: &str,
    by: Option<i64>,
) -> Result<i64, StoreError> {
    if !is_name(name) {
        return Err(Refusal::BadName { name: name.to_owned() }.into());
    }
    let query = "SELECT COUNT(*) FROM accounts WHERE LOWER(name) = LOWER($1)";
    let taken: i64 = sqlx::query_scalar(query).bind(name.to_owned()).fetch_one(connection.raw()).await?;
    if taken > 0 {
        return Err(Refusal::AccountTaken { name: name.to_owned() }.into());
    }
    let query = "INSERT INTO accounts (name, role, state, created) VALUES ($1, $2, $3, $4) RETURNING id";
    let query = sqlx::query_scalar(query).bind(name.to_owned()).bind(role.name()).bind(state.to_owned()).bind(now.0);
    let account: i64 = query.fetch_one(connection.raw()).await?;
    let (name, id) = (name.to_owned(), AccountId(account));
    let event = Event::AccountCreated { account: id, name, role, state: state.parse()? };
    record_event(connection, now, by, event).await?;
    Ok(account)
}

/// Returns the id of an account.
///
/// # Errors
///
/// If there is no account of that name.
pub async fn account_by_name(connection: &mut Connection<'_>, name: &str) -> Result<i64, StoreError> {
    let query = "SELECT id FROM accounts WHERE LOWER(name) = LOWER($1)";
    let account: Option<i64> = sqlx::query_scalar(query).bind(name.to_owned()).fetch_optional(connection.raw()).await?;
    account.ok_or_else(|| Refusal::NoAccount { account: name.to_owned() }.into())
}

/// Maximum valid tokens of an account.
const MAX_TOKENS: i64 = 200;

/// Maximum length of a token's name, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Creates a token and returns its secret, which is not stored.
///
/// # Errors
///
/// If its role exceeds the account's.
pub async fn create_token(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    name: &str,
    role: Option<Role>,
    expires: Option<Time>,
) -> Result<String, StoreError> {
    let query = "SELECT role FROM accounts WHERE id = $1";
    let own: String = sqlx::query_scalar(query).bind(account).fetch_one(connection.raw()).await?;
    let own: Role = own.parse().map_err(|_| StoreError::Corrupt(format!("the role {own}")))?;
    let role = role.unwrap_or(own);
    if role > own {
        let detail = format!("the account is a {own}; its tokens cannot be a {role}'s");
        return Err(StoreError::rejected(Code::Forbidden, detail));
    }
    if name.chars().count() > MAX_NAME_CHARS {
        let detail = format!("a token's name has at most {MAX_NAME_CHARS} characters");
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    let query =
        "SELECT COUNT(*) FROM tokens WHERE account = $1 AND revoked IS NULL AND (expires IS NULL OR expires > $2)";
    let live: i64 = sqlx::query_scalar(query).bind(account).bind(now.0).fetch_one(connection.raw()).await?;
    if live >= MAX_TOKENS {
        let detail = format!("an account has at most {MAX_TOKENS} tokens: revoke those that are not used");
        return Err(StoreError::rejected(Code::Quota, detail));
    }
    let secret = secret(TOKEN_PREFIX)?;
    let query = "INSERT INTO tokens (account, name, prefix, hash, role, created, expires)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let query = sqlx::query(query).bind(account).bind(name.to_owned()).bind(secret[..12].to_owned());
    let query = query.bind(hash_of(&secret)).bind(role.name()).bind(now.0).bind(expires.map(|time| time.0));
    query.execute(connection.raw()).await?;
    let (begins, name) = (secret[..12].to_owned(), name.to_owned());
    let event = Event::TokenCreated { account: AccountId(account), begins, name, role };
    record_event(connection, now, Some(account), event).await?;
    Ok(secret)
}

/// Authenticates a token.
///
/// # Errors
///
/// If it is unknown, expired or revoked, or its account is blocked.
pub async fn authenticate(connection: &mut Connection<'_>, now: Time, token: &str) -> Result<Identity, StoreError> {
    let query = "SELECT tokens.id, tokens.account, accounts.name, tokens.role, accounts.role, accounts.state,
                        accounts.message, tokens.expires, tokens.revoked, tokens.last_used
                 FROM tokens JOIN accounts ON accounts.id = tokens.account WHERE tokens.hash = $1";
    type Row = (i64, i64, String, String, String, String, Option<Reason>, Option<i64>, Option<i64>, Option<i64>);
    let row: Option<Row> = sqlx::query_as(query).bind(hash_of(token)).fetch_optional(connection.raw()).await?;
    let bad = |detail: &str| StoreError::rejected(Code::BadToken, detail);
    let Some((token, account, name, role, own, state, message, expires, revoked, last_used)) = row else {
        return Err(bad("the token is not known here"));
    };
    if revoked.is_some() {
        return Err(bad("the token was revoked"));
    }
    if expires.is_some_and(|time| time <= now.0) {
        return Err(bad("the token has expired"));
    }
    match state.as_str() {
        "active" | "quarantined" => {}
        "pending" => return Err(Refusal::AccountPending.into()),
        other => {
            let state = other.parse()?;
            let refusal =
                message.map_or(Refusal::AccountInactive { state }, |reason| Refusal::AccountBlocked { reason });
            return Err(refusal.into());
        }
    }
    let parse = |text: &str| text.parse::<Role>().map_err(|_| StoreError::Corrupt(format!("the role {text}")));
    let record_use = last_used.is_none_or(|used| now.0 - used >= USE_RESOLUTION_MS);
    Ok(Identity { account, name, role: parse(&role)?.min(parse(&own)?), token, record_use })
}

/// Records the use of a token.
pub async fn record_use(connection: &mut Connection<'_>, now: Time, token: i64) -> Result<(), StoreError> {
    let query = "UPDATE tokens SET last_used = $2 WHERE id = $1";
    sqlx::query(query).bind(token).bind(now.0).execute(connection.raw()).await?;
    Ok(())
}

/// Revokes a token.
///
/// # Errors
///
/// If the account has no such token.
pub async fn revoke_token(
    connection: &mut Connection<'_>,
    now: Time,
    account: Option<i64>,
    token: i64,
) -> Result<(), StoreError> {
    let query = "UPDATE tokens SET revoked = $3 WHERE id = $1 AND ($2 < 0 OR account = $2) AND revoked IS NULL";
    let query = sqlx::query(query).bind(token).bind(account.unwrap_or(-1)).bind(now.0);
    if query.execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(Refusal::NoToken { token }.into());
    }
    record_event(connection, now, account, Event::TokenRevoked { token: TokenId(token) }).await?;
    Ok(())
}

/// Changes an account's role or state.
///
/// # Errors
///
/// If there is none; or it is deleted, or in quarantine, which only
/// [`lift`](crate::work::quarantine::lift) ends.
pub async fn set_account(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    change: (&str, &str),
    message: Option<&str>,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let query = connection.for_update("SELECT state FROM accounts WHERE id = $1");
    let state: Option<String> = sqlx::query_scalar(query).bind(account).fetch_optional(connection.raw()).await?;
    match state.as_deref() {
        None => return Err(Refusal::NoAccount { account: account.to_string() }.into()),
        Some("deleted") => return Err(Refusal::AccountDeleted.into()),
        Some("quarantined") if change.0 != "role" => return Err(Refusal::AccountInQuarantine.into()),
        Some(_) => {}
    }
    let query = match change.0 {
        "role" => "UPDATE accounts SET role = $2, message = COALESCE($3, message) WHERE id = $1",
        _ => "UPDATE accounts SET state = $2, message = $3 WHERE id = $1",
    };
    let query = sqlx::query(query).bind(account).bind(change.1.to_owned()).bind(message.map(Reason::from));
    query.execute(connection.raw()).await?;
    let change = match change {
        ("role", role) => AccountChange::Role(role.parse().map_err(|_| Refusal::NoRole)?),
        (_, state) => AccountChange::State(state.parse()?),
    };
    let message = message.map(ToOwned::to_owned);
    record_event(connection, now, by, Event::AccountChanged { account: AccountId(account), change, message }).await?;
    Ok(())
}

/// Deletes an account and anonymises its games, which stay.
///
/// # Errors
///
/// If there is none.
pub async fn delete_account(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    by: Option<i64>,
) -> Result<(), StoreError> {
    // Unique: a chosen name has no colon.
    let anonymous = format!("deleted:{account}");
    let query = "UPDATE accounts SET name = $2, state = 'deleted', message = NULL, password = NULL WHERE id = $1";
    let query = sqlx::query(query).bind(account).bind(anonymous);
    if query.execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(Refusal::NoAccount { account: account.to_string() }.into());
    }
    let query = "UPDATE tokens SET revoked = $2, name = 'deleted' WHERE account = $1";
    sqlx::query(query).bind(account).bind(now.0).execute(connection.raw()).await?;
    let query = "UPDATE workers SET name = 'deleted:' || CAST(id AS TEXT), system = '', instruction_set = '',
                                    memory_mebibytes = 0, blocked = $2 WHERE account = $1";
    sqlx::query(query).bind(account).bind(Reason::AccountDeleted).execute(connection.raw()).await?;
    for query in ["DELETE FROM failures WHERE account = $1", "DELETE FROM sessions WHERE account = $1"] {
        sqlx::query(query).bind(account).execute(connection.raw()).await?;
    }
    let account = AccountId(account);
    Events::on(connection.reborrow()).erase(account).await?;
    record_event(connection, now, by, Event::AccountDeleted { account }).await?;
    Ok(())
}

/// Maximum threads of a worker.
pub const MAX_THREADS: u32 = 4_096;

/// Registers a worker, or updates a known one; returns its id.
///
/// # Errors
///
/// If its name or number of threads is invalid, or the account has too many workers.
pub async fn register_worker(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    machine: &Machine,
) -> Result<i64, StoreError> {
    const MAX_WORKERS: i64 = 1_000;
    if !is_name(&machine.name) {
        let detail = format!("{:?} is no name of a worker", machine.name);
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    if !(1..=MAX_THREADS).contains(&machine.threads) {
        let detail = format!("a worker has 1 to {MAX_THREADS} threads, not {}", machine.threads);
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    let short = |text: &str| text.chars().filter(|c| !c.is_control()).take(100).collect::<String>();
    let query = "SELECT COUNT(*) FROM workers WHERE account = $1 AND name <> $2";
    let query = sqlx::query_scalar(query).bind(account).bind(machine.name.clone());
    let others: i64 = query.fetch_one(connection.raw()).await?;
    if others >= MAX_WORKERS {
        return Err(StoreError::rejected(Code::Quota, format!("an account has at most {MAX_WORKERS} workers")));
    }
    let query = "INSERT INTO workers (account, name, version, bench_signature, threads, memory_mebibytes, system,
                                      instruction_set, created, last_seen)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
                 ON CONFLICT (account, name) DO UPDATE SET version = excluded.version,
                 bench_signature = excluded.bench_signature, threads = excluded.threads,
                 memory_mebibytes = excluded.memory_mebibytes, system = excluded.system,
                 instruction_set = excluded.instruction_set, last_seen = excluded.last_seen RETURNING id";
    let query = sqlx::query_scalar(query).bind(account).bind(machine.name.clone()).bind(short(&machine.version));
    let query = query.bind(machine.bench_signature as i64).bind(i64::from(machine.threads));
    let query = query.bind(machine.memory_mebibytes.min(1 << 40) as i64).bind(short(&machine.system));
    Ok(query.bind(short(&machine.instruction_set)).bind(now.0).fetch_one(connection.raw()).await?)
}

/// Maximum failure reports kept per account; older ones are deleted.
const MAX_FAILURE_REPORTS: i64 = 500;

/// Records a worker's failure report.
///
/// # Errors
///
/// If the worker is not the account's.
pub async fn report_failure(
    connection: &mut Connection<'_>,
    now: Time,
    account: i64,
    report: &Report,
) -> Result<(), StoreError> {
    if let Some(worker) = report.worker {
        let query = "SELECT COUNT(*) FROM workers WHERE id = $1 AND account = $2";
        let own: i64 = sqlx::query_scalar(query).bind(worker).bind(account).fetch_one(connection.raw()).await?;
        if own == 0 {
            return Err(StoreError::rejected(Code::NotFound, format!("the account has no worker {worker}")));
        }
    }
    let detail: String = report.detail.chars().take(4_000).collect();
    let query = "INSERT INTO failures (account, worker, at, kind, version, detail) VALUES ($1, $2, $3, $4, $5, $6)";
    let query = sqlx::query(query).bind(account).bind(report.worker).bind(now.0).bind(report.kind.name());
    query.bind(report.version.chars().take(40).collect::<String>()).bind(detail).execute(connection.raw()).await?;
    // Bounds the storage; old reports are of no use.
    let query = "DELETE FROM failures WHERE account = $1 AND id <=
                 (SELECT id FROM failures WHERE account = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
    sqlx::query(query).bind(account).bind(MAX_FAILURE_REPORTS).execute(connection.raw()).await?;
    Ok(())
}

/// Returns an account's validated games since a day.
pub async fn contribution(
    connection: &mut Connection<'_>,
    account: i64,
    since_day: i64,
) -> Result<Contribution, StoreError> {
    let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT), CAST(COALESCE(SUM(positions), 0) AS BIGINT)
                 FROM contributions WHERE account = $1 AND day >= $2";
    let query = sqlx::query_as(query).bind(account).bind(since_day);
    let (games, positions): (i64, i64) = query.fetch_one(connection.raw()).await?;
    Ok(Contribution { games: games as u64, positions: positions as u64 })
}

/// Returns an account's rank by validated games, from 1.
pub async fn rank(connection: &mut Connection<'_>, account: i64) -> Result<Option<u64>, StoreError> {
    let own = contribution(connection, account, i64::MIN).await?;
    if own.games == 0 {
        return Ok(None);
    }
    let query =
        "SELECT COUNT(*) FROM (SELECT account FROM contributions GROUP BY account HAVING SUM(games) > $1) AS better";
    let better: i64 = sqlx::query_scalar(query).bind(own.games as i64).fetch_one(connection.raw()).await?;
    Ok(Some(better as u64 + 1))
}

/// Returns a setting's value.
pub async fn setting(connection: &mut Connection<'_>, name: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT value FROM settings WHERE name = $1";
    Ok(sqlx::query_scalar(query).bind(name.to_owned()).fetch_optional(connection.raw()).await?)
}

/// Sets a setting.
pub async fn set_setting(connection: &mut Connection<'_>, name: &str, value: &str) -> Result<(), StoreError> {
    let query =
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    sqlx::query(query).bind(name.to_owned()).bind(value.to_owned()).execute(connection.raw()).await?;
    Ok(())
}

/// Creates an invitation, valid for a week, and returns its secret.
pub async fn invite(connection: &mut Connection<'_>, now: Time, by: i64, role: Role) -> Result<String, StoreError> {
    let secret = secret("invitation_")?;
    let query = "INSERT INTO invitations (hash, role, created_by, created, expires) VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(query).bind(hash_of(&secret)).bind(role.name()).bind(by).bind(now.0);
    query.bind(now.after(7 * DAY).0).execute(connection.raw()).await?;
    record_event(connection, now, Some(by), Event::Invited { account: AccountId(by), role }).await?;
    Ok(secret)
}

/// Redeems an invitation for a new account and returns its role.
///
/// # Errors
///
/// If it is invalid, expired or used.
pub async fn use_invitation(
    connection: &mut Connection<'_>,
    now: Time,
    secret: &str,
    account: i64,
) -> Result<Role, StoreError> {
    let query =
        "UPDATE invitations SET used_by = $2 WHERE hash = $1 AND used_by IS NULL AND expires > $3 RETURNING role";
    let query = sqlx::query_scalar(query).bind(hash_of(secret)).bind(account).bind(now.0);
    let role: Option<String> = query.fetch_optional(connection.raw()).await?;
    let role = role.ok_or(Refusal::BadInvitation)?;
    role.parse().map_err(|_| StoreError::Corrupt(format!("the role {role}")))
}

/// Registers an account for a person: a volunteer, or with the role of the invitation.
///
/// # Errors
///
/// If the name is invalid or taken, or the invitation is not valid.
pub async fn register(
    connection: &mut Connection<'_>,
    now: Time,
    name: &str,
    state: &str,
    invitation: Option<&str>,
) -> Result<i64, StoreError> {
    let account = create_account(connection, now, name, Role::Volunteer, state, None).await?;
    if let Some(invitation) = invitation {
        let role = use_invitation(connection, now, invitation, account).await?;
        set_account(connection, now, account, ("role", role.name()), None, None).await?;
    }
    Ok(account)
}

/// Blocks a worker with a message for its user, or unblocks it.
///
/// # Errors
///
/// If there is none.
pub async fn block_worker(
    connection: &mut Connection<'_>,
    now: Time,
    worker: i64,
    message: Option<&str>,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let query = "UPDATE workers SET blocked = $2 WHERE id = $1";
    let query = sqlx::query(query).bind(worker).bind(message.map(Reason::from));
    if query.execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(Refusal::NoWorker { worker }.into());
    }
    let message = message.map(ToOwned::to_owned);
    record_event(connection, now, by, Event::WorkerBlocked { worker: WorkerId(worker), message }).await?;
    Ok(())
}

/// Sets whether a worker is trusted: its results settle disputes, and its games need no audit.
///
/// # Errors
///
/// If there is none.
pub async fn trust_worker(
    connection: &mut Connection<'_>,
    now: Time,
    worker: i64,
    trusted: bool,
    by: Option<i64>,
) -> Result<(), StoreError> {
    let query = "UPDATE workers SET trusted = $2 WHERE id = $1";
    let query = sqlx::query(query).bind(worker).bind(i64::from(trusted));
    if query.execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(Refusal::NoWorker { worker }.into());
    }
    let event = Event::WorkerTrusted { worker: WorkerId(worker), is_trusted: trusted };
    record_event(connection, now, by, event).await?;
    Ok(())
}
