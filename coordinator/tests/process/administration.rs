//! `chuhe-coordinator admin`: what its commands print, and how they fail.

use std::{
    fs::{self, Permissions},
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use coordinator_core::store::SCHEMA;

use crate::started;

/// `chuhe-coordinator` with a data folder.
fn coordinator(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    command.arg("--data").arg(data);
    for name in ["CHUHE_DATABASE", "CHUHE_OBJECTS", "CHUHE_DATA"] {
        command.env_remove(name);
    }
    command
}

fn run(data: &Path, words: &[&str]) -> Output {
    coordinator(data).args(words).output().unwrap()
}

/// Runs a command that succeeds; returns its output.
fn said(data: &Path, words: &[&str]) -> String {
    let output = run(data, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs a command that fails; returns its exit status and its error.
fn refused(data: &Path, words: &[&str]) -> (i32, String) {
    let output = run(data, words);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap().trim().to_owned())
}

/// The same without the log, which is beside the error.
fn without_log(data: &Path, words: &[&str]) -> (i32, String) {
    let output = coordinator(data).args(words).env("CHUHE_LOG", "off").output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap().trim().to_owned())
}

/// Hashes of passwords and tokens are in it, whatever the rights of its folder.
#[test]
fn only_its_user_reads_the_database() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    said(folder.path(), &["migrate"]);
    let rights = fs::metadata(folder.path().join("chuhe.db")).unwrap().permissions().mode() & 0o777;
    assert_eq!(rights, 0o600, "{rights:o}");
}

#[test]
fn a_folder_without_a_database_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = data.join("chuhe.db");
    let expected = format!(
        "chuhe-coordinator: there is no database at {}: `--data DIR` names another folder, and \
         `chuhe-coordinator migrate` creates a database",
        file.display()
    );
    for words in [&["admin", "worker", "list"][..], &["admin", "user", "create", "ann"], &["watch", "small"]] {
        assert_eq!(refused(&data, words), (2, expected.clone()), "{words:?}");
        assert!(!data.exists(), "{words:?}");
    }
    let holds = |how: &str| format!("the database sqlite:{} {how} (schema {SCHEMA})", file.display());
    assert_eq!(said(&data, &["migrate"]), holds("is created"));
    assert_eq!(said(&data, &["migrate"]), holds("was up to date already, and is unchanged"));
    assert_eq!(said(&data, &["admin", "worker", "list"]), "[]");
}

#[test]
fn an_address_that_cannot_be_listened_at_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    let expected = "HOST:PORT is expected, as 127.0.0.1:7272 or localhost:7272";
    let option = |value: &str| format!("error: invalid value '{value}' for '--listen <HOST:PORT>': ");
    for (value, says) in [
        ("7272", option("7272") + expected),
        ("localhost:x", option("localhost:x") + "the port `x` is no number from 0 to 65535; " + expected),
        (
            "no-such-host.invalid:7272",
            "chuhe-coordinator: there is no host `no-such-host.invalid`; is it spelled right?\n".to_owned(),
        ),
        ("192.0.2.1:7272", "chuhe-coordinator: 192.0.2.1:7272 is no address of this machine\n".to_owned()),
        (&taken.to_string(), format!("chuhe-coordinator: {taken} is taken: another program listens there\n")),
    ] {
        // The log is beside it.
        let mut serve = coordinator(folder.path());
        let output = serve.args(["serve", "--listen", value]).env("CHUHE_LOG", "off").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.starts_with(&says), "{value}: {error}");
    }
}

/// Also where an older version left them open.
#[test]
fn other_users_read_no_data() {
    let data = tempfile::tempdir().unwrap();
    let rights = |name: &str| fs::metadata(data.path().join(name)).unwrap().permissions().mode() & 0o777;
    let open = |name: &str, mode| fs::set_permissions(data.path().join(name), Permissions::from_mode(mode)).unwrap();
    open("", 0o755);
    said(data.path(), &["migrate"]);
    assert_eq!((rights("chuhe.db"), rights("objects")), (0o600, 0o700));
    open("chuhe.db", 0o644);
    open("objects", 0o755);
    said(data.path(), &["migrate"]);
    assert_eq!((rights("chuhe.db"), rights("objects")), (0o640, 0o750));
}

