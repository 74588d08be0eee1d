//! `chuhe-coordinator admin`: works on the database directly, with or without a running
//! coordinator.

mod arguments;
mod matches;
mod password;
mod ratings;
mod timed;
mod webhooks;

use std::{
    io::{self, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use coordinator_core::{
    backup,
    clock::{Clock, DAY},
    model::{
        AccountChange, AccountKey, AccountState, CampaignCommand, CampaignKey, JobId, NetState, NewNet, Refusal,
        TokenId, WorkerId,
    },
    objects::{Kind, Objects},
    ops::{
        accounts::{ChangeAccount, CreateAccount, DeleteAccount, Invite},
        campaigns::{CommandCampaign, CreateCampaign, EditCampaign, GateNet, RollBackCampaign},
        disputes::{SetQuarantine, finish_reviews, set_quarantine},
        nets::{AddBook, AddNet},
        tokens::{CreateToken, RevokeToken},
        workers::{BlockWorker, TrustWorker},
    },
    people, query, reports,
    rules::nets::architecture_line,
    store::{Accounts, Database, Nets, StoreError},
};
use dataset::{Book, Digest};
use nnue::Net;
use protocol::net::NetManifest;
use serde_json::{Value, json};
use xiangqi::rules::RuleSet;

use arguments::{AuditCommand, BookCommand, Campaign, NetCommand, Token, User, WorkerCommand};

pub(super) use arguments::Command;

/// Prints a report as JSON, and a text as it is. A reader that has closed the pipe has seen enough.
pub(super) fn print(value: &Value) -> Result<()> {
    let mut out = io::stdout();
    let printed = match value {
        Value::String(text) => writeln!(out, "{text}"),
        other => writeln!(out, "{other:#}"),
    };
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("standard output"),
        _ => Ok(()),
    }
}

/// A sentence on what holds after a command.
macro_rules! done {
    ($($sentence:tt)*) => { Ok(Value::String(format!($($sentence)*))) };
}

pub(super) async fn run(store: &Database, objects: &Objects, clock: &Clock, command: Command) -> Result<()> {
    let output = match command {
        Command::Campaign(command) => campaign(store, objects, clock, command).await?,
        Command::User(command) => user(store, clock, command).await?,
        Command::Token(command) => token(store, clock, command).await?,
        Command::Net(command) => net(store, objects, clock, command).await?,
        Command::Book(BookCommand::Add { file }) => add_book(store, objects, clock, &file).await?,
        Command::Worker(command) => worker(store, clock, command).await?,
        Command::Rating(command) => ratings::run(store, clock, command).await?,
        Command::Webhook(command) => webhooks::run(store, clock, command).await?,
        Command::Match(arguments) => matches::create(store, clock, arguments).await?,
        Command::Timed(arguments) => timed::create(store, clock, arguments).await?,
        Command::Standing { job } => {
            let standing = store.read(query!(|c| coordinator_core::matches::standing(&mut c, JobId(job)).await));
            let or_none = |error: StoreError| {
                if error.is_missing_row() { Refusal::NoMatch { job: JobId(job) }.into() } else { error }
            };
            json!(standing.await.map_err(or_none)?)
        }
        Command::Quarantine { account, reason, lift } => {
            let (key, reason) = (account.as_str().into(), reason.as_str().into());
            let change = SetQuarantine { account: key, begins: !lift, by: None, reason };
            set_quarantine(store, clock.now(), change).await?;
            finish_reviews(store, clock).await?;
            let holds = if lift { "is out of" } else { "is in" };
            json!(format!("account `{account}` {holds} quarantine"))
        }
        Command::Audit { command: Some(AuditCommand::Explain { account }), .. } => {
            let (account, now) = (AccountKey::from(account), clock.now());
            let explained = store.read(query!(|c| reports::standing::explain(&mut c, now, &account).await));
            json!(explained.await?.join("\n"))
        }
        Command::Audit { before, command: None } => {
            let before = before.unwrap_or(i64::MAX);
            json!(store.read(query!(|c| reports::log::before(&mut c, before).await)).await?)
        }
        Command::Backup { folder } => json!(backup::backup(store, objects, &folder).await?),
        Command::Restore { folder } => json!(backup::restore(store, objects, &folder).await?),
        Command::Invite { account, role } => {
            let secret = people::secret("invitation_")?;
            store.run(clock.now(), Invite { by: account.into(), role, rights: None, secret: secret.clone() }).await?;
            note(&format!("an account with the role {role} can register by this invitation; it is shown only now"));
            json!(secret)
        }
    };
    print(&output)
}

async fn campaign(store: &Database, objects: &Objects, clock: &Clock, command: Campaign) -> Result<Value> {
    let now = clock.now();
    let (name, command) = match command {
        Campaign::Create { file } => {
            let (text, plan) = read_campaign(&file)?;
            store.run(now, CreateCampaign { text, by: None }).await.map_err(|error| missing_file(&file, error))?;
            return done!("campaign `{}` runs: workers get its games", plan.name);
        }
        Campaign::Edit { name, file } => {
            let (text, _) = read_campaign(&file)?;
            let edit = EditCampaign { campaign: name.clone().into(), text, seen: None, by: None };
            store.run(now, edit).await.map_err(|error| missing_file(&file, error))?;
            return done!("campaign `{name}` has the new text");
        }
        Campaign::Gate { name, file } => return gate(store, objects, clock, name, &file).await,
        Campaign::List => {
            return Ok(store.read(query!(|c| reports::campaigns(&mut c).await)).await?);
        }
        Campaign::Show { name } => {
            let name = CampaignKey::from(name);
            let report = store.read(query!(|c| reports::campaign(&mut c, &name).await));
            return Ok(report.await?.1);
        }
        Campaign::Pause { name } => (name, CampaignCommand::Pause),
        Campaign::Resume { name } => (name, CampaignCommand::Resume),
        Campaign::Stop { name } => (name, CampaignCommand::Stop),
        Campaign::Train { name } => (name, CampaignCommand::Train),
        Campaign::Reject { name } => (name, CampaignCommand::Reject),
    };
    send_command(store, clock, name, command).await
}

/// The text of a campaign, which is valid.
fn read_campaign(file: &Path) -> Result<(String, protocol::campaign::Campaign)> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    let plan = protocol::campaign::Campaign::from_text(&text).with_context(|| format!("{}", file.display()))?;
    Ok((text, plan))
}

