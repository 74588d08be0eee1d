//! The command line of the referee's program.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::process::Command;

fn refused(arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_chuhe-referee");
    let output = Command::new(program).args(arguments).env_remove("CHUHE_DATABASE").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_folder_without_a_database_is_named_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let said = refused(&["--data", data.to_str().unwrap()]);
    assert!(said.contains("there is no database at") && said.contains(data.to_str().unwrap()), "{said}");
    assert!(!data.exists());
}

#[test]
fn a_number_of_threads_that_is_none_is_named() {
    let said = refused(&["--threads", "two"]);
    assert!(said.contains("'two'") && said.contains("--threads"), "{said}");
}
