//! The questions of `configure` and of the first run.

use std::{
    fmt::Display,
    io::{BufRead, Write},
    str::FromStr,
};

use anyhow::{Context as _, Result, bail};
use client::{ServerAddress, Token};
use protocol::api::work::Me;

use crate::{
    hours::Hours,
    sentence::sentence,
    settings::{
        self, File,
        limits::{self, Limits},
    },
    topology,
};

/// The server as the dialog sees it.
pub trait Server {
    /// Checks that a coordinator answers at the address.
    ///
    /// # Errors
    ///
    /// If none does; the address is asked for again.
    fn check(&mut self, server: &ServerAddress) -> Result<()>;

    /// Requests the token's account.
    ///
    /// # Errors
    ///
    /// If the server does not accept the token; it is asked for again.
    fn account(&mut self, server: &ServerAddress, token: &Token) -> Result<Me>;
}

/// Asks for the settings; an empty line keeps a known value. The address is tried before the token
/// is asked for.
///
/// # Errors
///
/// If the input ends before the questions.
pub fn ask(known: &File, input: &mut dyn BufRead, output: &mut dyn Write, asked: &mut dyn Server) -> Result<File> {
    let mut prompter = Prompter { input, output };
    let mut known = known.clone();
    let (server, token) = 'address: loop {
        let server: ServerAddress =
            prompter.ask("The server's address", known.server.as_ref().map(ToString::to_string).as_deref())?;
        if server.is_open() {
            prompter.print("Mind: anyone between you and this server can read your token, for it is not https.")?;
        }
        if let Err(error) = asked.check(&server) {
            prompter.print(&sentence(format!("That does not work: {error:#}")))?;
            continue;
        }
        known.server = Some(server.clone());
        // What an empty answer means. A known token is not shown.
        let mut otherwise = match known.token.clone() {
            Some(token) => (" (empty: the one you gave before)", Some(Some(token))),
            None => ("", None),
        };
        loop {
            let (hint, empty) = &otherwise;
            let token = prompter.ask_with(&format!("Your token from the server's page{hint}"), None, |answer| {
                match empty.as_ref().filter(|_| answer.is_empty()) {
                    Some(empty) => Ok(empty.clone()),
                    None => parse(answer).map(Some),
                }
            })?;
            let Some(token) = token else { continue 'address };
            match asked.account(&server, &token) {
                Ok(me) => {
                    prompter.print(&format!("Welcome, {}: {} games so far.", me.account, me.total.games))?;
                    break 'address (server, token);
                }
                Err(error) => prompter.print(&sentence(format!("That does not work: {error:#}")))?,
            }
            otherwise = (" (empty: another address)", Some(None));
        }
    };
    let all = settings::all_cores();
    if let Some(hint) = topology::hint(all) {
        prompter.print(&hint)?;
    }
    let cores = known.cores.unwrap_or_else(|| settings::default_cores() as u64);
    let cores = prompter.ask_number(&format!("How many of the {all} cores may play"), cores, &limits::cores())?;
    let memory = known.memory_mebibytes.unwrap_or_else(|| settings::default_memory(cores as usize));
    let memory = prompter.ask_number("How much memory may they use, in MiB", memory, &limits::memory())?;
    let hours = known.hours.clone().unwrap_or_default();
    let hours: Hours = prompter.ask("In which hours (such as 22:00-07:30, or always)", Some(&hours.to_string()))?;
    let on_battery = if known.on_battery == Some(true) { "yes" } else { "no" };
    let on_battery = prompter.ask_with("Also while the machine runs on its battery", Some(on_battery), yes_or_no)?;
    Ok(File {
        server: Some(server),
        token: Some(token),
        name: known.name,
        cores: Some(cores),
        memory_mebibytes: Some(memory),
        hours: Some(hours),
        on_battery: Some(on_battery),
    })
}

struct Prompter<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl Prompter<'_> {
    /// Asks until the answer parses.
    fn ask<T: FromStr<Err: Display>>(&mut self, question: &str, default: Option<&str>) -> Result<T> {
        self.ask_with(question, default, parse)
    }

    /// Asks until the answer is a number within the limits.
    fn ask_number(&mut self, question: &str, default: u64, limits: &Limits) -> Result<u64> {
        let default = default.clamp(*limits.range.start(), *limits.range.end());
        self.ask_with(question, Some(&default.to_string()), |answer| limits.parse(answer))
    }

    fn ask_with<T>(
        &mut self,
        question: &str,
        default: Option<&str>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T> {
        loop {
            let shown = default.map_or_else(String::new, |default| format!(" [{default}]"));
            let mut answer = self.line(&format!("{question}{shown}: "))?;
            if answer.is_empty()
                && let Some(default) = default
            {
                default.clone_into(&mut answer);
            }
            match parse(&answer) {
                Ok(answer) => return Ok(answer),
                Err(error) => self.print(&sentence(error))?,
            }
        }
    }

    fn line(&mut self, question: &str) -> Result<String> {
        write!(self.output, "{question}")?;
        self.output.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line).context("standard input")? == 0 {
            bail!("the answers ended before the questions; nothing was written");
        }
        Ok(line.trim().to_owned())
    }

    fn print(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.output, "{text}")?)
    }
}

fn parse<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err("the answer is yes or no".to_owned()),
    }
}