/// Adds the place, and for a missing net or book the command that adds it.
fn missing_file(campaign: &Path, error: StoreError) -> anyhow::Error {
    let command = match &error {
        StoreError::Rejected(Refusal::NoNet { .. }) => "net add FILE",
        StoreError::Rejected(Refusal::NoBook { .. }) => "book add FILE",
        _ => return error.into(),
    };
    let StoreError::Rejected(refusal) = error else { return error.into() };
    let file = campaign.display();
    anyhow::anyhow!(
        "{file}: {refusal}: `chuhe-coordinator admin {command}` adds it; a comment in {file} may name its file"
    )
}

/// Makes a net with its manifest the candidate of a campaign.
async fn gate(store: &Database, objects: &Objects, clock: &Clock, campaign: String, file: &Path) -> Result<Value> {
    let beside = file.with_file_name("net.json");
    let text = std::fs::read_to_string(&beside).with_context(|| format!("{}", beside.display()))?;
    let manifest = NetManifest::from_text(&text).with_context(|| format!("{}", beside.display()))?;
    let (net, bytes) = read_net(file, manifest.name, Some(text))?;
    if manifest.net.to_string() != net.hash.to_string() {
        bail!("{}: it is the manifest of another net than {}", beside.display(), file.display());
    }
    objects.put(Kind::Net, bytes.into()).await?;
    let (recipe, name) = (manifest.recipe.text, net.name.clone());
    store.run(clock.now(), GateNet { campaign: campaign.clone().into(), net, recipe, by: None }).await?;
    done!("campaign `{campaign}` gates `{name}` next")
}