/// A pool of connections would say only that it timed out.
#[test]
fn a_database_that_cannot_be_opened_is_named_with_one_cause() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("chuhe.db");
    fs::write(&file, "no database ".repeat(100)).unwrap();
    let expected = format!(
        "chuhe-coordinator: the database sqlite:{} cannot be opened: this file is no database; `--data DIR` names \
         another folder",
        file.display()
    );
    for words in [&["admin", "user", "create", "ann"][..], &["migrate"], &["serve"], &["watch", "small"]] {
        assert_eq!(without_log(data.path(), words), (2, expected.clone()), "{words:?}");
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let expected = format!(
        "chuhe-coordinator: the database sqlite:{} cannot be opened: it is a folder, or this user may not use it",
        file.display()
    );
    assert_eq!(refused(data.path(), &["migrate"]), (2, expected));
    let expected = "chuhe-coordinator: the database postgres://127.0.0.1:1/none cannot be opened: no server answers there \
                    (connection refused)";
    let server = "postgres://127.0.0.1:1/none";
    assert_eq!(refused(data.path(), &["migrate", "--database", server]), (2, expected.to_owned()));
}

/// In the user's words, not the system's.
#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "notes").unwrap();
    let below = file.join("data");
    for words in [&["migrate"][..], &["serve"], &["validate"]] {
        for (data, why) in [(&file, "it is a file"), (&below, "a part of this path is a file")] {
            let expected = format!(
                "chuhe-coordinator: the data folder {} cannot be used (`--data DIR` names another): {why}",
                data.display()
            );
            assert_eq!(without_log(data, words), (2, expected), "{words:?}");
        }
    }
    let objects = file.display().to_string();
    let expected = format!(
        "chuhe-coordinator: the folder of objects {objects} cannot be used (`--objects ADDRESS` names another): it is \
         a file"
    );
    assert_eq!(refused(&folder.path().join("data"), &["migrate", "--objects", &objects]), (2, expected));
}

#[test]
fn a_successful_command_prints_the_new_state() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    said(data, &["migrate"]);
    let file = data.join("quick.toml");
    fs::write(&file, started::CAMPAIGN).unwrap();
    let file = file.to_str().unwrap();
    let name = started::CAMPAIGN.lines().find_map(|line| line.strip_prefix("name = ")).unwrap().trim_matches('"');
    let campaign = |words: &[&str]| said(data, &[&["admin", "campaign"], words].concat());
    assert_eq!(campaign(&["create", file]), format!("campaign `{name}` runs: workers get its games"));
    assert_eq!(
        campaign(&["pause", name]),
        format!("campaign `{name}` is paused: no new games until `campaign resume {name}`")
    );
    assert_eq!(campaign(&["resume", name]), format!("campaign `{name}` runs: workers get its games"));
    let edited = data.join("edited.toml");
    let [edited_file, wanted] = [edited.to_str().unwrap(), "\"wanted_positions\": 12345"];
    assert!(!campaign(&["show", name]).contains(wanted));
    fs::write(&edited, started::CAMPAIGN.replace("positions = 400", "positions = 12_345")).unwrap();
    assert_eq!(campaign(&["edit", name, edited_file]), format!("campaign `{name}` has the new text"));
    assert!(campaign(&["show", name]).contains(wanted));
    fs::write(&edited, started::CAMPAIGN.replace("ply_cap = 60", "ply_cap = 61")).unwrap();
    let fixed = "chuhe-coordinator: `selfplay` cannot be changed: begin another campaign".to_owned();
    assert_eq!(refused(data, &["admin", "campaign", "edit", name, edited_file]), (2, fixed));
    fs::write(&edited, "name = 1").unwrap();
    let (status, error) = refused(data, &["admin", "campaign", "edit", name, edited_file]);
    assert!(status == 2 && error.contains(&format!("{edited_file}: ")), "{error}");
    let nets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nets");
    let [net, manifest] = [data.join("net.nnue"), data.join("net.json")];
    fs::copy(nets.join("gen2-256/net.nnue"), &net).unwrap();
    let [net_file, manifest_file] = [&net, &manifest].map(|file| file.display().to_string());
    let (status, error) = refused(data, &["admin", "campaign", "gate", name, &net_file]);
    assert!(status == 2 && error.contains(&format!("{manifest_file}: ")), "{error}");
    fs::copy(nets.join("season1-512/net.json"), &manifest).unwrap();
    let other = format!("chuhe-coordinator: {manifest_file}: it is the manifest of another net than {net_file}");
    assert_eq!(refused(data, &["admin", "campaign", "gate", name, &net_file]), (2, other));
    fs::copy(nets.join("gen2-256/net.json"), &manifest).unwrap();
    assert_eq!(campaign(&["gate", name, &net_file]), format!("campaign `{name}` gates `gen2-256` next"));
    assert_eq!(campaign(&["stop", name]), format!("campaign `{name}` is stopped for good; its games and nets stay"));
    let user = |words: &[&str]| said(data, &[&["admin", "user"], words].concat());
    assert_eq!(
        user(&["create", "ann", "--role", "admin"]),
        "account `ann` has the role admin; `admin token create ann` makes a token for its programs"
    );
    assert_eq!(user(&["role", "ann", "trainer"]), "account `ann` has the role trainer");
    assert_eq!(user(&["block", "ann", "--message", "why"]), "account `ann` is blocked: its workers get no games");
    assert_eq!(user(&["approve", "ann"]), "account `ann` is active");
    said(data, &["admin", "token", "create", "ann"]);
    assert_eq!(said(data, &["admin", "token", "revoke", "1"]), "token 1 is revoked");
    let quarantine = |more: &[&str]| said(data, &[&["admin", "quarantine", "ann", "--reason", "why"], more].concat());
    assert_eq!(quarantine(&[]), "account `ann` is in quarantine");
    assert_eq!(quarantine(&["--lift"]), "account `ann` is out of quarantine");
    assert_eq!(user(&["delete", "ann"]), "account `ann` is deleted; its games stay, without a name");
}

