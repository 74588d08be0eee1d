//! Arguments of `chuhe-coordinator admin`.

use std::path::PathBuf;

use clap::Subcommand;
use protocol::api::work::Role;

#[derive(Subcommand)]
pub(in crate::command) enum Command {
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
    Webhook(super::webhooks::Command),
    /// Let the champions of a campaign play against each other, and show how strong they are
    #[command(subcommand)]
    Rating(super::ratings::Command),
    /// Let two nets play against each other outside of campaigns, and print the job's number
    Match(super::matches::Arguments),
    /// Let two nets play under a clock, and print the job's number: only trusted workers play it,
    /// and it decides nothing
    Timed(super::timed::Arguments),
    /// Show the standing of a match
    Standing {
        /// Number of the match's job
        job: i64,
    },
    /// Quarantine an account: games of it that others have not played again stop counting
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
    #[command(args_conflicts_with_subcommands = true)]
    Audit {
        /// Show only events with a smaller number
        #[arg(long, value_name = "EVENT")]
        before: Option<i64>,
        #[command(subcommand)]
        command: Option<AuditCommand>,
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

impl Command {
    /// Whether the command wants a new database.
    pub(in crate::command) const fn fills_empty_database(&self) -> bool {
        matches!(self, Self::Restore { .. })
    }
}

#[derive(Subcommand)]
pub(in crate::command) enum AuditCommand {
    /// Explain the standing of an account: what counts of it, what is lent to it, and its history
    Explain {
        /// Name of the account
        account: String,
    },
}

#[derive(Subcommand)]
pub(in crate::command) enum Campaign {
    /// Create a campaign
    Create {
        /// File with the text of the campaign (TOML)
        file: PathBuf,
    },
    /// Change a campaign: its description, priority, other campaigns to learn from, generations,
    /// gate or recipe
    Edit {
        /// Name of the campaign
        name: String,
        /// File with the new text (TOML); name, rules, seed, champion and self-play stay
        file: PathBuf,
    },
    /// Gate a net that was trained elsewhere: it is the campaign's next candidate
    Gate {
        /// Name of the campaign
        name: String,
        /// File of the net; its manifest `net.json` is beside it
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
pub(in crate::command) enum User {
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
pub(in crate::command) enum Token {
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
pub(in crate::command) enum NetCommand {
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
pub(in crate::command) enum BookCommand {
    /// Add a book, and print its hash
    Add {
        /// File of the book: positions, one a line
        file: PathBuf,
    },
}

#[derive(Subcommand)]
pub(in crate::command) enum WorkerCommand {
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
