//! `chuhe-coordinator admin user password`: resets a forgotten password.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, Result};
use coordinator_core::{clock::Clock, ops::accounts::SetPassword, people::passwords, store::Database};
use serde_json::{Value, json};

/// Sets an account's password from standard input, which keeps it out of the shell's history.
#[allow(clippy::print_stderr, reason = "a prompt for a person at a terminal")]
pub(super) async fn set(store: &Database, clock: &Clock, name: String) -> Result<Value> {
    if stdin().is_terminal() {
        eprintln!("The new password of {name}, then Enter (it can be seen on the screen):");
    }
    let mut line = String::new();
    stdin().read_line(&mut line).context("the password cannot be read")?;
    let hash = passwords::hash(line.trim_end_matches(['\r', '\n']))?;
    store.run(clock.now(), SetPassword { account: name.as_str().into(), hash, by: None }).await?;
    Ok(json!({ "account": name, "password": "set" }))
}
