//! Network errors in the user's words: what is wrong, and what may be done about it.

use std::{error::Error, io};

use reqwest::Url;

use crate::error::HostLookup;

/// Describes a network error of an exchange with `server`. Errors without words of their own are
/// shown with their causes.
///
/// The error's URL is shown as far as its origin: its path may hold a secret.
pub(crate) fn describe(error: &(dyn Error + 'static), server: &str) -> String {
    let causes = causes(error);
    let request = causes.iter().find_map(|cause| cause.downcast_ref::<reqwest::Error>());
    let url = request.and_then(reqwest::Error::url);
    // A mirror or a redirect names another server.
    let server = match url {
        Some(url) if !url.as_str().starts_with(server) => &url.origin().ascii_serialization(),
        _ => server,
    };
    let described = causes.iter().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<rustls::Error>() {
            return Some(describe_tls(error, server));
        }
        if let Some(error) = cause.downcast_ref::<io::Error>().filter(|error| error.raw_os_error().is_some()) {
            return describe_io(error, server);
        }
        let text = cause.to_string();
        if is_of_lookup(&text) {
            let host = url.and_then(Url::host_str).unwrap_or(server);
            return Some(format!("there is no host `{host}`; is the address right, and is this machine online?"));
        }
        let is_no_http = text.starts_with("invalid HTTP ") && server.starts_with("http:");
        is_no_http.then(|| format!("{server} speaks no plain HTTP; is {} meant?", server.replacen("http", "https", 1)))
    });
    described.unwrap_or_else(|| match request {
        Some(error) if error.is_timeout() && error.is_connect() => no_server_answers(server, "no connection in time"),
        _ if causes.iter().any(|cause| is_timeout(*cause)) => format!("{server} is silent: no answer in time"),
        _ => format!("the exchange with {server} failed: {}", one_line(&causes)),
    })
}

/// Returns the outcome of looking up the server's host.
pub(crate) fn host_lookup(error: &(dyn Error + 'static)) -> HostLookup {
    let texts: Vec<String> = causes(error).iter().map(ToString::to_string).collect();
    // Without a name server the system says `Temporary failure` (glibc, Windows) or `Try again`
    // (musl).
    let is_passing = |text: &String| text.contains("emporary ") || text.contains("Try again");
    match texts.iter().any(|text| is_of_lookup(text)) {
        false => HostLookup::Found,
        true if texts.iter().any(is_passing) => HostLookup::Unavailable,
        true => HostLookup::NoSuchHost,
    }
}

/// Whether a text is that of a failed lookup. The types of these two errors are private.
fn is_of_lookup(text: &str) -> bool {
    text.starts_with("dns error") || text == "invalid dns name"
}

fn describe_tls(error: &rustls::Error, server: &str) -> String {
    match error {
        rustls::Error::InvalidMessage(_) => {
            format!("{server} speaks no TLS; is {} meant?", server.replacen("https", "http", 1))
        }
        rustls::Error::InvalidCertificate(_) => {
            format!("{server} is not trusted ({error}); are its address and this machine's clock right?")
        }
        _ => format!("{server} and this program find no common TLS: {error}"),
    }
}

fn describe_io(error: &io::Error, server: &str) -> Option<String> {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ConnectionRefused => Some(no_server_answers(server, "connection refused")),
        Kind::TimedOut => Some(no_server_answers(server, "no connection in time")),
        Kind::NetworkUnreachable | Kind::HostUnreachable => {
            Some(format!("{server} cannot be reached from here; is this machine online?"))
        }
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
            Some(format!("{server} closed the connection"))
        }
        _ => None,
    }
}

fn no_server_answers(server: &str, reason: &str) -> String {
    format!("no server answers at {server} ({reason}); is the address right, and does the server run?")
}

fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout)
        || error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// An error and its causes. The `source` of an [`io::Error`] skips the error that it wraps.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let mut causes = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        causes.push(error);
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|error| error as &(dyn Error + 'static)).or_else(|| error.source());
    }
    causes
}

/// The texts of all causes, each once and without URLs.
fn one_line(causes: &[&(dyn Error + 'static)]) -> String {
    let mut line = String::new();
    for cause in causes {
        let mut text = cause.to_string();
        if let Some(url) = cause.downcast_ref::<reqwest::Error>().and_then(reqwest::Error::url) {
            text = text.replace(&format!(" for url ({url})"), "");
        }
        if !line.contains(&text) {
            line = if line.is_empty() { text } else { format!("{line}: {text}") };
        }
    }
    line
}