/// Reads the file of a net, to be added: a candidate if it has a manifest.
fn read_net(file: &Path, name: String, manifest: Option<String>) -> Result<(NewNet, Vec<u8>)> {
    let bytes = std::fs::read(file).with_context(|| format!("{}", file.display()))?;
    let parsed = Net::from_bytes(&bytes).with_context(|| format!("{}", file.display()))?;
    let net = NewNet {
        hash: Digest::of(&bytes),
        name,
        state: if manifest.is_some() { NetState::Candidate } else { NetState::Base },
        bytes: bytes.len() as u64,
        architecture: architecture_line(parsed.sizes()),
        manifest,
        campaign: None,
        parent: None,
    };
    Ok((net, bytes))
}

async fn send_command(store: &Database, clock: &Clock, name: String, command: CampaignCommand) -> Result<Value> {
    let campaign = CampaignKey::from(name.clone());
    let change = CommandCampaign::prepare(store, campaign, command, None, None, clock.now()).await?;
    store.run(clock.now(), change).await?;
    match command {
        CampaignCommand::Pause => done!("campaign `{name}` is paused: no new games until `campaign resume {name}`"),
        CampaignCommand::Resume => done!("campaign `{name}` runs: workers get its games"),
        CampaignCommand::Stop => done!("campaign `{name}` is stopped for good; its games and nets stay"),
        CampaignCommand::Train => done!("campaign `{name}` has a training from the games at hand: a trainer takes it"),
        CampaignCommand::Promote => done!("campaign `{name}` has its candidate as the champion"),
        CampaignCommand::Reject => done!("campaign `{name}` has rejected its candidate"),
    }
}

async fn user(store: &Database, clock: &Clock, command: User) -> Result<Value> {
    let now = clock.now();
    let (name, change, message) = match command {
        User::List => {
            let accounts = store.read(query!(|c| reports::people::all_accounts(&mut c).await));
            return Ok(json!(accounts.await?));
        }
        User::Create { name, role } => {
            let account = name.clone();
            store.run(now, CreateAccount { name: account, role, state: AccountState::Active, by: None }).await?;
            return done!(
                "account `{name}` has the role {role}; `admin token create {name}` makes a token for its programs"
            );
        }
        User::Delete { name } => {
            store.run(now, DeleteAccount { account: name.clone().into(), by: None }).await?;
            return done!("account `{name}` is deleted; its games stay, without a name");
        }
        User::Password { name } => return password::set(store, clock, name).await,
        User::Role { name, role } => (name, AccountChange::Role(role), None),
        User::Approve { name } => (name, AccountChange::State(AccountState::Active), None),
        User::Block { name, message } => (name, AccountChange::State(AccountState::Blocked), Some(message)),
    };
    let holds = match change {
        AccountChange::Role(role) => format!("has the role {role}"),
        AccountChange::State(AccountState::Blocked) => "is blocked: its workers get no games".to_owned(),
        AccountChange::State(_) => "is active".to_owned(),
    };
    let account = AccountKey::from(name.clone());
    store.run(now, ChangeAccount { account, changes: vec![change], message, by: None }).await?;
    done!("account `{name}` {holds}")
}

async fn token(store: &Database, clock: &Clock, command: Token) -> Result<Value> {
    let now = clock.now();
    match command {
        Token::Create { account, name, role, days } => {
            let expires = days.map(|days| now.after(i64::from(days) * DAY));
            let holds = format!(
                "account `{account}` has a new token{}{}; it is shown only now",
                role.map(|role| format!(" with the role {role}")).unwrap_or_default(),
                days.map(|days| format!(", valid for {days} days")).unwrap_or_default()
            );
            let (account, secret) = (account.into(), people::new_token()?);
            store.run(now, CreateToken { account, name, role, expires, by: None, secret: secret.clone() }).await?;
            note(&holds);
            Ok(json!(secret))
        }
        Token::List { account } => {
            let account = AccountKey::from(account);
            let tokens = store.read(query!(|c| {
                let account = Accounts::on(c.reborrow()).get(&account).await?.id;
                reports::people::all_tokens(&mut c, account).await
            }));
            Ok(json!(tokens.await?))
        }
        Token::Revoke { token } => {
            store.run(now, RevokeToken { by: None, token: TokenId(token) }).await?;
            done!("token {token} is revoked")
        }
    }
}

