//! `scripts/install.sh`: from a folder and from an address, and what it refuses.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use dataset::Digest;
use tempfile::{TempDir, tempdir};
use testkit::http::{Listener, Response};
use worker::update::system;

const PROGRAM: &[u8] = b"#!/bin/sh\nexit 0 # the new one\n";

/// A folder with a release, unsigned, and the folder to install into.
struct Place {
    folder: TempDir,
    bin: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        let place = Self { bin: folder.path().join("home/bin"), folder };
        fs::create_dir(place.releases()).unwrap();
        place.put(".release", release(&system()).as_bytes());
        place.put("-9.0.0", PROGRAM);
        place
    }

    fn releases(&self) -> PathBuf {
        self.folder.path().join("releases")
    }

    /// Writes one of the files for this system, by the end of its name.
    fn put(&self, end: &str, bytes: &[u8]) {
        fs::write(self.releases().join(format!("chuhe-worker-{}{end}", system())), bytes).unwrap();
    }

    /// Serves the files of the release.
    fn serve(&self) -> Listener {
        let folder = self.releases();
        Listener::answering(move |request| match fs::read(folder.join(request.path.trim_start_matches('/'))) {
            Ok(bytes) => Response::new(200, "application/octet-stream", bytes),
            Err(_) => Response::new(404, "text/plain", "there is no such file"),
        })
        .unwrap()
    }

    fn install(&self, releases: &str, settings: &[(&str, &str)]) -> Output {
        let mut script = Command::new("/bin/sh");
        script.arg("../scripts/install.sh").arg(&self.bin).env_remove("CHUHE_UPDATE_KEY");
        script.env("CHUHE_RELEASES", releases).envs(settings.iter().copied()).output().unwrap()
    }

    /// Returns the error of an installation that leaves nothing behind.
    #[track_caller]
    fn refusal(&self, releases: &str, settings: &[(&str, &str)]) -> String {
        let output = self.install(releases, settings);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty() && !self.bin.exists(), "{error}");
        error
    }

    fn folder(&self) -> String {
        self.releases().to_str().unwrap().to_owned()
    }
}

fn release(system: &str) -> String {
    let (hash, bytes) = (Digest::of(PROGRAM), PROGRAM.len());
    format!("{{\"version\": \"9.0.0\", \"system\": \"{system}\", \"sha256\": \"{hash}\", \"bytes\": {bytes}}}\n")
}

#[test]
fn a_release_is_installed_from_a_folder_and_from_an_address() {
    let place = Place::new();
    let server = place.serve();
    for releases in [place.folder(), format!("file://{}", place.folder()), server.url()] {
        // Of an update that was cut short.
        fs::create_dir_all(&place.bin).unwrap();
        fs::write(place.bin.join(".chuhe-worker.new"), "a part of another").unwrap();
        let output = place.install(&releases, &[]);
        let program = place.bin.join("chuhe-worker");
        let name = program.display();
        let said = format!("installed {name} 9.0.0; next: {name} configure\n");
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{releases}: {output:?}");
        assert_eq!(fs::read(&program).unwrap(), PROGRAM);
        assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(&place.bin).unwrap().count(), 1);
        fs::remove_dir_all(&place.bin).unwrap();
    }
}

#[test]
fn a_release_folder_brings_its_installer() {
    let place = Place::new();
    let script = place.releases().join("install.sh");
    fs::copy("../scripts/install.sh", &script).unwrap();
    let mut command = Command::new("/bin/sh");
    command.arg(script).env_remove("CHUHE_RELEASES").env_remove("CHUHE_UPDATE_KEY").env("HOME", place.folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read(place.folder.path().join(".local/bin/chuhe-worker")).unwrap(), PROGRAM);
}

#[test]
fn a_program_with_another_digest_is_not_installed() {
    let place = Place::new();
    place.put("-9.0.0", b"another program");
    let server = place.serve();
    for releases in [place.folder(), server.url()] {
        let error = place.refusal(&releases, &[]);
        let (found, expected) = (Digest::of(b"another program"), Digest::of(PROGRAM));
        let said = format!("install.sh: the program has the SHA-256 {found}, not {expected}; nothing was installed\n");
        assert_eq!(error, said);
    }
}

