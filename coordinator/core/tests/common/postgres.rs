//! A PostgreSQL server that lives as long as a test.
//!
//! It runs the system's program on its own folder, with a socket in it, so that tests stay
//! isolated. Syncs are off: a crash of the machine is not tested here. PostgreSQL refuses to run as
//! root, so root runs it as another user.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use sqlx::{AnyConnection, AssertSqlSafe, Connection as _};
use tempfile::TempDir;

/// A PostgreSQL server.
pub struct Server {
    folder: TempDir,
    programs: PathBuf,
    user: Option<(u32, u32)>,
    databases: AtomicU32,
}

impl Server {
    /// Starts a server without syncs; none if its tests are to be skipped.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn start() -> Option<Self> {
        if std::env::var_os("CHUHE_SKIP_POSTGRES").is_some() {
            println!("SKIPPED on PostgreSQL: CHUHE_SKIP_POSTGRES is set");
            return None;
        }
        let fast = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c deadlock_timeout=50ms";
        Some(Self::with(&format!("{fast} -c shared_buffers=64MB")))
    }

    /// Starts a server with syncs, as in production.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn start_durable() -> Self {
        Self::with("-c shared_buffers=512MB")
    }

    fn with(settings: &str) -> Self {
        let programs = programs().unwrap_or_else(|| {
            panic!(
                "PostgreSQL is not installed (on Debian: apt-get install postgresql); CHUHE_SKIP_POSTGRES=1 skips its tests"
            )
        });
        let folder = super::folder();
        let user = unprivileged_user();
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).expect("root can give folders away");
        }
        let server = Self { folder, programs, user, databases: AtomicU32::new(0) };
        server.run("initdb", &["-D", "data", "-U", "chuhe", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let socket = server.folder.path().display();
        let options = format!("-k {socket} -c listen_addresses='' -c max_connections=200 {settings}");
        server.run("pg_ctl", &["start", "-D", "data", "-w", "-s", "-l", "log", "-o", &options]);
        server
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        let file = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).expect("it runs");
        file.lines().next().and_then(|line| line.parse().ok()).expect("it says so")
    }

    /// The address of a database of this server.
    pub fn address(&self, name: &str) -> String {
        format!("postgres://chuhe@localhost/{name}?host={}", self.folder.path().display())
    }

    /// Creates a database, empty or as a copy of another.
    pub async fn database(&self, like: Option<&str>) -> String {
        let name = format!("chuhe_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let like = like.unwrap_or("template0");
        self.execute(format!("CREATE DATABASE {name} TEMPLATE {like} STRATEGY FILE_COPY")).await;
        name
    }

    /// Removes a database.
    pub async fn remove(&self, name: &str) {
        self.execute(format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }

    async fn execute(&self, query: String) {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.address("postgres")).await.expect("the server answers");
        sqlx::raw_sql(AssertSqlSafe(query)).execute(&mut connection).await.expect("the server executes it");
        connection.close().await.expect("the connection closes");
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).env("LC_ALL", "C");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        // To files: the server started by `pg_ctl` would keep a pipe open.
        let output = self.folder.path().join("output");
        let file = fs::File::create(&output).expect("the folder can be written");
        let copy = file.try_clone().expect("a file can be held twice");
        let status = command.stdout(file).stderr(copy).status().expect("the program runs");
        let output = || {
            [output.clone(), self.folder.path().join("log")].map(|file| fs::read_to_string(file).unwrap_or_default())
        };
        assert!(status.success(), "PostgreSQL's {program} failed: {:?}", output());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("pg_ctl", &["stop", "-D", "data", "-m", "immediate", "-w", "-s"]);
    }
}

/// Finds the folder of PostgreSQL's programs, of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    let version = |folder: &PathBuf| folder.parent().and_then(Path::file_name)?.to_str()?.parse::<u32>().ok();
    versions.sort_by_key(version);
    let elsewhere = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&elsewhere).chain(versions).collect::<Vec<_>>();
    folders.reverse();
    folders.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
}

/// The user and group under which root runs the server.
fn unprivileged_user() -> Option<(u32, u32)> {
    let own = Command::new("id").arg("-u").output().ok()?;
    if own.stdout.trim_ascii() != b"0" {
        return None;
    }
    let known = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &str| {
        let line = known.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody"))
}
