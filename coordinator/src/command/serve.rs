//! `chuhe-coordinator serve` and `validate`.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use coordinator_core::{
    clock::Clock, driver, file_lock::FileLock, rules::granting, service::Service, settings::Settings, store::Database,
    validator::Validator, webhooks,
};
use coordinator_web::{app::App, engine::Engine, http, memory, router};
use shell::{Log, Places, stop_signal};
use tokio::{
    net::{TcpListener, lookup_host},
    sync::watch,
    task::JoinSet,
};

/// Graceful shutdown: time for requests under way.
const GRACE: Duration = Duration::from_secs(20);

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(super) struct Arguments {
    /// The address to listen at, as `127.0.0.1:7272` or `localhost:7272`; port 0 takes any that is
    /// free
    #[arg(long, env = "CHUHE_LISTEN", default_value = "127.0.0.1:7272", value_name = "HOST:PORT", value_parser = host_and_port)]
    listen: (String, u16),
    /// The server's name, for people
    #[arg(long, default_value = "Chuhe")]
    name: String,
    /// Uploads validated at the same time; 0: none, other processes validate
    #[arg(long, default_value_t = 1, value_name = "N")]
    validators: usize,
    /// Accounts are by invitation only
    #[arg(long)]
    invitation_only: bool,
    /// New accounts wait until a maintainer approves
    #[arg(long)]
    approval: bool,
    /// Where `git clone` finds the source of this server's programs; pages show it to volunteers
    #[arg(long, value_name = "ADDRESS", value_parser = clone_address)]
    source: Option<String>,
    /// The file `chuhe.wasm`, made by `scripts/wasm`: visitors analyse positions and play games as
    /// volunteers in their browsers
    #[arg(long, env = "CHUHE_ENGINE", value_name = "FILE")]
    engine: Option<PathBuf>,
    /// Another address where nets, books and shards may be had
    #[arg(long, value_name = "ADDRESS")]
    mirror: Option<String>,
    /// The oldest accepted version of a worker
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"), value_name = "VERSION")]
    least_worker: String,
    /// Hand out no new games for training while fewer mebibytes are free
    #[arg(long, default_value_t = 2_048, value_name = "MIB")]
    least_free: u64,
    /// Hand out few new games for training while more uploads wait for validation
    #[arg(long, default_value_t = granting::MAX_VALIDATION_BACKLOG, value_name = "N")]
    most_waiting: i64,
    /// Delete the files of games after so many days, unless a published net learned from them
    /// [default: never]
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<u32>,
    /// Mebibytes of games that an account may keep here; 0 for any number
    #[arg(long, default_value_t = 20_480, value_name = "MIB")]
    quota: u64,
    /// Requests answered at the same time; more are rejected with `Retry-After`
    #[arg(long, default_value_t = 512, value_name = "N")]
    most_requests: usize,
    /// Requests per second of each token, on average
    #[arg(long, default_value_t = 20, value_name = "N")]
    rate: u32,
    /// Burst of requests of each token
    #[arg(long, default_value_t = 200, value_name = "N")]
    burst: u32,
    /// Behind a reverse proxy: clients are known by `X-Forwarded-For`
    #[arg(long)]
    behind_proxy: bool,
    #[command(flatten)]
    log: Log,
}

#[derive(clap::Args)]
pub(super) struct ValidateArguments {
    /// Uploads validated at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    #[command(flatten)]
    log: Log,
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let expected = "HOST:PORT is expected, as 127.0.0.1:7272 or localhost:7272";
    let (host, port) = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).ok_or(expected)?;
    let port = port.parse().map_err(|_| format!("the port `{port}` is no number from 0 to 65535; {expected}"))?;
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if inner.is_none() && host.contains(':') {
        return Err("an IPv6 address stands in brackets, as [::1]:7272".to_owned());
    }
    Ok((inner.unwrap_or(host).to_owned(), port))
}