#[test]
fn a_release_without_this_system_is_refused() {
    let place = Place::new();
    place.put(".release", release("plan9-mips").as_bytes());
    let (folder, system) = (place.folder(), system());
    let error = place.refusal(&folder, &[]);
    assert!(error.ends_with(&format!("/chuhe-worker-{system}.release is no release for {system}\n")), "{error}");

    fs::remove_file(place.releases().join(format!("chuhe-worker-{system}.release"))).unwrap();
    let server = place.serve();
    for releases in [folder, server.url()] {
        let error = place.refusal(&releases, &[]);
        let question = format!("does CHUHE_RELEASES name a release for {system}?\n");
        assert!(error.ends_with(&question), "{error}");
    }

    let uname = place.folder.path().join("uname");
    fs::write(&uname, "#!/bin/sh\necho Plan9\n").unwrap();
    fs::set_permissions(&uname, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.folder.path().display(), env::var("PATH").unwrap());
    let error = place.refusal(&place.folder(), &[("PATH", &path)]);
    assert_eq!(error, "install.sh: there are no releases for Plan9\n");
}

#[test]
fn other_machines_need_tls() {
    let error = Place::new().refusal("http://releases.example.org", &[]);
    assert_eq!(error, "install.sh: http://releases.example.org: releases are fetched by https only\n");
}

/// Not knowing is not trusting.
#[test]
fn a_key_without_minisign_is_refused() {
    let place = Place::new();
    let tools = place.folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in ["uname", "dirname", "mktemp", "cp", "rm"] {
        let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool)).into_iter().find(|it| it.exists());
        symlink(found.unwrap(), tools.join(tool)).unwrap();
    }
    let settings = [("PATH", tools.to_str().unwrap()), ("CHUHE_UPDATE_KEY", "any")];
    let error = place.refusal(&place.folder(), &settings);
    assert!(error.ends_with("minisign, which checks signatures, is not there\n"), "{error}");
}

