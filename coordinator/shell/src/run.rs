//! The frame of a program: its runtime, and its errors in one line.

use std::{future::Future, process::ExitCode};

use anyhow::{Error, Result};
use coordinator_core::store::StoreError;

/// Runs a program to its end. An error is printed after the program's name, with exit code 2.
#[allow(clippy::print_stderr, reason = "errors are printed here")]
pub fn run(name: &str, program: impl Future<Output = Result<ExitCode>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(Error::from).and_then(|runtime| runtime.block_on(program)).unwrap_or_else(|error| {
        eprintln!("{name}: {}", xiangqi::text::plain_words(&sentence(&error).replace('\n', " ")));
        ExitCode::from(2)
    })
}

/// The text of an error. A rejected operation is one sentence.
fn sentence(error: &Error) -> String {
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Rejected(refusal)) => refusal.to_string(),
        _ => causes(error),
    }
}

/// The error with its causes, without those whose text is the end of their effect's.
fn causes(error: &Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        effect if effect.ends_with(&cause) => text,
        effect => format!("{effect}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use coordinator_core::model::Refusal;

    use super::*;

    #[test]
    fn an_error_has_its_causes_once() {
        let error = Err::<(), _>(Error::msg("no disk")).context("writing failed: no disk").context("stopped");
        assert_eq!(sentence(&error.unwrap_err()), "stopped: writing failed: no disk");
        let refused = Error::from(StoreError::from(Refusal::NoRole)).context("a command");
        assert_eq!(sentence(&refused), "there is no such role");
    }
}