/// Volunteers copy the address into a shell.
fn clone_address(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/:@._~+-%[]".contains(&byte);
    if !text.contains('/') || text.starts_with('-') || !text.bytes().all(is_plain) {
        return Err("an address as `git clone` takes it is expected, as https://example.org/chuhe.git".to_owned());
    }
    let user = text.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@'));
    match user {
        Some((user, _)) if text.starts_with("http") || user.contains(':') => {
            Err("the address names a user or a password, which everyone would see: leave them out".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

/// Listens at the first usable address of a host; those of IPv4 come first.
async fn listen((host, port): &(String, u16)) -> Result<TcpListener> {
    let found = lookup_host((host.as_str(), *port)).await;
    // The system's words say no more.
    let found = found.map_err(|_| anyhow!("there is no host `{host}`; is it spelled right?"))?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let shown = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    TcpListener::bind(addresses.as_slice()).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => anyhow!("{shown} is taken: another program listens there"),
        io::ErrorKind::AddrNotAvailable => anyhow!("{shown} is no address of this machine"),
        io::ErrorKind::PermissionDenied => anyhow!("{shown} is for root alone: take a port from 1024 on"),
        _ => anyhow!("{shown} cannot be listened at: {error}"),
    })
}

/// Reads the engine for browsers.
fn read_engine(path: &Path) -> Result<Engine> {
    let shown = path.display();
    let module = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!("--engine {shown}: there is no such file; `scripts/wasm` makes it"),
        _ => anyhow!("--engine {shown} cannot be read: {error}"),
    })?;
    Engine::new(module).map_err(|error| anyhow!("--engine {shown}: {error}"))
}

/// Makes this process the only one that serves with a database file. On a server any number may.
fn lock_serving(store: &Database) -> Result<Option<FileLock>> {
    let Some(file) = store.file() else { return Ok(None) };
    let lock = FileLock::serving(file).with_context(|| format!("the lock beside {}", file.display()))?;
    let name = file.display();
    ensure!(
        lock.is_some(),
        "another coordinator serves with {name}: stop that one first; several need PostgreSQL (`--database`)"
    );
    Ok(lock)
}

pub(super) async fn serve(places: &Places, arguments: Arguments, clock: Clock) -> Result<()> {
    arguments.log.begin();
    let engine = arguments.engine.as_deref().map(read_engine).transpose()?;
    let (store, objects) = places.open(&clock).await?;
    objects.probe().await?;
    let _serving = lock_serving(&store)?;
    let settings = Settings {
        name: arguments.name,
        least_worker: arguments.least_worker,
        invitation_only: arguments.invitation_only,
        approval: arguments.approval,
        source: arguments.source,
        mirror: arguments.mirror,
        least_free_bytes: arguments.least_free << 20,
        most_waiting: arguments.most_waiting,
        keep_days: arguments.keep_days,
        quota_bytes: (arguments.quota > 0).then_some(arguments.quota << 20),
        most_requests: arguments.most_requests,
        requests_per_second: arguments.rate,
        burst: arguments.burst,
        behind_proxy: arguments.behind_proxy,
        ..Settings::default()
    };
    let (stop, stopping) = stop_signal();
    let service = Service {
        store: store.clone(),
        objects: objects.clone(),
        clock: clock.clone(),
        settings: Arc::new(settings),
        policy: Arc::new(RwLock::default()),
        pulse: Arc::default(),
        stopping: stopping.clone(),
    };
    let listener = listen(&arguments.listen).await?;
    let address = listener.local_addr()?;
    let mut tasks = JoinSet::new();
    tasks.spawn(driver::serve(service.clone(), stopping.clone()));
    tasks.spawn(webhooks::serve(store.clone(), clock.clone(), stopping.clone()));
    let mut _validating = None;
    if arguments.validators > 0 {
        let validator = Validator { store: store.clone(), objects, clock, threads: arguments.validators };
        _validating = validator.begin().await?;
        tasks.spawn(validator.serve(Arc::clone(&service.pulse), stopping.clone()));
    }
    tracing::info!("listening at http://{address}");
    let mut app = App::new(service, memory::Memory::default());
    if let Some(engine) = engine {
        app = app.with_engine(engine);
    }
    let app = router::router(app);
    let background = watched(tasks, &stop);
    let requests = http::listen::serve(listener, app, arguments.behind_proxy, stopping, GRACE);
    let (background, ()) = tokio::join!(background, requests);
    tracing::info!("stopping: requests under way were answered");
    store.close().await;
    background?;
    tracing::info!("stopped");
    Ok(())
}