#[test]
fn a_missing_net_is_named_with_the_command_that_adds_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    said(data, &["migrate"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nets");
    let file = root.join("campaigns/demo.toml").display().to_string();
    let (status, error) = refused(data, &["admin", "campaign", "create", &file]);
    let net = "3f1f620f25b876c475e0ce413aa76f3567c98382672788855d30f5840fdba2b1";
    assert_eq!(
        (status, error),
        (
            2,
            format!(
                "chuhe-coordinator: {file}: there is no net {net}: `chuhe-coordinator admin net add FILE` adds it; a \
                 comment in {file} may name its file"
            )
        )
    );
    let net_file = root.join("material.nnue").display().to_string();
    assert_eq!(said(data, &["admin", "net", "add", &net_file]), net);
    said(data, &["admin", "campaign", "create", &file]);
    // The first name of a net stays, and the second is not dropped silently.
    let output = run(data, &["admin", "net", "add", &net_file, "--name", "other"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert_eq!(warning, "the net is here already, as `material`; its name stays\n");
}

/// Standard output is the value alone, for scripts; standard error says what holds.
#[test]
fn a_value_for_scripts_comes_with_a_sentence_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    said(data, &["migrate"]);
    said(data, &["admin", "user", "create", "ann", "--role", "admin"]);
    let nets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nets");
    let [net, champion] = ["material.nnue", "gen2-256/net.nnue"].map(|file| nets.join(file).display().to_string());
    let book = data.join("few.epd");
    fs::write(&book, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1\n").unwrap();
    for (words, begin, note) in [
        (&["token", "create", "ann"][..], "chuhe_", "account `ann` has a new token; it is shown only now"),
        (
            &["token", "create", "ann", "--role", "volunteer", "--days", "7"],
            "chuhe_",
            "account `ann` has a new token with the role volunteer, valid for 7 days; it is shown only now",
        ),
        (
            &["net", "add", &net, "--name", "first"],
            "3f1f620f",
            "the net is here, as `first`; campaigns and matches name it by its hash",
        ),
        (
            &["net", "add", &champion],
            "897084e4",
            "the net is here, as `gen2-256`; campaigns and matches name it by its hash",
        ),
        (
            &["book", "add", book.to_str().unwrap()],
            "",
            "the book `few` is here; campaigns and matches name it by its hash",
        ),
        (
            &["invite", "ann"],
            "invitation_",
            "an account with the role volunteer can register by this invitation; it is shown only now",
        ),
    ] {
        let output = run(data, &[&["admin"], words].concat());
        let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success() && out.starts_with(begin) && out.lines().count() == 1, "{words:?}: {out}");
        assert_eq!(error, format!("{note}\n"), "{words:?}");
    }
}

/// `admin … | head` ends like a command that succeeded.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    said(data, &["migrate"]);
    said(data, &["admin", "user", "create", "ann"]);
    // The reader is gone before the program starts to write.
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let pipe = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    let mut child = coordinator(data).args(["admin", "audit"]).stdout(pipe).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn the_standing_of_an_account_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), &["migrate"]);
    said(folder.path(), &["admin", "user", "create", "ann"]);
    let explained = said(folder.path(), &["admin", "audit", "explain", "ann"]);
    let lines: Vec<&str> = explained.lines().collect();
    assert!(lines[0].starts_with("Account ann of 20") && lines[0].ends_with(" is active."), "{explained}");
    assert!(lines.contains(&"It has sent no games."), "{explained}");
    assert!(lines.last().unwrap().ends_with(" UTC: account ann (volunteer, active)."), "{explained}");
    let none = refused(folder.path(), &["admin", "audit", "explain", "eve"]);
    assert_eq!(none, (2, "chuhe-coordinator: there is no account eve".to_owned()));
    let none = refused(folder.path(), &["admin", "standing", "5"]);
    assert_eq!(none, (2, "chuhe-coordinator: there is no match 5".to_owned()));
    assert!(said(folder.path(), &["admin", "audit"]).contains("account_created"), "the events alone");
}
