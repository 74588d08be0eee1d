//! `chuhe-coordinator admin`: works on the database directly, with or without a running
//! coordinator.

mod matches;
mod password;
mod ratings;
mod timed;
mod transaction;
mod webhooks;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Subcommand;
use coordinator_core::{
    backup,
    clock::{Clock, DAY},
    model::{
        AccountChange, AccountKey, AccountState, CampaignCommand, CampaignKey, JobId, NetState, NewNet, TokenId,
        WorkerId,
    },
    objects::{Kind, Objects},
    ops::{
        accounts::{ChangeAccount, CreateAccount, DeleteAccount, Invite},
        campaigns::{CommandCampaign, CreateCampaign, RollBackCampaign},
        disputes::SetQuarantine,
        nets::{AddBook, AddNet},
        tokens::{CreateToken, RevokeToken},
        workers::{BlockWorker, TrustWorker},
    },
    people, reports,
    rules::nets::architecture_line,
    store::{Accounts, Database},
};
use dataset::Book;
use nnue::Net;
use protocol::api::work::Role;
use serde_json::{Value, json};
use xiangqi::rules::RuleSet;

use transaction::read;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create, show and control campaigns
    #[command(subcommand)]
    Campaign(Campaign),
    /// Manage accounts
    #[command(subcommand)]
    User(User),
    /// Manage tokens: a new one is printed once
    #[command(subcommand)]
    Token(Token),
    /// Add, list and promote nets
    #[command(subcommand)]
    Net(NetCommand),
    /// Add books of openings
    #[command(subcommand)]
    Book(BookCommand),
    /// List, trust and block workers
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Manage webhooks
    #[command(subcommand)]
    Webhook(webhooks::Command),
    /// Let the champions of a campaign play against each other, and show how strong they are
    #[command(subcommand)]
    Rating(ratings::Command),
    /// Let two nets play against each other outside of campaigns, and print the job's number
    Match(matches::Arguments),
    /// Let two nets play under a clock, and print the job's number: only trusted workers play it,
    /// and it decides nothing
    Timed(timed::Arguments),
    /// Show the standing of a match
    Standing {
        /// Number of the match's job
        job: i64,
    },
    /// Quarantine an account: games delivered since its last clean audit stop counting
    Quarantine {
        /// Name of the account
        account: String,
        /// Reason, sent to its workers
        #[arg(long)]
        reason: String,
        /// Lift the quarantine
        #[arg(long)]
        lift: bool,
    },
    /// Show the events, the newest first
    Audit {
        /// Show only events with a smaller number
        #[arg(long, value_name = "EVENT")]
        before: Option<i64>,
    },
    /// Write everything into a folder, while the coordinator runs
    Backup {
        /// Folder to create; it must not exist yet
        folder: PathBuf,
    },
    /// Fill an empty database, of either kind, from a backup
    Restore {
        /// Folder of the backup
        folder: PathBuf,
    },
    /// Create an invitation; it is printed once
    Invite {
        /// Name of the inviting account
        account: String,
        /// Role of the new account
        #[arg(long, default_value = "volunteer")]
        role: Role,
    },
}

#[derive(Subcommand)]
pub(super) enum Campaign {
    /// Create a campaign
    Create {
        /// File with the text of the campaign (TOML)
        file: PathBuf,
    },
    /// List campaigns
    List,
    /// Show a campaign
    Show {
        /// Name of the campaign
        name: String,
    },
    /// Pause a campaign: no new games
    Pause {
        /// Name of the campaign
        name: String,
    },
    /// Resume a paused or stuck campaign
    Resume {
        /// Name of the campaign
        name: String,
    },
    /// Stop a campaign for good
    Stop {
        /// Name of the campaign
        name: String,
    },
    /// Train a net from the games at hand
    Train {
        /// Name of the campaign
        name: String,
    },
    /// Reject the candidate during its gate
    Reject {
        /// Name of the campaign
        name: String,
    },
}

#[derive(Subcommand)]
pub(super) enum User {
    /// Create an account
    Create {
        /// Name of the account
        name: String,
        /// Role of the account: volunteer, trainer, maintainer or admin
        #[arg(long, default_value = "volunteer")]
        role: Role,
    },
    /// List accounts
    List,
    /// Change an account's role
    Role {
        /// Name of the account
        name: String,
        /// New role: volunteer, trainer, maintainer or admin
        role: Role,
    },
    /// Approve a waiting account, or unblock one
    Approve {
        /// Name of the account
        name: String,
    },
    /// Block an account
    Block {
        /// Name of the account
        name: String,
        /// Message to its workers
        #[arg(long)]
        message: String,
    },
    /// Set an account's password for the pages, read from one line of standard input
    Password {
        /// Name of the account
        name: String,
    },
    /// Delete an account: its games stay, without a name
    Delete {
        /// Name of the account
        name: String,
    },
}