/// `scripts/dist` writes the key into the installer of a release.
#[test]
fn the_installer_of_a_release_has_its_key() {
    if env::var_os("CHUHE_SKIP_MINISIGN").is_some() {
        return;
    }
    let place = Place::new();
    let source = fs::read_to_string("../scripts/install.sh").unwrap();
    let key = "key=${CHUHE_UPDATE_KEY-RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3}";
    let released = source.replace("key=${CHUHE_UPDATE_KEY-}", key);
    assert_ne!(released, source);
    let script = place.releases().join("install.sh");
    fs::write(&script, released).unwrap();
    place.put(".release.minisig", b"no signature");
    let mut run = Command::new("/bin/sh");
    let output = run.arg(&script).arg(&place.bin).env_remove("CHUHE_UPDATE_KEY").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.ends_with("install.sh: the release's signature is not by this key\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

/// It writes its address too, for an installer that was downloaded alone.
#[test]
fn the_installer_of_a_release_has_its_address() {
    let place = Place::new();
    let source = fs::read_to_string("../scripts/install.sh").unwrap();
    let released = source.replace("\nhome=\n", &format!("\nhome='{}'\n", place.folder()));
    assert_ne!(released, source);
    let alone = place.releases().parent().unwrap().join("install.sh");
    for (script, source) in [(alone, released), (place.releases().join("install.sh"), source)] {
        fs::write(&script, source).unwrap();
        let mut run = Command::new("/bin/sh");
        run.arg(&script).arg(&place.bin).env_remove("CHUHE_UPDATE_KEY").env_remove("CHUHE_RELEASES");
        let output = run.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::remove_dir_all(&place.bin).unwrap();
    }
}

#[test]
fn a_second_folder_is_refused() {
    let place = Place::new();
    let mut script = Command::new("/bin/sh");
    script.arg("../scripts/install.sh").arg(&place.bin).arg("other").env("CHUHE_RELEASES", place.folder());
    let output = script.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "install.sh: 'other' comes after the folder for the program, which is one argument\n");
    assert!(output.status.code() == Some(2) && !place.bin.exists(), "{error}");
}

#[test]
fn a_folder_in_the_place_of_the_program_stays() {
    let place = Place::new();
    fs::create_dir_all(place.bin.join("chuhe-worker")).unwrap();
    let output = place.install(&place.folder(), &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.ends_with("/bin/chuhe-worker is a folder\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

/// The signatures in `data/update` are for x86-64.
#[test]
fn only_a_release_signed_by_the_key_is_installed() {
    if env::var_os("CHUHE_SKIP_MINISIGN").is_some() || system() != "linux-x86_64" {
        return;
    }
    let data = |name: &str| fs::read(Path::new("tests/data/update").join(name)).unwrap();
    let key = String::from_utf8(data("key.pub")).unwrap().lines().last().unwrap().to_owned();
    let settings = [("CHUHE_UPDATE_KEY", key.as_str())];
    let place = Place::new();
    place.put(".release", &data("newer.release"));
    place.put("-9.0.0", &data("newer.program"));
    let server = place.serve();
    for releases in [place.folder(), server.url()] {
        let missing = place.refusal(&releases, &settings);
        assert!(missing.ends_with(".release.minisig could not be fetched\n"), "{missing}");
        place.put(".release.minisig", &data("broken.release.minisig"));
        let wrong = place.refusal(&releases, &settings);
        assert!(wrong.ends_with("install.sh: the release's signature is not by this key\n"), "{wrong}");
        place.put(".release.minisig", &data("newer.release.minisig"));
        let other = [("CHUHE_UPDATE_KEY", "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3")];
        let wrong = place.refusal(&releases, &other);
        assert!(wrong.ends_with("install.sh: the release's signature is not by this key\n"), "{wrong}");
        let output = place.install(&releases, &settings);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(fs::read(place.bin.join("chuhe-worker")).unwrap(), data("newer.program"));
        fs::remove_dir_all(&place.bin).unwrap();
        let signature = format!("chuhe-worker-{}.release.minisig", system());
        fs::remove_file(place.releases().join(signature)).unwrap();
    }
}

/// Workers take updates by one key alone.
#[test]
fn a_release_is_signed_by_the_key_of_its_workers_or_not_at_all() {
    if env::var_os("CHUHE_SKIP_MINISIGN").is_some() {
        return;
    }
    let place = Place::new();
    let path = |name: &str| place.folder.path().join(name);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    for name in ["one", "other"] {
        let (public, secret) = (path(&format!("{name}.pub")), path(name));
        let mut make = Command::new("minisign");
        assert!(make.args(["-G", "-W", "-p"]).arg(public).arg("-s").arg(secret).output().unwrap().status.success());
    }
    let public = read("one.pub").lines().last().unwrap().to_owned();
    let sums = |secret: &str, public: &str| {
        let mut command = Command::new("../scripts/dist");
        command.arg("--sums").arg(place.releases()).env("SIGNING_KEY", secret).env("CHUHE_UPDATE_KEY", public);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (secret, reason) in [
        (read("other"), "SIGNING_KEY and CHUHE_UPDATE_KEY are no pair: workers would refuse the updates"),
        ("no key".to_owned(), "SIGNING_KEY is no secret key of minisign without a password"),
        (String::new(), "CHUHE_UPDATE_KEY is set, but not SIGNING_KEY: workers would refuse the updates"),
    ] {
        assert_eq!(sums(&secret, &public), (Some(2), format!("scripts/dist: {reason}\n")));
        assert!(!place.releases().join("SHA256SUMS").exists());
    }
    assert_eq!(sums("", ""), (Some(0), "scripts/dist: SIGNING_KEY is not set: nothing is signed\n".to_owned()));
    assert_eq!(sums(&read("one"), &public), (Some(0), String::new()));
    assert!(place.install(&place.folder(), &[("CHUHE_UPDATE_KEY", &public)]).status.success());
}
