//! `chuhe-coordinator admin user password`: for whoever cannot sign in to change it.

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{
    clock::Clock,
    people::{self, passwords},
    store::{Database, Store as _},
};

/// Sets an account's password to a line of the standard input, so that it stands in no history of commands.
#[allow(clippy::print_stderr, reason = "a person at a terminal is told what is waited for")]
pub(super) async fn set(store: &Database, clock: &Clock, name: String) -> Result<Value> {
    if stdin().is_terminal() {
        eprintln!("The new password of {name}, then Enter (it can be seen on the screen):");
    }
    let mut line = String::new();
    stdin().read_line(&mut line).context("the password cannot be read")?;
    let hash = passwords::hash(line.trim_end_matches(['\r', '\n']))?;
    let (now, whose) = (clock.now(), name.clone());
    store
        .write(move |mut connection| {
            let (name, hash) = (whose.clone(), hash.clone());
            Box::pin(async move {
                let account = people::account_by_name(&mut connection, &name).await?;
                passwords::set(&mut connection, now, account, &hash, None).await
            })
        })
        .await?;
    Ok(json!({ "account": name, "password": "set" }))
}