#[derive(Subcommand)]
pub(super) enum Token {
    /// Create a token
    Create {
        /// Name of the account
        account: String,
        /// Name of the token, for people: its purpose
        #[arg(long, default_value = "command line")]
        name: String,
        /// Role of the token, at most the account's [default: the account's]
        #[arg(long)]
        role: Option<Role>,
        /// Days until it expires [default: never]
        #[arg(long)]
        days: Option<u32>,
    },
    /// List the tokens of an account
    List {
        /// Name of the account
        account: String,
    },
    /// Revoke a token
    Revoke {
        /// Number of the token
        token: i64,
    },
}

#[derive(Subcommand)]
pub(super) enum NetCommand {
    /// Add a net from a file, and print its hash
    Add {
        /// File of the net
        file: PathBuf,
        /// Name of the net, for people [default: the file's name]
        #[arg(long)]
        name: Option<String>,
    },
    /// List nets
    List,
    /// Promote a campaign's candidate, whatever the gate's verdict
    Promote {
        /// Name of the campaign
        campaign: String,
    },
    /// Roll back a campaign's last promotion
    Rollback {
        /// Name of the campaign
        campaign: String,
        /// Reason, shown in the events
        #[arg(long)]
        reason: String,
    },
}

#[derive(Subcommand)]
pub(super) enum BookCommand {
    /// Add a book, and print its hash
    Add {
        /// File of the book: positions, one a line
        file: PathBuf,
    },
}

#[derive(Subcommand)]
pub(super) enum WorkerCommand {
    /// List workers
    List,
    /// Trust a worker: its results settle disputes, and its games need no audit
    Trust {
        /// Number of the worker
        worker: i64,
        /// Withdraw the trust
        #[arg(long)]
        revoke: bool,
    },
    /// Block a worker: it gets no games
    Block {
        /// Number of the worker
        worker: i64,
        /// Message to the worker
        #[arg(long)]
        message: String,
    },
    /// Unblock a worker
    Unblock {
        /// Number of the worker
        worker: i64,
    },
}

#[allow(clippy::print_stdout, reason = "this is what the command is for")]
fn print(value: &Value) {
    match value {
        Value::String(text) => println!("{text}"),
        Value::Null => {}
        other => println!("{other:#}"),
    }
}

pub(super) async fn run(store: &Database, objects: &Objects, clock: &Clock, command: Command) -> Result<()> {
    let output = match command {
        Command::Campaign(command) => campaign(store, clock, command).await?,
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
            let standing = read(store, move |mut c| {
                Box::pin(async move { coordinator_core::matches::standing(&mut c, JobId(job)).await })
            });
            json!(standing.await?)
        }
        Command::Quarantine { account, reason, lift } => {
            let account = read(store, move |c| {
                let account = account.clone();
                Box::pin(async move { Accounts::on(c).get(&account.into()).await })
            });
            let (account, reason) = (account.await?.id, reason.as_str().into());
            store.run(clock.now(), SetQuarantine { account, begins: !lift, by: None, reason }).await?;
            Value::Null
        }
        Command::Audit { before } => {
            let before = before.unwrap_or(i64::MAX);
            json!(read(store, move |mut c| Box::pin(async move { reports::log::before(&mut c, before).await })).await?)
        }
        Command::Backup { folder } => json!(backup::backup(store, objects, &folder).await?),
        Command::Restore { folder } => json!(backup::restore(store, objects, &folder).await?),
        Command::Invite { account, role } => {
            let secret = people::secret("invitation_")?;
            store.run(clock.now(), Invite { by: account.into(), role, secret: secret.clone() }).await?;
            json!(secret)
        }
    };
    print(&output);
    Ok(())
}