/// Waits for the background tasks to end. If one ends before `stop`, it sets `stop` for all: a
/// coordinator without its scheduler or validator would look healthy and do nothing.
async fn watched(mut tasks: JoinSet<()>, stop: &watch::Sender<bool>) -> Result<()> {
    let mut failure = Ok(());
    while let Some(ended) = tasks.join_next().await {
        if !stop.send_replace(true) {
            let cause = ended.err().map_or("it returned".to_owned(), |error| error.to_string());
            failure = Err(anyhow::anyhow!("a background task ended: {cause}"));
        }
    }
    failure
}

pub(super) async fn validate(places: &Places, arguments: ValidateArguments, clock: Clock) -> Result<()> {
    arguments.log.begin();
    let (store, objects) = places.open(&clock).await?;
    // The sender lives as long as the validator listens.
    let (_stop, stopping) = stop_signal();
    let validator = Validator { store: store.clone(), objects, clock, threads: arguments.threads };
    let _validating = validator.begin().await?;
    tracing::info!("validating");
    validator.serve(Arc::default(), stopping).await;
    store.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_is_listened_at_by_its_name() {
        let listener = listen(&host_and_port("localhost:0").unwrap()).await.unwrap();
        assert!(listener.local_addr().unwrap().ip().is_loopback());
        assert_eq!(host_and_port("[::1]:80"), Ok(("::1".to_owned(), 80)));
        for (text, wanted) in [
            ("7300", "HOST:PORT is expected, as 127.0.0.1:7272 or localhost:7272"),
            (":7300", "HOST:PORT is expected, as 127.0.0.1:7272 or localhost:7272"),
            ("localhost:http", "the port `http` is no number from 0 to 65535"),
            ("::1:7300", "an IPv6 address stands in brackets"),
        ] {
            let error = host_and_port(text).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
        let error = listen(&("no-such-host.invalid".to_owned(), 1)).await.unwrap_err().to_string();
        assert_eq!(error, "there is no host `no-such-host.invalid`; is it spelled right?");
        let taken = listen(&("localhost".to_owned(), listener.local_addr().unwrap().port())).await;
        assert!(taken.is_ok() || taken.unwrap_err().to_string().ends_with("another program listens there"));
    }

    #[test]
    fn an_address_to_clone_from_is_safe_to_show_and_to_copy() {
        for good in
            ["https://example.org/chuhe.git", "git@example.org:me/chuhe", "ssh://git@example.org/x", "/srv/chuhe"]
        {
            assert_eq!(clone_address(good).as_deref(), Ok(good));
        }
        for bad in ["", "chuhe", "--upload-pack=/x", "https://example.org/a b", "https://example.org/$(id)", "/a;b"] {
            let error = clone_address(bad).unwrap_err();
            assert!(error.starts_with("an address as `git clone` takes it is expected"), "{bad}: {error}");
        }
        for secret in
            ["https://token@example.org/x", "https://me:secret@example.org/x", "ssh://me:secret@example.org/x"]
        {
            let error = clone_address(secret).unwrap_err();
            assert!(error.ends_with("which everyone would see: leave them out"), "{secret}: {error}");
        }
    }

    #[tokio::test]
    async fn a_task_that_panics_stops_the_others() {
        let (stop, mut stopping) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(async { panic!("by the test") });
        tasks.spawn(async move { drop(stopping.wait_for(|stop| *stop).await) });
        let error = watched(tasks, &stop).await.unwrap_err().to_string();
        assert!(error.contains("by the test"), "{error}");
    }

    #[tokio::test]
    async fn an_ordinary_stop_is_no_failure() {
        let (stop, mut stopping) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(stopping.wait_for(|stop| *stop).await) });
        stop.send_replace(true);
        watched(tasks, &stop).await.unwrap();
    }
}
