//! Reading a command line, with errors in plain words.

use std::{
    env,
    error::Error as _,
    ffi::OsString,
    num::{ParseFloatError, ParseIntError},
};

use clap::{
    Parser,
    error::{ContextKind, Error, ErrorKind},
};

/// The arguments of this process. Ends the process at `--help`, `--version` and bad arguments.
#[must_use]
pub fn parse<A: Parser>() -> A {
    parse_from(env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Reads a command line, whose first part is the program's name.
///
/// # Errors
///
/// As clap's, but a number that cannot be read is named in plain words.
pub fn parse_from<A: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<A, Error> {
    A::try_parse_from(arguments).map_err(|error| in_plain_words::<A>(&error).unwrap_or(error))
}

fn in_plain_words<A: Parser>(error: &Error) -> Option<Error> {
    let cause = error.source()?;
    let wanted = if cause.is::<ParseIntError>() {
        "a whole number is wanted"
    } else if cause.is::<ParseFloatError>() {
        "a number is wanted"
    } else {
        return None;
    };
    let argument = error.get(ContextKind::InvalidArg)?;
    let value = error.get(ContextKind::InvalidValue)?;
    let message = format!("invalid value '{value}' for '{argument}': {wanted}");
    Some(A::command().error(ErrorKind::ValueValidation, message))
}