async fn campaign(store: &Database, clock: &Clock, command: Campaign) -> Result<Value> {
    let now = clock.now();
    let (name, command) = match command {
        Campaign::Create { file } => {
            let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
            protocol::campaign::Campaign::from_text(&text).with_context(|| format!("{}", file.display()))?;
            store.run(now, CreateCampaign { text, by: None }).await?;
            return Ok(Value::Null);
        }
        Campaign::List => {
            return Ok(read(store, |mut c| Box::pin(async move { reports::campaigns(&mut c).await })).await?);
        }
        Campaign::Show { name } => {
            let name = CampaignKey::from(name);
            let report = read(store, move |mut c| {
                let name = name.clone();
                Box::pin(async move { reports::campaign(&mut c, &name).await })
            });
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

async fn send_command(store: &Database, clock: &Clock, name: String, command: CampaignCommand) -> Result<Value> {
    let campaign = CampaignKey::from(name);
    let command = CommandCampaign::prepare(store, campaign, command, None, None).await?;
    store.run(clock.now(), command).await?;
    Ok(Value::Null)
}

async fn user(store: &Database, clock: &Clock, command: User) -> Result<Value> {
    let now = clock.now();
    let (name, change, message) = match command {
        User::List => {
            let accounts = read(store, |mut c| Box::pin(async move { reports::people::all_accounts(&mut c).await }));
            return Ok(json!(accounts.await?));
        }
        User::Create { name, role } => {
            store.run(now, CreateAccount { name, role, state: AccountState::Active, by: None }).await?;
            return Ok(Value::Null);
        }
        User::Delete { name } => {
            store.run(now, DeleteAccount { account: name.into(), by: None }).await?;
            return Ok(Value::Null);
        }
        User::Password { name } => return password::set(store, clock, name).await,
        User::Role { name, role } => (name, AccountChange::Role(role), None),
        User::Approve { name } => (name, AccountChange::State(AccountState::Active), None),
        User::Block { name, message } => (name, AccountChange::State(AccountState::Blocked), Some(message)),
    };
    store.run(now, ChangeAccount { account: name.into(), changes: vec![change], message, by: None }).await?;
    Ok(Value::Null)
}

async fn token(store: &Database, clock: &Clock, command: Token) -> Result<Value> {
    let now = clock.now();
    match command {
        Token::Create { account, name, role, days } => {
            let expires = days.map(|days| now.after(i64::from(days) * DAY));
            let (account, secret) = (account.into(), people::new_token()?);
            store.run(now, CreateToken { account, name, role, expires, secret: secret.clone() }).await?;
            Ok(json!(secret))
        }
        Token::List { account } => {
            let tokens = read(store, move |mut c| {
                let account = AccountKey::from(account.clone());
                Box::pin(async move {
                    let account = Accounts::on(c.reborrow()).get(&account).await?.id;
                    reports::people::all_tokens(&mut c, account).await
                })
            });
            Ok(json!(tokens.await?))
        }
        Token::Revoke { token } => {
            store.run(now, RevokeToken { owner: None, token: TokenId(token) }).await?;
            Ok(Value::Null)
        }
    }
}

async fn net(store: &Database, objects: &Objects, clock: &Clock, command: NetCommand) -> Result<Value> {
    let now = clock.now();
    match command {
        NetCommand::List => {
            let nets = read(store, |mut c| Box::pin(async move { reports::net::list(&mut c, None, 1_000).await }));
            Ok(json!(nets.await?))
        }
        NetCommand::Promote { campaign } => send_command(store, clock, campaign, CampaignCommand::Promote).await,
        NetCommand::Rollback { campaign, reason } => {
            store.run(now, RollBackCampaign { campaign: campaign.into(), seen: None, reason, by: None }).await?;
            Ok(Value::Null)
        }
        NetCommand::Add { file, name } => {
            let bytes = std::fs::read(&file).with_context(|| format!("{}", file.display()))?;
            let parsed = Net::from_bytes(&bytes).with_context(|| format!("{}", file.display()))?;
            let architecture = architecture_line(parsed.sizes());
            let name = name.unwrap_or_else(|| stem(&file));
            let length = bytes.len() as u64;
            let hash = objects.put(Kind::Net, bytes.into()).await?;
            let net = NewNet {
                hash,
                name,
                state: NetState::Base,
                bytes: length,
                architecture,
                manifest: None,
                campaign: None,
                parent: None,
            };
            store.run(now, AddNet { net }).await?;
            Ok(json!(hash))
        }
    }
}

fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "net".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

async fn add_book(store: &Database, objects: &Objects, clock: &Clock, file: &Path) -> Result<Value> {
    let bytes = std::fs::read(file).with_context(|| format!("{}", file.display()))?;
    let book = Book::from_bytes(&bytes, RuleSet::default()).with_context(|| format!("{}", file.display()))?;
    let (positions, length, name, now) = (book.positions().len() as u64, bytes.len() as u64, stem(file), clock.now());
    let hash = objects.put(Kind::Book, bytes.into()).await?;
    store.run(now, AddBook { hash, name, bytes: length, positions }).await?;
    Ok(json!(hash))
}

async fn worker(store: &Database, clock: &Clock, command: WorkerCommand) -> Result<Value> {
    let now = clock.now();
    let (worker, message) = match command {
        WorkerCommand::List => {
            let workers = read(store, |mut c| Box::pin(async move { reports::people::workers(&mut c, None).await }));
            return Ok(json!(workers.await?));
        }
        WorkerCommand::Trust { worker, revoke } => {
            let worker = WorkerId(worker);
            store.run(now, TrustWorker { worker, is_trusted: !revoke, by: None }).await?;
            return Ok(Value::Null);
        }
        WorkerCommand::Block { worker, message } => (worker, Some(message)),
        WorkerCommand::Unblock { worker } => (worker, None),
    };
    store.run(now, BlockWorker { worker: WorkerId(worker), message, by: None }).await?;
    Ok(Value::Null)
}