async fn net(store: &Database, objects: &Objects, clock: &Clock, command: NetCommand) -> Result<Value> {
    let now = clock.now();
    match command {
        NetCommand::List => {
            let nets = store.read(query!(|c| reports::net::list(&mut c, None, 1_000).await));
            Ok(json!(nets.await?))
        }
        NetCommand::Promote { campaign } => send_command(store, clock, campaign, CampaignCommand::Promote).await,
        NetCommand::Rollback { campaign, reason } => {
            let key = campaign.clone().into();
            store.run(now, RollBackCampaign { campaign: key, seen: None, reason, by: None }).await?;
            done!("campaign `{campaign}` has the champion before its last promotion")
        }
        NetCommand::Add { file, name } => {
            let (net, bytes) = read_net(&file, name.unwrap_or_else(|| stem(&file)), None)?;
            let hash = objects.put(Kind::Net, bytes.into()).await?;
            let name = net.name.clone();
            store.run(now, AddNet { net }).await?;
            let known = store.read(query!(|c| Nets::on(c).name_of(Some(hash)).await)).await?;
            if known == name {
                note(&format!("the net is here, as `{name}`; campaigns and matches name it by its hash"));
            } else {
                note(&format!("the net is here already, as `{known}`; its name stays"));
            }
            Ok(json!(hash))
        }
    }
}

/// Says what holds, beside a value for scripts.
#[allow(clippy::print_stderr, reason = "standard output is the command's result alone")]
fn note(text: &str) {
    eprintln!("{text}");
}

/// The name of a file without its extension. A trainer writes `net.nnue`, into a folder with the
/// net's name.
fn stem(file: &Path) -> String {
    let folder =
        file.parent().and_then(Path::file_name).filter(|_| file.file_name().is_some_and(|it| it == "net.nnue"));
    folder.or_else(|| file.file_stem()).map_or_else(|| "net".to_owned(), |name| name.to_string_lossy().into_owned())
}

async fn add_book(store: &Database, objects: &Objects, clock: &Clock, file: &Path) -> Result<Value> {
    let bytes = std::fs::read(file).with_context(|| format!("{}", file.display()))?;
    let book = Book::from_bytes(&bytes, RuleSet::default()).with_context(|| format!("{}", file.display()))?;
    let (positions, length, name, now) = (book.positions().len() as u64, bytes.len() as u64, stem(file), clock.now());
    let hash = objects.put(Kind::Book, bytes.into()).await?;
    let holds = format!("the book `{name}` is here; campaigns and matches name it by its hash");
    store.run(now, AddBook { hash, name, bytes: length, positions }).await?;
    note(&holds);
    Ok(json!(hash))
}

async fn worker(store: &Database, clock: &Clock, command: WorkerCommand) -> Result<Value> {
    let now = clock.now();
    let (worker, message) = match command {
        WorkerCommand::List => {
            let workers = store.read(query!(|c| reports::people::workers(&mut c, None).await));
            return Ok(json!(workers.await?));
        }
        WorkerCommand::Trust { worker, revoke } => {
            store.run(now, TrustWorker { worker: WorkerId(worker), is_trusted: !revoke, by: None }).await?;
            let holds = if revoke { "not trusted any more" } else { "trusted: its games need no audit" };
            return done!("worker {worker} is {holds}");
        }
        WorkerCommand::Block { worker, message } => (worker, Some(message)),
        WorkerCommand::Unblock { worker } => (worker, None),
    };
    let holds = if message.is_some() { "is blocked: it gets no games" } else { "gets games again" };
    store.run(now, BlockWorker { worker: WorkerId(worker), message, by: None }).await?;
    done!("worker {worker} {holds}")
}
